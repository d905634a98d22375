"""Questions to a plan, answered from its nodes and edges in linear time (spec 5.4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolflow.compiler.faults import known
from toolflow.compiler.walk import in_order, reached
from toolflow.model.batch import CallPlan
from toolflow.model.plan import Edge, Node, PlanData

if TYPE_CHECKING:
    import networkx as nx


def unknown_call(plan: PlanData, name: object) -> str:
    """The sentence for a call that a plan does not have: what there is instead."""
    names = [call.name for call in plan.calls]
    return f"The plan has no call {name!r}. {known(names, str(name))}"


def why(plan: PlanData, start: Node, end: Node, a: str, b: str) -> tuple[Edge, ...]:
    """The shortest chain of edges from call ``a`` in one node to call ``b`` in another."""
    if start is end:
        return _shortest(_key_edges(plan), a, b) if a != b else ()
    order = {edge.before: edge for edge in plan.edges if edge.kind == "order"}
    chain: list[Edge] = []
    place = start.id
    while place != end.id:
        edge = order.get(place)
        if edge is None:
            return ()
        chain.append(edge)
        place = edge.after
    return tuple(chain)


def beside(plan: PlanData, node: Node, call: CallPlan) -> tuple[str, ...]:
    """The calls of a pool that are neither before nor after a call of it."""
    if node.kind != "pool":
        return ()
    ordered = reached(call.name, key_needs(plan.edges))
    ahead = {name: [edge.after for edge in out] for name, out in _key_edges(plan).items()}
    ordered |= reached(call.name, ahead)
    names = (plan.calls[index].name for index in node.calls)
    return tuple(name for name in names if name not in ordered)


def predecessors(plan: PlanData, node: Node, call: CallPlan) -> tuple[str, ...]:
    """The calls that a call waits for directly."""
    run = [each for each in plan.nodes if each.kind != "settled"]
    direct: set[str] = set()
    if node.kind != "settled" and (place := run.index(node)) > 0:
        direct.update(plan.calls[index].name for index in run[place - 1].calls)
    gates = {gate.name for gate in plan.gates}
    # Calls are not walked through: what stands before them is not waited for directly.
    needs = key_needs(edge for edge in plan.edges if edge.after in gates or edge.after == call.name)
    direct |= reached(call.name, needs) - gates - {call.name}
    return tuple(each.name for each in plan.calls if each.name in direct)


def critical_path(plan: PlanData, seconds: Sequence[float]) -> tuple[float, tuple[str, ...]]:
    """The longest chain of calls: node after node, and inside a pool along its key edges."""
    total = 0.0
    chain: list[str] = []
    needs = key_needs(plan.edges)
    index = {call.name: call.index for call in plan.calls}
    ends: dict[str, tuple[float, str | None]] = {}
    for node in plan.nodes:
        if node.kind == "settled":
            continue
        for name in in_order([plan.calls[place].name for place in node.calls], needs):
            before = [(ends[each][0], each) for each in needs.get(name, ())]
            # Of equal chains the one whose last call stands first in the plan's edges counts.
            start, last = max(before, key=lambda item: item[0], default=(0.0, None))
            own = seconds[index[name]] if name in index else 0.0
            ends[name] = (start + own, last)
        length, end = max((ends[plan.calls[place].name][0], -place) for place in node.calls)
        total += length
        chain.extend(reversed(list(_back(plan.calls[-end].name, ends, index))))
    return total, tuple(chain)


def graph(plan: PlanData) -> nx.DiGraph[str]:
    """The plan as a directed graph in which what waits can be reached from what it waits for.

    Vertices are the ids of nodes and the names of calls and gates, each with ``kind``: ``pool``,
    ``barrier``, ``settled``, ``call`` or ``gate``. Calls have ``index``, ``tool``, ``label``,
    ``verdict``, ``node``, ``reads`` and ``writes``; gates have ``key``. A node whose id is also
    the name of a call is ``node:`` and its id.

    Edges have ``kind`` and ``causes``: ``order`` and ``key`` edges are those of the plan; a
    ``member`` edge leads from a node to each of its calls, a ``settle`` edge from each call to
    the next node. So there is a path from one call to another exactly if the other waits for it.
    """
    import networkx as nx  # noqa: PLC0415 - heavy: loaded with the first graph

    result: nx.DiGraph[str] = nx.DiGraph(turn=plan.turn_id, fingerprint=plan.fingerprint)
    taken = {call.name for call in plan.calls} | {gate.name for gate in plan.gates}
    ids = {node.id: f"node:{node.id}" if node.id in taken else node.id for node in plan.nodes}
    following = {edge.before: ids[edge.after] for edge in plan.edges if edge.kind == "order"}
    for node in plan.nodes:
        result.add_node(ids[node.id], kind=node.kind)
    for gate in plan.gates:
        result.add_node(gate.name, kind="gate", key=gate.key)
    for node in plan.nodes:
        for place in node.calls:
            call = plan.calls[place]
            result.add_node(call.name, kind="call", node=node.id, **_facts(call))
            result.add_edge(ids[node.id], call.name, kind="member", causes=())
            if node.id in following:
                result.add_edge(call.name, following[node.id], kind="settle", causes=())
    for edge in plan.edges:
        names = ids if edge.kind == "order" else {}
        before, after = names.get(edge.before, edge.before), names.get(edge.after, edge.after)
        result.add_edge(before, after, kind=edge.kind, causes=edge.causes)
    return result


def _facts(call: CallPlan) -> dict[str, object]:
    return {
        "index": call.index,
        "tool": call.tool,
        "label": call.label,
        "verdict": call.verdict.kind,
        "reads": call.reads,
        "writes": call.writes,
    }


def key_needs(edges: Iterable[Edge]) -> dict[str, list[str]]:
    """What each call and gate waits for directly, by key edges.

    Args:
        edges: Edges of a plan.
    """
    needs: dict[str, list[str]] = {}
    for edge in edges:
        if edge.kind == "key":
            needs.setdefault(edge.after, []).append(edge.before)
    return needs


def _key_edges(plan: PlanData) -> dict[str, list[Edge]]:
    """The key edges that lead away from each call and gate."""
    edges: dict[str, list[Edge]] = {}
    for edge in plan.edges:
        if edge.kind == "key":
            edges.setdefault(edge.before, []).append(edge)
    return edges


def _shortest(edges: Mapping[str, list[Edge]], a: str, b: str) -> tuple[Edge, ...]:
    """Breadth first; of several shortest chains the one whose edges stand first in the plan."""
    came: dict[str, Edge | None] = {a: None}
    queue = deque([a])
    while queue and b not in came:
        for edge in edges.get(queue.popleft(), ()):
            if edge.after not in came:
                came[edge.after] = edge
                queue.append(edge.after)
    chain: list[Edge] = []
    last = came.get(b)
    while last is not None:
        chain.append(last)
        last = came[last.before]
    return tuple(reversed(chain))


def _back(
    name: str | None, ends: Mapping[str, tuple[float, str | None]], index: Mapping[str, int]
) -> Iterator[str]:
    while name is not None:
        if name in index:
            yield name
        name = ends[name][1]
