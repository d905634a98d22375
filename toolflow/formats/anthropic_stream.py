"""Streams of Anthropic Messages: ``message_start`` to ``message_stop`` become one response.

Source: the published reference on streaming messages. Blocks are kept by their index. A second
``message_start`` before the end comes from a proxy that begins again elsewhere; what both messages
hold is one turn, since both were sent for the one request. After an end it is the next message of a
file that holds several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolflow.formats.base import Joined
from toolflow.formats.open_blocks import OpenBlocks
from toolflow.formats.streaming import (
    Block,
    Oddities,
    as_object,
    cut_at_starts,
    join_events,
    of_type,
    place,
)

_EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)
# The SDK's helpers put these beside the provider's own events; they tell nothing new.
_REPEATING = frozenset(
    {"ping", "text", "input_json", "thinking", "signature", "citation", "compaction"}
)
_JSON = "partial_json"
_PIECES = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": (_JSON, _JSON),
    "compaction_delta": ("content", "content"),
}


def is_chunk(data: Any) -> bool:
    """Whether it is an event of a message stream."""
    kind = data.get("type") if isinstance(data, dict) else None
    return isinstance(kind, str) and kind in _EVENTS


def split(chunks: Sequence[Any]) -> list[Sequence[Any]]:
    """Cut before each ``message_start`` that follows an end."""
    return cut_at_starts(chunks, of_type("message_start"), of_type("message_stop"))


def join(chunks: Sequence[Any]) -> Joined:
    """Put the events of one stream together (see `toolflow.formats.base.Format`)."""
    return join_events(_Stream(), chunks, lambda event: event.get("type"))


class _Stream:
    """One message while its events come in."""

    def __init__(self) -> None:
        self.odd = Oddities()
        self.fields: dict[str, Any] = {}
        self.blocks: list[Block] = []
        self.open: OpenBlocks[int, Block] = OpenBlocks(self.odd)

    def take(self, event: dict[str, Any]) -> bool:
        """Take an event; tells whether it could be read."""
        kind = event.get("type")
        if not isinstance(kind, str):
            return False
        if kind == "message_start":
            return self._start(event.get("message"))
        if kind == "content_block_start":
            return self._begin(event)
        if kind in ("content_block_delta", "content_block_stop"):
            return self._take_piece(kind, place(event, "index"), event.get("delta"))
        if kind == "message_delta":
            return self._change(event)
        if kind == "error":
            error = event.get("error")
            told = error if isinstance(error, dict) else {}
            self.odd.error(told.get("type"), told.get("message"))
        if kind == "message_stop":
            self.open.end()
        return kind in _REPEATING or kind in ("error", "message_stop")

    def _start(self, message: Any) -> bool:
        if not isinstance(message, dict):
            return False
        self.open.start(self.fields.get("id"), message.get("id"))
        content = message.get("content")
        if isinstance(content, list):  # calls made by code come whole with the start
            self.blocks += [Block(b, finished=True) for b in content if isinstance(b, dict)]
        self.fields.update({key: value for key, value in message.items() if key != "content"})
        return True

    def _begin(self, event: dict[str, Any]) -> bool:
        value, index = event.get("content_block"), place(event, "index")
        if not isinstance(value, dict) or index is None:
            return False
        self.blocks.append(self.open.begin(index, Block(dict(value))))
        return True

    def _take_piece(self, kind: str, index: int | None, delta: Any) -> bool:
        block = None if index is None else self.open.get(index)
        if block is None or index is None:
            return False
        if kind == "content_block_stop":
            self.open.finish(index)
        elif not self._go_on(block, delta):
            block.broken = True  # it may have been a piece of the arguments
        return not block.broken

    def _go_on(self, block: Block, delta: Any) -> bool:
        given = delta if isinstance(delta, dict) else {}
        what = given.get("type")
        if isinstance(what, str) and what in _PIECES:
            source, name = _PIECES[what]
            return block.add(name, given.get(source))
        if what == "signature_delta":
            block.value["signature"] = given.get("signature")
        elif what == "citations_delta":
            block.items.setdefault("citations", []).append(given.get("citation"))
        else:
            return False
        return True

    def _change(self, event: dict[str, Any]) -> bool:
        delta, usage = event.get("delta"), event.get("usage")
        told = {k: v for k, v in event.items() if k not in ("type", "delta", "usage")}
        if isinstance(delta, dict):
            told.update(delta)
            if delta.get("stop_reason") is not None:
                self.open.end()
        if isinstance(usage, dict):
            before = self.fields.get("usage")
            fresh = {key: value for key, value in usage.items() if value is not None}
            told["usage"] = {**(before if isinstance(before, dict) else {}), **fresh}
        self.fields.update(told)
        return isinstance(delta, dict)

    def joined(self) -> Joined:
        """What came, as one response."""
        self.open.break_off()
        calls = [block for block in self.blocks if block.value.get("type") == "tool_use"]
        cut = tuple(n for n, block in enumerate(calls) if block.is_cut(block.text(_JSON)))
        content = [_whole(block) for block in self.blocks]
        whole = {"type": "message", "role": "assistant", **self.fields, "content": content}
        return Joined(whole, self.odd.all(), cut)


def _whole(block: Block) -> dict[str, Any]:
    """The block as it would have come at once."""
    whole = dict(block.value)
    for name in block.texts:
        if name != _JSON:
            whole[name] = block.text(name)
        elif (given := block.text(name)).strip():
            whole["input"] = as_object(given)
    return {**whole, **{name: block.listed(name) for name in block.items}}
