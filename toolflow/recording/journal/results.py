"""A turn of a journal that has ended, as the result of its run."""

from __future__ import annotations

from toolflow.errors import JournalError
from toolflow.formats import write_turn
from toolflow.model.outcome import Outcome, Times
from toolflow.recording.journal.recorded import recorded_turn
from toolflow.recording.journal.turns import JournalTurn
from toolflow.recording.result import RunResult
from toolflow.runtime.record import CallRecord
from toolflow.runtime.report import RunReport


def result_of(told: JournalTurn) -> RunResult:
    """What the run of a turn gave back, put together from its journal.

    Args:
        told: A turn that is done, or was aborted.

    Returns:
        The result, with outcomes, messages, times and events.

    Raises:
        JournalError: If the turn has not ended, or its messages cannot be written.
    """
    if told.status not in {"done", "aborted"}:
        raise JournalError(f"{told.id}: this turn has not ended. Go on with it first.")
    recorded = recorded_turn(told)
    outcomes = tuple(outcome for outcome in recorded.outcomes if outcome is not None)
    end = told.state.end or {}
    texts = tuple(str(text) for text in end.get("texts", ()))
    assistant, results = write_turn(told.turn, outcomes, texts=texts)
    report = RunReport(
        status="done" if told.status == "done" else "aborted",
        calls=told.plan.calls,
        outcomes=recorded.outcomes,
        hooked=(True,) * len(outcomes),
        records=tuple(
            _record(outcome, times) for outcome, times in zip(outcomes, recorded.times, strict=True)
        ),
        log=lambda: recorded.events,
        trace=lambda: recorded.facts,
        abort_cause=told.state.abort,
        seconds=told.state.last,
    )
    return RunResult(
        told.plan,
        told.turn,
        report,
        tuple(assistant),
        tuple(results),
        tuple(end.get("steering", ())),
        texts,
    )


def _record(outcome: Outcome, times: Times) -> CallRecord:
    return CallRecord(
        outcome=outcome,
        told=True,
        queued=times.queued,
        granted=times.granted,
        started=times.started,
        settled=times.settled,
        stopped=times.stopped,
    )
