"""The runs of turns as a trace for chrome://tracing and ui.perfetto.dev (spec 11).

The form is the public "Trace Event Format": JSON, one object an event, times in microseconds. What
had alternatives:

* A call could have a thread of its own. Threads are the slots of the pool instead: how many bodies
  ran at once is what is looked for, and a thousand calls would make a thousand rows.
* Waiting overlaps without bound, so it cannot lie in the slots. It is told as asynchronous events,
  which both viewers pack as tightly as they can, by what was waited for.
* A body that was reported, but had not stopped, keeps its slot, as it keeps its permit.
* Turns are written one by one, so that a recording of any size takes little memory; the second
  one begins where its `started_at` says, or else where the one before it ended.

Nothing from a tool is more than a text in JSON, with control characters written out. Values of
arguments and results are not in it, and what the policy masks is masked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count as counting
from typing import Any

from toolflow.model import Event, RecordedTurn
from toolflow.recording.masking import masked_recorded
from toolflow.render import facts
from toolflow.render.axis import Axis, micro
from toolflow.render.labels import short
from toolflow.render.lanes import lanes_of
from toolflow.render.phases import phases_of
from toolflow.render.timeline import chart_of
from toolflow.render.trace_calls import bodies_of, draw_arrow
from toolflow.render.trace_sheet import LABEL, MOST, Entry, Sheet, sentence

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_THREADS = 1001
"""The first number of a thread: no two of a trace have one, and none has that of its process."""
_WAITS = {
    "order": "waits for order",
    "answer": "waits for an answer",
    "permit": "waits for a permit",
    "keys": "waits for keys and resources",
    "anything": "waits for a permit, resource or key",
}


def trace_text(turns: Iterable[RecordedTurn]) -> str:
    """Write the runs of turns as a trace.

    Args:
        turns: The recorded turns, in order; those without times show their calls as instants.

    Returns:
        JSON, which chrome://tracing and ui.perfetto.dev open. Equal turns give equal text.

    Raises:
        UsageError: If a turn does not have as many outcomes or times as calls.
    """
    return "".join(trace_pieces(turns))


def trace_pieces(turns: Iterable[RecordedTurn]) -> Iterator[str]:
    """Write the runs of turns as a trace, piece by piece; only one turn is held at a time.

    Args:
        turns: The recorded turns, in order; they are read as the pieces are asked for.

    Returns:
        Pieces of text, which make the text of `trace_text` together.

    Raises:
        UsageError: If a turn does not have as many outcomes or times as calls.
    """
    yield '{"displayTimeUnit": "ms", "traceEvents": ['
    axis, numbers, comma = Axis(), counting(_THREADS), "\n"
    for number, turn in enumerate(turns, 1):
        for entry in _entries(_masked(turn), number, axis, numbers):
            yield comma + _JSON.encode(_ended(entry))
            comma = ",\n"
    yield "\n]}\n"


def _ended(value: Any) -> Any:
    """A value in which a blank follows each backslash that would end a text.

    Perfetto takes the closing quote after it for a part of the text.
    """
    if isinstance(value, str):
        return f"{value} " if value.endswith("\\") else value
    if isinstance(value, dict):
        return {key: _ended(each) for key, each in value.items()}
    return [_ended(each) for each in value] if isinstance(value, list) else value


def _masked(turn: RecordedTurn) -> RecordedTurn:
    redactor = None if turn.plan is None else turn.plan.redactor
    return masked_recorded(replace(turn, messages=(), committed=None), redactor)


def _entries(
    turn: RecordedTurn, number: int, axis: Axis, numbers: Iterator[int]
) -> Iterator[Entry]:
    """Everything about one turn: who it is, then what happened, in order of time."""
    chart = chart_of(turn)
    end = micro(chart.end)
    sheet = Sheet(turn, number, axis.place(turn.started_at, end), chart, numbers)
    _run(sheet, end)
    _nodes(sheet)
    phases = phases_of(turn)
    bodies = bodies_of(sheet, phases.times, end)
    for wait in phases.waits:
        start, stop = micro(wait.start), micro(wait.end)
        if start < stop:
            args = {"call": short(chart.bars[wait.call].name, LABEL)}
            if wait.what:
                args["held by"] = "; ".join(sentence(each) for each in wait.what[:MOST])
            more = {"id2": {"local": next(numbers)}}
            sheet.add("b", "waiting", _WAITS[wait.kind], "run", start, **more, args=args)
            sheet.add("e", "waiting", _WAITS[wait.kind], "run", stop, **more)
    for arrow in phases.arrows:
        draw_arrow(sheet, arrow, bodies)
    yield from _names(sheet, number)
    yield from sorted(sheet.entries, key=lambda entry: entry["ts"])


def _names(sheet: Sheet, number: int) -> Iterator[Entry]:
    """What process and threads are called, and in which order they stand."""
    source = sheet.turn.turn.source
    name = short(sheet.turn.turn.id, LABEL) or f"turn {number}"
    told = {"name": name if source == "main" else f"{name} in {short(source, LABEL)}"}
    yield {"ph": "M", "name": "process_name", "pid": sheet.pid, "tid": 0, "args": told}
    order = {"sort_index": number}
    yield {"ph": "M", "name": "process_sort_index", "pid": sheet.pid, "tid": 0, "args": order}
    for place, (thread, tid) in enumerate(sheet.threads.items()):
        where = {"pid": sheet.pid, "tid": tid}
        yield {"ph": "M", "name": "thread_name", **where, "args": {"name": thread}}
        yield {"ph": "M", "name": "thread_sort_index", **where, "args": {"sort_index": place}}


def _run(sheet: Sheet, end: int) -> None:
    """The turn as a whole, and what happened to it as a whole."""
    sheet.add("X", "run", sheet.chart.title, "run", 0, dur=end, args=_run_facts(sheet))
    aborted = False
    for event in sheet.turn.events:
        if words := _words(event):
            args = {"call": short(event.call, LABEL)} if event.call is not None else {}
            sheet.add("i", "run", words, "run", _at(event), s="p", args=args)
        if event.data.get("status") in {"aborted", "not_started"} and not aborted:
            aborted = True
            sheet.add("i", "run", "abort", "run", _at(event), s="p", args={})


def _at(event: Event) -> int:
    return micro(event.at)


def _words(event: Event) -> str:
    """An event as an instant; nothing for those that are told in another way."""
    data = event.data
    if event.kind == "question_asked":
        return f"asks: {sentence(str(data.get('question', '')))}"
    if event.kind == "question_answered":
        return "approved" if data.get("approved") else "declined"
    if event.kind == "turn_committed":
        return "committed"
    if event.kind == "run_paused":
        return "paused"
    if event.kind == "run_finished":
        return sentence(f"run finished: {data.get('status', '')}".rstrip(": "))
    return ""


def _run_facts(sheet: Sheet) -> dict[str, Any]:
    turn = sheet.turn
    args: dict[str, Any] = {"calls": len(turn.turn.calls)}
    if turn.started_at is not None:
        args["started at"] = short(turn.started_at, LABEL)
    if turn.turn.message_id is not None:
        args["message"] = short(turn.turn.message_id, LABEL)
    if turn.plan is not None and sheet.ran_by_plan:
        args |= {"pool": turn.plan.limits.pool, "policy": short(turn.plan.policy_digest, 12)}
    return args


def _nodes(sheet: Sheet) -> None:
    """Pools and barriers, from the first body that began to the last that was settled."""
    plan = sheet.turn.plan
    if plan is None or not sheet.planned:
        return
    keyed = {edge.before for edge in plan.edges if edge.kind == "key"}
    found: list[tuple[int, int, str, str]] = []
    for node in plan.nodes:
        spans = [sheet.chart.bars[index].running for index in node.calls]
        ran = [span for span in spans if span is not None]
        if node.kind != "settled" and ran:
            joined = any(plan.calls[index].name in keyed for index in node.calls)
            title = facts.node_title(node, plan.limits.pool, keyed=joined)
            start, end = min(span[0] for span in ran), max(span[1] for span in ran)
            found.append((micro(start), micro(end), node.kind, title))
    lanes = lanes_of([(start, end) for start, end, *_ in found])
    placed = sorted(zip(found, lanes, strict=True), key=lambda each: each[0][1] > each[0][0])
    for (start, end, kind, title), lane in placed:
        thread = "pools and barriers" if lane == 0 else f"pools and barriers {lane + 1}"
        sheet.add("X", kind, title, thread, start, dur=end - start, args={})
