"""What of nodes and edges is not the same in two plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolflow.compiler.change import Change
from toolflow.model.plan import Edge, Node, PlanData


def node_changes(before: PlanData, after: PlanData, names: Mapping[str, str]) -> Iterator[Change]:
    """Pools and barriers that are not there in both; of two with one first call, the calls differ.

    Settled calls stand aside: that they are settled is told at the call.

    Args:
        before: The first plan.
        after: The second plan.
        names: What calls of the second plan are called in the first.
    """
    own = {call.name: call.name for call in before.calls}
    ours, theirs = _members(before, own), _members(after, names)
    old = {calls: node for node, calls in ours if node.kind != "settled"}
    new = {calls: node for node, calls in theirs if node.kind != "settled"}
    gone = {calls[0]: (node, calls) for calls, node in old.items() if _kind(new, calls, node)}
    come = {calls[0]: (node, calls) for calls, node in new.items() if _kind(old, calls, node)}
    for first, (node, calls) in gone.items():
        other = come.get(first)
        if other is not None and other[0].kind == node.kind:
            yield Change("~", "node", node.id, "calls", list(calls), list(other[1]))
        else:
            yield Change("-", "node", node.id, "", list(calls))
    for first, (node, calls) in come.items():
        if first not in gone or gone[first][0].kind != node.kind:
            yield Change("+", "node", node.id, "", None, list(calls))


def _kind(others: Mapping[tuple[str, ...], Node], calls: tuple[str, ...], node: Node) -> bool:
    """Whether no node of the same kind has the same calls."""
    other = others.get(calls)
    return other is None or other.kind != node.kind


def _members(plan: PlanData, names: Mapping[str, str]) -> list[tuple[Node, tuple[str, ...]]]:
    calls = plan.calls
    return [
        (node, tuple(names.get(calls[at].name, calls[at].name) for at in node.calls))
        for node in plan.nodes
    ]


def edge_changes(
    before: PlanData, after: PlanData, names: Mapping[str, str], *, words: bool
) -> Iterator[Change]:
    """Key edges that are not there in both.

    Args:
        before: The first plan.
        after: The second plan.
        names: What calls of the second plan are called in the first.
        words: Whether causes count too.
    """
    ours, theirs = _key_edges(before, {}), _key_edges(after, names)
    for pair, edge in ours.items():
        other = theirs.get(pair)
        if other is None:
            yield Change("-", "edge", " -> ".join(pair), "", None, None, "; ".join(edge.causes))
        elif words and edge.causes != other.causes:
            causes = list(edge.causes), list(other.causes)
            yield Change("~", "edge", " -> ".join(pair), "causes", *causes)
    for pair, edge in theirs.items():
        if pair not in ours:
            yield Change("+", "edge", " -> ".join(pair), "", None, None, "; ".join(edge.causes))


def _key_edges(plan: PlanData, names: Mapping[str, str]) -> dict[tuple[str, str], Edge]:
    """The key edges by their ends; gates are told by their keys, for their numbers shift."""
    seen: dict[str, int] = {}
    ends: dict[str, str] = {**names}
    for gate in plan.gates:
        seen[gate.key] = seen.get(gate.key, 0) + 1
        number = f" #{seen[gate.key]}" if seen[gate.key] > 1 else ""
        ends[gate.name] = f"gate on {gate.key}{number}"
    edges = (edge for edge in plan.edges if edge.kind == "key")
    return {(ends.get(e.before, e.before), ends.get(e.after, e.after)): e for e in edges}
