"""What a file named on the command line is, and what can be made of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from toolflow import yamlio
from toolflow.compiler import Plan, compile_plan, load_plan
from toolflow.errors import TurnError, UsageError
from toolflow.formats import read_document
from toolflow.formats.session import recognised, session_format
from toolflow.model.recording import RecordedTurn
from toolflow.model.turn import Turn
from toolflow.policy import Policy, load_policy
from toolflow.policy.shelf import is_shipped, shipped_text
from toolflow.recording import load_recording
from toolflow.recording.importing import open_log

Kind = Literal["flow", "policy", "recording", "plan", "turns", "log"]
_BY_FIELD: tuple[tuple[str, Kind], ...] = (
    ("stages", "flow"),
    ("nodes", "plan"),
    ("turns", "recording"),
    ("rules", "policy"),
    ("calls", "turns"),
    ("extends", "policy"),
    ("limits", "policy"),
    ("defaults", "policy"),
)
_HEAD = 32  # as many records as tell the format of a log


@dataclass(frozen=True, slots=True)
class Input:
    """A file that was named.

    Attributes:
        path: Its path, or ``-``.
        kind: What it holds.
        text: Its text; empty for a log, which is read as a stream.
    """

    path: str
    kind: Kind
    text: str = ""


def look_at(path: str, *, forced: str | None = None) -> Input:
    """Tell what a file holds.

    Args:
        path: The file, or ``-`` for standard input.
        forced: The name of a wire or log format, where the user gave one.

    Returns:
        The input.

    Raises:
        DocumentError: If it cannot be read.
    """
    if path == "-":
        return _by_content(path, sys.stdin.read())
    if is_shipped(path):
        return Input(path, "policy", shipped_text(path))
    if not Path(path).is_file():
        what = "a folder" if Path(path).is_dir() else "not there"
        raise UsageError(f"{path}: this file is {what}. Name a file.")
    if path.endswith(".jsonl") or _is_log_format(forced):
        return Input(path, "log")
    document = yamlio.load_file(path, error=TurnError)
    return _by_value(path, document.text, document.value)


def turns_of(given: Input, form: str | None) -> list[RecordedTurn]:
    """The turns of a message file, a session log or a recording.

    Args:
        given: The input.
        form: The name of the wire or log format, or ``None`` to detect it.

    Raises:
        DocumentError: If it cannot be read as turns.
        UsageError: If it is something else.
    """
    if given.kind == "recording":
        return list(load_recording(given.path).turns)
    if given.kind == "log":
        return list(open_log(given.path, format=form).turns)
    if given.kind != "turns":
        raise UsageError(
            f"{given.path}: this is a {given.kind}. Name a turn, a log or a recording."
        )
    turns = read_document(given.text, source=given.path, format=form)
    return [RecordedTurn(turn, (None,) * len(turn.calls)) for turn in turns]


def chosen(turns: list[RecordedTurn], wanted: str | None) -> list[RecordedTurn]:
    """All turns, or the one that the user named by id or number.

    Raises:
        UsageError: If there is no such turn.
    """
    if wanted is None:
        return turns
    found = [recorded for recorded in turns if recorded.turn.id == wanted]
    if not found and wanted.isdigit() and 1 <= int(wanted) <= len(turns):
        found = [turns[int(wanted) - 1]]
    if not found:
        raise UsageError(f"--turn is {wanted!r}. Use an id, or a number from 1 to {len(turns)}.")
    return found


def policy_of(path: str | None) -> Policy:
    """The policy that the user named: a file or ``shipped:NAME``; the empty one where none is."""
    return load_policy(Path(path) if path is not None else None)


def plans_of(
    given: Input, policy: Policy, *, form: str | None, turn: str | None, cwd: str | None
) -> Iterator[tuple[RecordedTurn | None, Plan]]:
    """The plans of an input: loaded from a plan file, else compiled from its turns.

    Yields:
        Each plan, with the turn that it was made of.
    """
    if given.kind == "plan":
        yield None, load_plan(Path(given.path))
        return
    for recorded in chosen(turns_of(given, form), turn):
        yield recorded, plan_of(recorded.turn, policy, cwd)


def plan_of(turn: Turn, policy: Policy, cwd: str | None) -> Plan:
    """Compile a turn where the tools themselves are not at hand."""
    return compile_plan(policy.classify(turn, cwd=cwd))


def _by_content(path: str, text: str) -> Input:
    if _is_json_lines(text):
        return Input("<stdin>" if path == "-" else path, "turns", text)
    document = yamlio.load(text, source="<stdin>" if path == "-" else path, error=TurnError)
    return _by_value("<stdin>" if path == "-" else path, text, document.value)


def _is_json_lines(text: str) -> bool:
    """Whether the first line is a whole JSON object and more follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not first.startswith("{") or not rest.strip():
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _by_value(path: str, text: str, value: Any) -> Input:
    if isinstance(value, dict):
        for field, kind in _BY_FIELD:
            if field in value and not {"role", "choices"} & value.keys():
                return Input(path, kind, text)
    if recognised(value[:_HEAD] if isinstance(value, list) else (value,)) is not None:
        return Input(path, "log", text)
    return Input(path, "turns", text)


def _is_log_format(form: str | None) -> bool:
    return form is not None and session_format(form) is not None
