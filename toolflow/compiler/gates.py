"""From the waits of a sweep to named gates and key edges.

A gate with *i* edges in and *o* edges out stands for *i·o* direct edges. It stays only where it
saves some: else those behind it wait directly for those before it. Gates are judged in the order
in which they were made, each against the edges as they are by then, so no step adds an edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from toolflow.compiler.causes import key_cause
from toolflow.compiler.forest import Item
from toolflow.compiler.key_edges import Joint, Sweep, Wait
from toolflow.model.plan import Edge, Gate

Pairs = dict[tuple[int, int], dict[str, None]]


def settle(sweep: Sweep, names: Sequence[str]) -> tuple[tuple[Gate, ...], tuple[Edge, ...]]:
    """Take out the gates that save nothing, name the others and write all edges down.

    Args:
        sweep: The waits of all pools and the gates made for them.
        names: The names of all calls, by index.

    Returns:
        The gates, and the key edges sorted by the place of what waits, then of what it waits for.
        The place of a gate is right before the call for which it was made.
    """
    if not sweep.waits:
        return (), ()
    outs = _consumers(sweep)
    inputs: dict[int, list[Item]] = {}
    dropped: set[int] = set()
    for number, joint in enumerate(sweep.joints):
        items = list(_resolve(joint.items, inputs, dropped))
        inputs[number] = items
        count, users = len({item.vertex for item in items}), outs[number]
        if count * users <= count + users:
            dropped.add(number)
    kept = [number for number in range(len(sweep.joints)) if number not in dropped]
    gate_names = dict(zip(kept, gate_ids(names, len(kept)), strict=True))
    pairs = _pairs(sweep, inputs, dropped)
    gates = tuple(Gate(gate_names[n], sweep.joints[n].key) for n in kept)

    def name(vertex: int) -> str:
        return names[vertex] if vertex >= 0 else gate_names[~vertex]

    place = _places(sweep.joints)
    order = sorted(pairs, key=lambda pair: (place(pair[1]), place(pair[0])))
    edges = tuple(Edge(name(a), name(b), tuple(pairs[a, b])) for a, b in order)
    return gates, edges


def gate_ids(names: Collection[str], count: int) -> list[str]:
    """Names for gates: ``gate-1`` ..., leaving out those that a call of the plan has."""
    taken, found, number = set(names), [], 0
    while len(found) < count:
        number += 1
        if (name := f"gate-{number}") not in taken:
            found.append(name)
    return found


def _consumers(sweep: Sweep) -> list[int]:
    """How many different calls and gates wait for each gate."""
    users: list[set[int]] = [set() for _ in sweep.joints]
    for number, joint in enumerate(sweep.joints):
        for item in joint.items:
            if item.vertex < 0:
                users[~item.vertex].add(~number)
    for wait in sweep.waits:
        if wait.item.vertex < 0:
            users[~wait.item.vertex].add(wait.own.vertex)
    return [len(each) for each in users]


def _resolve(
    items: Iterable[Item], inputs: dict[int, list[Item]], dropped: set[int]
) -> Iterable[Item]:
    """Put in the place of each gate that was taken out what stood before it."""
    for item in items:
        if ~item.vertex in dropped:
            yield from inputs[~item.vertex]
        else:
            yield item


def _pairs(sweep: Sweep, inputs: dict[int, list[Item]], dropped: set[int]) -> Pairs:
    """The causes of each pair; several causes of one pair are one edge."""
    pairs: Pairs = {}
    for wait in sweep.waits:
        _add(pairs, wait, _resolve((wait.item,), inputs, dropped))
    for number, joint in enumerate(sweep.joints):
        if number not in dropped:
            for item in inputs[number]:
                cause = key_cause(item.key, item.mode, joint.key, None)
                pairs.setdefault((item.vertex, ~number), {})[cause] = None
    return pairs


def _add(pairs: Pairs, wait: Wait, items: Iterable[Item]) -> None:
    own = wait.own
    for item in items:
        cause = key_cause(item.key, item.mode, own.key, own.mode)
        pairs.setdefault((item.vertex, own.vertex), {})[cause] = None


def _places(joints: Sequence[Joint]):  # type: ignore[no-untyped-def]
    def place(vertex: int) -> tuple[int, int]:
        return (vertex, 0) if vertex >= 0 else (joints[~vertex].at, vertex)

    return place
