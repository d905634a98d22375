"""What the joins of streams share: texts that come in pieces, and what is odd about a stream.

Each provider has events of its own, so each has a join of its own; here is only what would be the
same in all of them. Nothing in a stream is an error: what cannot be read is left out and told, once
a kind with a count, since one broken stream may hold thousands of events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolflow.formats.arguments import parse_text
from toolflow.formats.base import Joined, quoted
from toolflow.model import Notice


@dataclass(slots=True)
class Block:
    """A part of a message while its pieces come in. Mutable: it lives in one join only.

    Attributes:
        value: What its first event told.
        texts: The pieces of its texts, by field.
        items: What came one by one for its lists, by field.
        torn: How many torn events there were when it began.
        finished: Whether its own end came.
        broken: Whether a piece of it could not be read.
    """

    value: dict[str, Any]
    texts: dict[str, list[str]] = field(default_factory=dict)
    items: dict[str, list[Any]] = field(default_factory=dict)
    torn: int = 0
    finished: bool = False
    broken: bool = False

    def add(self, name: str, piece: Any) -> bool:
        """Add a piece to the text of a field; anything but text breaks the block."""
        if isinstance(piece, str):
            self.texts.setdefault(name, []).append(piece)
            return True
        self.broken = True
        return False

    def end(self, odd: Oddities, *, finished: bool) -> None:
        """Take no more pieces. A torn event since its begin may have held one of them.

        Args:
            odd: What was odd about the stream so far.
            finished: Whether its own end came.
        """
        self.finished = finished
        self.broken = self.broken or odd.torn_events != self.torn

    def text(self, name: str) -> str:
        """The text of a field: what the first event held of it, then the pieces."""
        begun = self.value.get(name)
        return (begun if isinstance(begun, str) else "") + "".join(self.texts.get(name, ()))

    def listed(self, name: str) -> list[Any]:
        """The list of a field: what the first event held of it, then what came later."""
        begun = self.value.get(name)
        return [*(begun if isinstance(begun, list) else ()), *self.items.get(name, ())]

    def is_cut(self, arguments: str) -> bool:
        """Whether the arguments of this call are not there, though its name is.

        Args:
            arguments: As much of their text as came. Text that breaks off is no JSON, which is
                told as such; only where nothing came, it would be taken for no arguments.
        """
        return self.broken or not (self.finished or arguments.strip())


def as_object(arguments: str) -> Any:
    """The arguments as the object that their text holds; else the text, for the reader to tell."""
    read = parse_text(arguments)
    return dict(read.args) if read.problem is None else arguments


def place(event: Any, name: str) -> int | None:
    """The index that an event has under a name, or ``None`` where it has none."""
    index = event.get(name) if isinstance(event, dict) else None
    return index if type(index) is int else None


@dataclass(slots=True)
class Oddities:
    """What was odd about one stream, while it is joined."""

    notices: list[Notice] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    unread: list[tuple[int, str]] = field(default_factory=list)

    def not_read(self, number: int, kind: Any) -> None:
        """Note an event that has no place in the message.

        Args:
            number: Its place in the stream, counted from 0.
            kind: What it calls itself.
        """
        self.unread.append((number, kind if isinstance(kind, str) else ""))

    def torn_event(self, number: int) -> None:
        """Note an event that is no JSON object.

        Args:
            number: Its place in the stream, counted from 0.
        """
        self.torn.append(number)

    @property
    def torn_events(self) -> int:
        """How many torn events there were."""
        return len(self.torn)

    def second_start(self, first: Any, second: Any) -> None:
        """Note a message that begins before the one before it has ended."""
        names = [f" ({quoted(name)})" if isinstance(name, str) else "" for name in (first, second)]
        text = (
            f"A second message{names[1]} begins in the stream before the first{names[0]} ended."
            " What both hold is read as one."
        )
        self.notices.append(Notice("second_start", text))

    def error(self, *told: Any) -> None:
        """Note an error of the provider, with what it tells."""
        what = ", ".join(quoted(text) for text in told if isinstance(text, str) and text)
        text = "The provider broke the stream off with an error" + (f": {what}." if what else ".")
        self.notices.append(Notice("stream_error", text))

    def no_start(self) -> None:
        """Note a stream whose beginning is not there."""
        text = "The stream does not begin with the start of a message. What came of it is read."
        self.notices.append(Notice("no_start", text))

    def no_end(self) -> None:
        """Note a stream whose end is not there."""
        text = "The stream breaks off before the end of its message. What came of it is read."
        self.notices.append(Notice("no_end", text))

    def all(self) -> tuple[Notice, ...]:
        """Every notice about the stream."""
        found = list(self.notices)
        if self.torn:
            text = f"{_events(self.torn)} no JSON object, as torn events are not."
            found.append(Notice("torn_event", text))
        if self.unread:
            kinds = ", ".join(
                quoted(kind) for kind in sorted({kind for _, kind in self.unread})[:5]
            )
            numbers = [number for number, _ in self.unread]
            text = f"{_events(numbers)} of no known use here ({kinds})."
            found.append(Notice("unread_event", text))
        return tuple(found)


def _events(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"Event {numbers[0] + 1} of the stream is left out: it is"
    first = numbers[0] + 1
    return (
        f"{len(numbers)} events of the stream are left out (the first is event {first}): they are"
    )


class Stream(Protocol):
    """One message while its events come in."""

    odd: Oddities

    def take(self, event: dict[str, Any], /) -> bool:
        """Take an event; tells whether it could be read."""

    def joined(self) -> Joined:
        """What came."""


def join_events(
    stream: Stream, chunks: Sequence[Any], kind_of: Callable[[dict[str, Any]], Any]
) -> Joined:
    """Give a stream its events, one by one, and tell what cannot be read.

    Args:
        stream: The stream.
        chunks: The events of one stream.
        kind_of: What an event is called when it is told.
    """
    for number, chunk in enumerate(chunks):
        if not isinstance(chunk, dict):
            stream.odd.torn_event(number)
        elif not stream.take(chunk):
            stream.odd.not_read(number, kind_of(chunk))
    return stream.joined()


def of_type(kind: str) -> Callable[[dict[str, Any]], bool]:
    """Whether an event has this ``type``, for `cut_at_starts`."""
    return lambda event: event.get("type") == kind


def cut_at_starts(
    chunks: Sequence[Any],
    starts: Callable[[dict[str, Any]], bool],
    ends: Callable[[dict[str, Any]], bool],
) -> list[Sequence[Any]]:
    """Cut a file of several streams: before each start that follows an end.

    Args:
        chunks: The events of all streams.
        starts: Whether an event begins a message.
        ends: Whether an event ends one.
    """
    cuts, ended = [0], False
    for number, chunk in enumerate(chunks):
        if not isinstance(chunk, dict):
            continue
        if ended and starts(chunk):
            cuts.append(number)
            ended = False
        ended = ended or ends(chunk)
    return [chunks[a:b] for a, b in zip(cuts, [*cuts[1:], len(chunks)], strict=True)]
