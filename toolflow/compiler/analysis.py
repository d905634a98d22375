"""Questions to a plan, answered from its nodes and edges in linear time (spec 5.4)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from toolflow.model.batch import CallPlan
from toolflow.model.plan import Edge, Node, PlanData

if TYPE_CHECKING:
    import networkx

_LISTED = 12


def unknown_call(plan: PlanData, name: object) -> str:
    """The sentence for a call that a plan does not have: what there is instead."""
    names = [call.name for call in plan.calls]
    if not names:
        return f"The plan has no call {name!r}. It has no calls at all."
    near = get_close_matches(name, names, n=3) if isinstance(name, str) else []
    shown = near or names[:_LISTED]
    more = len(names) - len(shown)
    rest = f" and {more} more" if more and not near else ""
    start = "Did you mean" if near else "There are"
    listed = ", ".join(repr(each) for each in shown)
    return f"The plan has no call {name!r}. {start} {listed}{rest}{'?' if near else '.'}"


def why(plan: PlanData, start: Node, end: Node, a: str, b: str) -> tuple[Edge, ...]:
    """The shortest chain of edges from call ``a`` in one node to call ``b`` in another."""
    if start is end:
        return _shortest(_key_edges_from(plan), a, b) if a != b else ()
    order = {edge.before: edge for edge in plan.edges if edge.kind == "order"}
    chain, place = [], start.id
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
    ordered = _reached(_key_edges_from(plan), call.name, forward=True)
    ordered |= _reached(_key_edges_to(plan), call.name, forward=False)
    names = (plan.calls[index].name for index in node.calls)
    return tuple(name for name in names if name not in ordered)


def predecessors(plan: PlanData, node: Node, call: CallPlan) -> tuple[str, ...]:
    """The calls that a call waits for directly."""
    run = [each for each in plan.nodes if each.kind != "settled"]
    direct: set[str] = set()
    if node.kind != "settled" and (place := run.index(node)) > 0:
        direct.update(plan.calls[index].name for index in run[place - 1].calls)
    gates = {gate.name for gate in plan.gates}
    to = _key_edges_to(plan)
    seen = {call.name}
    stack = [call.name]
    while stack:
        for edge in to.get(stack.pop(), ()):
            if edge.before in seen:
                continue
            seen.add(edge.before)
            if edge.before in gates:
                stack.append(edge.before)
            else:
                direct.add(edge.before)
    return tuple(each.name for each in plan.calls if each.name in direct)


def critical_path(plan: PlanData, seconds: Sequence[float]) -> tuple[float, tuple[str, ...]]:
    """The longest chain of calls: node after node, and inside a pool along its key edges."""
    total, chain = 0.0, []
    to = _key_edges_to(plan)
    index = {call.name: call.index for call in plan.calls}
    ends: dict[str, tuple[float, str | None]] = {}
    for node in plan.nodes:
        if node.kind == "settled":
            continue
        for name in _in_key_order([plan.calls[place].name for place in node.calls], to):
            before = [(ends[edge.before][0], edge.before) for edge in to.get(name, ())]
            # Of equal chains the one whose last call stands first in the plan's edges counts.
            start, last = max(before, key=lambda item: item[0], default=(0.0, None))
            own = seconds[index[name]] if name in index else 0.0
            ends[name] = (start + own, last)
        length, end = max(
            ((ends[plan.calls[place].name][0], -place) for place in node.calls), default=(0.0, 0)
        )
        total += length
        chain.extend(reversed(list(_back(plan.calls[-end].name, ends, index))))
    return total, tuple(chain)


def graph(plan: PlanData) -> networkx.DiGraph[str]:
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

    result: networkx.DiGraph[str] = nx.DiGraph(turn=plan.turn_id, fingerprint=plan.fingerprint)
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


def _key_edges_from(plan: PlanData) -> dict[str, list[Edge]]:
    edges: dict[str, list[Edge]] = {}
    for edge in plan.edges:
        if edge.kind == "key":
            edges.setdefault(edge.before, []).append(edge)
    return edges


def _key_edges_to(plan: PlanData) -> dict[str, list[Edge]]:
    edges: dict[str, list[Edge]] = {}
    for edge in plan.edges:
        if edge.kind == "key":
            edges.setdefault(edge.after, []).append(edge)
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


def _reached(edges: Mapping[str, list[Edge]], name: str, *, forward: bool) -> set[str]:
    seen, stack = {name}, [name]
    while stack:
        for edge in edges.get(stack.pop(), ()):
            other = edge.after if forward else edge.before
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return seen


def _in_key_order(names: Sequence[str], to: Mapping[str, list[Edge]]) -> Iterator[str]:
    """The calls of a pool and the gates before them, each after all that it waits for."""
    done: set[str] = set()
    for name in names:
        stack = [name]
        while stack:
            missing = [e.before for e in to.get(stack[-1], ()) if e.before not in done]
            if missing:
                stack.extend(missing)
                continue
            found = stack.pop()
            if found not in done:
                done.add(found)
                yield found


def _back(
    name: str | None, ends: Mapping[str, tuple[float, str | None]], index: Mapping[str, int]
) -> Iterator[str]:
    while name is not None:
        if name in index:
            yield name
        name = ends[name][1]
