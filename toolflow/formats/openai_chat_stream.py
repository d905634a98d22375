"""The chunks of a Chat Completions stream become the whole response (spec 3.1).

Source: the published reference of ``chat.completion.chunk``, and what compatible servers make of
it. Texts are joined, lists extended, of all else the latest value counts. A stream without a
``finish_reason`` broke off, and an event may be lost: a call of which anything may be missing does
not run. A stream that starts again (a client's second try, written to one file) is
read from its last start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from toolflow.formats import ollama
from toolflow.formats.base import Flaw, Joined, Misfit, Path, flaw
from toolflow.formats.openai_chat_parts import merged
from toolflow.formats.openai_chat_pieces import Pieces
from toolflow.formats.openai_stream import no_end, second_start, stream_error, torn_events
from toolflow.formats.plain import plain
from toolflow.model import Notice

_FIRST = frozenset({"id", "created", "model"})
_CHOICE_FIELDS = frozenset({"index", "delta", "message", "finish_reason"})


def is_chunk(data: Any) -> bool:
    """Whether a value is one chunk of a stream; a whole response is none."""
    if not isinstance(data, dict):
        return False
    if data.get("object") == "chat.completion.chunk" or ollama.is_chunk(data):
        return True
    choices = data.get("choices")
    if not isinstance(choices, list | tuple) or not choices:
        return False
    choice = plain(choices[0])
    return (
        isinstance(choice, dict)
        and isinstance(plain(choice.get("delta")), dict)
        and choice.get("message") is None
    )


def join(chunks: Sequence[Any]) -> Joined:
    """Put a stream together (see `toolflow.formats.base.Format`)."""
    if any(isinstance(chunk, dict) and ollama.is_response(chunk) for chunk in chunks):
        return ollama.join(chunks)
    start = max((place for place, _ in _starts(chunks)), default=0)
    stream = _Stream()
    if start:
        stream.notices.append(second_start("chunk", start, start))
    for number in range(start, len(chunks)):
        stream.take(chunks[number], (number,))
    if stream.flaws:
        raise Misfit(stream.flaws)
    return stream.joined()


@dataclass(slots=True)
class _Choice:
    """One choice while its chunks come in."""

    flaws: list[Flaw]
    fields: dict[str, list[Any]] = field(default_factory=dict)
    rest: dict[str, list[Any]] = field(default_factory=dict)
    ended: Any = None
    has_calls: bool = False
    calls: Pieces = field(init=False)

    def __post_init__(self) -> None:
        self.calls = Pieces(self.flaws)

    def take(self, choice: dict[str, Any], path: Path) -> None:
        key = "delta" if choice.get("delta") is not None else "message"
        delta = plain(choice.get(key))
        if delta is not None and not isinstance(delta, dict):
            self.flaws.append(flaw((*path, key), delta, "Use an object."))
        elif delta:
            self._take_delta(delta, (*path, key))
        if choice.get("finish_reason") is not None:
            self.ended = choice["finish_reason"]
        for name, value in choice.items():
            if name not in _CHOICE_FIELDS:
                self.rest.setdefault(name, []).append(value)

    def _take_delta(self, delta: dict[str, Any], path: Path) -> None:
        for name, value in delta.items():
            if name == "tool_calls":
                self.has_calls = self.has_calls or value is not None
                self.calls.add(value, (*path, name))
            elif name != "index":  # which message it is: some servers tell it in the delta too
                self.fields.setdefault(name, []).append(plain(value))

    def message(self) -> dict[str, Any]:
        fields = {name: merged(name, values) for name, values in self.fields.items()}
        first = {"role": fields.get("role") or "assistant", "content": fields.get("content")}
        message = {**first, **{k: v for k, v in fields.items() if k not in first}}
        if self.has_calls:
            message["tool_calls"] = self.calls.blocks()
        return message

    def whole(self, index: int) -> dict[str, Any]:
        rest = {name: merged(name, values) for name, values in self.rest.items()}
        message = self.message()
        return {"index": index, "message": message, "finish_reason": self.ended, **rest}


@dataclass(slots=True)
class _Stream:
    """A stream while its chunks come in."""

    flaws: list[Flaw] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    choices: dict[int, _Choice] = field(default_factory=dict)

    def take(self, chunk: Any, path: Path) -> None:
        if isinstance(chunk, str):
            self.torn.append(int(path[0]))
            for choice in self.choices.values():
                choice.calls.lost()
            return
        if not isinstance(chunk, dict):
            self.flaws.append(flaw(path, chunk, "Use a chunk: an object with choices."))
            return
        if chunk.get("error") is not None:
            self.notices.append(stream_error(chunk["error"]))
        for name, value in chunk.items():
            if name == "choices":
                self._take_choices(value, (*path, name))
            elif name in _FIRST:
                self.fields[name] = self.fields.get(name) or value
            elif value is not None or name not in self.fields:
                self.fields[name] = value

    def _take_choices(self, choices: Any, path: Path) -> None:
        if choices is None:
            return
        if not isinstance(choices, list | tuple):
            self.flaws.append(flaw(path, choices, "Use a list of choices."))
            return
        for number, raw in enumerate(choices):
            choice, place = plain(raw), (*path, number)
            if not isinstance(choice, dict):
                self.flaws.append(flaw(place, choice, "Use an object with a delta."))
                continue
            index = choice.get("index")
            if index is not None and type(index) is not int:
                self.flaws.append(flaw((*place, "index"), index, "Use a whole number."))
                continue
            taker = self.choices.setdefault(index or 0, _Choice(self.flaws))
            taker.take(choice, place)

    def joined(self) -> Joined:
        choices = dict(sorted(self.choices.items())) or {0: _Choice(self.flaws)}
        first = next(iter(choices.values()))
        if first.ended is None:
            self.notices.append(no_end("finish_reason"))
        whole = {**self.fields, "object": "chat.completion"}
        whole["choices"] = [choice.whole(index) for index, choice in choices.items()]
        cut = first.calls.cut(ended=first.ended is not None)
        return Joined(whole, (*torn_events(self.torn), *self.notices), cut)


def split(chunks: Sequence[Any]) -> list[Sequence[Any]]:
    """Cut where one response has ended and the next begins (see `toolflow.formats.base.Format`)."""
    cuts = [0, *(place for place, ended in _starts(chunks) if ended), len(chunks)]
    return [chunks[a:b] for a, b in pairwise(cuts)]


def _starts(chunks: Sequence[Any]) -> Iterator[tuple[int, bool]]:
    """Where further responses begin in a stream, and whether the one before had ended.

    A response begins where the id changes and a role is told anew, if the one before had ended or
    had told its role once only; servers exist that give each chunk an id of its own.
    """
    names = [chunk.get("id") for chunk in chunks if isinstance(chunk, dict)]
    if len({name for name in names if isinstance(name, str)}) < 2:
        return
    current, seen, roles, ended = "", 0, 0, False
    for number, chunk in enumerate(chunks):
        if not isinstance(chunk, dict):
            continue
        chunk_id = chunk.get("id")
        fresh = isinstance(chunk_id, str) and chunk_id not in ("", current)
        role = any(_has_role(choice) for choice in _choices(chunk))
        if fresh and current and role and (ended or (roles == 1 and seen > 1)):
            yield number, ended
            seen, roles, ended = 0, 0, False
        if fresh:
            current = str(chunk_id)
        seen += 1
        roles += role
        ended = ended or any(choice.get("finish_reason") for choice in _choices(chunk))


def _choices(chunk: dict[str, Any]) -> Iterator[dict[str, Any]]:
    choices = chunk.get("choices")
    for raw in choices if isinstance(choices, list | tuple) else ():
        choice = plain(raw)
        if isinstance(choice, dict):
            yield choice


def _has_role(choice: dict[str, Any]) -> bool:
    delta = plain(choice.get("delta"))
    return isinstance(delta, dict) and isinstance(delta.get("role"), str)
