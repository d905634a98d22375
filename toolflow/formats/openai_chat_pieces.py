"""The calls of a streamed Chat message, put together from their pieces (spec 3.1).

The published rule is simple: a piece belongs to the call at its ``index``, and only the first piece
of a call has ``id`` and ``name``. Servers that call themselves compatible break each part of it, so
this is how a piece finds its call:

* an id that a call has already: that call; another id than the call at this index has: a new call;
* no id: the call at this index; without an index the call that was touched last;
* no id, but a name, though the call's arguments are a whole object already (or its arguments have
  begun and its name is another): a new call, since nothing can follow a whole object;
* a name that is told again is not doubled; one that comes in pieces is joined.

Everything else is left to the reader: arguments of two calls in one field without a name or an id
between them stay one text, which is told as two objects.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from toolflow.formats.base import Flaw, Path, flaw
from toolflow.formats.openai_stream import LOST
from toolflow.formats.plain import plain

_MARK = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
_FIELDS = frozenset({"index", "id", "type", "function", "custom"})
_NOTHING: Any = object()


@dataclass(slots=True)
class _Scan:
    """Whether JSON text that comes in pieces is a whole object yet. Linear in the text."""

    depth: int = 0
    quoted: bool = False
    closed: bool = False
    tail: str = ""

    def feed(self, text: str) -> None:
        text = self.tail + text
        whole = text.rstrip("\\") if text.endswith("\\") else text
        self.tail = "\\" * ((len(text) - len(whole)) % 2)
        for found in _MARK.finditer(text, 0, len(text) - len(self.tail)):
            mark = found[0]
            if mark == '"':
                self.quoted = not self.quoted
            elif not self.quoted and mark in "{[":
                self.depth += 1
            elif not self.quoted and mark in "}]":
                self.depth -= 1
                self.closed = self.closed or self.depth <= 0


@dataclass(slots=True)
class _Text:
    """A name that is told at once, in pieces, again and again, or longer each time."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0

    def take(self, piece: str) -> None:
        # The joined text is only made for a piece that is at least as long: linear in all pieces.
        if self.length and len(piece) >= self.length and piece.startswith(self.whole()):
            self.pieces, self.length = [piece], len(piece)
            return
        self.pieces.append(piece)
        self.length += len(piece)

    def whole(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    def is_other(self, piece: str) -> bool:
        return len(piece) != self.length or piece != self.whole()


@dataclass(slots=True)
class _Call:
    """A call while its pieces come in."""

    index: int | None
    id: str | None = None
    kind: str = "function"
    name: _Text = field(default_factory=_Text)
    texts: list[str] = field(default_factory=list)
    value: Any = _NOTHING
    more: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    named_again: bool = False
    broken: bool = False
    losses: int = 0
    scan: _Scan = field(default_factory=_Scan)
    scanned: int = 0

    @property
    def argued(self) -> bool:
        """Whether arguments have begun."""
        return bool(self.texts) or self.value is not _NOTHING

    def is_whole(self) -> bool:
        """Whether the arguments are a whole object: what follows belongs to another call."""
        if self.value is not _NOTHING:
            return True
        for text in self.texts[self.scanned :]:
            self.scan.feed(text)
        self.scanned = len(self.texts)
        return self.scan.closed

    def settle(self, losses: int) -> None:
        """Take account of the events that were lost since the last piece came.

        Args:
            losses: How many were lost in the stream so far.
        """
        if losses == self.losses:
            return
        self.losses = losses
        if self.kind == "custom":
            self.broken = True  # free text: nobody can tell whether a piece is missing
        elif not self.is_whole():
            self.take_arguments(LOST)

    def take_arguments(self, given: Any) -> None:
        if given is None or given == "":
            return
        if not isinstance(given, str) and not self.argued:
            self.value = given
            return
        if self.value is not _NOTHING:
            self.texts, self.value = [_as_text(self.value)], _NOTHING
        self.texts.append(given if isinstance(given, str) else _as_text(given))

    def block(self) -> dict[str, Any]:
        """The call as it stands in a whole message."""
        key = "input" if self.kind == "custom" else "arguments"
        given = "".join(self.texts) if self.value is _NOTHING else self.value
        block = {} if self.id is None else {"id": self.id}
        body = {"name": self.name.whole(), key: given, **self.body}
        return {**block, "type": self.kind, self.kind: body, **self.more}


def _as_text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__}>"


@dataclass(slots=True)
class Pieces:
    """All calls of one streamed message. Mutable: it grows with the chunks.

    Attributes:
        flaws: What could not be read.
    """

    flaws: list[Flaw]
    _calls: list[_Call] = field(default_factory=list)
    _at: dict[int | None, _Call] = field(default_factory=dict)
    _by_id: dict[tuple[int | None, str], _Call] = field(default_factory=dict)
    _last: _Call | None = None
    _losses: int = 0

    def add(self, pieces: Any, path: Path) -> None:
        """Take the ``tool_calls`` of one chunk.

        Args:
            pieces: The value of the field.
            path: Its place, for the flaws.
        """
        if pieces is None:
            return
        if not isinstance(pieces, list | tuple):
            self.flaws.append(flaw(path, pieces, "Use a list of pieces of calls."))
            return
        for number, piece in enumerate(pieces):
            self._add(plain(piece), (*path, number))

    def _add(self, piece: Any, path: Path) -> None:
        if not isinstance(piece, dict):
            self.flaws.append(flaw(path, piece, "Use an object with index, id and function."))
            return
        kind = "custom" if "custom" in piece and "function" not in piece else "function"
        body = plain(piece.get(kind))
        if body is None:
            body = {}
        if not isinstance(body, dict):
            self.flaws.append(flaw((*path, kind), body, "Use an object with name and arguments."))
            return
        index = piece.get("index")
        if index is not None and type(index) is not int:
            self.flaws.append(flaw((*path, "index"), index, "Use a whole number."))
            index = None
        key = "input" if kind == "custom" else "arguments"
        call_id = self._text(piece.get("id"), (*path, "id"))
        name = self._text(body.get("name"), (*path, kind, "name")) or ""
        call = self._find(index, call_id or "", name, body.get(key))
        call.settle(self._losses)
        self._last = call
        if call_id is not None and not call.id:
            call.id = call_id
            self._by_id.setdefault((index, call_id), call)
            self._by_id.setdefault((None, call_id), call)
        if kind == "custom":
            call.kind = kind
        if name:
            call.name.take(name)
        call.take_arguments(body.get(key))
        _keep(call.more, piece, _FIELDS)
        _keep(call.body, body, frozenset({"name", key}))

    def _text(self, value: Any, path: Path) -> str | None:
        if value is None or isinstance(value, str):
            return value
        self.flaws.append(flaw(path, value, "Use text."))
        return None

    def _find(self, index: int | None, call_id: str, name: str, given: Any) -> _Call:
        """The call that a piece belongs to: one that is there, or a new one."""
        if call_id and (known := self._by_id.get((index, call_id))) is not None:
            return known
        call = self._last if index is None else self._at.get(index)
        if call is None or (call_id and (call.id or index is None)):
            return self._new(index)
        if call_id:
            return self._new(index) if name and call.argued else call
        if name and _is_another(call, name, given, placed=index is not None):
            return self._new(index)
        if name:
            call.named_again = call.argued
        elif call.named_again and given not in (None, "") and call.is_whole():
            again = call.name.whole()
            call = self._new(index)
            call.name.take(again)
        return call

    def _new(self, index: int | None) -> _Call:
        call = self._at[index] = _Call(index, losses=self._losses)
        self._calls.append(call)
        return call

    def lost(self) -> None:
        """An event was lost: no call that is still open is what it says."""
        self._losses += 1

    def blocks(self) -> list[dict[str, Any]]:
        """The calls of the whole message, in the model's order."""
        for call in self._calls:
            call.settle(self._losses)
        return [call.block() for call in self._ordered()]

    def cut(self, *, ended: bool) -> tuple[int, ...]:
        """The places of the calls of which something may be missing without being seen.

        Args:
            ended: Whether the stream has its end.
        """
        return tuple(
            place
            for place, call in enumerate(self._ordered())
            if call.broken or not (ended or (call.argued and call.kind == "function"))
        )

    def _ordered(self) -> list[_Call]:
        """By index where each call has one of its own, else as they began."""
        indexes = [call.index for call in self._calls if call.index is not None]
        if len(set(indexes)) < len(self._calls):
            return self._calls
        return sorted(self._calls, key=lambda call: call.index or 0)


def _is_another(call: _Call, name: str, given: Any, *, placed: bool) -> bool:
    """Whether a piece with a name and without an id begins another call than this one."""
    other = call.name.is_other(name)
    if call.argued:
        return (other and call.name.length > 0) or (given not in (None, "") and call.is_whole())
    return other and not placed


def _keep(kept: dict[str, Any], given: dict[str, Any], known: frozenset[str]) -> None:
    """Keep what else a piece holds; the latest value counts."""
    for key, value in given.items():
        if key not in known and (value is not None or key not in kept):
            kept[key] = value
