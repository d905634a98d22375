"""What the executor keeps of a call while it runs, and what it says of it afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from toolflow.locks.protocol import Lease
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome, Status, Times
from toolflow.runtime.approvals import Question
from toolflow.runtime.context import Context
from toolflow.runtime.hooks import HookContext
from toolflow.runtime.results import outcome_of


@dataclass(slots=True)
class CallRecord:
    """The mutable state of one call in one run.

    Attributes:
        outcome: How it settled, so far as it is known.
        told: Whether its settled event was sent.
        reported: Whether the outcome was reported while the body went on.
        lease: Its hold on keys and resources.
        scope: What to cancel to end its wait or its body.
        context: The body's context.
        hooks: The context that its hooks share.
        question: Its open question.
        ending: Whether its body has ended, and the outcome is being put on the disk.
        unknown: Whether a process that died had entered its body, so nobody knows how it ended.
    """

    outcome: Outcome | None = None
    told: bool = False
    reported: bool = False
    graced: bool = False
    in_thread: bool = False
    hooked: bool = False
    unknown: bool = False
    ending: bool = False
    lease: Lease | None = None
    scope: anyio.CancelScope | None = None
    context: Context | None = None
    hooks: HookContext | None = None
    question: Question | None = None
    asking: anyio.CancelScope | None = None
    queued: float | None = None
    granted: float | None = None
    started: float | None = None
    settled: float | None = None
    stopped: float | None = None

    @property
    def times(self) -> Times:
        """When things happened, in seconds since the run began."""
        return Times(self.queued, self.granted, self.started, self.settled, self.stopped)

    @property
    def partial(self) -> Any:
        """What the body kept in case it is cut off."""
        return self.context.partial if self.context is not None else None

    def unrun(self, outcome: Outcome) -> None:
        """Note the outcome of a call that does not run; what began earlier stays unknown."""
        begun = self.unknown and self.started is None
        self.outcome = unknown_outcome(outcome.error) if begun else outcome


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences that the model reads where the run, not the tool, has the last word.

    Attributes:
        abort: The cause of an abort.
    """

    abort: str = "by the user"
    causes: dict[str, str] = field(default_factory=dict)

    def settled(self, status: str, cause: CallPlan | None) -> Outcome:
        """The outcome of a call that settles without running."""
        name = repr(cause.name) if cause is not None else "another call"
        texts = {
            "not_started": f"Aborted before dispatch ({self.abort}).",
            "skipped": f"Skipped: call {name} failed, and its rule says that later calls stop.",
            "declined": "Declined: nobody is there to approve this call.",
            "held": (
                f"Not started: call {name} was reported as ended while its body still runs, "
                "and holds what this call needs."
            ),
        }
        return Outcome(status, error=texts[status])  # type: ignore[arg-type]  # one of the four

    def aborted(self, partial: Any = None) -> Outcome:
        """The outcome of a call that was running when the run was aborted."""
        return _cut_short("aborted", partial, f"Interrupted {self.abort}.")

    def after_abort(self, outcome: Outcome, partial: Any = None) -> Outcome:
        """What becomes of an outcome that arrives after the abort (spec 6.9)."""
        if not outcome.ok:
            return with_note(outcome, "The run was aborted meanwhile.")
        late = f"It succeeded after the abort, with: {outcome.text[:500]}"
        return with_note(self.aborted(partial), late)


def with_note(outcome: Outcome, note: str) -> Outcome:
    """An outcome with one more note."""
    return replace(outcome, note=f"{outcome.note}\n{note}" if outcome.note else note)


def _cut_short(status: Status, partial: Any, error: str) -> Outcome:
    kept = outcome_of(partial)  # a body may keep anything, as it may return anything
    return Outcome(status, kept.value, error, kept.images, kept.note)


def with_late_end(reported: Outcome | None, late: Outcome, partial: Any) -> Outcome | None:
    """An outcome that was reported while the body went on, now that it has ended.

    What was told stays true; what the body still said and kept is added (spec 6.9).
    """
    if reported is None:
        return None
    if partial is not None and reported.value is None:
        reported = replace(reported, value=outcome_of(partial).value)
    if late.ok:
        return with_note(reported, f"It ended later, with: {late.text[:500]}")
    if late.status == "failed":
        return replace(reported, error=f"{reported.error} It ended later, with: {late.error}")
    return reported


def timed_out(call: CallPlan, partial: Any = None) -> Outcome:
    """The outcome of a call whose body took too long.

    Whether it took effect is not known, unless it was declared to write nothing.
    """
    limit = call.terms.timeout or 0.0
    harmless = call.verdict.kind == "safe" and call.writes == ()
    doubt = "" if harmless else " Whether it took effect is not known: look before you repeat it."
    return _cut_short("timed_out", partial, f"Timed out after {limit:g} s.{doubt}")


def unknown_outcome(note: str | None = None) -> Outcome:
    """The outcome of a call whose process died in the middle of it.

    Args:
        note: Why it was not run again.
    """
    error = "It started, and nobody knows how it ended: look before you repeat it."
    return Outcome("outcome_unknown", error=error, note=note)


def settled_outcome(call: CallPlan) -> Outcome:
    """The outcome of a call that the plan settles."""
    return Outcome(call.verdict.status or "failed", error=call.verdict.reason)  # type: ignore[arg-type]  # the policy uses the statuses of outcomes
