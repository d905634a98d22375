"""What a file named on the command line is, and what can be made of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from toolflow import yamlio
from toolflow.cli.naming import JOURNAL, RECORDING, places_of_run
from toolflow.compiler import Plan, compile_plan, load_plan
from toolflow.errors import TurnError, UsageError
from toolflow.formats import read_document
from toolflow.formats.session import recognised, session_format
from toolflow.model.recording import RecordedTurn
from toolflow.model.turn import Turn
from toolflow.policy import Policy, load_policy
from toolflow.policy.shelf import is_shipped, shipped_text
from toolflow.recording.durations import whole_turns
from toolflow.recording.importing import open_log
from toolflow.recording.journal import JournalRecording, is_journal
from toolflow.recording.turn_reader import RecordingReader, TurnSource

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
_LONG = 20  # digits; no recording has so many turns
_HEAD = 32  # as many records as tell the format of a log


@dataclass(frozen=True)
class Input:
    """A file that was named.

    Attributes:
        path: Its path, or ``-``.
        kind: What it holds.
        text: Its text; empty for a log and a large recording, which are read as streams.
        listed: The document; the turns of a recording can be read one by one. ``None`` for a
            journal, too, which is taken for the recording that it holds.
    """

    path: str
    kind: Kind
    text: str = ""
    listed: yamlio.Listed | None = None

    @property
    def what(self) -> str:
        """What it holds, for messages."""
        return {"turns": "a file of turns", "log": "a session log"}.get(self.kind, f"a {self.kind}")

    def recording(self) -> TurnSource:
        """The recording that it is, or that a journal holds.

        Raises:
            RecordingError: If it cannot be used.
            JournalError: If the journal cannot be read.
        """
        return self._source

    @cached_property
    def _source(self) -> TurnSource:
        # Opened once: to tell what stands before the turns, a journal is read as a whole.
        if self.listed is None:
            return JournalRecording(self.path)
        return RecordingReader(self.listed, Path(self.path))


def look_at(path: str, *, forced: str | None = None) -> Input:
    """Tell what a file holds.

    Args:
        path: The file, ``-`` for standard input, or a run: its folder, or its name in .toolflow.
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
        path = str(_file_of_run(path))
    if is_journal(Path(path)):
        return Input(path, "recording")
    if path.endswith(".jsonl") or _is_log_format(forced):
        return Input(path, "log")
    listed = yamlio.open_list(path, "turns", error=TurnError)
    document = listed.document if isinstance(listed, yamlio.Whole) else listed.head
    found = _by_value(path, document.text, document.value)
    return replace(found, listed=listed)


def file_in_run(folder: Path) -> Path | None:
    """The file in the folder of a run that tells most of it; ``None`` if it is no such folder."""
    there = [path for path in (folder / RECORDING, folder / JOURNAL) if path.is_file()]
    return max(there, key=lambda path: path.stat().st_mtime_ns, default=None)


def _file_of_run(what: str) -> Path:
    """The file that tells most of a run: its recording, unless a process died after it.

    Raises:
        UsageError: If there is no such run.
    """
    for folder in places_of_run(what):
        found = file_in_run(folder)
        if found is not None:
            return found
    what_it_is = "a folder, and no run is in it" if Path(what).is_dir() else "not there"
    raise UsageError(f"{what}: this file is {what_it_is}. Name a file.")


def turns_of(given: Input, form: str | None) -> list[RecordedTurn]:
    """All turns of a message file, a session log or a recording; see `each_turn`."""
    return list(each_turn(given, form))


def each_turn(given: Input, form: str | None) -> Iterable[RecordedTurn]:
    """The turns of a message file, a session log or a recording, as far as it can one by one.

    Args:
        given: The input.
        form: The name of the wire or log format, or ``None`` to detect it.

    Raises:
        DocumentError: If it cannot be read as turns.
        UsageError: If it is something else.
    """
    if given.kind == "recording":
        return given.recording()
    if given.kind == "log":
        return open_log(given.path, format=form).turns
    if given.kind != "turns":
        raise UsageError(f"{given.path}: this is {given.what}. Name a turn, a log or a recording.")
    turns = read_document(given.text, source=given.path, format=form)
    return [RecordedTurn(turn, (None,) * len(turn.calls)) for turn in turns]


def chosen(
    turns: Iterable[RecordedTurn], wanted: str | None, *, parts: bool = False
) -> list[RecordedTurn]:
    """All turns, or the one that the user named by id or number; the others are not kept.

    Args:
        turns: The turns.
        wanted: The id or number.
        parts: Whether the parts of a turn that paused and went on are wanted, and not the whole.

    Raises:
        UsageError: If there is no such turn.
    """
    if wanted is None:
        return list(turns if parts else whole_turns(turns))
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < _LONG else 0
    named, numbered, count = [], [], 0
    for count, recorded in enumerate(turns, 1):  # how many there are is used below
        if recorded.turn.id == wanted:
            named.append(recorded)
        elif count == number:
            numbered.append(recorded)
    if not named and not numbered:
        raise UsageError(f"--turn is {wanted!r}. Use an id, or a number from 1 to {count}.")
    return (named if parts else list(whole_turns(named))) or numbered


def policy_of(path: str | None) -> Policy:
    """The policy that the user named: a file or ``shipped:NAME``; the empty one where none is."""
    return load_policy(Path(path) if path is not None else None)


def rules_of(given: Input, path: str | None) -> Policy:
    """The policy that the user named; else that of the recording; else the empty one."""
    if path is None and given.kind == "recording":
        return load_policy(given.recording().head.policy)
    return policy_of(path)


def folder_of(given: Input) -> str | None:
    """Where relative paths in keys start, as far as a recording tells."""
    found = given.recording().head.source.get("cwd") if given.kind == "recording" else None
    return found if isinstance(found, str) else None


def plans_of(
    given: Input, policy: str | None, *, form: str | None, turn: str | None, cwd: str | None
) -> Iterator[tuple[RecordedTurn | None, Plan]]:
    """The plans of an input: those of a plan file or a recording, else compiled from its turns.

    Args:
        given: The input.
        policy: The policy that the user named; with one, recorded turns are compiled anew.
        form: The name of the wire or log format, or ``None`` to detect it.
        turn: The id or number of the turn that the user named.
        cwd: Where relative paths in keys start.

    Yields:
        Each plan, with the turn that it was made of.
    """
    if given.kind == "plan":
        yield None, load_plan(Path(given.path))
        return
    rules, cwd = policy_of(policy), cwd or folder_of(given)
    for recorded in chosen(each_turn(given, form), turn):
        was_run = recorded.plan if policy is None and isinstance(recorded.plan, Plan) else None
        yield recorded, was_run or plan_of(recorded.turn, rules, cwd)


def the_only(
    found: list[tuple[RecordedTurn | None, Plan]], what: str
) -> tuple[RecordedTurn | None, Plan]:
    """The turn that is meant, where it has to be one.

    Args:
        found: The turns found, with their plans.
        what: The file that was named.

    Raises:
        UsageError: If there is none, or several.
    """
    if len(found) == 1:
        return found[0]
    if len({plan.turn_id for _, plan in found}) == 1:  # one that paused, and what went on from it
        raise UsageError(
            f"{what}: {len(found)} turns have the id {found[0][1].turn_id!r}. "
            "Choose one by its number: --turn N."
        )
    raise UsageError(f"{what} has {len(found)} turns. Choose one with --turn.")


def plan_of(turn: Turn, policy: Policy, cwd: str | None) -> Plan:
    """Compile a turn where the tools themselves are not at hand."""
    return compile_plan(policy.classify(turn, cwd=cwd))


def _by_content(path: str, text: str) -> Input:
    if _is_json_lines(text):
        return Input("<stdin>" if path == "-" else path, "turns", text)
    document = yamlio.load(text, source="<stdin>" if path == "-" else path, error=TurnError)
    found = _by_value("<stdin>" if path == "-" else path, text, document.value)
    return replace(found, listed=yamlio.Whole(document, "turns"))


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
