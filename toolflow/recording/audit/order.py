"""Which calls were open at the same time in a recording, and which were not, though they might.

A call is open from its begin to its end. In a log these are the times of its line and of the line
of its result, so being open says that two bodies *may* have overlapped; not being open at the same
time says for certain that they did not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from toolflow.compiler import Plan
from toolflow.compiler.analysis import key_needs
from toolflow.compiler.walk import in_order
from toolflow.recording.audit.meeting import LARGEST, bits
from toolflow.recording.audit.values import Serial

Span = tuple[float, float]
"""From when to when a call was open, in seconds since its turn began."""
SHOWN = 100
"""How many calls of one turn are listed; all are counted."""


def at_once(one: Span | None, other: Span | None) -> bool | None:
    """Whether two calls were open at the same time.

    Args:
        one: When one of them was open, or ``None`` where that is not known.
        other: The same of the other.

    Returns:
        ``None`` where it is not known: also where one ended in the very moment in which the other
        began, since clocks of logs are coarse.
    """
    if one is None or other is None or one[1] == other[0] or other[1] == one[0]:
        return None
    return one[0] < other[1] and other[0] < one[1]


def held_up(plan: Plan, spans: Sequence[Span | None]) -> tuple[tuple[Serial, ...], int]:
    """The calls that began only after a call had ended that they may overlap under the plan.

    Args:
        plan: The plan.
        spans: When each call was open, in call order.

    Returns:
        The first of them, each with the first such call; and how many there are.
    """
    if sum(span is not None for span in spans) < 2 or len(spans) > LARGEST:
        return (), 0
    ordered = _ordered(plan)
    found = []
    for node in plan.nodes:
        if node.kind == "pool" and len(node.calls) > 1:
            found += _of_pool(node.calls, spans, ordered)
    return tuple(sorted(found, key=lambda serial: serial.call)[:SHOWN]), len(found)


def _of_pool(
    calls: Sequence[int], spans: Sequence[Span | None], ordered: Mapping[int, int]
) -> list[Serial]:
    known = [(span, index) for index in calls if (span := spans[index]) is not None]
    ends = sorted((span[1], index) for span, index in known)
    found, ended, place = [], 0, 0
    for (start, _), index in sorted(known):
        while place < len(ends) and ends[place][0] < start:
            ended |= 1 << ends[place][1]
            place += 1
        free = ended & ~ordered.get(index, 0) & ~(1 << index)
        found += [Serial(index, other) for other in islice(bits(free), 1)]
    return found


def _ordered(plan: Plan) -> dict[int, int]:
    """For each call with key edges those that are before or after it in its pool, as bits."""
    needs = key_needs(plan.edges)
    if not needs:
        return {}
    index = {call.name: call.index for call in plan.calls}
    before: dict[str, int] = {}
    names = list(in_order(needs, needs))
    for name in names:
        found = 0
        for other in needs.get(name, ()):
            found |= before[other] | (1 << index[other] if other in index else 0)
        before[name] = found
    after: dict[str, int] = dict.fromkeys(names, 0)
    for name in reversed(names):
        own = after[name] | (1 << index[name] if name in index else 0)
        for other in needs.get(name, ()):
            after[other] |= own
    return {index[name]: before[name] | after[name] for name in names if name in index}
