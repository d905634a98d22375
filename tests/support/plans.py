"""Plans put together by hand, for tests of what is done with plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolflow.model import CallPlan, Edge, Gate, Limits, Node, PlanData, Terms, Verdict


def call(
    label: str = "",
    *,
    kind: str = "safe",
    tool: str = "read_file",
    name: str = "",
    writes: Sequence[str] | None = None,
    reads: Sequence[str] | None = None,
    reason: str = "rule 1 says so",
    status: str | None = None,
    ask: str | None = None,
    args: Mapping[str, Any] | None = None,
    **terms: Any,
) -> CallPlan:
    """One call; its place is set by `plan`."""
    return CallPlan(
        index=0,
        name=name,
        id=name,
        tool=tool,
        args=args or {},
        verdict=Verdict(kind, reason, status=status),  # type: ignore[arg-type]
        reads=None if reads is None else tuple(reads),
        writes=None if writes is None else tuple(writes),
        terms=Terms(**terms),
        ask=ask,
        label=label,
    )


def plan(
    *calls: CallPlan,
    edges: Sequence[Edge] = (),
    gates: Sequence[Gate] = (),
    pool: int = 10,
    turn_id: str = "turn-1",
) -> PlanData:
    """Calls as a plan: safe ones next to each other make a pool, writers of a key a chain."""
    placed = [
        replace(one, index=at, name=one.name or f"c{at + 1}", id=one.id or f"c{at + 1}")
        for at, one in enumerate(calls)
    ]
    nodes = _nodes(placed)
    running = [node for node in nodes if node.kind != "settled"]
    order = [
        Edge(a.id, b.id, ("order of the turn",), "order")
        for a, b in zip(running, running[1:], strict=False)
    ]
    keys = [edge for node in running for edge in _chains([placed[i] for i in node.calls])]
    return PlanData(
        turn_id=turn_id,
        message_id=None,
        source="main",
        calls=tuple(placed),
        nodes=tuple(nodes),
        gates=tuple(gates),
        edges=(*order, *(keys if not edges else edges)),
        limits=Limits(pool),
    )


def _nodes(calls: Sequence[CallPlan]) -> list[Node]:
    groups: list[tuple[str, list[int]]] = []
    for one in calls:
        if one.verdict.kind == "exclusive":
            groups.append(("barrier", [one.index]))
        elif one.verdict.kind == "safe":
            if not groups or groups[-1][0] != "pool":
                groups.append(("pool", []))
            groups[-1][1].append(one.index)
    nodes = [
        Node(f"{kind}-{at}", kind, tuple(indexes))  # type: ignore[arg-type]
        for at, (kind, indexes) in enumerate(groups, 1)
    ]
    settled = [one.index for one in calls if one.verdict.kind == "settled"]
    return [*nodes, *(Node(f"settled-{at}", "settled", (i,)) for at, i in enumerate(settled, 1))]


def _chains(calls: Sequence[CallPlan]) -> list[Edge]:
    last: dict[str, str] = {}
    edges = []
    for one in calls:
        for key in one.writes or ():
            if key in last:
                edges.append(Edge(last[key], one.name, (f"key {key} write",)))
            last[key] = one.name
    return edges
