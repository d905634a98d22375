"""The checkpoint as a file, so that a paused run can go on in another process (spec 8.5).

The turn with its plan and the outcomes so far has the form that it has in a recording; what is
left says what the run waits for. Calls are told by name, never by place (faults 103).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, Final

from toolflow import yamlio
from toolflow.compiler import Plan
from toolflow.errors import CheckpointError, DocumentError, RecordingError, ToolflowError
from toolflow.model.outcome import Outcome
from toolflow.model.recording import RecordedTurn
from toolflow.recording.checkpoint import Checkpoint, turn_of
from toolflow.recording.file import write_file
from toolflow.recording.masking import masked_checkpoint
from toolflow.recording.question_form import question_data, read_question
from toolflow.recording.reader import Path, Reader
from toolflow.recording.sealing import seal, unseal
from toolflow.recording.turn_form import read_recorded_turn, turn_data

VERSION: Final = 1
_FIELDS: Final = (
    "checkpoint",
    "turn",
    "hooked",
    "questions",
    "approved",
    "answers",
    "attempts",
    "stops",
    "passed",
    "timeout",
    "extra",
    "prepared",
    "steering",
    "unknown",
)


def checkpoint_data(checkpoint: Checkpoint) -> dict[str, Any]:
    """A checkpoint as JSON-like data.

    Args:
        checkpoint: The checkpoint.

    Returns:
        A new mapping; what has its default is left out. It holds no secrets that the policy names.

    Raises:
        PlanError: If arguments cannot be written as JSON.
    """
    checkpoint = masked_checkpoint(checkpoint)
    plan = checkpoint.plan
    names = [call.name for call in plan.calls]
    turn = turn_of(plan)
    outcomes = [checkpoint.outcomes.get(index, (None, False)) for index in range(len(names))]
    recorded = RecordedTurn(turn, tuple(outcome for outcome, _ in outcomes), plan=plan)
    fields = state_data(checkpoint)
    hooked = [names[index] for index, (_, hooked) in enumerate(outcomes) if hooked]
    if hooked:
        fields["hooked"] = hooked
    return {"checkpoint": VERSION, **fields, "turn": turn_data(recorded)}


def state_data(checkpoint: Checkpoint) -> dict[str, Any]:
    """What a checkpoint says beside plan and outcomes, as JSON-like data.

    Args:
        checkpoint: The checkpoint.

    Returns:
        A new mapping; what has its default is left out.
    """
    names = [call.name for call in checkpoint.plan.calls]
    fields: dict[str, Any] = {
        "questions": [question_data(question) for question in checkpoint.questions],
        "approved": [names[index] for index in sorted(checkpoint.approved)],
        "answers": {name: list(given) for name, given in checkpoint.answers.items()},
        "attempts": {names[index]: n for index, n in sorted(checkpoint.attempts.items())},
        "stops": [names[index] for index in sorted(checkpoint.stops)],
        "passed": [names[index] for index in sorted(checkpoint.passed)],
        "extra": list(checkpoint.extra),
        "prepared": [names[index] for index in sorted(checkpoint.prepared)],
        "steering": list(checkpoint.steering),
        "unknown": [names[index] for index in sorted(checkpoint.unknown)],
    }
    if checkpoint.timeout is not None:
        fields["timeout"] = checkpoint.timeout
    return {name: value for name, value in fields.items() if value not in ([], {})}


def save_checkpoint(checkpoint: Checkpoint, path: str | FilePath) -> None:
    """Write a checkpoint to a file, in one step.

    Args:
        checkpoint: Where a run paused.
        path: The file; what was in it is replaced.

    Raises:
        CheckpointError: If the checkpoint or the file cannot be written.
    """
    try:
        write_file(yamlio.dump(seal(checkpoint_data(checkpoint))), path)
    except RecordingError as error:
        raise CheckpointError(str(error)) from error
    except (TypeError, ValueError, RecursionError, ToolflowError) as error:
        raise CheckpointError(f"{path}: the checkpoint holds what JSON cannot: {error}") from error


def load_checkpoint(path: str | FilePath) -> Checkpoint:
    """Load a checkpoint.

    Args:
        path: The file that `save_checkpoint` wrote.

    Returns:
        The checkpoint, for `Engine.resume`.

    Raises:
        CheckpointError: If it cannot be read; one line a problem.
    """
    try:
        document = yamlio.load_file(path, error=RecordingError)
        reader = Reader(replace(document, value=unseal(document.value)))
        checkpoint = _read(reader)
    except DocumentError as error:
        raise CheckpointError(str(error)) from error
    if checkpoint is None or reader.problems:
        raise CheckpointError("\n".join(map(str, reader.problems)))
    return checkpoint


def _read(reader: Reader) -> Checkpoint | None:
    data = reader.mapping(reader.document.value, (), _FIELDS)
    version = reader.field(data, (), "checkpoint", int, 0)
    if version != VERSION:
        reader.problem(("checkpoint",), f"checkpoint is {version}. Use {VERSION}.")
        return None
    recorded = read_recorded_turn(reader, data.get("turn"), ("turn",))
    plan = recorded.plan
    if not isinstance(plan, Plan):
        if not reader.problems:
            reader.problem(("turn",), "turn.plan is missing.")
        return None
    names = {call.name: call.index for call in plan.calls}
    hooked = _indexes(reader, data, "hooked", names)
    return read_state(reader, data, plan, _outcomes(recorded.outcomes, hooked))


def checkpoint_from(data: Mapping[str, Any]) -> Checkpoint:
    """Read a checkpoint from JSON-like data.

    Args:
        data: What `checkpoint_data` gave.

    Returns:
        The checkpoint.

    Raises:
        CheckpointError: If it is not such data; one line a problem.
    """
    reader = Reader(yamlio.of_value(data, source="<checkpoint>", error=RecordingError))
    checkpoint = _read(reader)
    if checkpoint is None or reader.problems:
        raise CheckpointError("\n".join(map(str, reader.problems)))
    return checkpoint


def state_from(
    data: Mapping[str, Any], plan: Plan, outcomes: Mapping[int, tuple[Outcome, bool]]
) -> Checkpoint:
    """Read a checkpoint whose plan and outcomes are known.

    Args:
        data: What `state_data` gave.
        plan: The plan.
        outcomes: Finished calls by index: outcome, and whether the after-hook has run.

    Returns:
        The checkpoint.

    Raises:
        CheckpointError: If it is not such data; one line a problem.
    """
    reader = Reader(yamlio.of_value(data, source="<state>", error=RecordingError))
    checkpoint = read_state(reader, reader.mapping(data, (), _FIELDS), plan, outcomes)
    if reader.problems:
        raise CheckpointError("\n".join(map(str, reader.problems)))
    return checkpoint


def read_state(
    reader: Reader,
    data: Mapping[str, Any],
    plan: Plan,
    outcomes: Mapping[int, tuple[Outcome, bool]],
) -> Checkpoint:
    """Read what a document says beside plan and outcomes."""
    names = {call.name: call.index for call in plan.calls}
    return Checkpoint(
        plan,
        outcomes,
        tuple(read_question(reader, item, at) for at, item in _items(reader, data, "questions")),
        _indexes(reader, data, "approved", names),
        _answers(reader, data, names),
        _attempts(reader, data, names),
        _indexes(reader, data, "stops", names),
        _indexes(reader, data, "passed", names),
        _timeout(reader, data),
        tuple(text for _, text in reader.items(data, (), "extra", str)),
        _indexes(reader, data, "prepared", names),
        tuple(reader.field(data, (), "steering", list, [])),
        _indexes(reader, data, "unknown", names),
    )


def _items(reader: Reader, data: Mapping[str, Any], name: str) -> list[tuple[Path, Any]]:
    return reader.items(data, (), name, dict)


def _outcomes(
    outcomes: tuple[Outcome | None, ...], hooked: frozenset[int]
) -> dict[int, tuple[Outcome, bool]]:
    return {
        index: (outcome, index in hooked)
        for index, outcome in enumerate(outcomes)
        if outcome is not None
    }


def _indexes(
    reader: Reader, data: Mapping[str, Any], field: str, names: Mapping[str, int]
) -> frozenset[int]:
    return frozenset(
        _index(reader, place, name, names) for place, name in reader.items(data, (), field, str)
    )


def _index(reader: Reader, path: Path, name: str, names: Mapping[str, int]) -> int:
    if name not in names:
        reader.wrong(path, name, "Use the name of a call of the turn.")
    return names.get(name, 0)


def _answers(
    reader: Reader, data: Mapping[str, Any], names: Mapping[str, int]
) -> dict[str, tuple[Any, ...]]:
    answers = {}
    for name, given in reader.field(data, (), "answers", dict, {}).items():
        _index(reader, ("answers", name), name, names)
        if isinstance(given, list):
            answers[name] = tuple(given)
        else:
            reader.wrong(("answers", name), given, "Use a list of answers, in the order asked.")
    return answers


def _attempts(reader: Reader, data: Mapping[str, Any], names: Mapping[str, int]) -> dict[int, int]:
    attempts = {}
    for name, count in reader.field(data, (), "attempts", dict, {}).items():
        index = _index(reader, ("attempts", name), name, names)
        if type(count) is int and count >= 0:
            attempts[index] = count
        else:
            reader.wrong(("attempts", name), count, "Use an integer of at least 0.")
    return attempts


def _timeout(reader: Reader, data: Mapping[str, Any]) -> float | None:
    value = data.get("timeout")
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return value
    reader.wrong(("timeout",), value, "Use seconds, at least 0.")
    return None
