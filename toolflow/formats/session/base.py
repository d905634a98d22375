"""What the format of a session log is: one value a module, as for wire formats.

A log is read as a stream: a reader gives out each turn as soon as nothing that follows can change
it, and writes down beside it, in a `Reading`, what it found out about the log as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

from toolflow.formats.session.log import Log, Record
from toolflow.model import Notice, RecordedTurn

SHOWN_NOTICES = 100


@dataclass(slots=True)
class Reading:
    """What one reading of a log finds out beside its turns. Mutable: it grows as turns are read.

    Attributes:
        about: What the log tells of its session, as JSON values: ``session``, ``cwd`` ...
        lines: How many lines (or items) were read.
        broken: How many of them could not be used.
        messages: How many messages of the model were read, with calls or without.
        skipped: Notices about what could not be used: the first hundred.
        oddities: Notices about results that could not be paired, and the like.
    """

    about: dict[str, Any] = field(default_factory=dict)
    lines: int = 0
    broken: int = 0
    messages: int = 0
    skipped: list[Notice] = field(default_factory=list)
    oddities: list[Notice] = field(default_factory=list)

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
        if self.broken <= SHOWN_NOTICES:
            text = f"Line {number} was skipped: {fault}."
            self.skipped.append(Notice("broken_line", text, line=number))

    def note(self, **facts: Any) -> None:
        """Keep what a log tells of its session: of each fact the first that is there."""
        for name, value in facts.items():
            if value not in (None, "", [], {}):
                self.about.setdefault(name, value)

    def notices(self) -> tuple[Notice, ...]:
        """Everything odd that was found, in the order of the lines."""
        found = [*self.skipped, *self.oddities]
        if self.broken > SHOWN_NOTICES:
            text = f"{self.broken - SHOWN_NOTICES} more lines were skipped."
            found.append(Notice("broken_line", text))
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
