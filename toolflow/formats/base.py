"""What a wire format is: one value a module, so that the registry is a plain table.

A class hierarchy was the alternative. The formats share no behaviour, only a shape, and three
functions beside each other are easier to read than three methods with a base class; what they do
share (arguments, ids, the order of results) are functions in modules of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolflow.errors import Problem
from toolflow.formats.layout import Layout
from toolflow.formats.plain import text_of
from toolflow.model import Notice, Outcome, Turn

Path = tuple[str | int, ...]
Where = Callable[[Path, str], Problem]
Messages = tuple[list[Any], list[Any]]


@dataclass(frozen=True, slots=True)
class Flaw:
    """One place of a message that cannot be read.

    Attributes:
        path: Where it is: keys and indexes from the top.
        message: The whole sentence, with the path in it.
    """

    path: Path
    message: str


class Misfit(Exception):  # noqa: N818  # not an error of the package: the registry makes a TurnError of it
    """A message does not have the shape of its format. Carries every flaw found.

    Args:
        flaws: At least one flaw.
    """

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        super().__init__(flaws[0].message)
        self.flaws = tuple(flaws)


@dataclass(frozen=True, slots=True)
class IdRule:
    """What a provider takes as the id of a call.

    Attributes:
        legal: What the whole id must match.
        illegal: One character (or run) that must be replaced in an id that does not match.
        limit: The longest id in characters, or ``None`` where no limit is known.
        least: The shortest id in characters.
        filler: What stands for an illegal character, and before the number of a doubled id.
    """

    legal: re.Pattern[str]
    illegal: re.Pattern[str]
    limit: int | None = None
    least: int = 1
    filler: str = "_"


@dataclass(frozen=True, slots=True)
class Joined:
    """The chunks of one stream, put together (spec 3.1).

    Attributes:
        response: The message or the whole response as the provider would have sent it at once:
            what `Format.read` takes.
        notices: What was odd about the stream: an end that is missing, a second start.
        cut: The places, among the calls of the turn, of those whose arguments had not come when
            the stream broke off, or of which something may be missing without being seen. They
            must not run; the registry marks them.
    """

    response: Any
    notices: tuple[Notice, ...] = ()
    cut: tuple[int, ...] = ()


def no_chunk(data: Any) -> bool:  # noqa: ARG001  # the shape that `Format.is_chunk` has
    """For formats without streams: nothing is a chunk."""
    return False


class Answer(NamedTuple):
    """A result that stands in a list of messages.

    Attributes:
        call_id: The id of its call, as the reader of the format names it.
        outcome: What it tells.
        place: The index of its message in the list.
    """

    call_id: str
    outcome: Outcome
    place: int


@dataclass(frozen=True, slots=True)
class Format:
    """One wire format.

    Attributes:
        name: Its name, as in ``Turn.format`` and ``--format``.
        about: What it is recognised by, for the message that says what was looked for.
        recognise: Whether a JSON-like value is of this format. Positive evidence only.
        read: Every assistant message of a JSON-like value as a turn, in order, also those without
            calls; ids are given by the registry. Raises `Misfit`.
        write: The messages of a turn and its outcomes, given the ids to write and texts that
            follow the results.
        id_rule: Which call ids the provider takes.
        id_rule_of: The rule for a turn with these call ids, where servers of one format have
            rules of their own that show in the ids; `id_rule` where it is ``None``.
        is_chunk: Whether a JSON-like value is one chunk of a stream of this format. Positive
            evidence only; a whole message or response is none.
        join: Puts the chunks of one stream together. Raises `Misfit`, with paths that begin with
            the index of the chunk. ``None`` for formats without streams.
        split: Cuts chunks where one stream ends and the next begins, for files that hold several;
            together the pieces are the chunks. ``None``: all chunks are one stream.
        steps: A conversation in its order: each assistant message as a turn, with calls or
            without, and each result as an `Answer`. Skips what is neither. Raises `Misfit`.
            ``None`` for formats that know no conversations.
        layout: How results stand in a conversation, for those who look whether they stand right,
            and mend it. ``None``: nobody can.
    """

    name: str
    about: str
    recognise: Callable[[Any], bool]
    read: Callable[[Any], list[Turn]]
    write: Callable[[Turn, Sequence[Outcome], Sequence[str], Sequence[str]], Messages]
    id_rule: IdRule
    id_rule_of: Callable[[Sequence[str]], IdRule] | None = None
    is_chunk: Callable[[Any], bool] = no_chunk
    join: Callable[[Sequence[Any]], Joined] | None = None
    split: Callable[[Sequence[Any]], list[Sequence[Any]]] | None = None
    steps: Callable[[Sequence[Any]], Iterator[Turn | Answer]] | None = None
    layout: Layout | None = None


def dotted(path: Path) -> str:
    """A path as people write it: ``choices[0].message.tool_calls``."""
    text = ""
    for part in path:
        name = f"[{part}]" if isinstance(part, int) else _clip(printable(part), 60)
        text += f".{name}" if text and not isinstance(part, int) else name
    return text or "the message"


def flaw(path: Path, value: object, allowed: str) -> Flaw:
    """Say that a value is not what its place allows.

    Args:
        path: Its place.
        value: The value found.
        allowed: A sentence: what is allowed.
    """
    return Flaw(path, f"{dotted(path)} is {shown(value)}. {allowed}")


def text_at(path: Path, value: object, flaws: list[Flaw]) -> str:
    """The text of a place, such as an id or a name; empty where there is none.

    Args:
        path: The place.
        value: The value found.
        flaws: Where it is put that the value is neither text nor absent.
    """
    if value is not None and not isinstance(value, str):
        flaws.append(flaw(path, value, "Use text."))
    return text_of(value)


def shown(value: object) -> str:
    """A value in a message: short, on one line, without control characters."""
    if isinstance(value, dict):
        keys = ", ".join(_clip(repr(key), 24) for key in list(value)[:6])
        return f"an object with the keys {keys}" if value else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    if value is None:
        return "absent or null"
    if isinstance(value, str):
        return _clip(ascii(value[:50]), 48)
    if isinstance(value, bool | int | float):
        return _clip(_number(value), 48)
    return f"a value of type {type(value).__name__}"


def printable(text: object) -> str:
    """Text without control characters, lone surrogates and line breaks: they are escaped."""
    line = str(text)
    return line if line.isprintable() else ascii(line)[1:-1]


def quoted(text: object) -> str:
    """A name or an id in a message: in quotes, short, without control characters."""
    return f"'{_clip(printable(text), 80)}'"


def _number(value: float) -> str:
    try:
        return repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return "a huge integer"


def _clip(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
