"""Streams of Bedrock Converse: ``messageStart`` to ``metadata`` become one response.

Source: the published reference of ``ConverseStream``. Blocks are kept by their index. A block of
text or reasoning may begin without a ``contentBlockStart``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolflow.formats.base import Joined
from toolflow.formats.open_blocks import OpenBlocks
from toolflow.formats.streaming import Block, Oddities, as_object, cut_at_starts, join_events, place

_EVENTS = (
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
)
_BEGUN = ("toolUse", "toolResult", "image")
_BEGIN_THEMSELVES = {"text": "text", "reasoningContent": "reasoningContent", "citation": "text"}


def is_chunk(data: Any) -> bool:
    """Whether it is an event of a message stream."""
    return isinstance(data, dict) and any(isinstance(data.get(key), dict) for key in _EVENTS)


def split(chunks: Sequence[Any]) -> list[Sequence[Any]]:
    """Cut before each ``messageStart`` that follows an end."""
    return cut_at_starts(
        chunks, lambda event: "messageStart" in event, lambda event: "messageStop" in event
    )


def join(chunks: Sequence[Any]) -> Joined:
    """Put the events of one stream together (see `toolflow.formats.base.Format`)."""
    return join_events(_Stream(), chunks, lambda event: next(iter(event), ""))


@dataclass(slots=True)
class _Part(Block):
    """A block that knows its kind: the key under which it stands in the message."""

    kind: str = ""

    def take(self, kind: str, delta: Any) -> bool:
        """Add a piece; tells whether it belongs to a block of this kind."""
        if _BEGIN_THEMSELVES.get(kind, kind) != self.kind:
            return False
        if kind == "text":
            return self.add("text", delta)
        if kind == "toolUse":
            return self.add("input", delta.get("input") if isinstance(delta, dict) else None)
        if kind == "citation":
            self.items.setdefault("citations", []).append(delta)
        elif kind == "toolResult":
            self.items.setdefault("content", []).extend(delta if isinstance(delta, list) else ())
        else:
            return self._add_fields(delta)
        return True

    def _add_fields(self, delta: Any) -> bool:
        """Reasoning comes as text, then a signature; a picture in one piece."""
        if not isinstance(delta, dict):
            return False
        read = []
        for name, value in delta.items():
            if name in ("text", "signature"):
                read.append(self.add(name, value))
            else:
                read.append(name not in self.value)
                self.value.setdefault(name, value)
        return all(read)

    def whole(self) -> dict[str, Any]:
        """The block as it would have come at once."""
        if self.kind == "text":
            text = self.text("text")
            if not self.items:
                return {"text": text}
            cited = {"content": [{"text": text}], "citations": self.listed("citations")}
            return {"citationsContent": cited}
        if self.kind == "toolUse":
            given = self.text("input")
            return {"toolUse": {**self.value, "input": as_object(given) if given.strip() else {}}}
        if self.kind == "toolResult":
            return {"toolResult": {**self.value, "content": _merged(self.listed("content"))}}
        if self.kind == "reasoningContent":
            texts = {name: self.text(name) for name in self.texts}
            told = {"reasoningText": {"text": "", **texts}} if texts else {}
            return {"reasoningContent": {**self.value, **told}}
        return {self.kind: dict(self.value)}


def _merged(parts: list[Any]) -> list[Any]:
    """The content of a result, in which texts that follow each other are one text."""
    merged: list[Any] = []
    texts: list[str] = []
    for part in [*parts, None]:
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str):
            texts.append(text)
            continue
        if texts:
            merged.append({"text": "".join(texts)})
            texts = []
        if part is not None:
            merged.append(part)
    return merged


class _Stream:
    """One message while its events come in."""

    def __init__(self) -> None:
        self.odd = Oddities()
        self.role = "assistant"
        self.fields: dict[str, Any] = {}
        self.parts: list[_Part] = []
        self.open: OpenBlocks[int, _Part] = OpenBlocks(self.odd)

    def take(self, event: dict[str, Any]) -> bool:
        """Take an event; tells whether it could be read."""
        read = [self._take(kind, told) for kind, told in event.items()]
        return bool(read) and all(read)

    def _take(self, kind: Any, told: Any) -> bool:
        if not isinstance(kind, str) or not isinstance(told, dict):
            return False
        if kind == "messageStart":
            self._start(told)
        elif kind in ("messageStop", "metadata"):
            self.fields.update(told)
            if kind == "messageStop":
                self.open.end()
        elif kind.endswith("Exception"):
            self.odd.error(kind, told.get("message"))
        else:
            return self._take_block(kind, told)
        return True

    def _start(self, told: dict[str, Any]) -> None:
        role = told.get("role")
        self.role = role if isinstance(role, str) else self.role
        self.open.start()

    def _take_block(self, kind: str, told: dict[str, Any]) -> bool:
        index = place(told, "contentBlockIndex")
        if index is None:
            return False
        part = self.open.get(index)
        if kind == "contentBlockStop":
            self.open.finish(index)
            return part is not None
        if kind == "contentBlockStart":
            start = told.get("start")
            found = start if isinstance(start, dict) else {}
            names = [name for name in _BEGUN if isinstance(found.get(name), dict)]
            return bool(names) and self._begin(index, names[0], found[names[0]]) is not None
        if kind != "contentBlockDelta":
            return False
        delta = told.get("delta")
        read = isinstance(delta, dict) and self._go_on(index, part, delta)
        if part is not None and not read:
            part.broken = True
        return read

    def _begin(self, index: int, kind: str, value: dict[str, Any]) -> _Part:
        part = self.open.begin(index, _Part(dict(value), kind=kind))
        self.parts.append(part)
        return part

    def _go_on(self, index: int, part: _Part | None, delta: dict[str, Any]) -> bool:
        read = []
        for kind, piece in delta.items():
            if part is None and kind in _BEGIN_THEMSELVES:
                part = self._begin(index, _BEGIN_THEMSELVES[kind], {})
            read.append(part is not None and part.take(kind, piece))
        return bool(read) and all(read)

    def joined(self) -> Joined:
        """What came, as one response."""
        self.open.break_off()
        calls = [part for part in self.parts if part.kind == "toolUse"]
        mine = [block for block in calls if block.value.get("type") != "server_tool_use"]
        cut = tuple(n for n, block in enumerate(mine) if block.is_cut(block.text("input")))
        message = {"role": self.role, "content": [part.whole() for part in self.parts]}
        return Joined({"output": {"message": message}, **self.fields}, self.odd.all(), cut)
