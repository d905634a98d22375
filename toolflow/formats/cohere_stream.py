"""Streams of Cohere v2 chat: ``message-start`` to ``message-end`` become one response.

Source: the published v2 reference on streaming. Calls and content blocks are counted apart, each
from 0, so the kind belongs to the index. The SDK lets an index be absent; then the events of a kind
follow each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolflow.formats.base import Joined
from toolflow.formats.open_blocks import OpenBlocks
from toolflow.formats.streaming import Block, Oddities, cut_at_starts, join_events, of_type, place

_EVENTS = frozenset(
    {
        "message-start",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "content-start",
        "content-delta",
        "content-end",
        "citation-start",
        "citation-end",
        "message-end",
    }
)
_ENDS = frozenset({"tool-call-end", "content-end", "citation-end"})
_UNUSED = frozenset({"citation-end", "debug"})
_FIELDS = {"tool-call": "tool_calls", "content": "content"}


def is_chunk(data: Any) -> bool:
    """Whether it is an event of a message stream."""
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _EVENTS:
        return False
    return kind in _ENDS or isinstance(data.get("delta"), dict)


def split(chunks: Sequence[Any]) -> list[Sequence[Any]]:
    """Cut before each ``message-start`` that follows an end."""
    return cut_at_starts(chunks, of_type("message-start"), of_type("message-end"))


def join(chunks: Sequence[Any]) -> Joined:
    """Put the events of one stream together (see `toolflow.formats.base.Format`)."""
    return join_events(_Stream(), chunks, lambda event: event.get("type"))


class _Stream:
    """One message while its events come in."""

    def __init__(self) -> None:
        self.odd = Oddities()
        self.fields: dict[str, Any] = {}
        self.message = Block({"role": "assistant"})
        self.lists: dict[str, list[Block]] = {"tool_calls": [], "content": []}
        self.open: OpenBlocks[tuple[str, int | None], Block] = OpenBlocks(self.odd)

    def take(self, event: dict[str, Any]) -> bool:
        """Take an event; tells whether it could be read."""
        kind, delta = event.get("type"), event.get("delta")
        message = delta.get("message") if isinstance(delta, dict) else None
        told = message if isinstance(message, dict) else {}
        if not isinstance(kind, str):
            return False
        if kind == "message-start":
            self._start(event, told)
        elif kind == "tool-plan-delta":
            self.message.add("tool_plan", told.get("tool_plan"))
        elif kind == "citation-start":
            self.message.items.setdefault("citations", []).append(told.get("citations"))
        elif kind == "message-end":
            self._end(delta)
        else:
            name, _, step = kind.rpartition("-")
            field = _FIELDS.get(name)
            piece = told.get(field) if field else None
            place_of = (field or "", place(event, "index"))
            return kind in _UNUSED or (bool(field) and self._take_piece(step, place_of, piece))
        return True

    def _start(self, event: dict[str, Any], message: dict[str, Any]) -> None:
        self.open.start(self.fields.get("id"), event.get("id"))
        self.fields.update({k: v for k, v in event.items() if k not in ("type", "delta")})
        for name, items in message.items():
            if name in self.lists and isinstance(items, list):
                whole = [item for item in items if isinstance(item, dict)]
                self.lists[name] += [Block(item, finished=True) for item in whole]
            elif items:
                self.message.value[name] = items

    def _end(self, delta: Any) -> None:
        given = delta if isinstance(delta, dict) else {}
        self.fields.update({key: value for key, value in given.items() if value is not None})
        if isinstance(given.get("error"), str):
            self.odd.error(given["error"])
        self.open.end()

    def _take_piece(self, step: str, at: tuple[str, int | None], piece: Any) -> bool:
        if step == "start":
            if isinstance(piece, dict):
                self.lists[at[0]].append(self.open.begin(at, Block(dict(piece))))
            return isinstance(piece, dict)
        block = self.open.get(at)
        if block is None:
            return False
        if step == "end":
            self.open.finish(at)
        elif not isinstance(piece, dict):
            block.broken = True
        elif at[0] == "tool_calls":
            function = piece.get("function")
            block.add("arguments", function.get("arguments") if isinstance(function, dict) else 0)
        else:
            for name in ("text", "thinking"):
                if piece.get(name) is not None:
                    block.add(name, piece[name])
        return not block.broken

    def joined(self) -> Joined:
        """What came, as one response."""
        self.open.break_off()
        calls = self.lists["tool_calls"]
        cut = tuple(n for n, block in enumerate(calls) if block.is_cut(_arguments(block)))
        texts = {name: self.message.text(name) for name in self.message.texts}
        lists = {
            "tool_calls": [_whole_call(block) for block in calls],
            "content": [_whole_content(block) for block in self.lists["content"]],
            "citations": self.message.listed("citations"),
        }
        kept = {name: items for name, items in lists.items() if items}
        message = {**self.message.value, **texts, **kept}
        return Joined({**self.fields, "message": message}, self.odd.all(), cut)


def _arguments(block: Block) -> str:
    function = block.value.get("function")
    begun = function.get("arguments") if isinstance(function, dict) else None
    return (begun if isinstance(begun, str) else "") + block.text("arguments")


def _whole_call(block: Block) -> dict[str, Any]:
    function = block.value.get("function")
    body = function if isinstance(function, dict) else {}
    return {**block.value, "function": {**body, "arguments": _arguments(block)}}


def _whole_content(block: Block) -> dict[str, Any]:
    return {**block.value, **{name: block.text(name) for name in block.texts}}
