"""What happened to each call of a run, as far as its times, events and plan tell (spec 11).

Times say when a call was queued, granted, started, settled and stopped. Why it waited before that
is worked out: until the last of those that the plan puts before it had stopped, it waited for its
place in the order; while its question was open, for an answer; the rest is the wait for a permit,
hooks included. Whatever is not known, or cannot be, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from toolflow.model import Edge, PlanData, RecordedTurn, Times
from toolflow.render.timeline import sane

WaitKind = Literal["order", "answer", "permit", "keys", "anything"]


@dataclass(frozen=True, slots=True)
class Wait:
    """A call waited.

    Attributes:
        call: The index of the call.
        kind: For what: its place in the ``order``, the ``answer`` to its question, a ``permit``,
            its ``keys`` and resources, or any of these (``anything``) where nothing tells.
        start: From when, in seconds since the run began.
        end: Until when.
        what: Who held what it waited for, as phrases for people.
    """

    call: int
    kind: WaitKind
    start: float
    end: float
    what: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrow:
    """A call ended, and let another one go on.

    Attributes:
        before: The index of the first.
        after: The index of the second.
        cause: Why the second waited for it.
    """

    before: int
    after: int
    cause: str


@dataclass(frozen=True, slots=True)
class Phases:
    """All of it.

    Attributes:
        times: The times of each call, without those that cannot be.
        waits: Who waited for what, in call order.
        arrows: The key edges between calls that ran, gates passed over.
    """

    times: tuple[Times, ...]
    waits: tuple[Wait, ...]
    arrows: tuple[Arrow, ...]


def phases_of(turn: RecordedTurn) -> Phases:
    """Work out what happened to each call.

    Args:
        turn: The recorded turn.
    """
    count = len(turn.turn.calls)
    given = turn.times if len(turn.times) == count else (Times(),) * count
    times = tuple(map(sane, given))
    plan = turn.plan if turn.plan is not None and len(turn.plan.calls) == count else None
    ready: list[float | None] = [None] * count
    arrows: tuple[Arrow, ...] = ()
    if plan is not None:
        ends = [max((t.settled or 0.0, t.stopped or 0.0)) for t in times]
        ready = _after_nodes(plan, ends)
        arrows = tuple(_key_arrows(plan, ends))
        for arrow in arrows:
            ready[arrow.after] = max(ready[arrow.after] or 0.0, ends[arrow.before])
    told = _told(turn)
    waits = (wait for at in range(count) for wait in _waits(at, times[at], ready[at], told))
    return Phases(times, tuple(waits), arrows)


def _after_nodes(plan: PlanData, ends: Sequence[float]) -> list[float | None]:
    """When everything in earlier pools and barriers had stopped, for each call that may run."""
    ready: list[float | None] = [None] * len(ends)
    latest = 0.0
    for node in plan.nodes:
        if node.kind != "settled":
            for index in node.calls:
                ready[index] = latest
            latest = max([latest, *(ends[index] for index in node.calls)])
    return ready


def _key_arrows(plan: PlanData, ends: Sequence[float]) -> Iterator[Arrow]:
    """The key edges; one that leaves a gate comes from the last call that led to it."""
    index = {call.name: call.index for call in plan.calls}
    openers: dict[str, int] = {}
    edges = [edge for edge in plan.edges if edge.kind == "key"]
    for edge in _gates_last(edges, {gate.name for gate in plan.gates}):
        before = index.get(edge.before, openers.get(edge.before))
        if before is None:
            continue
        if edge.after in index:
            yield Arrow(before, index[edge.after], edge.causes[0] if edge.causes else "")
        else:
            known = openers.get(edge.after)
            if known is None or (ends[before], before) > (ends[known], known):
                openers[edge.after] = before


def _gates_last(edges: Sequence[Edge], gates: AbstractSet[str]) -> Iterator[Edge]:
    """Key edges such that all that lead to a gate come before those that leave it."""
    leaving: dict[str, list[Edge]] = {name: [] for name in gates}
    waiting = dict.fromkeys(gates, 0)
    ready: list[Edge] = []
    for edge in edges:
        (leaving[edge.before] if edge.before in gates else ready).append(edge)
        if edge.after in gates:
            waiting[edge.after] += 1
    for edge in ready:  # it grows while it is gone through
        yield edge
        if edge.after in gates:
            waiting[edge.after] -= 1
            if not waiting[edge.after]:
                ready += leaving[edge.after]


@dataclass(frozen=True, slots=True)
class _Told:
    """What events tell of waiting, by the call's index."""

    eventful: bool
    settled: AbstractSet[int]
    answers: Mapping[int, tuple[float, float]]
    holders: Mapping[int, tuple[str, ...]]


def _told(turn: RecordedTurn) -> _Told:
    plan = turn.plan.calls if turn.plan is not None else ()
    index = {call.name: call.index for call in plan}
    asked: dict[int, float] = {}
    answers: dict[int, tuple[float, float]] = {}
    holders: dict[int, tuple[str, ...]] = {}
    for event in turn.events:
        at = index.get(event.call or "")
        if at is None:
            continue
        if event.kind == "question_asked":
            asked[at] = event.at
        elif event.kind == "question_answered" and at in asked:
            answers.setdefault(at, (asked[at], event.at))
        elif event.kind == "call_queued":
            what = event.data.get("waits", ())
            holders[at] = tuple(map(str, what)) if isinstance(what, list | tuple) else (str(what),)
    settled = frozenset(call.index for call in plan if call.verdict.kind == "settled")
    return _Told(bool(turn.events), settled, answers, holders)


def _waits(index: int, times: Times, ready: float | None, told: _Told) -> Iterator[Wait]:
    """What one call waited for, one thing after the other."""
    end = times.started if times.started is not None else times.settled
    if end is None or index in told.settled:
        return
    if ready is None:  # without a plan nothing tells when it was its turn
        if times.queued is not None and times.queued < end:
            yield Wait(index, "anything", times.queued, end, told.holders.get(index, ()))
        return
    steps: list[tuple[WaitKind, float]] = [("order", ready)]
    if index in told.answers and told.answers[index][0] < end:
        steps.append(("answer", told.answers[index][1]))
    steps.append(("permit", end if times.queued is None else times.queued))
    steps.append(("keys" if told.eventful else "anything", end))
    now = 0.0
    for kind, over in steps:
        until = min(over, end)
        if until > now:
            what = told.holders.get(index, ()) if kind in {"keys", "anything"} else ()
            yield Wait(index, kind, now, until, what)
            now = until
