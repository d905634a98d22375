"""Turns from the text of a file: JSON, YAML, JSON lines or server-sent events (spec 3.1).

JSON is tried first: it is fast, and provider messages are JSON. Text of several lines that are
each a JSON value is JSON lines. All else is YAML, of which JSON with a mistake is a part, so that
the mistake is told at its line and column.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from toolflow import yamlio
from toolflow.errors import DocumentError, Problem, TurnError
from toolflow.formats import sse
from toolflow.formats.base import Path, Where
from toolflow.formats.registry import named, numbered, read_all, stream_format
from toolflow.model import Turn

_SHOWN_PROBLEMS = 20


def read_document(
    text: str | bytes,
    *,
    source: str,
    format: str | None = None,  # noqa: A002  # the option's name everywhere
) -> tuple[Turn, ...]:
    """Read every turn of a file.

    Args:
        text: The file's text, or its bytes in UTF-8.
        source: The file's name, for messages.
        format: The name of the wire format; detected where it is not given.

    Returns:
        The turns that have calls, in order, named ``turn-1``, ``turn-2`` ... A document that is
        one assistant message without calls gives one turn without calls.

    Raises:
        TurnError: If it cannot be read; carries every problem.
        UsageError: If there is no format of that name.
    """
    turns = read_messages(text, source=source, format=format)
    if len(turns) == 1 and not turns[0].calls:
        return (named(turns[0], "turn-1"),)
    return numbered(turns)


def read_messages(
    text: str | bytes,
    *,
    source: str,
    format: str | None = None,  # noqa: A002  # as above
) -> list[Turn]:
    """Read every assistant message of a file as a turn without a name, also those without calls.

    Args:
        text: The file's text, or its bytes in UTF-8.
        source: The file's name, for messages.
        format: The name of the wire format; detected where it is not given.

    Raises:
        TurnError: If it cannot be read; carries every problem.
        UsageError: If there is no format of that name.
    """
    whole = _decoded(text, source)
    if sse.is_sse(whole[:64].encode("utf-8", "replace")):
        chunks = sse.parse(whole.encode("utf-8", "surrogatepass"))
        return _turns(chunks, source, format, lambda: _event_problem(source))
    value = _json(whole)
    if value is not _NOT_JSON:
        return _turns(value, source, format, lambda: yamlio.load(whole, source=source).problem)
    lines = [(number, line) for number, line in enumerate(whole.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and isinstance(_json(lines[0][1]), dict):
        values = _json_lines(lines, source, format)
        return _turns(values, source, format, lambda: _line_problem(lines, source))
    document = yamlio.load(whole, source=source, error=TurnError)
    return _turns(document.value, source, format, lambda: document.problem)


class _NotJson:
    """Stands for text that is not JSON; ``None`` is a JSON value."""


_NOT_JSON = _NotJson()


def _decoded(text: str | bytes, source: str) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"The file is not UTF-8 (byte {error.start}). Save it as UTF-8."
        raise TurnError(Problem(message, source, code="encoding")) from None


def _json(text: str) -> Any:
    """The value of JSON text. NaN passes here: it is the problem of its call, not of the file."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _json_lines(lines: list[tuple[int, str]], source: str, form: str | None) -> list[Any]:
    """The value of each line. A torn line of a stream is given as text: its format tells it."""
    values: list[Any] = []
    problems = []
    for number, line in lines:
        value = _json(line)
        if value is _NOT_JSON:
            message = "The line is not JSON. Give one JSON object a line."
            problems.append(Problem(message, source, number, code="syntax"))
            value = line
        values.append(value)
    if problems and stream_format(values, form) is not None:
        return values
    if len(problems) > _SHOWN_PROBLEMS:
        more = len(problems) - _SHOWN_PROBLEMS
        problems[_SHOWN_PROBLEMS:] = [Problem(f"{more} more lines are not JSON.", source)]
    if problems:
        raise TurnError(problems)
    return values


def _line_problem(lines: list[tuple[int, str]], source: str) -> Where:
    """Problems at the lines of a JSON lines file: the path begins with the index of the line."""

    def where(path: Path, message: str) -> Problem:
        index = path[0] if path else None
        return Problem(message, source, lines[index][0] if isinstance(index, int) else None)

    return where


def _event_problem(source: str) -> Where:
    """Problems in a stream: the path, which begins with the event's place, is in the message."""
    return lambda _, message: Problem(message, source)


def _turns(value: Any, source: str, form: str | None, positions: Callable[[], Where]) -> list[Turn]:
    """The turns of a value; positions are worked out only where there is a problem."""

    def where(path: Path, message: str) -> Problem:
        try:
            return positions()(path, message)
        except DocumentError:  # JSON that is no YAML: its positions are not known
            return Problem(message, source)

    try:
        return read_all(value, form, where)
    except TurnError as error:
        raise TurnError([_at_source(problem, source) for problem in error.problems]) from None


def _at_source(problem: Problem, source: str) -> Problem:
    """A problem of the message as a whole, under the file's name."""
    if not problem.source.startswith("<"):
        return problem
    return replace(problem, source=source)
