"""Running recorded calls again with the real tools, and comparing what they give: the pure half.

A turn runs again as a run that goes on: calls that are not to run again are finished before it
starts, with their recorded outcomes, and the engine runs the rest as it runs any turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolflow.compiler import Plan
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.model.recording import RecordedTurn
from toolflow.policy import Redactor
from toolflow.policy.redact import holds_masks
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.compare import same
from toolflow.recording.forms import outcome_data
from toolflow.recording.show import shown

Result = Literal["same", "changed", "new error", "not run"]
_RAN = frozenset({"ok", "failed", "timed_out"})
_NONE = Outcome("not_started", error="It had no outcome in the recording.")


@dataclass(frozen=True, slots=True)
class LiveCall:
    """One call, run again or not.

    Attributes:
        call: Its name.
        tool: Its tool.
        result: ``same``; ``changed``; ``new error`` where it was ok and no longer is; ``not run``
            where its recorded outcome was used.
        recorded: The recorded outcome, or ``None``.
        now: The outcome now; ``None`` where it was not run.
        why: Why it was not run; empty where it was.
    """

    call: str
    tool: str
    result: Result
    recorded: Outcome | None
    now: Outcome | None = None
    why: str = ""

    def data(self) -> dict[str, Any]:
        """The call as JSON values."""
        recorded, now = self.recorded, self.now
        return {
            "call": self.call,
            "tool": self.tool,
            "result": self.result,
            "recorded": None if recorded is None else outcome_data(recorded),
            "now": None if now is None else outcome_data(now),
            "why": self.why or None,
        }

    def __str__(self) -> str:
        """One line."""
        if self.result == "not run":
            return f"not run    {self.call}: {self.why}"
        if self.result == "same" or self.recorded is None or self.now is None:
            return f"{self.result:<9}  {self.call}"
        before, after = _words(self.recorded, self.now), _words(self.now, self.recorded)
        return f"{self.result:<9}  {self.call}: recorded {before}, now {after}"


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """One turn with its calls, in call order."""

    id: str
    calls: tuple[LiveCall, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing that ran again came out otherwise."""
        return all(call.result in {"same", "not run"} for call in self.calls)


@dataclass(frozen=True, slots=True)
class LiveReport:
    """A recording, run again with the real tools."""

    turns: tuple[LiveTurn, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing that ran again came out otherwise."""
        return all(turn.ok for turn in self.turns)

    def data(self) -> dict[str, Any]:
        """The report as JSON values."""
        turns = [{"turn": t.id, "calls": [c.data() for c in t.calls]} for t in self.turns]
        return {"ok": self.ok, "turns": turns}

    def __str__(self) -> str:
        """A line a call, under a line a turn, and one for the whole."""
        lines = []
        for turn in self.turns:
            lines += [f"{turn.id}:", *(f"  {call}" for call in turn.calls)]
        results = [call.result for turn in self.turns for call in turn.calls]
        counts = ", ".join(
            f"{results.count(each)} {each}"
            for each in ("same", "changed", "new error", "not run")
            if each in results
        )
        return "\n".join([*lines, f"{len(results)} calls: {counts or 'none'}."])


def reused(recorded: RecordedTurn, plan: Plan, *, writes: bool) -> dict[int, str]:
    """The calls that are not to run again, and why.

    Args:
        recorded: The turn.
        plan: Its plan, as the tools at hand make it.
        writes: Whether calls run again that are exclusive, or that write.

    Returns:
        Words by the index of the call.
    """
    found = {}
    masked = recorded.plan.masked if recorded.plan is not None else ()
    for call in plan.calls:
        outcome = recorded.outcomes[call.index]
        then = recorded.plan.calls[call.index] if recorded.plan is not None else call
        if outcome is None:
            found[call.index] = "it has no outcome in the recording"
        elif outcome.status not in _RAN:
            found[call.index] = f"it did not run ({outcome.status})"
        elif call.name in masked or _is_masked(call, plan):
            found[call.index] = "its arguments are masked in the recording"
        elif not writes and (why := _writes(then) or _writes(call)):
            found[call.index] = f"{why}; --writes runs it"
    return found


def live_checkpoint(
    recorded: RecordedTurn, plan: Plan, kept: Mapping[int, str] | Sequence[int]
) -> Checkpoint:
    """Where a turn goes on when only some of its calls are to run again.

    Args:
        recorded: The turn.
        plan: Its plan, as the tools at hand make it.
        kept: Indexes of the calls that keep their recorded outcomes.

    Returns:
        A checkpoint. Calls that a person had approved are approved, for tool and arguments are
        the same; stop points are passed.
    """
    return Checkpoint(
        plan=plan,
        outcomes={index: (recorded.outcomes[index] or _NONE, True) for index in kept},
        approved=frozenset(
            call.index for call in plan.calls if call.ask is not None and call.index not in kept
        ),
        passed=frozenset(range(len(plan.calls))),
    )


def compared(
    recorded: RecordedTurn,
    plan: Plan,
    kept: Mapping[int, str],
    outcomes: Sequence[Outcome | None],
) -> LiveTurn:
    """Compare what calls gave now with the record.

    Args:
        recorded: The turn.
        plan: Its plan.
        kept: What `reused` gave.
        outcomes: The outcomes now, in call order; secrets are masked in them as in the record.
    """
    calls = []
    for call in plan.calls:
        before, now = recorded.outcomes[call.index], outcomes[call.index]
        if call.index in kept:
            calls.append(LiveCall(call.name, call.tool, "not run", before, None, kept[call.index]))
        else:
            calls.append(LiveCall(call.name, call.tool, _result(before, now), before, now))
    return LiveTurn(recorded.turn.id, tuple(calls))


def _is_masked(call: CallPlan, plan: Plan) -> bool:
    return isinstance(plan.redactor, Redactor) and holds_masks(call.args, plan.redactor)


def _writes(call: CallPlan) -> str:
    if call.verdict.kind == "exclusive":
        return "it is exclusive"
    return f"it writes {call.writes[0]}" if call.writes else ""


def _result(before: Outcome | None, now: Outcome | None) -> Result:
    if before is None or now is None:
        return "changed"
    if before.ok and not now.ok:
        return "new error"
    alike = (before.status, before.error, before.images) == (now.status, now.error, now.images)
    return "same" if alike and same(before.value, now.value) else "changed"


def _words(outcome: Outcome, other: Outcome) -> str:
    return f"{outcome.status} {shown(outcome.text, other.text)}"
