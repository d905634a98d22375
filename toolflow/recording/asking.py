"""What if another policy, pool or capacity had been in force (spec 10.4)?

Both plans, the recorded one and the one that would be made now, are run in virtual time by the same
scheduler, and each call takes as long as its body took in the record. So what differs in the two
runs comes from the plans and the limits alone: how long people took to answer, and how long keys
were held by others, is in neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from toolflow.compiler import Plan, PlanDiff, diff_plans
from toolflow.compiler.masking import masked_plan
from toolflow.errors import DivergenceError, UsageError
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.tool import Catalog
from toolflow.policy import Policy
from toolflow.recording.durations import body_seconds, recorded_seconds, whole_turns
from toolflow.recording.projection import Projection, as_plan, project
from toolflow.recording.rules import Rules

Missing = Literal["zero", "median"]


@dataclass(frozen=True, slots=True)
class WhatIfTurn:
    """One turn under what was and under what might be.

    Attributes:
        recorded: The turn as it was recorded; a run in parts in one piece.
        before: Its recorded plan in virtual time.
        after: The plan as it would be now in virtual time.
        diff: What of the plan is not the same.
        missing: Names of calls that run in one of the two, and whose time is not recorded.
        seconds: How long the turn took as it was recorded, or ``None``.
    """

    recorded: RecordedTurn
    before: Projection
    after: Projection
    diff: PlanDiff
    missing: tuple[str, ...]
    seconds: float | None

    @property
    def id(self) -> str:
        """The turn's name."""
        return self.recorded.turn.id

    @property
    def same(self) -> bool:
        """Whether neither the plan nor the run in virtual time differs."""
        one, other = self.before.simulation, self.after.simulation
        return self.diff.same and (one.order, one.times) == (other.order, other.times)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer for all turns, which follow each other.

    Attributes:
        turns: The turns in order.
        missing: What counts for calls without a recorded time: ``zero`` or ``median``.
    """

    turns: tuple[WhatIfTurn, ...]
    missing: Missing = "zero"

    @property
    def before(self) -> float:
        """Seconds of all turns as recorded, in virtual time."""
        return sum(turn.before.total for turn in self.turns)

    @property
    def after(self) -> float:
        """Seconds of all turns as they would be."""
        return sum(turn.after.total for turn in self.turns)

    def __str__(self) -> str:
        """One line a turn, and one for the whole."""
        lines = [_line(turn) for turn in self.turns]
        changed = sum(not turn.same for turn in self.turns)
        turns = "turn changes" if len(self.turns) == 1 else "turns change"
        whole = f"{changed} of {len(self.turns)} {turns}: "
        return "\n".join([*lines, f"{whole}{self.before:.6g} s before, {self.after:.6g} s after."])


def what_if(
    recording: Recording,
    *,
    policy: Policy | None = None,
    pool: int | None = None,
    resources: Mapping[str, int] | None = None,
    tools: Catalog | None = None,
    cwd: str | None = None,
    missing: Missing = "zero",
) -> WhatIf:
    """Work out how the turns of a recording would have gone under other rules.

    Args:
        recording: The recording. Turns without a recorded plan (an imported log) are planned with
            its own policy, or with the empty one, for what was.
        policy: Another policy; ``None`` for the recording's own.
        pool: How many calls of one turn run at once, instead of what the policy says.
        resources: Capacities of scarce resources by name, instead of what the policy says; those
            not named stay as they are.
        tools: The tools, for what they declare; see `replay`.
        cwd: The folder that relative paths start from; the recording's own by default.
        missing: What counts for a call whose time is not recorded: ``zero`` seconds, or the
            ``median`` of the recorded times of its tool (of all tools, where it has none).

    Returns:
        Both plans of every turn with their runs in virtual time.

    Raises:
        UsageError: If a bound is not an integer of at least 1, or a call would need more of a
            resource than there is.
        ReplayError: If the recording's own policy cannot be used.
    """
    fill = filler(recording.turns, missing)
    rules = Rules(recording, policy, tools, cwd=cwd, pool=pool, resources=resources)
    own = Rules(recording, None, tools, cwd=cwd, pool=None)
    found = []
    for recorded in whole_turns(recording.turns):
        plan = recorded.plan
        before = as_plan(plan) if plan is not None else planned(own, recorded)
        found.append(_turn(recorded, before, planned(rules, recorded), fill))
    return WhatIf(tuple(found), missing)


def planned(rules: Rules, recorded: RecordedTurn) -> Plan:
    """The plan of a turn under some rules.

    Raises:
        UsageError: If a call needs more of a resource than there is.
    """
    try:
        return rules.plan(recorded)
    except DivergenceError as error:
        # The one reason for it: the limits do not let a call run.
        raise UsageError(
            f"Turn {recorded.turn.id!r}: call {error.call!r}: {error.actual}."
        ) from error


def _turn(
    recorded: RecordedTurn, before: Plan, after: Plan, fill: Mapping[str, float]
) -> WhatIfTurn:
    redactor = after.redactor or before.redactor
    if redactor is not None:  # nothing that is shown of a turn holds a secret that a policy names
        before, after = (masked_plan(replace(p, redactor=redactor)) for p in (before, after))
    measured = body_seconds(recorded)
    seconds = filled(recorded, fill)
    was, would = (project(plan, seconds, recorded.outcomes) for plan in (before, after))
    missing = tuple(
        call.name
        for call, known in zip(before.calls, measured, strict=True)
        if known is None and call.index in was.ran | would.ran
    )
    seconds_recorded = recorded_seconds(recorded)
    return WhatIfTurn(recorded, was, would, diff_plans(before, after), missing, seconds_recorded)


def filled(recorded: RecordedTurn, fill: Mapping[str, float]) -> list[float]:
    """How long each call of a turn takes, in call order, with what counts where nobody knows.

    Args:
        recorded: The turn.
        fill: What `filler` gave.
    """
    pairs = zip(recorded.turn.calls, body_seconds(recorded), strict=True)
    return [
        fill.get(call.tool, fill.get("", 0.0)) if known is None else known for call, known in pairs
    ]


def filler(turns: Iterable[RecordedTurn], missing: Missing) -> dict[str, float]:
    """What counts where no time is recorded, by tool; the empty name stands for all tools.

    Args:
        turns: All turns of the recording; for ``zero`` none of them is read.
        missing: ``zero`` or ``median``.

    Raises:
        UsageError: If it is another word.
    """
    if missing not in {"zero", "median"}:
        raise UsageError(f"missing is {missing!r}. Use 'zero' or 'median'.")
    if missing == "zero":
        return {}
    known: dict[str, list[float]] = {}
    for recorded in whole_turns(turns):
        for call, seconds in zip(recorded.turn.calls, body_seconds(recorded), strict=True):
            if seconds is not None:
                known.setdefault(call.tool, []).append(seconds)
                known.setdefault("", []).append(seconds)
    return {tool: _median(values) for tool, values in known.items()}


def _median(values: list[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _line(turn: WhatIfTurn) -> str:
    if turn.same:
        return f"{turn.id}: as recorded, {turn.before.total:.6g} s"
    changes = len(turn.diff.changes)
    what = f"{changes} {'change' if changes == 1 else 'changes'} of the plan"
    return f"{turn.id}: {what}, {turn.before.total:.6g} s before, {turn.after.total:.6g} s after"
