"""A session log becomes a recording, turn by turn, with a summary of what is in it (spec 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolflow.errors import DocumentError, Problem, TurnError
from toolflow.formats import FORMATS
from toolflow.formats.base import printable
from toolflow.formats.document import read_messages
from toolflow.formats.session import open_session
from toolflow.formats.session.base import Reading
from toolflow.formats.session.log import MAX_DOCUMENT
from toolflow.formats.session.pairing import Conversation
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.turn import Notice
from toolflow.recording.writing import save_turns

Progress = Callable[[int], object]
_DOCUMENTS = frozenset({".json", ".jsonl", ".sse", ".txt", ".yaml", ".yml"})
_OF_ANY = frozenset({"messages", "vcr"})
_UNKNOWN = "unknown_format"


@dataclass(frozen=True, slots=True)
class Imported:
    """What was found in a log.

    Attributes:
        path: The log.
        format: Its format.
        wire: The wire formats of the turns in it, sorted.
        messages: How many messages of the model it has, with calls or without.
        turns: How many of them have calls.
        parallel: How many have two calls or more.
        largest: The most calls of one turn.
        calls: How many calls there are.
        results: How many of them have a result.
        tools: How many calls each tool has, the most first.
        oddities: How often each kind of notice was given, by its code.
        broken: How many lines could not be read.
    """

    path: str
    format: str
    wire: tuple[str, ...]
    messages: int
    turns: int
    parallel: int
    largest: int
    calls: int
    results: int
    tools: Mapping[str, int]
    oddities: Mapping[str, int]
    broken: int = 0

    @property
    def kind(self) -> str:
        """Its format; of one that holds messages of any provider, with theirs: ``vcr/gemini``."""
        theirs = "+".join(self.wire) if self.format in _OF_ANY else ""
        return f"{self.format}/{theirs}" if theirs else self.format

    def data(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return {
            "path": self.path,
            "format": self.format,
            "wire_formats": list(self.wire),
            "messages": self.messages,
            "turns": self.turns,
            "parallel_turns": self.parallel,
            "largest": self.largest,
            "calls": self.calls,
            "results": self.results,
            "tools": dict(self.tools),
            "oddities": dict(self.oddities),
            "broken_lines": self.broken,
        }


@dataclass(slots=True)
class Tally:
    """Counts turns as they pass. Mutable: it lives for one log."""

    turns: int = 0
    parallel: int = 0
    largest: int = 0
    calls: int = 0
    results: int = 0
    wire: set[str] = field(default_factory=set)
    tools: Counter[str] = field(default_factory=Counter)
    oddities: Counter[str] = field(default_factory=Counter)

    def counted(self, turns: Iterable[RecordedTurn]) -> Iterator[RecordedTurn]:
        """The turns, each counted as it passes."""
        for recorded in turns:
            calls = recorded.turn.calls
            self.turns += 1
            self.parallel += len(calls) >= 2
            self.largest = max(self.largest, len(calls))
            self.calls += len(calls)
            self.results += sum(outcome is not None for outcome in recorded.outcomes)
            self.wire.add(recorded.turn.format)
            self.tools.update(call.tool for call in calls)
            self.oddities.update(notice.code for notice in recorded.turn.notices)
            yield recorded

    def of(self, source: Mapping[str, Any], counts: Mapping[str, int]) -> Imported:
        """The summary, once every turn has passed.

        Args:
            source: What ``Recording.source`` holds.
            counts: How often each kind of notice was given for the log as a whole.
        """
        oddities = self.oddities + Counter(counts)
        return Imported(
            str(source.get("path", "")),
            str(source.get("format", "?")),
            tuple(sorted(self.wire)),
            int(source.get("messages", self.turns)),
            self.turns,
            self.parallel,
            self.largest,
            self.calls,
            self.results,
            dict(sorted(self.tools.items(), key=lambda item: (-item[1], item[0]))),
            dict(sorted(oddities.items())),
            int(source.get("broken_lines", 0)),
        )


def import_log(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the option's name everywhere
    to: str | Path | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Read a log, and write it as a recording if a place is given.

    Args:
        path: The log: of any format of session logs, or messages of any wire format.
        format: The name of its format; detected where it is not given.
        to: Where the recording is written; ``None``: it is only looked through.
        progress: Called now and then with how many bytes of the log were read.

    Returns:
        What is in it.

    Raises:
        TurnError: If it cannot be read, or its format cannot be told.
        RecordingError: If the recording cannot be written.
        UsageError: If there is no format of that name.
    """
    log = open_log(path, format=format, progress=progress)
    tally = Tally()
    turns = tally.counted(log.turns)
    if to is None:
        for _ in turns:
            pass
    else:
        save_turns(turns, lambda: Recording((), log.source(), notices=log.notices()), to)
    return tally.of(log.source(), log.counts())


@dataclass(frozen=True, slots=True)
class OpenLog:
    """A log that can be read once, turn by turn.

    Attributes:
        turns: Its turns.
        source: Gives what ``Recording.source`` holds; complete after the last turn.
        notices: Gives what was odd, of each kind the first hundred; complete after the last turn.
        counts: Gives how often each kind of notice was given; complete after the last turn.
    """

    turns: Iterable[RecordedTurn]
    source: Callable[[], dict[str, Any]]
    notices: Callable[[], tuple[Notice, ...]]
    counts: Callable[[], Mapping[str, int]]


def open_log(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # as above
    progress: Progress | None = None,
) -> OpenLog:
    """Open a session log, or a file of messages that is none.

    Args:
        path: The file.
        format: The name of its format; detected where it is not given.
        progress: See `import_log`.

    Raises:
        TurnError: If it is neither.
        UsageError: If there is no format of that name.
    """
    if format in FORMATS:
        return _messages(Path(path), format, None)
    try:
        session = open_session(path, format=format, progress=progress)
    except TurnError as error:
        if format is not None or any(p.code != _UNKNOWN for p in error.problems):
            raise
        return _messages(Path(path), None, error)
    return OpenLog(session, lambda: session.source, lambda: session.notices, lambda: session.counts)


def _messages(path: Path, form: str | None, unknown: TurnError | None) -> OpenLog:
    """A file of messages of a wire format; what it is not is told as for a log.

    Args:
        path: The file.
        form: The name of the format, or ``None``.
        unknown: What was found out when it was taken for a log, or ``None``.
    """
    data = _content(path)
    try:
        turns = read_messages(data, source=printable(path), format=form)
    except DocumentError as error:
        is_told = path.suffix in _DOCUMENTS and all(p.code != _UNKNOWN for p in error.problems)
        raise error if unknown is None or is_told else unknown from None
    if not turns and unknown is not None:
        raise unknown
    reading = Reading()
    talk = Conversation(reading)
    for number, turn in enumerate(turns, 1):
        talk.message(turn, line=number)
    recorded = list(talk.rest())
    name = form or turns[0].format
    source = {"format": name, "path": path.as_posix(), "messages": reading.messages}
    return OpenLog(recorded, lambda: source, reading.notices, lambda: reading.oddities.counts)


def _content(path: Path) -> bytes:
    """The bytes of a file that is one document.

    Raises:
        TurnError: If it cannot be read, is empty, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_DOCUMENT + 1)
    except OSError as error:
        wrong = f"The file cannot be read: {error.strerror or type(error).__name__}."
    else:
        if data.strip() and len(data) <= MAX_DOCUMENT:
            return data
        wrong = "The document is larger than 256 MiB." if data.strip() else "The file is empty."
    raise TurnError(Problem(wrong, printable(path)))
