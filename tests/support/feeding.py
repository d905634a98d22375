"""Gives an input to everything that reads files of other people, and tells what came of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

from made_turns import outcomes
from spoiling import Spoiled

from toolflow.errors import DocumentError, ToolflowError, UsageError
from toolflow.formats import (
    FORMATS,
    examine,
    read_document,
    read_stream,
    read_turns,
    repair,
    write_turn,
)
from toolflow.formats.message_file import open_messages
from toolflow.formats.session import SESSION_FORMATS, open_session
from toolflow.model import Turn
from toolflow.recording.importing import import_log

_NOT_THIS_FORMAT = ("has no streams", "knows no conversations")
"""What may be said of a format that was asked for."""


class Fault(AssertionError):
    """Something else came than what may come. The text says where."""


def feed(given: Spoiled, folder: Path, number: int) -> Counter[str]:
    """Read an input in every way.

    Args:
        given: The input.
        folder: Where it may be written to a file.
        number: Its number; it decides which formats are forced.

    Returns:
        How often each way read something (``read ...``) or refused it (``refused ...``).

    Raises:
        Fault: If anything but an error of ours came, or one whose lines are no plain lines.
    """
    random = Random(number)
    told = Counter[str]()
    path = folder / f"input{given.suffix}"
    path.write_bytes(given.data)
    wire = random.choice((None, None, *FORMATS))
    log = random.choice((None, None, None, *SESSION_FORMATS))

    def attempt(way: str, read: Callable[[], Iterable[Turn]]) -> None:
        try:
            for turn in read():
                _write(turn)
        except ToolflowError as error:
            told[f"refused {way}"] += 1
            _check_lines(way, error)
        except Exception as error:
            raise Fault(f"{way}: {type(error).__name__}: {str(error)[:200]}") from error
        else:
            told[f"read {way}"] += 1

    attempt("document", lambda: read_document(given.data, source=path.name, format=wire))
    value = _value(given.data)
    attempt("message", lambda: read_turns(value, format=wire))
    chunks = value if isinstance(value, list) else [value]
    attempt("stream", lambda: [read_stream(chunks, format=wire)])
    attempt("events", lambda: [read_stream([given.data])])
    attempt("log", lambda: _session(path, log))
    attempt("conversation", lambda: _mended(value, wire))
    attempt("file", lambda: _mended_file(given.data, path.name, wire))
    if random.randrange(20) == 0:
        attempt("import", lambda: _imported(path, folder))
    return told


def _session(path: Path, form: str | None) -> Iterable[Turn]:
    session = open_session(path, format=form)
    for recorded in session:
        assert len(recorded.outcomes) == len(recorded.turn.calls) > 0
        yield recorded.turn
    assert all(notice.message.isprintable() for notice in session.notices)
    json.dumps(session.source)


def _mended(value: Any, form: str | None) -> Iterable[Turn]:
    """The doctor and his cure: what was cured has nothing to change any more."""
    examine(value, format=form)
    cured = repair(value, format=form, whole=True)
    if cured.messages:
        again = repair(cured.messages, format=form, whole=True)
        assert again.changes == (), again.changes[0].message
    return ()


def _mended_file(data: bytes, name: str, form: str | None) -> Iterable[Turn]:
    file = open_messages(data, source=name, format=form)
    if file is not None:
        file.examined()
        file.repaired(whole=True).text()
    return ()


def _imported(path: Path, folder: Path) -> Iterable[Turn]:
    import_log(path, to=folder / "recording.json")
    return ()


def _write(turn: Turn) -> None:
    assert [call.index for call in turn.calls] == list(range(len(turn.calls)))
    try:
        write_turn(turn, outcomes("x", len(turn.calls)))
    except UsageError as error:  # pragma: no cover  # outcomes are right: it would be a fault
        raise AssertionError(str(error)) from error


def _check_lines(way: str, error: ToolflowError) -> None:
    if not isinstance(error, DocumentError):
        if isinstance(error, UsageError) and any(text in str(error) for text in _NOT_THIS_FORMAT):
            return
        raise Fault(f"{way}: {type(error).__name__}: {error}")
    for problem in error.problems:
        if not str(problem).isprintable():
            raise Fault(f"{way}: a problem is not one plain line: {str(problem)[:200]!r}")


def _value(data: bytes) -> Any:
    """The JSON in an input: one value, or the values of its lines; else its text."""
    text = data.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except (ValueError, RecursionError):
            found.append(line)
    return found
