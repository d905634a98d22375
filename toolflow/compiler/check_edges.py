"""Whether the key edges of a saved plan hold together and order what meets (spec 5.2).

An edge by hand may add order, in call order and inside one pool; order that keys need may not be
missing. Where the edges are at least those that `compile_plan` makes, nothing needs to be worked
out. Else, for every call, the calls that it must follow are compared with those that it does
follow, as sets of bits: as many calls at once as one block has, so memory stays small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolflow.compiler.analysis import key_needs
from toolflow.compiler.compile import make_key_edges
from toolflow.compiler.faults import Fault, known
from toolflow.compiler.key_edges import Sweep
from toolflow.compiler.walk import in_order
from toolflow.errors import InternalError
from toolflow.model.batch import CallPlan
from toolflow.model.keys import keys_meet
from toolflow.model.plan import Edge, Gate, Node

_BLOCK = 4096
_MOST = 20


def check_gates(names: Sequence[str], gates: Sequence[Gate]) -> Iterator[Fault]:
    """Check that the names of gates are their own.

    Args:
        names: The names of all calls.
        gates: The gates, as the document has them.
    """
    taken = dict.fromkeys(names, "a call")
    for number, gate in enumerate(gates):
        if gate.name in taken:
            text = f"gates[{number}].name is {gate.name!r}, the name of {taken[gate.name]}."
            yield Fault(("gates", number, "name"), f"{text} Use another one.", "doubled")
        taken[gate.name] = "a gate"


def check_edges(
    calls: Sequence[CallPlan], nodes: Sequence[Node], gates: Sequence[Gate], edges: Sequence[Edge]
) -> Iterator[Fault]:
    """Check each key edge, and that they make no circle.

    Args:
        calls: The calls in call order.
        nodes: The nodes, which hold together.
        gates: The gates; their names are their own.
        edges: The key edges, as the document has them.

    Yields:
        What is wrong.
    """
    index = {call.name: call.index for call in calls}
    pool = {place: node.id for node in nodes if node.kind == "pool" for place in node.calls}
    known_names = {**index, **{gate.name: -1 for gate in gates}}
    found: list[Fault] = []
    drawn: set[tuple[str, str]] = set()
    for number, edge in enumerate(edges):
        found += _ends(number, edge, known_names, pool)
        if (edge.before, edge.after) in drawn:
            text = f"edges[{number}] leads from {edge.before!r} to {edge.after!r} once more."
            found.append(
                Fault(("edges", number), f"{text} Put all causes into one edge.", "doubled")
            )
        drawn.add((edge.before, edge.after))
    sides = {"before": {e.after for e in edges}, "behind": {e.before for e in edges}}
    for number, gate in enumerate(gates):
        for side, joined in sides.items():
            if gate.name not in joined:
                text = f"Nothing stands {side} {gate.name!r}. A gate has edges on both sides."
                found.append(Fault(("gates", number), text))
    yield from found
    if circle := _circle(edges):
        names = " → ".join(repr(edge.before) for edge in circle)
        at = edges.index(circle[-1])
        text = f"edges[{at}] closes a circle: {names} → {circle[0].before!r}. Take one edge out."
        yield Fault(("edges", at), text, "cycle")
    elif not found:
        yield from _through_gates(gates, edges, index, pool)


def check_order_of_keys(
    calls: Sequence[CallPlan], nodes: Sequence[Node], gates: Sequence[Gate], edges: Sequence[Edge]
) -> Iterator[Fault]:
    """Check that calls whose keys meet are ordered; at most twenty pairs are told.

    Args:
        calls: The calls in call order.
        nodes: The nodes, which hold together.
        gates: The gates.
        edges: The key edges, which hold together.
    """
    own_gates, own_edges = make_key_edges(calls, nodes)
    pairs = {(edge.before, edge.after) for edge in edges}
    if set(own_gates) <= set(gates) and all((e.before, e.after) in pairs for e in own_edges):
        return
    told = 0
    for node in nodes:
        for before, after in _unordered([calls[i] for i in node.calls], edges, node.kind):
            key = _meeting(before, after)
            text = f"Calls {before.name!r} and {after.name!r} meet at key {key!r}, and nothing"
            text += f" makes {after.name!r} wait. Add an edge from {before.name!r} to it."
            yield Fault(("calls", after.index), text, "unordered")
            told += 1
            if told == _MOST:
                return


def _meeting(before: CallPlan, after: CallPlan) -> str:
    """The first key of the later call at which the two may not overlap."""
    written = before.writes or ()
    both = (*written, *(before.reads or ()))
    for own, others in ((after.writes, both), (after.reads, written)):
        for key in own or ():
            if any(keys_meet(key, other) for other in others):
                return key
    raise InternalError(f"Calls {before.name!r} and {after.name!r} do not meet.")


def _ends(
    number: int, edge: Edge, names: Mapping[str, int], pool: Mapping[int, str]
) -> Iterator[Fault]:
    places = []
    for end in ("before", "after"):
        name = getattr(edge, end)
        path = ("edges", number, end)
        place = names.get(name)
        if place is None:
            text = f"edges[{number}].{end} is {name!r}, which is no call or gate of the plan."
            yield Fault(path, f"{text} {known(names, name)}", "unknown_name")
        elif place >= 0 and place not in pool:
            text = f"edges[{number}].{end} is {name!r}, which stands in no pool."
            yield Fault(path, f"{text} Key edges join calls of one pool.")
        elif place >= 0:
            places.append(place)
    if len(places) < 2:
        return
    before, after = places
    told = f"edges[{number}] leads from {edge.before!r} to {edge.after!r}"
    if pool[before] != pool[after]:
        text = f"{told}, from {pool[before]} to {pool[after]}. Key edges join calls of one pool."
        yield Fault(("edges", number), text)
    elif after < before:
        text = f"{told}, which comes first in the turn. Later calls wait for earlier ones."
        yield Fault(("edges", number), text, "backwards")


def _circle(edges: Sequence[Edge]) -> list[Edge]:
    """The edges of one circle, or none."""
    behind: dict[str, list[Edge]] = {}
    for edge in edges:
        behind.setdefault(edge.before, []).append(edge)
    done: set[str] = set()
    for start in list(behind):
        path: list[Edge] = []
        on_path = {start}
        stack = [iter(behind.get(start, ()))] if start not in done else []
        while stack:
            out = next(stack[-1], None)
            if out is None:
                stack.pop()
                left = path.pop().after if path else start
                on_path.discard(left)
                done.add(left)
            elif out.after in on_path:
                path.append(out)
                return path[[each.before for each in path].index(out.after) :]
            elif out.after not in done:
                path.append(out)
                on_path.add(out.after)
                stack.append(iter(behind.get(out.after, ())))
    return []


def _through_gates(
    gates: Sequence[Gate], edges: Sequence[Edge], index: Mapping[str, int], pool: Mapping[int, str]
) -> Iterator[Fault]:
    """Do edges through gates stay in one pool and lead to later calls?"""
    needs = key_needs(edges)
    latest = dict(index)
    for name in in_order([gate.name for gate in gates], needs):
        if name not in index:
            latest[name] = max(latest[before] for before in needs[name])
    for number, edge in enumerate(edges):
        if edge.before in index and edge.after in index:
            continue
        before, after = latest[edge.before], latest[edge.after]
        if pool[before] != pool[after]:
            text = f"edges[{number}] joins {pool[before]} and {pool[after]} at a gate."
            yield Fault(("edges", number), f"{text} Key edges join calls of one pool.")
        elif edge.after in index and after <= before:
            text = f"edges[{number}] makes {edge.after!r} wait, through {edge.before!r}, for a call"
            text += " that does not come before it. Later calls wait for earlier ones."
            yield Fault(("edges", number), text, "backwards")


def _unordered(
    calls: Sequence[CallPlan], edges: Sequence[Edge], kind: str
) -> Iterator[tuple[CallPlan, CallPlan]]:
    """Pairs of calls of one pool that meet and are not ordered."""
    if kind != "pool":
        return
    sweep = Sweep()
    sweep.pool(calls)
    by_index = {call.index: call for call in calls}
    needed: dict[int, list[int]] = {}
    for item, own in sweep.waits:
        needed.setdefault(own.vertex, []).append(item.vertex)
    needs = key_needs(edges)
    order = list(in_order([call.name for call in calls], needs))
    for start in range(0, len(calls), _BLOCK):
        bits = {call.index: 1 << place for place, call in enumerate(calls[start : start + _BLOCK])}
        named = {by_index[index].name: bit for index, bit in bits.items()}
        follows: dict[str, int] = {}
        for name in order:
            mask = 0
            for before in needs.get(name, ()):
                mask |= follows[before] | named.get(before, 0)
            follows[name] = mask
        joints: list[int] = []
        for joint in sweep.joints:
            joints.append(_mask([item.vertex for item in joint.items], bits, joints))
        for index, vertices in needed.items():
            missing = _mask(vertices, bits, joints) & ~follows[by_index[index].name]
            while missing:
                low = missing & -missing
                yield calls[start + low.bit_length() - 1], by_index[index]
                missing ^= low


def _mask(vertices: Sequence[int], bits: Mapping[int, int], joints: Sequence[int]) -> int:
    mask = 0
    for vertex in vertices:
        mask |= bits.get(vertex, 0) if vertex >= 0 else joints[~vertex]
    return mask
