"""Who still waits for whom inside a turn: the key edges of the plan, as they melt away."""

from __future__ import annotations

from collections.abc import Sequence

from toolflow.model.batch import CallPlan
from toolflow.model.keys import keys_meet
from toolflow.model.plan import PlanData


class Waits:
    """The open key edges of a plan.

    Vertices are integers: calls by index, then gates. A call is *free* once it has stopped, or
    will never run; a gate frees itself as soon as nothing is before it.

    The plan has few edges: where three calls write one key, the third waits for the second only.
    So a call that is freed while it still waits itself hands on what it waits for.

    Args:
        plan: The plan whose edges count.
        calls: Its calls; the list is shared, so changed calls are seen.
    """

    def __init__(self, plan: PlanData, calls: Sequence[CallPlan]) -> None:
        self._calls = calls
        self._count = len(calls)
        self._before: dict[int, set[int]] = {}
        self._behind: dict[int, list[int]] = {}
        if any(edge.kind == "key" for edge in plan.edges):
            number = {call.name: call.index for call in plan.calls}
            for place, gate in enumerate(plan.gates):
                number[gate.name] = self._count + place
            for edge in plan.edges:
                if edge.kind == "key":
                    self.add(number[edge.after], number[edge.before])

    def add(self, vertex: int, before: int) -> None:
        """Make a vertex wait for another one."""
        self._before.setdefault(vertex, set()).add(before)
        self._behind.setdefault(before, []).append(vertex)

    @property
    def any(self) -> bool:
        """Whether anybody still waits."""
        return bool(self._before)

    def blocked(self, vertex: int) -> bool:
        """Whether a vertex still waits for another."""
        return vertex in self._before

    def free(self, vertex: int) -> list[int]:
        """Let go of everything that waits for a vertex.

        Args:
            vertex: A call that has stopped, that will never run, or whose keys have changed.

        Returns:
            The calls that wait for nothing any more, in no particular order.
        """
        if not self._before:
            return []
        if vertex in self._before:
            self._hand_on(vertex)
        released: list[int] = []
        todo = [vertex]
        while todo:
            gone = todo.pop()
            for other in self._behind.pop(gone, ()):
                if self._let_go(other, gone):
                    (released if other < self._count else todo).append(other)
        return released

    def overtaken(self, vertex: int) -> list[int]:
        """Let go of the earlier calls that wait for a call which gave up its place.

        Args:
            vertex: The call; it had a permit when its keys, or theirs, changed.

        Returns:
            The calls that wait for nothing any more.
        """
        earlier = [other for other in self._behind.get(vertex, ()) if other < vertex]
        return [other for other in earlier if self._let_go(other, vertex)]

    def behind(self, vertex: int) -> list[int]:
        """The calls that wait for a vertex directly or through gates, ascending."""
        found: set[int] = set()
        todo = [vertex]
        while todo:
            gone = todo.pop()
            for other in self._behind.get(gone, ()):
                if gone in self._before.get(other, ()) and other not in found:
                    found.add(other)
                    if other >= self._count:
                        todo.append(other)
        return sorted(call for call in found if call < self._count)

    def _let_go(self, vertex: int, gone: int) -> bool:
        """Make a vertex wait for another one no more; whether it waits for nothing then."""
        before = self._before.get(vertex)
        if before is None or gone not in before:
            return False
        before.discard(gone)
        if before:
            return False
        del self._before[vertex]
        return True

    def _hand_on(self, vertex: int) -> None:
        """Make those behind a vertex wait for what it waits for, as far as they meet that.

        Where a call does not meet it, one further behind may: of two readers that stood on both
        sides of a writer, each keeps the next writer waiting.
        """
        inherited = self._before.pop(vertex)
        pending = {other: set(inherited) for other in self.behind(vertex)}
        while pending:
            call = min(pending)
            if further := self._inherit(call, pending.pop(call)):
                for other in self.behind(call):
                    pending.setdefault(other, set()).update(further)

    def _inherit(self, call: int, vertices: set[int]) -> set[int]:
        """Make a call wait for the nearest calls at or before some vertices that it meets.

        Returns:
            The calls that it does not wait for.
        """
        todo, others = list(vertices), set(vertices)
        while todo:
            vertex = todo.pop()
            if vertex < self._count and calls_meet(self._calls[vertex], self._calls[call]):
                self.add(call, vertex)
                others.discard(vertex)
                continue
            further = self._before.get(vertex, set()) - others
            others |= further
            todo.extend(further)
        return {vertex for vertex in others if vertex < self._count}


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
