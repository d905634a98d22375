"""The first and the last line of a turn in a journal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from toolflow.model.recording import Fact, RecordedTurn
from toolflow.recording.checkpoint import turn_of
from toolflow.recording.checkpoint_file import checkpoint_data, state_data
from toolflow.recording.facts import facts_of_events
from toolflow.recording.journal.plan_line import json_line, plan_fields
from toolflow.recording.run_form import fact_line
from toolflow.recording.turn_form import turn_data
from toolflow.runtime.jsonable import Writer

if TYPE_CHECKING:
    from toolflow.recording.checkpoint import Checkpoint
    from toolflow.recording.journal.masking import Masker
    from toolflow.recording.result import RunResult
    from toolflow.runtime.run import Run

_PLAIN_FACTS: Final = frozenset({"begin", "started", "stopped"})
_SIMPLE: Final = frozenset({"run_started", "run_finished", "run_paused", "call_stopped"})
_PLAIN_EVENTS: Final = frozenset(
    {"run_started", "call_started", "call_settled", "turn_committed", "run_finished"}
)


def begin_text(
    number: int,
    run: Run,
    base: Checkpoint | None,
    masker: Masker | None,
) -> str:
    """The line that says what is run, and from where it goes on.

    Args:
        number: The turn's number in the journal.
        run: The run.
        base: What it goes on from, if it had paused or its process had died.
        masker: What masks secrets, or ``None``.
    """
    options = run.options
    line: dict[str, Any] = {
        "line": "plan",
        "turn": number,
        "run": options.run,
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "setup": {name: _listed(value) for name, value in run.scheduler.setup.items()},
    }
    if options.source != "main":
        line["source"] = options.source
    if options.total is not None:
        line["timeout"] = options.total
    if base is None:
        line |= plan_fields(run.plan, turn_of(run.plan), masker)
    else:
        line["since"] = checkpoint_data(base if masker is None else masker.checkpoint(base))
        if masker is not None:
            line["masked"] = _masked_names(base, masker)
    return json_line(line)


def end_line(
    number: int, run: Run, result: RunResult | None, masker: Masker | None
) -> dict[str, Any]:
    """The line that says how a turn ended.

    Args:
        number: The turn's number in the journal.
        run: The run, at its end.
        result: What became of it; ``None`` where toolflow itself failed.
        masker: What masks secrets, or ``None``.
    """
    if result is None:
        return {"line": "ended", "turn": number, "status": "failed"}
    checkpoint = result.checkpoint
    line: dict[str, Any] = {"line": "ended", "turn": number, "status": result.status}
    if checkpoint is not None:
        changed = checkpoint.plan.calls != run.plan.calls
        if masker is not None:
            checkpoint = masker.checkpoint(checkpoint)
        line["line"] = "paused"
        line["state"] = state_data(checkpoint)
        if changed:
            plan, turn = checkpoint.plan, result.turn
            turn = turn if masker is None else masker.mask.turn(turn)
            line["plan"] = turn_data(RecordedTurn(turn, (None,) * len(turn.calls), plan=plan))
    if result.texts:
        line["texts"] = [*map(masker.text if masker else str, result.texts)]
    if result.steering:
        steering = result.steering
        line["steering"] = [*map(masker.mask.message, steering)] if masker else [*steering]
    if (facts := _facts(run, result, masker)) is not None:
        line["facts"] = facts
    return line


def event_data(kind: str, data: Mapping[str, Any]) -> Any:
    """What else belongs to an event, as JSON values; of messages only their number."""
    if kind in _SIMPLE:
        return data
    if kind == "turn_committed":
        return {"messages": len(data["messages"])}
    return Writer().write(data)


def _facts(run: Run, result: RunResult, masker: Masker | None) -> list[str] | None:
    """What the scheduler was told, a line each, where the events do not say it all."""
    if (
        run.records
        and run.scheduler.kinds <= _PLAIN_FACTS
        and set(run.log.notes[::4]) <= _PLAIN_EVENTS
    ):
        return None  # each of the two was told in the same moment as its event
    facts = result.report.facts[1:]
    if run.records and facts == facts_of_events(run.plan, result.events):
        return None
    names = [call.name for call in run.plan.calls]
    if masker is not None:
        facts = tuple(_masked_fact(fact, masker) for fact in facts)
    return [fact_line(fact, names, run.plan) for fact in facts]


def _masked_fact(fact: Fact, masker: Masker) -> Fact:
    call = fact.data.get("call")
    if call is None:
        return fact
    return fact._replace(data={**fact.data, "call": masker.planned(call)})


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _masked_names(base: Checkpoint, masker: Masker) -> list[str]:
    return [call.name for call in base.plan.calls if masker.value(call.args) != call.args]
