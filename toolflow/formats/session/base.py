"""What the format of a session log is: one value a module, as for wire formats.

A log is read as a stream: a reader gives out each turn as soon as nothing that follows can change
it, and writes down beside it, in a `Reading`, what it found out about the log as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Self

from toolflow.formats.session.log import Log, Record
from toolflow.model import Notice, RecordedTurn

SHOWN_NOTICES = 100
"""How many notices of each kind are kept for one log; those that follow are counted."""


@dataclass(slots=True)
class Oddities:
    """Notices of one log, in bounded memory. Mutable: they grow as the log is read.

    Attributes:
        kept: Of each kind the first hundred.
        counts: How many of each kind were told, by their code; also those that are not kept.
    """

    kept: list[Notice] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def append(self, notice: Notice) -> None:
        """Tell a notice."""
        self.counts[notice.code] += 1
        if self.counts[notice.code] <= SHOWN_NOTICES:
            self.kept.append(notice)

    def __iadd__(self, notices: Iterable[Notice]) -> Self:
        """Tell several notices."""
        for notice in notices:
            self.append(notice)
        return self

    def rest(self) -> Iterator[Notice]:
        """One notice for each kind of which more were told than are kept."""
        for code, count in sorted(self.counts.items()):
            if count > SHOWN_NOTICES:
                text = f"{count - SHOWN_NOTICES} more notices of this kind are not shown."
                yield Notice(code, text)


@dataclass(slots=True)
class Reading:
    """What one reading of a log finds out beside its turns. Mutable: it grows as turns are read.

    Attributes:
        about: What the log tells of its session, as JSON values: ``session``, ``cwd`` ...
        lines: How many lines (or items) were read.
        broken: How many of them could not be used.
        messages: How many messages of the model were read, with calls or without.
        oddities: Notices about what could not be used or paired, and the like.
    """

    about: dict[str, Any] = field(default_factory=dict)
    lines: int = 0
    broken: int = 0
    messages: int = 0
    oddities: Oddities = field(default_factory=Oddities)

    def objects(self, log: Log) -> Iterator[tuple[int, dict[str, Any]]]:
        """The records of a log that are JSON objects, with their numbers; others are skipped."""
        for record in log.records():
            if self.usable(record):
                yield record.number, record.value

    def usable(self, record: Record) -> bool:
        """Count a record, and tell whether it is a JSON object that could be read."""
        self.lines += 1
        if record.fault is not None:
            self.skip(record.number, record.fault)
        elif isinstance(record.value, dict):
            return True
        else:
            self.skip(record.number, "it is no JSON object")
        return False

    def skip(self, number: int, fault: str) -> None:
        """Tell that a line cannot be used, and why: a clause such as ``it is not JSON``."""
        self.broken += 1
        text = f"Line {number} was skipped: {fault}."
        self.oddities.append(Notice("broken_line", text, line=number))

    def note(self, **facts: Any) -> None:
        """Keep what a log tells of its session: of each fact the first that is there."""
        for name, value in facts.items():
            if value not in (None, "", [], {}):
                self.about.setdefault(name, value)

    def notices(self) -> tuple[Notice, ...]:
        """Everything odd that was found, in the order of the lines."""
        found = (*self.oddities.kept, *self.oddities.rest())
        return tuple(sorted(found, key=lambda notice: notice.line or inf))


@dataclass(frozen=True, slots=True)
class SessionFormat:
    """One kind of session log.

    Attributes:
        name: Its name, as in ``Recording.source`` and ``--format``.
        about: What it is recognised by, for the message that says what was looked for.
        recognise: Whether the first records of a log are of this kind. Positive evidence only.
        read: Reads a log: gives the turns that have calls, in the order of their first lines, and
            fills the `Reading`. Skips and counts what is broken. The names of the turns are
            given by the caller.
    """

    name: str
    about: str
    recognise: Callable[[Sequence[Any]], bool]
    read: Callable[[Log, Reading], Iterator[RecordedTurn]]
