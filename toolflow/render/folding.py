"""Plans too large for a kind of picture: what is drawn of them, and what is only counted.

Of a pool, the first calls stay, in a run first of all those that did not end well; of many pools
and barriers, those at both ends. What is left out is counted where it would have stood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from toolflow.model import CallPlan, Edge, Gate, Outcome, PlanData
from toolflow.render.facts import count
from toolflow.render.frames import Frame
from toolflow.render.layout import rows_of


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is drawn.

    Attributes:
        calls: How many calls of one pool, or of the settled ones; ``None``: all.
        frames: How many pools and barriers; ``None``: all.
    """

    calls: int | None = None
    frames: int | None = None


EVERYTHING = Detail()
DETAILS = (
    EVERYTHING,
    *(Detail(calls) for calls in (160, 80, 40, 20, 8)),
    *(Detail(8, frames) for frames in (100, 50, 24)),
    Detail(4, 12),
    Detail(2, 4),
)
"""From all to hardly anything; whoever draws takes the first that fits."""


@dataclass(frozen=True, slots=True)
class Folded:
    """A pool or barrier as far as it is drawn.

    Attributes:
        frame: What is drawn of it.
        whole: All of it.
        note: What is told of the rest, or nothing where there is no rest.
    """

    frame: Frame
    whole: Frame
    note: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str | None]:
        """The calls and gates that are drawn."""
        return frozenset(name for row in self.frame.rows for name in row)


def chosen(
    calls: Sequence[CallPlan], outcomes: Sequence[Outcome | None], most: int | None
) -> tuple[CallPlan, ...]:
    """The calls that are drawn where there are too many, in call order."""
    if most is None or len(calls) <= most:
        return tuple(calls)
    good = (None, "ok")
    ranked = sorted(
        calls, key=lambda call: (getattr(outcomes[call.index], "status", None) in good, call.index)
    )
    return tuple(sorted(ranked[:most], key=lambda call: call.index))


def rest_of(
    calls: Sequence[CallPlan], drawn: Sequence[CallPlan], outcomes: Sequence[Outcome | None]
) -> tuple[str, ...]:
    """What is told of the calls that are not drawn: how many, and how many of each state."""
    if len(drawn) == len(calls):
        return ()
    shown = {call.index for call in drawn}
    found = (outcomes[call.index] for call in calls if call.index not in shown)
    states = Counter(outcome.status for outcome in found if outcome is not None)
    told = ", ".join(
        f"{number} {name.replace('_', ' ')}" for name, number in sorted(states.items())
    )
    return (f"… {len(calls) - len(drawn)} more calls", *((told,) if told else ()))


def folded(
    plan: PlanData, frame: Frame, outcomes: Sequence[Outcome | None], detail: Detail
) -> Folded:
    """What is drawn of a pool or barrier.

    Args:
        plan: The plan.
        frame: The pool or barrier.
        outcomes: How each call of the plan settled, in call order.
        detail: How much is drawn.
    """
    calls = [plan.calls[index] for index in frame.node.calls]
    drawn = chosen(calls, outcomes, detail.calls)
    if len(drawn) == len(calls):
        return Folded(_placed(frame, drawn, frame.gates, frame.edges), frame)
    names = {call.name for call in drawn}
    near = {
        name
        for edge in frame.edges
        if edge.before in names or edge.after in names
        for name in (edge.before, edge.after)
    }
    gates = tuple(gate for gate in frame.gates if gate.name in near)
    names |= {gate.name for gate in gates}
    edges = tuple(edge for edge in frame.edges if edge.before in names and edge.after in names)
    note = rest_of(calls, drawn, outcomes)
    if hidden := len(frame.edges) - len(edges):
        note = (f"{note[0]}, {count(hidden, 'key edge')}", *note[1:])
    return Folded(_placed(frame, drawn, gates, edges), frame, note)


def _placed(
    frame: Frame, calls: Sequence[CallPlan], gates: tuple[Gate, ...], edges: tuple[Edge, ...]
) -> Frame:
    """A frame with these parts, in rows of their own, where no chain is folded."""
    names = [*(call.name for call in calls), *(gate.name for gate in gates)]
    rows = rows_of(names, [(edge.before, edge.after) for edge in edges], towers=True)
    return replace(frame, gates=gates, rows=tuple(rows), edges=edges)


def ends(frames: Sequence[Frame], most: int | None) -> tuple[range, range]:
    """The places of the pools and barriers that are drawn: at the beginning, and at the end."""
    if most is None or len(frames) <= most:
        return range(len(frames)), range(0)
    head = (most + 1) // 2
    return range(head), range(len(frames) - (most - head), len(frames))


def skipped_note(frames: Sequence[Frame]) -> tuple[str, ...]:
    """What is told of the pools and barriers that are not drawn."""
    calls = sum(len(frame.node.calls) for frame in frames)
    return (f"… {len(frames)} more pools and barriers with {count(calls, 'call')}",)
