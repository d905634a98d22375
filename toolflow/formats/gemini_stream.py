"""Streams of Gemini: many responses, each with some of the parts, become one response.

Source: the reference of ``streamGenerateContent`` and of ``FunctionCall``. Texts that follow each
other are one text, unless a thought signature belongs to one of them: the API wants each signature
back on the part on which it came. A call that says ``willContinue`` goes on in the following calls
without a name; what its arguments are is worked out in `toolflow.formats.gemini_args`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from toolflow.formats.base import Joined, Misfit, flaw
from toolflow.formats.gemini_args import UnfitError, assembled
from toolflow.formats.plain import either
from toolflow.formats.streaming import Oddities

_JOINABLE = frozenset({"text", "thought"})


def candidates(data: Any) -> list[Any] | None:
    """The candidates of a response, or ``None`` where it is none."""
    found = data.get("candidates") if isinstance(data, dict) else None
    return found if isinstance(found, list) else None


def finished(candidate: Any) -> bool:
    """Whether a candidate tells why it ended."""
    return isinstance(candidate, dict) and bool(either(candidate, "finishReason", "finish_reason"))


def is_chunk(data: Any) -> bool:
    """Whether it is a response that does not tell how it ended, as only those of streams do."""
    found = candidates(data)
    first = found[0] if found else None
    return isinstance(first, dict) and not finished(first)


def split(chunks: Sequence[Any]) -> list[Sequence[Any]]:
    """Cut where the id of the response changes; without ids, before content that follows an end."""
    cuts, before, ended = [0], None, False
    for number, chunk in enumerate(chunks):
        name = either(chunk, "responseId", "response_id") if isinstance(chunk, dict) else None
        name = name if isinstance(name, str) else None
        other = name != before if name and before else ended and _has_parts(chunk)
        if number and other:
            cuts.append(number)
            before, ended = None, False
        before = name or before
        ended = ended or any(map(finished, (candidates(chunk) or ())[:1]))
    return [chunks[a:b] for a, b in zip(cuts, [*cuts[1:], len(chunks)], strict=True)]


def _has_parts(chunk: Any) -> bool:
    first = (candidates(chunk) or [None])[0]
    content = first.get("content") if isinstance(first, dict) else None
    return isinstance(content, dict) and bool(content.get("parts"))


def join(chunks: Sequence[Any]) -> Joined:
    """Put the responses of one stream together (see `toolflow.formats.base.Format`)."""
    stream = _Stream()
    for number, chunk in enumerate(chunks):
        if isinstance(chunk, dict) and "parts" in chunk:
            raise Misfit([flaw((number,), chunk, "Use the responses of one stream only.")])
        if not isinstance(chunk, dict):
            stream.odd.torn_event(number)
        elif not stream.take(chunk):
            stream.odd.not_read(number, next(iter(chunk), ""))
    return stream.joined(one=len(chunks) == 1)


@dataclass(slots=True)
class _Call:
    """A call while its pieces come in."""

    part: dict[str, Any]
    key: str
    body: dict[str, Any]
    torn: int
    pieces: list[Any] = field(default_factory=list)
    goes_on: bool = False
    broken: bool = False

    def add(self, part: dict[str, Any], body: dict[str, Any], torn: int) -> None:
        """Add what a part tells of it; the name and the signature stay the first ones.

        A torn event since its begin may have held a piece of it: then it is never whole.
        """
        pieces = either(body, "partialArgs", "partial_args")
        self.pieces += pieces if isinstance(pieces, list) else [] if pieces is None else [pieces]
        self.broken = self.broken or torn != self.torn
        self.part = {**{k: v for k, v in part.items() if k != self.key}, **self.part}
        told = {key: value for key, value in body.items() if value is not None}
        self.body = {**told, **self.body}
        self.goes_on = either(body, "willContinue", "will_continue") is True

    def whole(self) -> dict[str, Any]:
        """The part as it would have come at once; pieces that do not fit stay pieces."""
        body = {k: v for k, v in self.body.items() if k not in _STREAMED}
        snake = self.key == "function_call"
        goes_on = self.goes_on or self.broken
        if goes_on:
            body["will_continue" if snake else "willContinue"] = True
        if self.pieces:
            args = None if goes_on or "args" in body else _arguments(self.pieces)
            key = "partial_args" if snake else "partialArgs"
            body.update({key: self.pieces} if args is None else {"args": args})
        return {**self.part, self.key: body}


def _arguments(pieces: list[Any]) -> dict[str, Any] | None:
    try:
        return assembled(pieces)
    except UnfitError:
        return None


_STREAMED = frozenset({"partialArgs", "partial_args", "willContinue", "will_continue"})


@dataclass(slots=True)
class _Text:
    part: dict[str, Any]
    pieces: list[str]

    def whole(self) -> dict[str, Any]:
        return {**self.part, "text": "".join(self.pieces)}


@dataclass(slots=True)
class _Candidate:
    """One candidate while its parts come in."""

    fields: dict[str, Any] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    parts: list[_Call | _Text | dict[str, Any]] = field(default_factory=list)
    open: _Call | None = None
    torn: int = 0

    def take(self, candidate: dict[str, Any], torn: int) -> bool:
        self.torn = torn
        self.fields.update({k: v for k, v in candidate.items() if v is not None and k != "content"})
        content = candidate.get("content")
        if not isinstance(content, dict):
            return content is None
        self.content = {**content, **self.content}
        parts = content.get("parts")
        if not isinstance(parts, list):
            return parts is None
        read = [self._add(part) for part in parts]
        return all(read)

    def _add(self, part: Any) -> bool:
        if not isinstance(part, dict):
            return False
        key = "functionCall" if "functionCall" in part else "function_call"
        body = part.get(key)
        if isinstance(body, dict):
            self._add_call(part, key, body)
        elif isinstance(part.get("text"), str) and part.keys() <= _JOINABLE:
            self._add_text(part)
        else:
            self.parts.append(part)
        return True

    def _add_call(self, part: dict[str, Any], key: str, body: dict[str, Any]) -> None:
        call, name = self.open, body.get("name")
        same_id = call is not None and body.get("id") and body["id"] == call.body.get("id")
        if call is None or (name and not same_id):
            if not name and not any(value for value in body.values()) and part.keys() == {key}:
                return  # the end of a call that had told its end before
            call = _Call({}, key, {}, self.torn)
            self.parts.append(call)
        call.add(part, body, self.torn)
        self.open = call if call.goes_on else None

    def _add_text(self, part: dict[str, Any]) -> None:
        before = self.parts[-1] if self.parts else None
        if isinstance(before, _Text) and before.part.get("thought") == part.get("thought"):
            before.pieces.append(part["text"])
        elif part["text"]:  # an empty text on its own says nothing
            self.parts.append(_Text(part, [part["text"]]))

    def whole(self) -> dict[str, Any]:
        parts = [part if isinstance(part, dict) else part.whole() for part in self.parts]
        return {"content": {"role": "model", **self.content, "parts": parts}, **self.fields}

    def breaks_off(self) -> bool:
        """Whether the end of a call never came."""
        return any(isinstance(part, _Call) and part.goes_on for part in self.parts)


class _Stream:
    def __init__(self) -> None:
        self.odd = Oddities()
        self.fields: dict[str, Any] = {}
        self.candidates: dict[int, _Candidate] = {}

    def take(self, chunk: dict[str, Any]) -> bool:
        """Take a response; tells whether it could be read."""
        error = chunk.get("error")
        if isinstance(error, dict):
            self.odd.error(error.get("status"), error.get("message"))
            return True
        kept = {k: v for k, v in chunk.items() if v is not None and k != "candidates"}
        self.fields.update(kept)
        found = candidates(chunk)
        if found is None:
            return bool(kept)
        read = [self._take(candidate) for candidate in found]
        return all(read)

    def _take(self, candidate: Any) -> bool:
        if not isinstance(candidate, dict):
            return False
        index = candidate.get("index")
        number = index if type(index) is int else 0
        whose = self.candidates.setdefault(number, _Candidate())
        return whose.take(candidate, self.odd.torn_events)

    def joined(self, *, one: bool) -> Joined:
        """What came, as one response.

        Args:
            one: Whether it came in one response: then it may be a whole one that somebody wrote
                down without its end.
        """
        found = [self.candidates[number] for number in sorted(self.candidates)]
        ended = not found or finished(found[0].fields)
        if not ended and (not one or found[0].breaks_off()):
            self.odd.no_end()
        whole = {**self.fields, "candidates": [candidate.whole() for candidate in found]}
        return Joined(whole, self.odd.all())
