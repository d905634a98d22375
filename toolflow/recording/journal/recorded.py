"""What a recording holds of a turn of a journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolflow.compiler import Plan
from toolflow.errors import JournalError, ToolflowError
from toolflow.model.event import Event
from toolflow.model.outcome import Times
from toolflow.model.recording import Fact, RecordedTurn
from toolflow.recording.committed import committed_of, written_messages
from toolflow.recording.facts import facts_of_events
from toolflow.recording.journal.turns import JournalTurn, indexes
from toolflow.recording.lines import LineError
from toolflow.recording.run_form import read_fact

_WHOLE: Final = ("done", "aborted", "paused")
_INDEXED: Final = ("stops", "passed", "approved", "failed", "prepared", "asking")


def recorded_turn(told: JournalTurn) -> RecordedTurn:
    """A turn of a journal as a recording holds it.

    Args:
        told: The turn.

    Returns:
        Of a run that has ended, or paused, the very turn that `Recorder` makes of it; of one
        whose process died the plan, and what is known of outcomes and times.

    Raises:
        JournalError: If its facts cannot be read.
    """
    end = told.state.end or {}
    texts = tuple(str(text) for text in end.get("texts", ()))
    steering = tuple(end.get("steering", ()))
    turn, outcomes = told.turn, told.outcomes
    messages: tuple[Any, ...] | None = ()
    if told.status in {"done", "aborted"}:
        try:
            messages = written_messages(turn, outcomes, texts=texts, steering=steering)
        except ToolflowError as error:
            raise JournalError(f"{turn.id}: its messages cannot be written: {error}") from error
    events = _events(told) if told.status in _WHOLE else ()
    return RecordedTurn(
        turn,
        outcomes,
        tuple(told.state.times.get(call.name, Times()) for call in told.plan.calls),
        told.plan,
        events,
        messages or (),
        told.started_at,
        _facts(told, events) if told.status in _WHOLE else (),
        committed_of(turn, outcomes, messages or (), texts=texts, steering=steering),
    )


def _events(told: JournalTurn) -> tuple[Event, ...]:
    state = told.state
    turn, source = told.plan, told.source
    run = str(state.head.get("run", "run"))
    prefix = "" if source == "main" else f"{source}/"
    return tuple(
        Event(
            kind,
            seq,
            at,
            run,
            turn.turn_id,
            turn.message_id,
            None if name is None else f"{prefix}{name}",
            source,
            data,
        )
        for seq, (kind, at, name, data) in enumerate(state.events)
    )


def _facts(told: JournalTurn, events: tuple[Event, ...]) -> tuple[Fact, ...]:
    setup = _setup(told.state.head.get("setup", {}), told.plan)
    first = Fact("setup", -1, setup)
    lines = (told.state.end or {}).get("facts")
    if lines is None:
        return (first, *facts_of_events(told.plan, events))
    names = {call.name: call.index for call in told.plan.calls}
    try:
        return (first, *(read_fact(line, names, told.plan) for line in lines))
    except (LineError, ToolflowError, TypeError, AttributeError) as error:
        raise JournalError(f"{told.id}: its facts cannot be read: {error}") from error


def _setup(data: Any, plan: Plan) -> dict[str, Any]:
    """How the scheduler was set up, as `TracedScheduler` keeps it."""
    if not isinstance(data, Mapping):
        return {}
    setup: dict[str, Any] = {}
    for name, value in data.items():
        if name in _INDEXED:
            setup[name] = tuple(sorted(indexes(data, name, plan)))
        elif name == "settled" and isinstance(value, Mapping):
            setup[name] = {int(key): each is True for key, each in value.items() if key.isdigit()}
        elif name in {"hooks", "approver", "pausable"}:
            setup[name] = value is True
    return setup
