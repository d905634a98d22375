"""From the waits of a sweep to named gates and key edges.

A gate with *i* edges in and *o* edges out stands for *i·o* direct edges. It stays only where it
saves some: else those behind it wait directly for those before it. Gates are judged in the order
in which they were made, each against the edges as they are by then, so no step adds an edge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from toolflow.compiler.causes import key_cause
from toolflow.compiler.forest import Item
from toolflow.compiler.key_edges import Sweep
from toolflow.compiler.walk import in_order
from toolflow.model.plan import Edge, Gate

Pairs = dict[tuple[int, int], tuple[str, ...]]


def settle(sweep: Sweep, names: Sequence[str]) -> tuple[tuple[Gate, ...], tuple[Edge, ...]]:
    """Take out the gates that save nothing, name the others and write all edges down.

    Args:
        sweep: The waits of all pools and the gates made for them.
        names: The names of all calls, by index.

    Returns:
        The gates, and the key edges in the order of `in_place_order`.
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
    gates = tuple(Gate(gate_names[n], sweep.joints[n].key) for n in kept)
    pairs = _pairs(sweep, inputs, dropped)

    def name(vertex: int) -> str:
        return names[vertex] if vertex >= 0 else gate_names[~vertex]

    edges = [Edge(name(a), name(b), causes) for (a, b), causes in pairs.items()]
    return gates, in_place_order(edges, gates, names)


def in_place_order(
    edges: Iterable[Edge], gates: Sequence[Gate], names: Sequence[str]
) -> tuple[Edge, ...]:
    """Key edges by the place of what waits, then of what it waits for.

    The place of a gate is before the first call that waits for it.

    Args:
        edges: The key edges; they make no circle.
        gates: The gates of the plan.
        names: The names of all calls, by index.
    """
    edges = list(edges)
    step = len(gates) + 1  # between two calls there is room for every gate
    places = {name: index * step for index, name in enumerate(names)}
    behind: dict[str, list[str]] = {gate.name: [] for gate in gates}
    for edge in edges if gates else ():
        if edge.before in behind:
            behind[edge.before].append(edge.after)
    numbers = {gate.name: number for number, gate in enumerate(gates)}
    for name in in_order(numbers, behind):
        if name in numbers:
            first = min(-(places[after] // -step) for after in behind[name])
            places[name] = (first - 1) * step + 1 + numbers[name]
    return tuple(sorted(edges, key=lambda edge: (places[edge.after], places[edge.before])))


def gate_ids(names: Collection[str], count: int) -> list[str]:
    """Names for gates: ``gate-1`` ..., leaving out those that a call of the plan has."""
    taken, number = set(names), 0
    found: list[str] = []
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
    for item, own in sweep.waits:
        if item.vertex < 0:
            users[~item.vertex].add(own.vertex)
    return [len(each) for each in users]


def _resolve(
    items: Iterable[Item], inputs: dict[int, list[Item]], dropped: set[int]
) -> Iterator[Item]:
    """Put in the place of each gate that was taken out what stood before it."""
    for item in items:
        if item.vertex < 0 and ~item.vertex in dropped:
            yield from inputs[~item.vertex]
        else:
            yield item


def _pairs(sweep: Sweep, inputs: dict[int, list[Item]], dropped: set[int]) -> Pairs:
    """The causes of each pair; several causes of one pair are one edge."""
    pairs: Pairs = {}
    for waited, own in sweep.waits:
        for item in _resolve((waited,), inputs, dropped) if waited.vertex < 0 else (waited,):
            cause = key_cause(item.key, item.mode, own.key, own.mode)
            _add(pairs, (item.vertex, own.vertex), cause)
    for number, joint in enumerate(sweep.joints):
        if number not in dropped:
            for item in inputs[number]:
                cause = key_cause(item.key, item.mode, joint.key, None)
                _add(pairs, (item.vertex, ~number), cause)
    return pairs


def _add(pairs: Pairs, pair: tuple[int, int], cause: str) -> None:
    causes = pairs.get(pair)
    if causes is None:
        pairs[pair] = (cause,)
    elif cause not in causes:
        pairs[pair] = (*causes, cause)
