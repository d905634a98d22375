"""Who waits for whom in the middle of a run, and why: read off plan and scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolflow.compiler.analysis import key_needs
from toolflow.model.batch import CallPlan
from toolflow.model.plan import Edge, Node, PlanData
from toolflow.scheduler import Scheduler
from toolflow.scheduler.decisions import (
    ACQUIRING,
    AFTER,
    ASKING,
    DONE,
    HOOKING,
    PREPARING,
    RUNNING,
    WAITING,
)

_MOST = 6
_OVER = frozenset({AFTER, HOOKING, DONE})


class Waiting:
    """Answers for one plan whom a call waits for.

    Args:
        plan: The plan that is run.
    """

    def __init__(self, plan: PlanData) -> None:
        self._plan = plan
        self._index = {call.name: call.index for call in plan.calls}
        self._needs = key_needs(plan.edges)
        self._edges = {(e.before, e.after): e for e in plan.edges if e.kind == "key"}
        self._nodes = [node for node in plan.nodes if node.kind != "settled"]
        self._place = {at: place for place, node in enumerate(self._nodes) for at in node.calls}

    def running(self, scheduler: Scheduler) -> list[str]:
        """Names of calls whose bodies run, those that were reported while they do so included."""
        lingering = set(scheduler.lingering)
        return [
            call.name
            for call in scheduler.calls
            if scheduler.phase[call.index] == RUNNING or call.index in lingering
        ]

    def of(self, scheduler: Scheduler, call: CallPlan) -> tuple[str, ...]:
        """What a call that has not started waits for, one short text each.

        Args:
            scheduler: The scheduler in the middle of the run.
            call: The call.

        Returns:
            Nothing where it runs, is done, or waits for nothing that the plan knows of.
        """
        phase = scheduler.phase[call.index]
        if phase in _OVER or phase == RUNNING:
            return ()
        if phase == ASKING:
            return ("an answer to its own question",)
        found = [*self._of_node(scheduler, call), *self._of_keys(scheduler, call)]
        if call.index in scheduler.open_questions:
            found.append("an answer to its question")
        if phase == PREPARING:
            found.append("its before-hook")
        elif phase == ACQUIRING:
            found.append("its start: it has a permit")
        elif not found:
            found.append(self._of_limits(scheduler, call))
        return tuple(found)

    def _of_node(self, scheduler: Scheduler, call: CallPlan) -> Iterator[str]:
        """The nearest pool or barrier before its own that is still open."""
        place = self._place.get(call.index, 0)
        for node in reversed(self._nodes[:place]):
            if open_ones := self._open(scheduler, node):
                yield f"{node.id} ({_listed(open_ones)})"
                return

    def _open(self, scheduler: Scheduler, node: Node) -> list[str]:
        return [
            scheduler.calls[index].name
            for index in node.calls
            if scheduler.phase[index] != DONE or index in scheduler.lingering
        ]

    def _of_keys(self, scheduler: Scheduler, call: CallPlan) -> Iterator[str]:
        todo, seen = [call.name], {call.name}
        while todo:
            after = todo.pop()
            for before in self._needs.get(after, ()):
                if before in seen:
                    continue
                seen.add(before)
                index = self._index.get(before)
                if index is None:
                    todo.append(before)  # a gate: who stands before it counts
                elif scheduler.phase[index] not in _OVER or index in scheduler.lingering:
                    yield f"{before} ({_cause(self._edges[before, after])})"

    def _of_limits(self, scheduler: Scheduler, call: CallPlan) -> str:
        if scheduler.stop_point >= 0:
            return f"a stop point at {scheduler.calls[scheduler.stop_point].name}"
        held = len(self.running(scheduler))
        if held >= self._plan.limits.pool:
            return f"a permit (pool {self._plan.limits.pool})"
        if call.terms.uses:
            return f"a resource ({', '.join(sorted(call.terms.uses))})"
        return "its turn" if scheduler.phase[call.index] == WAITING else "a permit"


def _cause(edge: Edge) -> str:
    return "; ".join(edge.causes)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST])
    return shown if len(names) <= _MOST else f"{shown} … {len(names)} in all"
