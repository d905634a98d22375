"""Short ways to make batches and plans for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.compiler import Plan, compile_plan
from toolflow.model import DEFAULT_TERMS, Batch, Call, CallPlan, Limits, Terms, Turn, Verdict


def call(
    name: str,
    kind: str = "safe",
    *,
    tool: str = "tool",
    args: Mapping[str, Any] | None = None,
    reads: Sequence[str] | None = None,
    writes: Sequence[str] | None = None,
    terms: Terms = DEFAULT_TERMS,
    reason: str = "because",
    rule: int | None = None,
    line: int | None = None,
    **more: Any,
) -> CallPlan:
    """A classified call; its index is set by `batch`. ``kind`` may be a status: then settled."""
    status = None if kind in {"safe", "exclusive"} else kind
    verdict = Verdict("settled" if status else kind, reason, rule, line, status)  # type: ignore[arg-type]
    return CallPlan(
        index=-1,
        name=name,
        id=more.pop("id", name),
        tool=tool,
        args={} if args is None else args,
        verdict=verdict,
        reads=None if reads is None else tuple(reads),
        writes=None if writes is None else tuple(writes),
        terms=terms,
        **more,
    )


def batch(
    *calls: CallPlan, limits: Limits | None = None, turn: str = "turn-1", **more: Any
) -> Batch:
    """A batch of these calls, in this order."""
    from dataclasses import replace

    placed = tuple(replace(each, index=index) for index, each in enumerate(calls))
    raw = tuple(Call(each.index, each.id, each.tool, each.args) for each in placed)
    limits = Limits() if limits is None else limits
    return Batch(Turn(turn, raw), placed, limits, **more)


def plan(*calls: CallPlan, **more: Any) -> Plan:
    """The plan of these calls."""
    return compile_plan(batch(*calls, **more))


def spelled(text: str) -> Plan:
    """A plan from words such as ``R(x) W(x) E S``: read, write, exclusive, settled; named a, b ...

    ``RW(x,y)`` reads x and writes y.
    """
    calls = []
    for number, word in enumerate(text.split()):
        name = chr(ord("a") + number)
        kind, _, keys = word.rstrip(")").partition("(")
        if kind == "E":
            calls.append(call(name, "exclusive"))
        elif kind == "S":
            calls.append(call(name, "denied"))
        else:
            found = [key for key in keys.split(",") if key]
            reads = found[:1] if kind == "RW" else found if kind == "R" else []
            writes = found[1:] if kind == "RW" else found if kind == "W" else []
            calls.append(call(name, reads=reads, writes=writes))
    return plan(*calls)


def key_edges(found: Plan) -> list[tuple[str, str]]:
    """The pairs of the key edges."""
    return [(edge.before, edge.after) for edge in found.edges if edge.kind == "key"]


def groups(found: Plan) -> list[list[str]]:
    """The names of the calls of each node that runs."""
    nodes = [node for node in found.nodes if node.kind != "settled"]
    return [[found.calls[index].name for index in node.calls] for node in nodes]


def waves(found: Plan, node: int = 0) -> list[list[str]]:
    """The calls of a pool by how long a chain of key edges stands before them."""
    import networkx as nx

    graph = found.graph()
    depth: dict[str, int] = {}
    for name in nx.topological_sort(graph):
        before = [edge for edge in graph.in_edges(name) if graph.edges[edge]["kind"] == "key"]
        here = max((depth[a] for a, _ in before), default=0)
        depth[name] = here + (graph.nodes[name]["kind"] == "call")
    pool = [node for node in found.nodes if node.kind == "pool"][node]
    result: dict[int, list[str]] = {}
    for index in pool.calls:
        result.setdefault(depth[found.calls[index].name], []).append(found.calls[index].name)
    return [result[key] for key in sorted(result)]
