"""The form of a recorded turn: one mapping, in the order in which people read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolflow.errors import RecordingError, ToolflowError
from toolflow.model.outcome import Outcome, Times
from toolflow.model.recording import Committed, RecordedTurn
from toolflow.model.turn import Call, Turn
from toolflow.recording.committed import committed_of, written_messages
from toolflow.recording.forms import (
    CALL_FIELDS,
    call_data,
    notice_data,
    outcome_data,
    read_call,
    read_notices,
    read_outcome,
)
from toolflow.recording.lines import LineError, times_of, times_text
from toolflow.recording.plan_form import plan_parts, read_plan
from toolflow.recording.reader import Path, Reader
from toolflow.recording.run_form import read_run, run_data
from toolflow.yamlio import of_value

TURN_FIELDS: Final = (
    "id",
    "message_id",
    "format",
    "source",
    "started_at",
    "carries_ids",
    "extra",
    "notices",
    "message",
    "plan",
    "calls",
    "run",
    "events",
    "facts",
    "committed",
    "messages",
)
Items = list[tuple[Path, dict[str, Any]]]
_CALL: Final = (*CALL_FIELDS, "plan", "outcome", "times")
_COMMITTED: Final = ("digest", "results", "texts", "steering")
_ON_A_LINE: Final = 6  # digests of results on one line


def turn_data(recorded: RecordedTurn) -> dict[str, Any]:
    """A recorded turn as JSON-like data.

    Args:
        recorded: The turn.

    Returns:
        A new mapping that shares messages, arguments and values with the turn.

    Raises:
        PlanError: If arguments cannot be written as JSON.
    """
    turn = recorded.turn
    data: dict[str, Any] = {"id": turn.id}
    if turn.message_id is not None:
        data["message_id"] = turn.message_id
    data["format"] = turn.format
    if turn.source != "main":
        data["source"] = turn.source
    if recorded.started_at is not None:
        data["started_at"] = recorded.started_at
    if not turn.carries_ids:
        data["carries_ids"] = False
    if turn.extra:
        data["extra"] = turn.extra
    if turn.notices:
        data["notices"] = [notice_data(notice, turn=turn.id) for notice in turn.notices]
    if turn.message is not None:
        data["message"] = turn.message
    facts: list[dict[str, Any]] = []
    if recorded.plan is not None:
        data["plan"], facts = plan_parts(recorded.plan, turn)
    data["calls"] = [_call(recorded, call, facts) for call in turn.calls]
    return data | run_data(recorded) | _committed(recorded)


def turn_from(data: Mapping[str, Any]) -> RecordedTurn:
    """Read a recorded turn from JSON-like data.

    Args:
        data: What `turn_data` gave.

    Returns:
        The turn.

    Raises:
        RecordingError: If it is not such data; every problem is told.
    """
    reader = Reader(of_value(data, source="<turn>", error=RecordingError))
    turn = read_recorded_turn(reader, reader.document.value, ())
    if reader.problems:
        raise RecordingError(reader.problems)
    return turn


def read_recorded_turn(reader: Reader, value: object, path: Path) -> RecordedTurn:
    """Read a recorded turn at a path of a document; what cannot be read is left out and told."""
    data = reader.mapping(value, path, TURN_FIELDS)
    if "calls" not in data:
        reader.field(data, path, "calls", list)
    items = reader.items(data, path, "calls", dict)
    turn = _read_turn(reader, data, path, items)
    outcomes = tuple(
        read_outcome(reader, item["outcome"], (*place, "outcome")) if "outcome" in item else None
        for place, item in items
    )
    plan = read_plan(reader, data, path, turn, items)
    events, facts = read_run(reader, data, path, turn, plan)
    messages, committed = _read_committed(reader, data, path, turn, outcomes)
    return RecordedTurn(
        turn,
        outcomes,
        _read_times(reader, items),
        plan,
        events,
        messages,
        reader.field(data, path, "started_at", str, None),
        facts,
        committed,
    )


def _call(recorded: RecordedTurn, call: Call, facts: list[dict[str, Any]]) -> dict[str, Any]:
    data = call_data(call)
    if facts:
        data["plan"] = facts[call.index]
    outcome = recorded.outcomes[call.index]
    if outcome is not None:
        data["outcome"] = outcome_data(outcome)
    if recorded.times:
        data["times"] = times_text(recorded.times[call.index])
    return data


def _read_turn(reader: Reader, data: Mapping[str, Any], path: Path, items: Items) -> Turn:
    name = reader.field(data, path, "id", str)
    calls: list[Call] = []
    for place, item in items:
        reader.mapping(item, place, _CALL)
        calls.append(read_call(reader, item, place, len(calls)))
    return Turn(
        name,
        tuple(calls),
        reader.field(data, path, "format", str, "calls"),
        data.get("message"),
        reader.field(data, path, "message_id", str, None),
        reader.field(data, path, "source", str, "main"),
        reader.field(data, path, "carries_ids", bool, True),  # noqa: FBT003  # the field's default
        read_notices(reader, data, path, turn=name),
        reader.field(data, path, "extra", dict, {}),
    )


def _read_times(reader: Reader, items: Items) -> tuple[Times, ...]:
    if not any("times" in item for _, item in items):
        return ()
    times = []
    for place, item in items:
        try:
            times.append(times_of(reader.field(item, place, "times", str, "")))
        except LineError as error:
            reader.problem((*place, "times"), str(error))
            times.append(Times())
    return tuple(times)


def _committed(recorded: RecordedTurn) -> dict[str, Any]:
    kept = recorded.committed
    if kept is None:
        kept = committed_of(recorded.turn, recorded.outcomes, recorded.messages)
    if kept is None:
        return {"messages": list(recorded.messages)} if recorded.messages else {}
    data: dict[str, Any] = {"digest": kept.digest}
    if kept.results:
        rows = range(0, len(kept.results), _ON_A_LINE)
        lines = [" ".join(kept.results[row : row + _ON_A_LINE]) for row in rows]
        data["results"] = "\n".join(lines)
    if kept.texts:
        data["texts"] = list(kept.texts)
    if kept.steering:
        data["steering"] = list(kept.steering)
    return {"committed": data}


def _read_committed(
    reader: Reader,
    data: Mapping[str, Any],
    path: Path,
    turn: Turn,
    outcomes: tuple[Outcome | None, ...],
) -> tuple[tuple[Any, ...], Committed | None]:
    if "committed" not in data:
        return tuple(reader.field(data, path, "messages", list, [])), None
    path = (*path, "committed")
    fields = reader.mapping(data["committed"], path, _COMMITTED)
    kept = Committed(
        reader.field(fields, path, "digest", str),
        tuple(reader.field(fields, path, "results", str, "").split()),
        tuple(text for _, text in reader.items(fields, path, "texts", str)),
        tuple(reader.field(fields, path, "steering", list, [])),
    )
    try:
        messages = written_messages(turn, outcomes, texts=kept.texts, steering=kept.steering)
    except ToolflowError as error:
        reader.problem(path, f"The messages cannot be written again: {error}")
        messages = None
    return messages or (), kept
