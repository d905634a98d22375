"""Signs in the answers of a turn: calls that were cancelled, or not answered, or answered late."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from toolflow.recording.audit.texts import CANCELLED, evidence
from toolflow.recording.audit.values import Finding, Level
from toolflow.recording.audit.view import TurnView
from toolflow.recording.durations import has_paused


def cancelled(view: TurnView) -> Iterator[Finding]:
    """Calls that were cancelled, because another one had failed."""
    lost = [
        at
        for at, outcome in enumerate(view.recorded.outcomes)
        if outcome is not None
        and outcome.status in {"skipped", "failed", "aborted"}
        and CANCELLED.search(outcome.text[:200])
    ]
    if not lost:
        return
    cause = next(
        (
            at
            for at, outcome in enumerate(view.recorded.outcomes)
            if outcome is not None and outcome.status == "failed" and at not in lost
        ),
        None,
    )
    names = [view.plan.calls[at].name for at in lost]
    why = "another one failed" if cause is None else f"{view.plan.calls[cause].name} failed"
    text = f"{_many(len(lost), 'call was', 'calls were')} cancelled, because {why}."
    said = evidence(view.text(lost[0] if cause is None else cause))
    yield Finding(
        "cancelled", "harm", view.recorded.turn.id, tuple(names), text, None, said,
        view.line(lost[0]),
    )  # fmt: skip


def unanswered(view: TurnView) -> Iterator[Finding]:
    """Calls without a result: a risk where others of the turn have one, unless the run paused."""
    outcomes = view.recorded.outcomes
    names = tuple(
        view.plan.calls[at].name for at, outcome in enumerate(outcomes) if outcome is None
    )
    if not names:
        return
    some = len(names) < len(outcomes)
    what = f"{_many(len(names), 'call has', 'calls have')} no result, though others of the turn do"
    text = what if some else "No call of the turn has a result"
    paused = has_paused(view.recorded)
    level: Level = "risk" if some and not (view.broken or paused) else "note"
    text += "; lines of the log could not be read" if view.broken else ""
    text += ": the run paused." if paused else "."
    yield Finding("unanswered", level, view.recorded.turn.id, names, text, line=view.line())


def out_of_order(view: TurnView) -> Iterator[Finding]:
    """Results that stand in another order than their calls: that is how they came."""
    results = view.recorded.results
    came = [(result.line, at) for at, result in enumerate(results) if result is not None]
    late = [at for (one, _), (other, at) in pairwise(came) if other < one]
    if late:
        names = tuple(view.plan.calls[at].name for at in late)
        text = f"{_many(len(late), 'result', 'results')} came before that of the call before."
        yield Finding("out_of_order", "note", view.recorded.turn.id, names, text, line=view.line())


def _many(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
