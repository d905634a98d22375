"""The calls of a turn in a trace: bodies in their slots, and the key edges between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolflow.model import Outcome, Times
from toolflow.render import facts
from toolflow.render.axis import micro
from toolflow.render.labels import short, visible
from toolflow.render.lanes import lanes_of
from toolflow.render.phases import Arrow
from toolflow.render.timeline import Bar
from toolflow.render.trace_sheet import LABEL, MOST, Entry, Sheet, sentence


@dataclass(frozen=True, slots=True)
class Body:
    """A body as it is drawn, in microseconds since the turn began.

    Attributes:
        index: The index of its call.
        start: When it was entered.
        reported: When its outcome was reported; the end of the turn where that is not known.
        stopped: When it had really stopped: not before that.
    """

    index: int
    start: int
    reported: int
    stopped: int


def bodies_of(sheet: Sheet, times: Sequence[Times], end: int) -> dict[int, tuple[Body, str]]:
    """Every call, once: its body in a slot, or an instant where it never ran.

    Returns:
        The bodies with their slots, by index.
    """
    bodies = [_body(at, each, end) for at, each in enumerate(times) if each.started is not None]
    lanes = lanes_of([(body.start, body.stopped) for body in bodies])
    slots = [f"slot {lane + 1}" for lane in lanes]
    for lane in range(max(lanes, default=-1) + 1):
        sheet.thread(f"slot {lane + 1}")
    placed = list(zip(bodies, slots, strict=True))
    # What takes no time comes before what begins in that moment, or it would lie inside that.
    for body, slot in sorted(placed, key=lambda each: each[0].stopped > each[0].start):
        _slices(sheet, body, slot, known=times[body.index].settled is not None)
    ran = {body.index for body in bodies}
    for index, bar in enumerate(sheet.chart.bars):
        if index not in ran:
            name = sentence(" · ".join(filter(None, (_label(bar), bar.word))), LABEL)
            at = micro(bar.at or 0.0)
            args = _facts(sheet, index)
            sheet.add("i", "call,not run", name, "answered without running", at, s="t", args=args)
    return {body.index: (body, slot) for body, slot in placed}


def _body(index: int, times: Times, end: int) -> Body:
    start = micro(times.started or 0.0)
    told = times.settled if times.settled is not None else times.stopped
    reported = max(start, end if told is None else micro(told))
    stopped = reported if times.stopped is None else max(reported, micro(times.stopped))
    return Body(index, start, reported, stopped)


def _slices(sheet: Sheet, body: Body, slot: str, *, known: bool) -> None:
    """A body in its slot, and below that name how long it went on after it was reported."""
    bar = sheet.chart.bars[body.index]
    status = bar.status or ("" if known else "end not known")
    words = "" if status == "ok" else visible(status.replace("_", " "))
    name = " · ".join(filter(None, (_label(bar), words)))
    alone = sheet.ran_by_plan and sheet.planned[body.index].verdict.kind == "exclusive"
    more: Entry = {"dur": body.reported - body.start, "args": _facts(sheet, body.index)}
    sheet.add("X", "call,barrier" if alone else "call", name, slot, body.start, **more)
    if body.stopped > body.reported:
        late = f"not yet stopped: {_label(bar)}"
        args = {"call": short(bar.name, LABEL)}
        dur = body.stopped - body.reported
        sheet.add("X", "late", late, slot, body.reported, dur=dur, args=args)


def _facts(sheet: Sheet, index: int) -> dict[str, Any]:
    """What is told of a call when it is clicked on: what was decided, and how it settled."""
    outcomes = sheet.turn.outcomes
    outcome: Outcome | None = outcomes[index] if index < len(outcomes) else None
    args: dict[str, Any] = {"call": short(sheet.chart.bars[index].name, LABEL)}
    args["tool"] = short(sheet.turn.turn.calls[index].tool, LABEL)
    if planned := sheet.planned:
        call = planned[index]
        args |= {"verdict": call.verdict.kind, "reason": sentence(call.verdict.reason)}
        keys = [f"reads {key}" for key in call.reads or ()]
        keys += [f"writes {key}" for key in call.writes or ()]
        args |= {"keys": [sentence(key) for key in keys[:MOST]]} if keys else {}
        special = facts.badges(call)[1:]
        args |= {"terms": ", ".join(special[:MOST])} if special else {}
    if outcome is not None:
        args["outcome"] = visible(outcome.status)
        if outcome.error is not None:
            args["error"] = sentence(outcome.error)
    return args


def draw_arrow(sheet: Sheet, arrow: Arrow, bodies: Mapping[int, tuple[Body, str]]) -> None:
    """A key edge, from the end of one body to the beginning of the other."""
    if arrow.before not in bodies or arrow.after not in bodies:
        return
    (before, tail), (after, head) = bodies[arrow.before], bodies[arrow.after]
    last = before.reported if before.stopped > before.reported else before.start
    left = max(last, before.stopped - 1)  # inside the slice, or it would belong to the next one
    if left <= after.start:
        more: Entry = {"id": next(sheet.numbers)}
        name = sentence(arrow.cause, LABEL)
        sheet.add("s", "key", name, tail, left, **more)
        sheet.add("f", "key", name, head, after.start, bp="e", **more)


def _label(bar: Bar) -> str:
    return sentence(bar.label, LABEL)
