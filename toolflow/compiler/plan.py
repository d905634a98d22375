"""The plan with its answers: who waits for whom and why, who may overlap, how long it takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolflow.compiler import analysis
from toolflow.compiler.diff import PlanDiff, diff_plans
from toolflow.compiler.fingerprint import fingerprint
from toolflow.compiler.text import plan_text
from toolflow.errors import UsageError
from toolflow.model.batch import CallPlan
from toolflow.model.plan import Edge, Node, PlanData

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Plan(PlanData):
    """The execution plan of one turn: a value, compared by its facts (spec 5).

    It is made by `compile_plan` or `load_plan`. ``str(plan)`` is the plan as text. Its
    fingerprint is always its own: it is worked out, whatever was given.
    """

    _index: Mapping[str, int] = field(init=False, repr=False, compare=False)
    _nodes: Mapping[int, Node] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index = {call.name: call.index for call in self.calls}
        nodes = {place: node for node in self.nodes for place in node.calls}
        object.__setattr__(self, "_index", index)
        object.__setattr__(self, "_nodes", nodes)
        object.__setattr__(self, "fingerprint", fingerprint(self))

    def call(self, name: str) -> CallPlan:
        """The call of a name.

        Args:
            name: The call's name in the turn.

        Raises:
            UsageError: If the plan has no such call.
        """
        return self.calls[self._place(name)]

    def node_of(self, name: str) -> Node:
        """The pool, barrier or settled node in which a call stands.

        Args:
            name: The call's name.

        Raises:
            UsageError: If the plan has no such call.
        """
        return self._nodes[self._place(name)]

    def why(self, a: str, b: str) -> tuple[Edge, ...]:
        """Why call ``b`` waits for call ``a`` (spec 5.4).

        Args:
            a: The name of the earlier call.
            b: The name of the later call.

        Returns:
            The shortest chain of edges that leads from ``a`` to ``b``: key edges, perhaps through
            gates, where both stand in one pool; else the order edges from the node of ``a`` to
            that of ``b``. Empty where nothing makes ``b`` wait for ``a``.

        Raises:
            UsageError: If the plan has no such call.
        """
        return analysis.why(self, self.node_of(a), self.node_of(b), a, b)

    def beside(self, name: str) -> tuple[str, ...]:
        """The names of the calls that may overlap a call, in call order.

        They stand in its pool, and no edges lead from one to the other. Permits and resources may
        still keep them apart.

        Args:
            name: The call's name.

        Raises:
            UsageError: If the plan has no such call.
        """
        place = self._place(name)
        return analysis.beside(self, self.node_of(name), self.calls[place])

    def predecessors(self, name: str) -> tuple[str, ...]:
        """The names of the calls that a call waits for directly, in call order.

        Those from which key edges lead to it, seen through gates, and all calls of the pool or
        barrier before its own.

        Args:
            name: The call's name.

        Raises:
            UsageError: If the plan has no such call.
        """
        place = self._place(name)
        return analysis.predecessors(self, self.node_of(name), self.calls[place])

    def critical_path(self, durations: Mapping[str, float]) -> tuple[float, tuple[str, ...]]:
        """The chain of calls that takes longest, one waiting for the other.

        Args:
            durations: Seconds that each call takes, by its name; calls not named take none.

        Returns:
            Its length in seconds, and the names of its calls in the order in which they run: no
            run of the plan is shorter, however wide the pool.

        Raises:
            UsageError: If a name is unknown, or a duration is not a number of at least 0.
        """
        return analysis.critical_path(self, self._seconds(durations))

    def lower_bound(self, durations: Mapping[str, float], pool: int | None = None) -> float:
        """The shortest time that the turn can take: max(critical path, work / pool) (spec 15).

        Args:
            durations: Seconds that each call takes, by its name; calls not named take none.
            pool: How many calls run at once; ``None`` for the plan's own limit.

        Returns:
            Seconds.

        Raises:
            UsageError: If a name is unknown, a duration is not a number of at least 0, or the
                pool is not an integer of at least 1.
        """
        if pool is not None and (type(pool) is not int or pool < 1):
            raise UsageError(f"pool is {pool!r}. Use an integer of at least 1.")
        seconds = self._seconds(durations)
        longest, _ = analysis.critical_path(self, seconds)
        return max(longest, sum(seconds) / (pool or self.limits.pool))

    def diff(self, other: PlanData, *, words: bool = False) -> PlanDiff:
        """What of another plan is not as in this one; see `diff_plans`.

        Args:
            other: The other plan.
            words: Whether words for people count too, which decide nothing.
        """
        return diff_plans(self, other, words=words)

    def graph(self) -> nx.DiGraph[str]:
        """The plan as a graph of networkx; see `analysis.graph` for vertices and attributes."""
        return analysis.graph(self)

    def __str__(self) -> str:
        """The plan as plain text for a terminal."""
        return plan_text(self)

    def _place(self, name: str) -> int:
        place = self._index.get(name)
        if place is None:
            raise UsageError(analysis.unknown_call(self, name))
        return place

    def _seconds(self, durations: Mapping[str, float]) -> list[float]:
        """The durations by the index of the call; settled calls take none."""
        seconds = [0.0] * len(self.calls)
        for name, value in durations.items():
            place = self._place(name)
            if isinstance(value, bool) or not 0 <= value < math.inf:
                raise UsageError(f"durations: {name!r} is {value!r}. Use seconds, at least 0.")
            if self.calls[place].verdict.kind != "settled":
                seconds[place] = float(value)
        return seconds
