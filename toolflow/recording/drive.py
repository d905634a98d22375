"""Driving a fresh scheduler with recorded facts: the pure half of a replay (spec 10.3).

Nothing here waits or reads a clock. Facts come from files, so each is checked against the state of
the scheduler before it is told: a scheduler that is told the impossible would decide nonsense.

What is compared is the order in which the scheduler decides, which is the same in every run with
the same facts. A recorded start may come a little later than its decision (a worker has to take it
up, a key may be held by another run), so starts are matched with decisions by order, not by time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from toolflow.errors import DivergenceError, InternalError
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.model.plan import PlanData
from toolflow.model.recording import Fact
from toolflow.scheduler import Decision, Scheduler
from toolflow.scheduler.decisions import (
    ACQUIRING,
    AFTER,
    ASKING,
    DONE,
    HOOKING,
    PREPARING,
    READY,
    RUNNING,
    WAITING,
)

_PHASES = {
    WAITING: "its place in the turn is not reached",
    PREPARING: "its before-hook runs",
    READY: "it waits for calls before it, an answer or a permit",
    ACQUIRING: "it is told to start",
    RUNNING: "it runs",
    AFTER: "its outcome is known",
    HOOKING: "its after-hook runs",
    ASKING: "it waits for an answer to its question",
    DONE: "it is done",
}
_BEFORE_START = frozenset({WAITING, PREPARING, READY, ACQUIRING})
_ANY = frozenset(_PHASES)
_PHASES_OF: Mapping[str, frozenset[int]] = {
    "prepared": frozenset({PREPARING}),
    "refused": _BEFORE_START,
    "answered": _ANY,
    "changed": _ANY,
    "started": frozenset({ACQUIRING}),
    "gave_up": frozenset({ACQUIRING}),
    "reported": frozenset({RUNNING}),
    "stopped": frozenset({RUNNING}),
    "interrupted": frozenset({RUNNING}),
    "after_done": frozenset({HOOKING}),
    "grace_over": _ANY,
}
_LOST_BY = frozenset({"gave_up", "refused", "started"})


def facts_scheduler(plan: PlanData, facts: Sequence[Fact]) -> Scheduler:
    """The scheduler that a run's facts begin with.

    Args:
        plan: The plan of the run.
        facts: Its facts; the first may be the set-up.

    Returns:
        A fresh scheduler, not begun.
    """
    setup: Mapping[str, Any] = facts[0].data if facts and facts[0].kind == "setup" else {}
    return Scheduler(plan, **setup)


def told(scheduler: Scheduler, fact: Fact) -> list[Decision]:
    """Tell a scheduler a fact.

    Args:
        scheduler: The scheduler; it must be in a state in which the fact can be.
        fact: The fact, not the set-up.

    Returns:
        What it decides.

    Raises:
        DivergenceError: If nothing can go on after it.
    """
    arguments = () if fact.call < 0 else (fact.call,)
    try:
        getattr(scheduler, fact.kind)(*arguments, **fact.data)
    except InternalError as error:
        raise diverged(None, fact.kind, "nothing can go on", what="the run") from error
    return scheduler.take()


# What a call that does not start is told to be where its body ran before: it asked a person, or
# its process died in the middle of it.
_RAN_BEFORE: Final = {
    ("not_started", "aborted"),
    *((status, "outcome_unknown") for status in ("not_started", "skipped", "declined", "held")),
}


class Drive:
    """One scheduler under recorded facts.

    Args:
        plan: The plan.
        facts: All facts, of which the scheduler is told by `tell`; the first may be the set-up.
        outcomes: How each call settled in the record.
        waited: Indexes of calls that waited for keys or resources after they were told to start:
            others may have started before them.
        judge: Who decides whether another order of starts counts; by default it does.

    Attributes:
        starts: Indexes of the calls that the scheduler told to start, in that order.
        end: ``finish`` or ``pause`` once the run has ended, else the empty text.
    """

    def __init__(
        self,
        plan: PlanData,
        facts: Sequence[Fact],
        outcomes: Sequence[Outcome | None],
        waited: Collection[int] = (),
        judge: Callable[[Iterable[DivergenceError]], None] | None = None,
    ) -> None:
        self._scheduler = facts_scheduler(plan, facts)
        self._outcomes = outcomes
        self._waited = frozenset(waited)
        self._judge = judge or _first
        self._pending: list[int] = []
        self._gone = frozenset(fact.call for fact in facts if fact.kind in _LOST_BY)
        self.starts: list[int] = []
        self.end = ""

    @property
    def calls(self) -> list[CallPlan]:
        """The calls as they are now, with what hooks changed."""
        return self._scheduler.calls

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler, to be asked, not to be told."""
        return self._scheduler

    def tell(self, fact: Fact) -> list[Decision]:
        """Tell the scheduler a fact.

        Args:
            fact: The fact, not the set-up.

        Returns:
            What it decides.

        Raises:
            DivergenceError: If it cannot be true now, or a decision is not what was recorded.
        """
        if fact.call >= 0 or fact.kind in _PHASES_OF:
            self._check(fact)
        decisions = told(self._scheduler, fact)
        for decision in decisions:
            self._decided(decision)
        return decisions

    def finish(self, *, paused: bool) -> None:
        """All facts are told: check that nothing is left.

        Args:
            paused: Whether the record says that the run paused.

        Raises:
            DivergenceError: If a call would start that never started, or the run has not ended.
        """
        for index in self._pending:
            raise diverged(self._name(index), "no start", "it starts")
        recorded = "pause" if paused else "finish"
        if self.end != recorded:
            now = {"pause": "it pauses", "finish": "it finishes", "": "it goes on"}[self.end]
            said = "it paused" if paused else "it finished"
            raise diverged(None, said, now, what="the end of the run")

    def _check(self, fact: Fact) -> None:
        scheduler, index = self._scheduler, fact.call
        if not 0 <= index < len(scheduler.phase):
            raise diverged(None, f"{fact.kind} of call {index}", "there is no such call")
        phase = scheduler.phase[index]
        lingers = fact.kind == "stopped" and index in scheduler.lingering
        if phase not in _PHASES_OF[fact.kind] and not lingers:
            raise diverged(self._name(index), _said(fact.kind), _PHASES[phase])
        if fact.kind in _LOST_BY and index in self._pending:
            if fact.kind == "started":
                self._check_order(index)
            self._pending.remove(index)

    def _check_order(self, index: int) -> None:
        for other in self._pending:
            if other == index:
                return
            if other not in self._gone:
                raise diverged(self._name(other), "no start", "it starts")
            if other not in self._waited:
                said = f"it starts before call {self._name(other)!r}"
                now = f"call {self._name(other)!r} starts first"
                self._judge([diverged(self._name(index), said, now, kind="order")])

    def _decided(self, decision: Decision) -> None:
        kind, index = decision.kind, decision.call
        if kind == "start":
            self._pending.append(index)
            self.starts.append(index)
        elif kind == "settle":
            outcome = self._outcomes[index]
            recorded = "no outcome" if outcome is None else outcome.status
            if recorded != decision.status and (decision.status, recorded) not in _RAN_BEFORE:
                raise diverged(self._name(index), recorded, decision.status)
        elif kind in {"finish", "pause"}:
            self.end = kind

    def _name(self, index: int) -> str:
        return self._scheduler.calls[index].name


def _first(differences: Iterable[DivergenceError]) -> None:
    for difference in differences:
        raise difference


def diverged(
    call: str | None, recorded: object, now: object, *, what: str = "the turn", kind: str = ""
) -> DivergenceError:
    """A divergence, in the one form of its message.

    Args:
        call: The name of the call, or ``None``.
        recorded: What the recording holds, as short text.
        now: What is now, as short text.
        what: What it is about where it is about no call.
        kind: The kind of difference, where a replay may pass over it.
    """
    where = f"call {call!r}" if call is not None else what
    return DivergenceError(
        f"Replay diverged at {where}: recorded {recorded}, now {now}.",
        call=call,
        expected=recorded,
        actual=now,
        kind=kind,
    )


def _said(kind: str) -> str:
    return {
        "prepared": "its before-hook was done",
        "refused": "it got its outcome without running",
        "started": "it started",
        "gave_up": "it gave up its place",
        "reported": "it was reported while it ran",
        "stopped": "it stopped",
        "interrupted": "it asked a question",
        "after_done": "its after-hook was done",
    }[kind]
