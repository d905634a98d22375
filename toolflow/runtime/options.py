"""What a run is told beside its plan."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolflow.errors import UsageError
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.model.plan import PlanData
from toolflow.model.turn import EMPTY
from toolflow.runtime.approvals import Approver
from toolflow.runtime.control import Control
from toolflow.runtime.events import Sink
from toolflow.runtime.hooks import HookChain
from toolflow.runtime.journaling import RunJournal
from toolflow.runtime.toolbox import Toolbox
from toolflow.scheduler.trace import TracedScheduler

Reclassify = Callable[[CallPlan, Mapping[str, Any]], CallPlan]
NO_HOOKS = HookChain(())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run a plan.

    Attributes:
        run: The run's name.
        hooks: What stands before, around and after every call.
        approver: Who answers questions while the run goes on, or ``None``.
        sinks: Observers of events.
        control: The handle to interrupt and abort with.
        pausable: Whether the run may pause with a checkpoint.
        stops: Calls before which the run stops, beside those of the plan.
        passed: Calls whose stop point counts no more.
        approved: Calls whose question was answered with yes.
        outcomes: Calls that have an outcome already, with whether the after-hook has run.
        prepared: Calls whose before-hook has run.
        asking: Calls that wait for a person (their body asked, or they are unknown), with the
            question.
        unknown: Calls that a process which died had entered; nobody knows how they ended.
        answers: Answers to interrupts, by the call's name, in the order asked.
        attempts: How often each call was entered before, by index.
        grace: Seconds that a body that was reported may take to stop before others stop waiting.
        total: Seconds that the whole run may take, or ``None``.
        lineage: The owners of keys that this run may take again: parent calls, nearest first.
        source: ``main``, or the path of parent calls of a nested turn.
        messages: The transcript's snapshot for tools.
        reclassify: Classifies a call anew, with other arguments or tools.
        journal: Where the run is written as it goes, or ``None``.
        pinned: The toolbox and what it held when the outermost run began; for nested turns.

    Raises:
        UsageError: If a time is no number of seconds.
    """

    run: str = "run"
    hooks: HookChain = NO_HOOKS
    approver: Approver | None = None
    sinks: Sequence[Sink] = ()
    control: Control = field(default_factory=Control)
    pausable: bool = False
    stops: frozenset[int] = frozenset()
    passed: frozenset[int] = frozenset()
    approved: frozenset[int] = frozenset()
    outcomes: Mapping[int, tuple[Outcome, bool]] = field(default_factory=dict)
    prepared: frozenset[int] = frozenset()
    asking: Mapping[int, object] = field(default_factory=dict)
    unknown: frozenset[int] = frozenset()
    answers: Mapping[str, Sequence[Any]] = EMPTY
    attempts: Mapping[int, int] = field(default_factory=dict)
    grace: float = 5.0
    total: float | None = None
    lineage: tuple[Hashable, ...] = ()
    source: str = "main"
    messages: Sequence[Any] = ()
    reclassify: Reclassify | None = None
    pinned: tuple[Toolbox, Toolbox] | None = None
    journal: RunJournal | None = None

    def __post_init__(self) -> None:
        for name, value in (("grace", self.grace), ("timeout", self.total)):
            if value is not None and (type(value) not in {int, float} or not value >= 0):
                raise UsageError(f"{name} is {value!r}. Use a number of seconds of at least 0.")


def stops_of(plan: PlanData, stop_at: Iterable[str], *, step: bool = False) -> frozenset[int]:
    """The calls before which a run stops.

    Args:
        plan: The plan.
        stop_at: Names of calls.
        step: Whether to stop before every call.

    Returns:
        Their indexes.

    Raises:
        UsageError: If a name is no call of the plan.
    """
    index = {call.name: call.index for call in plan.calls}
    wanted = tuple(stop_at)
    unknown = [name for name in wanted if name not in index]
    if unknown:
        raise UsageError(
            f"stop_at names {unknown[0]!r}, which is no call of this plan. "
            f"Its calls are {', '.join(index) or 'none'}."
        )
    return frozenset(index.values()) if step else frozenset(index[name] for name in wanted)


def scheduler_of(plan: PlanData, options: RunOptions) -> TracedScheduler:
    """The scheduler of a run."""
    return TracedScheduler(
        plan,
        hooks=bool(options.hooks),
        approver=options.approver is not None,
        pausable=options.pausable,
        stops=options.stops,
        passed=options.passed,
        approved=options.approved,
        settled={index: hooked for index, (_, hooked) in options.outcomes.items()},
        failed=[index for index, (outcome, _) in options.outcomes.items() if not outcome.ok],
        prepared=options.prepared,
        asking=options.asking,
    )
