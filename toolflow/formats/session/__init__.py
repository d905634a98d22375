"""Session logs: many turns of one conversation, with what became of them (spec 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from toolflow.errors import Problem, TurnError, UsageError
from toolflow.formats import plugins
from toolflow.formats.base import printable, quoted
from toolflow.formats.registry import FORMATS
from toolflow.formats.session import (
    atif,
    bfcl,
    claude_code,
    codex,
    copilot,
    gemini_cli,
    inspect_log,
    kimi,
    messages,
    mini_swe_agent,
    openai_agents,
    openhands,
    pi,
    swe_agent,
    tau_bench,
    tool_lists,
    vcr,
)
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.model import Notice, RecordedTurn, Recording

__all__ = [
    "SESSION_FORMATS",
    "Session",
    "SessionFormat",
    "open_session",
    "read_session",
    "recognised",
    "session_format",
]

_IN_ORDER = (
    claude_code.FORMAT,
    codex.FORMAT,
    pi.FORMAT,
    copilot.FORMAT,
    gemini_cli.FORMAT,
    kimi.FORMAT,
    atif.FORMAT,
    vcr.FORMAT,
    openhands.FORMAT,
    swe_agent.FORMAT,
    mini_swe_agent.FORMAT,
    tau_bench.FORMAT,
    inspect_log.FORMAT,
    openai_agents.FORMAT,
    bfcl.FORMAT,
    tool_lists.FORMAT,
)
SESSION_FORMATS: Mapping[str, SessionFormat] = MappingProxyType(
    {form.name: form for form in (*_IN_ORDER, messages.FORMAT)}
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
        try:
            for recorded in self.format.read(self.log, self._reading):
                self._sources.setdefault(recorded.turn.source)
                yield recorded
        except RecursionError:
            message = "A record is nested too deeply."
            raise TurnError(Problem(message, printable(self.log.path))) from None

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
        """What was odd, in the order of the lines; of each kind the first hundred."""
        return self._reading.notices()

    @property
    def counts(self) -> Mapping[str, int]:
        """How many notices of each kind there were, by their code: all of them."""
        return self._reading.oddities.counts


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
    form = None if format is None else session_format(format)
    if format is not None and form is None:
        known = ", ".join(sorted({*SESSION_FORMATS, *plugins.names()}))
        raise UsageError(f"format is {quoted(format)}. Use one of {known}.")
    log = Log.open(path, progress=progress)
    return Session(log, form or _detected(log))


def session_format(name: str) -> SessionFormat | None:
    """The format of session logs that has a name: ours, or one that another package gives.

    Args:
        name: The name.

    Returns:
        The format, or ``None`` where there is none of that name.

    Raises:
        UsageError: If another package gives it, and it cannot be used.
    """
    form = SESSION_FORMATS.get(name) or plugins.named(name)
    return form if isinstance(form, SessionFormat) else None


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


def recognised(head: Sequence[Any]) -> SessionFormat | None:
    """The first of our formats that recognises a log, other than bare messages.

    Args:
        head: The first records of a log, or its only one.
    """
    return next((form for form in _IN_ORDER if form.recognise(head)), None)


def _detected(log: Log) -> SessionFormat:
    """The first format that recognises a log: ours, those of other packages, then any messages."""
    head, broken = log.head(), list[str]()
    if (own := recognised(head)) is not None:
        return own
    for other in plugins.each((*FORMATS, *SESSION_FORMATS), broken):
        if isinstance(other, SessionFormat) and plugins.recognises(other, head, broken):
            return other
    if messages.FORMAT.recognise(head):
        return messages.FORMAT
    looked_for = "; ".join(f"{form.name} ({form.about})" for form in SESSION_FORMATS.values())
    found = f"{len(head)} records" if head else "no line that is JSON"
    message = f"The format of the log cannot be told from {found}. Looked for: {looked_for}."
    message += plugins.listed(broken)
    raise TurnError(Problem(message, printable(log.path), code="unknown_format"))
