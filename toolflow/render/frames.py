"""The pools and barriers of a plan, each with what is drawn inside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from toolflow.errors import RenderError
from toolflow.model import CallPlan, Edge, Gate, Node, PlanData
from toolflow.render.labels import short
from toolflow.render.layout import Row, rows_of


@dataclass(frozen=True, slots=True)
class Frame:
    """A pool or a barrier as it is drawn.

    Attributes:
        node: The node of the plan.
        gates: The gates that join its calls.
        rows: The names of its calls and gates by row and column.
        edges: The key edges between them.
    """

    node: Node
    gates: tuple[Gate, ...]
    rows: tuple[Row, ...]
    edges: tuple[Edge, ...]

    @property
    def top(self) -> str:
        """The name at the upper left, where thick arrows arrive."""
        return next(name for name in self.rows[0] if name is not None)

    @property
    def foot(self) -> str:
        """The lowest name of the first column, under which thick arrows leave."""
        return next(row[0] for row in reversed(self.rows) if row[0] is not None)

    @property
    def last(self) -> str:
        """A name in the lowest row: whatever comes later stands below it."""
        return next(name for name in self.rows[-1] if name is not None)


@dataclass(frozen=True, slots=True)
class Arrow:
    """A key edge as it is drawn.

    Attributes:
        edge: The key edge.
        labelled: Whether its key stands beside it.
        into_gate: Whether it ends at a gate, not at a call.
    """

    edge: Edge
    labelled: bool
    into_gate: bool


def arrows_of(frame: Frame) -> Iterator[Arrow]:
    """The key edges of a frame: of the many at a gate, the first that leaves it tells the key."""
    told = {gate.name: False for gate in frame.gates}
    for edge in frame.edges:
        labelled = edge.after not in told and not told.get(edge.before, False)
        if labelled and edge.before in told:
            told[edge.before] = True
        yield Arrow(edge, labelled, edge.after in told)


def frames_of(plan: PlanData) -> tuple[Frame, ...]:
    """Share out calls, gates and key edges among the pools and barriers of a plan.

    Args:
        plan: A plan whose parts belong together (see `check`).

    Returns:
        One frame for each pool and barrier, in the order in which they run.
    """
    nodes = [node for node in plan.nodes if node.kind != "settled"]
    home = {plan.calls[index].name: at for at, node in enumerate(nodes) for index in node.calls}
    key_edges = [edge for edge in plan.edges if edge.kind == "key"]
    _house_gates(key_edges, home, {gate.name for gate in plan.gates})
    gates: list[list[Gate]] = [[] for _ in nodes]
    for gate in plan.gates:
        if gate.name in home:
            gates[home[gate.name]].append(gate)
    inside: list[list[Edge]] = [[] for _ in nodes]
    for edge in key_edges:
        at = home.get(edge.before)
        if at is not None and at == home.get(edge.after):
            inside[at].append(edge)
    return tuple(
        Frame(node, tuple(gates[at]), _rows(plan, node, gates[at], inside[at]), tuple(inside[at]))
        for at, node in enumerate(nodes)
    )


def _rows(
    plan: PlanData, node: Node, gates: Iterable[Gate], edges: Iterable[Edge]
) -> tuple[Row, ...]:
    names = [*(plan.calls[index].name for index in node.calls), *(gate.name for gate in gates)]
    return tuple(rows_of(names, [(edge.before, edge.after) for edge in edges]))


def _house_gates(edges: list[Edge], home: dict[str, int], gates: set[str]) -> None:
    """Give each gate the pool of the calls that it joins; gates may lead to gates."""
    for edge in (*edges, *reversed(edges)):
        for one, other in ((edge.before, edge.after), (edge.after, edge.before)):
            if one in gates and one not in home and other in home:
                home[one] = home[other]


def settled_of(plan: PlanData) -> tuple[CallPlan, ...]:
    """The calls that were answered without running, in call order."""
    return tuple(plan.calls[i] for node in plan.nodes if node.kind == "settled" for i in node.calls)


def check(plan: PlanData) -> None:
    """Refuse a plan whose parts do not belong together, which no picture could show.

    Raises:
        RenderError: If a call does not stand in exactly one node, or an edge joins something
            that the plan does not hold.
    """
    where = f"plan {short(plan.turn_id)}"
    held = [index for node in plan.nodes for index in node.calls]
    if sorted(held) != list(range(len(plan.calls))):
        raise RenderError(
            f"{where}: its nodes hold the calls {short(str(sorted(held)))}. "
            f"Each of its {len(plan.calls)} calls, counted from 0, stands in one node."
        )
    if not all(node.calls for node in plan.nodes):
        raise RenderError(f"{where}: a node holds no call. Each node holds at least one.")
    nodes = {node.id for node in plan.nodes}
    joints = {call.name for call in plan.calls} | {gate.name for gate in plan.gates}
    for edge in plan.edges:
        for name in (edge.before, edge.after):
            if name not in (nodes if edge.kind == "order" else joints):
                raise RenderError(
                    f"{where}: an edge ({edge.kind}) joins {short(name)}, "
                    "which the plan does not hold."
                )
