"""Whether the nodes of a saved plan hold its calls as they must (spec 5.1).

Verdicts decide what the nodes are: a plan is edited by changing a verdict and moving the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from toolflow.compiler.compile import make_nodes
from toolflow.compiler.faults import Fault, known
from toolflow.model.batch import CallPlan
from toolflow.model.plan import Edge, Node

_NODE_OF = {"safe": "pool", "exclusive": "barrier", "settled": "settled"}


def check_nodes(
    calls: Sequence[CallPlan], listed: Sequence[tuple[str, Sequence[str]]]
) -> Iterator[Fault]:
    """Check the nodes.

    Args:
        calls: The calls in call order.
        listed: Id and call names of each node, as the document has them.

    Yields:
        What is wrong.
    """
    index = {call.name: call.index for call in calls}
    found = list(_members(calls, index, listed))
    found += _kinds(calls, index, listed)
    yield from found
    if not found:
        yield from _as_compiled(calls, index, listed)


def check_order(nodes: Sequence[Node], edges: Sequence[Edge]) -> Iterator[Fault]:
    """Check the order edges: exactly one between each node that runs and the next.

    Args:
        nodes: The nodes, which hold together.
        edges: The order edges, as the document has them.

    Yields:
        What is wrong.
    """
    ids = [node.id for node in nodes if node.kind != "settled"]
    place = {name: number for number, name in enumerate(ids)}
    drawn: set[str] = set()
    for number, edge in enumerate(edges):
        here = ("order", number)
        unknown = [end for end in ("before", "after") if getattr(edge, end) not in place]
        for end in unknown:
            name = getattr(edge, end)
            text = f"order[{number}].{end} is {name!r}, which is no pool or barrier."
            yield Fault((*here, end), f"{text} {known(ids, name)}", "unknown_name")
        if unknown:
            continue
        step = place[edge.after] - place[edge.before]
        told = f"order[{number}] leads from {edge.before} to {edge.after}"
        if step < 1:
            message = f"{told}, which runs first: a circle. Nodes run in the order of the list."
            yield Fault(here, message, "cycle")
        elif step > 1:
            yield Fault(here, f"{told}, which does not come next. Join neighbours only.")
        elif edge.before in drawn:
            yield Fault(here, f"{told} once more. Put all causes into one edge.", "doubled")
        drawn.add(edge.before)
    for before, after in pairwise(ids):
        if before not in drawn:
            message = f"order lacks the edge from {before} to {after}. Neighbours are joined."
            yield Fault(("order",), message, "missing")


def _members(
    calls: Sequence[CallPlan],
    index: Mapping[str, int],
    listed: Sequence[tuple[str, Sequence[str]]],
) -> Iterator[Fault]:
    """Is each call in exactly one node, and is every name one of a call?"""
    home: dict[str, str] = {}
    for number, (node, names) in enumerate(listed):
        for place, name in enumerate(names):
            path = ("nodes", number, "calls", place)
            if name not in index:
                text = f"{node} holds {name!r}, which is no call of the plan."
                yield Fault(path, f"{text} {known(index, name)}", "unknown_name")
            elif name in home:
                text = f"{node} holds {name!r}, which {home[name]} holds already."
                yield Fault(path, f"{text} A call stands in one node.", "doubled")
            else:
                home[name] = node
    for call in calls:
        if call.name not in home:
            text = f"Call {call.name!r} stands in no node. Put it into a {_home(call)}."
            yield Fault(("calls", call.index), text, "missing")


def _kinds(
    calls: Sequence[CallPlan],
    index: Mapping[str, int],
    listed: Sequence[tuple[str, Sequence[str]]],
) -> Iterator[Fault]:
    """Do ids, verdicts and sizes of nodes fit each other?"""
    for number, (node, names) in enumerate(listed):
        kind = node.rpartition("-")[0]
        if kind not in _NODE_OF.values():
            text = f"nodes[{number}].id is {node!r}. Use pool-N, barrier-N or settled-N."
            yield Fault(("nodes", number, "id"), text)
            continue
        if kind != "pool" and len(names) > 1:
            text = f"{node} holds {len(names)} calls. A {kind} node holds one."
            yield Fault(("nodes", number, "calls"), text)
        for place, name in enumerate(names):
            call = calls[index[name]] if name in index else None
            if call is not None and _NODE_OF[call.verdict.kind] != kind:
                text = f"{node} holds {name!r}, whose verdict is {call.verdict.kind}."
                text += f" Put it into a {_home(call)}, or change the verdict."
                yield Fault(("nodes", number, "calls", place), text)


def _home(call: CallPlan) -> str:
    kind = _NODE_OF[call.verdict.kind]
    return f"{kind} node" if kind == "settled" else kind


def _as_compiled(
    calls: Sequence[CallPlan],
    index: Mapping[str, int],
    listed: Sequence[tuple[str, Sequence[str]]],
) -> Iterator[Fault]:
    """Are the nodes those that the verdicts make, in their order? Tells the first that is not."""
    wanted = list(make_nodes(calls))
    for number, (node, names) in enumerate(listed):
        held = tuple(sorted(index[name] for name in names))
        right = wanted[number] if number < len(wanted) else None
        if right is None or held != right.calls:
            text = f"{node} holds {_few(names)}, but calls run in call order, and safe calls"
            text += " with no exclusive call between them are one pool."
            if right is not None:
                text += (
                    f" Here stands {right.id} with {_few([calls[i].name for i in right.calls])}."
                )
            yield Fault(("nodes", number), text, "order")
            return
        if node != right.id:
            text = f"nodes[{number}].id is {node!r}. Pools and barriers are counted together as"
            text += f" they run, settled calls on their own: use {right.id}."
            yield Fault(("nodes", number, "id"), text)


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:4]))
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
