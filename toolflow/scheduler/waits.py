"""Who still waits for whom inside a turn: the key edges of the plan, as they melt away."""

from __future__ import annotations

from collections.abc import Iterable

from toolflow.model.batch import CallPlan
from toolflow.model.keys import keys_meet
from toolflow.model.plan import PlanData


class Waits:
    """The open key edges of a plan.

    Vertices are integers: calls by index, then gates. A vertex is *free* once everything before it
    was freed and it was freed itself; a gate frees itself as soon as nothing is before it.

    Args:
        plan: The plan whose edges count.
    """

    def __init__(self, plan: PlanData) -> None:
        self._calls = len(plan.calls)
        self._before: dict[int, set[int]] = {}
        self._behind: dict[int, list[int]] = {}
        if any(edge.kind == "key" for edge in plan.edges):
            number = {call.name: call.index for call in plan.calls}
            for place, gate in enumerate(plan.gates):
                number[gate.name] = self._calls + place
            for edge in plan.edges:
                if edge.kind == "key":
                    self.add(number[edge.after], number[edge.before])

    def add(self, vertex: int, before: int) -> None:
        """Make a vertex wait for another one."""
        self._before.setdefault(vertex, set()).add(before)
        self._behind.setdefault(before, []).append(vertex)

    def replace(self, vertex: int, before: Iterable[int]) -> None:
        """Make a vertex wait for exactly these others."""
        self._before.pop(vertex, None)
        for other in before:
            self.add(vertex, other)

    def blocked(self, vertex: int) -> bool:
        """Whether a vertex still waits for another."""
        return vertex in self._before

    def free(self, vertex: int) -> list[int]:
        """Let go of everything that waits for a vertex.

        Args:
            vertex: A call that has stopped, or that will never run.

        Returns:
            The calls that wait for nothing any more, in no particular order.
        """
        released: list[int] = []
        todo = [vertex]
        while todo:
            gone = todo.pop()
            for other in self._behind.pop(gone, ()):
                before = self._before.get(other)
                if before is None or gone not in before:
                    continue
                before.discard(gone)
                if not before:
                    del self._before[other]
                    (released if other < self._calls else todo).append(other)
        return released

    def behind(self, vertex: int) -> list[int]:
        """The calls that wait for a vertex directly or through gates, ascending."""
        found: set[int] = set()
        todo = [vertex]
        while todo:
            gone = todo.pop()
            for other in self._behind.get(gone, ()):
                if gone in self._before.get(other, ()) and other not in found:
                    found.add(other)
                    if other >= self._calls:
                        todo.append(other)
        return sorted(call for call in found if call < self._calls)


def calls_meet(one: CallPlan, other: CallPlan) -> bool:
    """Whether two calls may not overlap: one writes a key that meets a key of the other."""
    return (
        _any_meet(one.writes, other.writes)
        or _any_meet(one.writes, other.reads)
        or _any_meet(one.reads, other.writes)
    )


def _any_meet(some: tuple[str, ...] | None, others: tuple[str, ...] | None) -> bool:
    if not some or not others:
        return False
    return any(keys_meet(a, b) for a in some for b in others)
