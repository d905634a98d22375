"""Session logs: many turns of one conversation, with what became of them (spec 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from toolflow.errors import Problem, TurnError, UsageError
from toolflow.formats.base import printable, quoted
from toolflow.formats.session import claude_code
from toolflow.formats.session.base import SessionFormat
from toolflow.formats.session.log import Log
from toolflow.model import Recording

__all__ = ["SESSION_FORMATS", "SessionFormat", "read_session"]

SESSION_FORMATS: Mapping[str, SessionFormat] = MappingProxyType(
    {form.name: form for form in (claude_code.FORMAT,)}
)
"""Every kind of session log by its name, in the order of detection."""


def read_session(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  # the option's name everywhere
) -> Recording:
    """Read the log of a session.

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
    if format is not None and format not in SESSION_FORMATS:
        known = ", ".join(sorted(SESSION_FORMATS))
        raise UsageError(f"format is {quoted(format)}. Use one of {known}.")
    log = Log.open(path)
    form = SESSION_FORMATS[format] if format is not None else _detected(log)
    return form.read(log)


def _detected(log: Log) -> SessionFormat:
    head = log.head()
    for form in SESSION_FORMATS.values():
        if form.recognise(head):
            return form
    looked_for = "; ".join(f"{form.name} ({form.about})" for form in SESSION_FORMATS.values())
    found = f"{len(head)} records" if head else "no line that is JSON"
    message = f"The format of the log cannot be told from {found}. Looked for: {looked_for}."
    raise TurnError(Problem(message, printable(log.path), code="unknown_format"))
