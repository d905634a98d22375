"""Session logs: many turns of one conversation, with what became of them (spec 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from toolflow.errors import Problem, TurnError, UsageError
from toolflow.formats.base import printable, quoted
from toolflow.formats.session import claude_code
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.model import Notice, RecordedTurn, Recording

__all__ = ["SESSION_FORMATS", "Session", "SessionFormat", "open_session", "read_session"]

SESSION_FORMATS: Mapping[str, SessionFormat] = MappingProxyType(
    {form.name: form for form in (claude_code.FORMAT,)}
)
"""Every kind of session log by its name, in the order of detection."""


class Session:
    """A log that is being read: its turns, one by one, in bounded memory.

    Iterate over it once. What it tells of the log as a whole is complete after the last turn.

    Args:
        log: The log.
        form: Its format.
    """

    def __init__(self, log: Log, form: SessionFormat) -> None:
        self.format = form
        self.log = log
        self._reading = Reading()
        self._sources: dict[str, None] = {}

    def __iter__(self) -> Iterator[RecordedTurn]:
        for recorded in self.format.read(self.log, self._reading):
            self._sources.setdefault(recorded.turn.source)
            yield recorded

    @property
    def source(self) -> dict[str, Any]:
        """Where the turns come from, as in ``Recording.source``."""
        reading, sources = self._reading, list(self._sources)
        return {
            "format": self.format.name,
            "path": self.log.path.as_posix(),
            **reading.about,
            **({"sources": sources} if sources not in ([], ["main"]) else {}),
            "lines": reading.lines,
            "broken_lines": reading.broken,
            "messages": reading.messages,
        }

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was odd, in the order of the lines."""
        return self._reading.notices()


def open_session(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the option's name everywhere
    progress: Callable[[int], object] | None = None,
) -> Session:
    """Open the log of a session, to read its turns one by one.

    Args:
        path: The log's file.
        format: The name of its format; detected from the first records where it is not given.
        progress: Called now and then while it is read, with how many bytes were read so far.

    Raises:
        TurnError: If the file cannot be read, or its format cannot be told.
        UsageError: If there is no format of that name.
    """
    if format is not None and format not in SESSION_FORMATS:
        known = ", ".join(sorted(SESSION_FORMATS))
        raise UsageError(f"format is {quoted(format)}. Use one of {known}.")
    log = Log.open(path, progress=progress)
    return Session(log, SESSION_FORMATS[format] if format is not None else _detected(log))


def read_session(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # as above
) -> Recording:
    """Read the whole log of a session.

    Args:
        path: The log's file.
        format: The name of its format; detected from the first records where it is not given.

    Returns:
        The turns that have calls, in the order of their first lines, with outcomes and times as
        far as the log tells them, and notices about what was broken or could not be paired.

    Raises:
        TurnError: If the file cannot be read, or its format cannot be told.
        UsageError: If there is no format of that name.
    """
    session = open_session(path, format=format)
    turns = tuple(session)
    return Recording(turns, session.source, notices=session.notices)


def _detected(log: Log) -> SessionFormat:
    head = log.head()
    for form in SESSION_FORMATS.values():
        if form.recognise(head):
            return form
    looked_for = "; ".join(f"{form.name} ({form.about})" for form in SESSION_FORMATS.values())
    found = f"{len(head)} records" if head else "no line that is JSON"
    message = f"The format of the log cannot be told from {found}. Looked for: {looked_for}."
    raise TurnError(Problem(message, printable(log.path), code="unknown_format"))
