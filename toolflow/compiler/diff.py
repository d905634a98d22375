"""What of two plans is not the same: calls, verdicts, keys, terms, edges, nodes, limits (spec 12).

It looks at what a fingerprint covers, so two plans of one turn without a difference are the same
run. Calls are told apart by name. Calls that the other plan does not know by name are matched with
those of the same tool and arguments, in call order: in another log of the same turn ids differ.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolflow.compiler.change import ABSENT, Change, change_of
from toolflow.compiler.diff_calls import call_changes
from toolflow.compiler.diff_graph import edge_changes, node_changes
from toolflow.model.batch import CallPlan
from toolflow.model.digest import digest
from toolflow.model.plan import PlanData

Pair = tuple[CallPlan | None, CallPlan | None]


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """The differences of two plans.

    Attributes:
        before: The name of the first plan's turn.
        after: The name of the second plan's turn.
        changes: The differences: bounds of the run, calls in call order, nodes, edges.
    """

    before: str
    after: str
    changes: tuple[Change, ...] = ()

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return not self.changes

    def of_call(self, name: str) -> tuple[Change, ...]:
        """The differences of one call, by its name in the first plan, else in the second."""
        return tuple(each for each in self.changes if (each.kind, each.name) == ("call", name))

    def data(self) -> list[dict[str, Any]]:
        """The differences as JSON values."""
        return [change.data() for change in self.changes]

    def __str__(self) -> str:
        """One line a difference."""
        return "\n".join(map(str, self.changes)) if self.changes else "no difference"


def diff_plans(before: PlanData, after: PlanData, *, words: bool = False) -> PlanDiff:
    """Compare two plans.

    Args:
        before: The first plan.
        after: The second plan.
        words: Whether words for people count too: reasons of calls that run, numbers and lines of
            rules, labels, causes of edges. They decide nothing.

    Returns:
        What is not the same. The names of turns and the digests of policy and turn are not looked
        at; neither are order edges, which nodes tell already, nor the numbers of nodes and gates.
    """
    pairs = matched(before.calls, after.calls)
    names = {b.name: a.name for a, b in pairs if a is not None and b is not None}
    changes = [
        *_bounds(before, after),
        *_order(before, after, names),
        *(change for pair in pairs for change in call_changes(*pair, words=words)),
        *node_changes(before, after, names),
        *edge_changes(before, after, names, words=words),
    ]
    return PlanDiff(before.turn_id, after.turn_id, tuple(changes))


def matched(before: Sequence[CallPlan], after: Sequence[CallPlan]) -> list[Pair]:
    """The calls of two plans side by side.

    Args:
        before: The calls of the first plan.
        after: The calls of the second plan.

    Returns:
        Pairs in the order of the first plan, then what only the second plan has.
    """
    by_name = {call.name: call for call in after}
    known = {call.name for call in before}
    alike: dict[str, deque[CallPlan]] = {}
    for call in after:
        if call.name not in known:
            alike.setdefault(digest([call.tool, call.args]), deque()).append(call)
    pairs: list[Pair] = []
    for call in before:
        other = by_name.get(call.name)
        if other is None and (queue := alike.get(digest([call.tool, call.args]))):
            other = queue.popleft()
        pairs.append((call, other))
    rest = sorted((call for queue in alike.values() for call in queue), key=lambda c: c.index)
    return [*pairs, *((None, call) for call in rest)]


def _bounds(before: PlanData, after: PlanData) -> Iterator[Change]:
    one, other = before.limits, after.limits
    if one.pool != other.pool:
        yield Change("~", "limits", "pool", "", one.pool, other.pool)
    for name in sorted({*one.resources, *other.resources}):
        units = one.resources.get(name, ABSENT), other.resources.get(name, ABSENT)
        yield from change_of("limits", f"resources.{name}", "", *units)
    if before.approvals != after.approvals:
        yield Change("~", "plan", "", "approvals", before.approvals, after.approvals)


def _order(before: PlanData, after: PlanData, names: Mapping[str, str]) -> Iterator[Change]:
    """Calls that both have, in another order."""
    shared = set(names.values())
    one = [call.name for call in before.calls if call.name in shared]
    other = [names[call.name] for call in after.calls if call.name in names]
    if one != other:
        yield Change("~", "plan", "", "order of calls", one, other)
