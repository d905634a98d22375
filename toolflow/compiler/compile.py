"""From a batch to a plan (spec 5): pools and barriers, the order between them, key edges inside.

One pass makes the nodes, one sweep a pool makes the key edges (`key_edges`), and one text is
hashed: the cost grows linearly with the calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from toolflow.compiler.causes import barrier_cause
from toolflow.compiler.fingerprint import turn_digest
from toolflow.compiler.gates import settle
from toolflow.compiler.key_edges import Sweep
from toolflow.compiler.plan import Plan
from toolflow.errors import PlanError, Problem
from toolflow.model.batch import Batch, CallPlan, Limits
from toolflow.model.plan import Edge, Gate, Node


def compile_plan(batch: Batch) -> Plan:
    """Compile a classified turn into its execution plan.

    Consecutive safe calls form a pool, an exclusive call is a barrier, settled calls stand aside
    (spec 5.1). Calls of one pool whose keys meet are ordered by edges, in call order (spec 5.2).

    Args:
        batch: The turn with a verdict for each call, and the limits in force.

    Returns:
        The plan. Equal batches give equal plans.

    Raises:
        PlanError: If calls need more of a resource than there is; every such call is told.
    """
    if found := list(resource_problems(batch.calls, batch.limits)):
        problems = [Problem(text, batch.turn.id, code="resource") for _, text in found]
        raise PlanError(problems)
    nodes = tuple(make_nodes(batch.calls))
    gates, key_edges = make_key_edges(batch.calls, nodes)
    return Plan(
        turn_id=batch.turn.id,
        message_id=batch.turn.message_id,
        source=batch.turn.source,
        calls=batch.calls,
        nodes=nodes,
        gates=gates,
        edges=(*make_order_edges(batch.calls, nodes), *key_edges),
        limits=batch.limits,
        approvals=batch.approvals,
        policy_digest=batch.policy_digest,
        turn_digest=turn_digest(batch.turn),
        notices=(*batch.turn.notices, *batch.notices),
        turn=batch.turn,
        redactor=batch.redactor,
    )


def recompile(plan: Plan, calls: Sequence[CallPlan]) -> Plan:
    """The plan of the same turn with calls that were decided about anew (spec 6.4).

    Args:
        plan: The plan as it was.
        calls: All calls in call order, some with other arguments, verdicts or keys.

    Returns:
        A plan whose nodes and edges fit these calls.

    Raises:
        PlanError: If calls need more of a resource than there is.
    """
    if found := list(resource_problems(calls, plan.limits)):
        raise PlanError([Problem(text, plan.turn_id, code="resource") for _, text in found])
    nodes = tuple(make_nodes(calls))
    gates, key_edges = make_key_edges(calls, nodes)
    edges = (*make_order_edges(calls, nodes), *key_edges)
    return replace(plan, calls=tuple(calls), nodes=nodes, gates=gates, edges=edges)


def make_nodes(calls: Sequence[CallPlan]) -> Iterator[Node]:
    """The nodes of a turn: pools and barriers as they run, then settled calls.

    Args:
        calls: The calls in call order.
    """
    number = 0
    pool: list[int] = []
    for call in calls:
        kind = call.verdict.kind
        if kind == "safe":
            pool.append(call.index)
        elif kind == "exclusive":
            if pool:
                yield Node(f"pool-{(number := number + 1)}", "pool", tuple(pool))
                pool = []
            yield Node(f"barrier-{(number := number + 1)}", "barrier", (call.index,))
    if pool:
        yield Node(f"pool-{number + 1}", "pool", tuple(pool))
    settled = (call.index for call in calls if call.verdict.kind == "settled")
    for place, index in enumerate(settled, 1):
        yield Node(f"settled-{place}", "settled", (index,))


def make_order_edges(calls: Sequence[CallPlan], nodes: Sequence[Node]) -> Iterator[Edge]:
    """One edge between each node and the next that runs; a barrier on either side is its cause.

    Args:
        calls: The calls in call order.
        nodes: The nodes of the plan.
    """
    run = [node for node in nodes if node.kind != "settled"]
    for before, after in pairwise(run):
        barriers = [node for node in (before, after) if node.kind == "barrier"]
        causes = dict.fromkeys(barrier_cause(calls[node.calls[0]]) for node in barriers)
        yield Edge(before.id, after.id, tuple(causes), "order")


def make_key_edges(
    calls: Sequence[CallPlan], nodes: Iterable[Node]
) -> tuple[tuple[Gate, ...], tuple[Edge, ...]]:
    """The gates and key edges of all pools.

    Args:
        calls: The calls in call order.
        nodes: The nodes of the plan.
    """
    sweep = Sweep()
    for node in nodes:
        if node.kind == "pool":
            sweep.pool([calls[index] for index in node.calls])
    return settle(sweep, [call.name for call in calls])


def resource_problems(calls: Iterable[CallPlan], limits: Limits) -> Iterator[tuple[int, str]]:
    """Calls that could never start, for want of a resource (conformance 146).

    A resource that the limits do not name is not scarce: a tool may declare what it uses, and the
    policy says how much of it there is.

    Args:
        calls: The calls; settled ones need nothing.
        limits: The capacities.

    Yields:
        The index of a call, and a sentence.
    """
    for call in calls:
        if not call.terms.uses or call.verdict.kind == "settled":
            continue
        for name, units in sorted(call.terms.uses.items()):
            capacity = limits.resources.get(name, units)
            if units > capacity:
                who = f"Call {call.name!r} ({call.tool}) uses {units} of the resource {name!r}"
                yield call.index, f"{who}, of which there are {capacity}. Use at most {capacity}."
