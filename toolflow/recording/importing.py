"""A session log becomes a recording, turn by turn, with a summary of what is in it (spec 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolflow.errors import DocumentError, TurnError
from toolflow.formats import read_document
from toolflow.formats.session import open_session
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.turn import Notice
from toolflow.recording.writing import save_turns

Progress = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Imported:
    """What was found in a log.

    Attributes:
        path: The log.
        format: Its format.
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
    messages: int
    turns: int
    parallel: int
    largest: int
    calls: int
    results: int
    tools: Mapping[str, int]
    oddities: Mapping[str, int]
    broken: int = 0

    def data(self) -> dict[str, Any]:
        """The summary as JSON values."""
        return {
            "path": self.path,
            "format": self.format,
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
            self.tools.update(call.tool for call in calls)
            self.oddities.update(notice.code for notice in recorded.turn.notices)
            yield recorded

    def of(self, source: Mapping[str, Any], notices: Iterable[Notice]) -> Imported:
        """The summary, once every turn has passed."""
        oddities = self.oddities + Counter(notice.code for notice in notices)
        broken = int(source.get("broken_lines", 0))
        if broken:
            oddities["broken_line"] = broken  # of many, only the first are told one by one
        return Imported(
            str(source.get("path", "")),
            str(source.get("format", "?")),
            int(source.get("messages", self.turns)),
            self.turns,
            self.parallel,
            self.largest,
            self.calls,
            self.results,
            dict(sorted(self.tools.items(), key=lambda item: (-item[1], item[0]))),
            dict(sorted(oddities.items())),
            broken,
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
    return tally.of(log.source(), log.notices())


@dataclass(frozen=True, slots=True)
class OpenLog:
    """A log that can be read once, turn by turn.

    Attributes:
        turns: Its turns.
        source: Gives what ``Recording.source`` holds; complete after the last turn.
        notices: Gives what was odd; complete after the last turn.
    """

    turns: Iterable[RecordedTurn]
    source: Callable[[], dict[str, Any]]
    notices: Callable[[], tuple[Notice, ...]]


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
    try:
        session = open_session(path, format=format, progress=progress)
    except TurnError as error:
        if format is not None or any(p.code != "unknown_format" for p in error.problems):
            raise
        turns = _messages(Path(path), error)
        source = {"format": turns[0].turn.format, "path": Path(path).as_posix()}
        return OpenLog(turns, lambda: source, tuple)
    return OpenLog(session, lambda: session.source, lambda: session.notices)


def _messages(path: Path, unknown: TurnError) -> list[RecordedTurn]:
    """The turns of a file of messages of a wire format; what it is not is told as for a log."""
    try:
        turns = read_document(path.read_bytes(), source=str(path))
    except DocumentError as error:
        told = any(problem.code == "unknown_format" for problem in error.problems)
        raise (unknown if told else error) from None
    if not turns:
        raise unknown
    return [RecordedTurn(turn, (None,) * len(turn.calls)) for turn in turns]
