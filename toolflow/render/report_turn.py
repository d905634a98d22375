"""One turn as a page shows it: what became of it, its calls, its moments, its messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from toolflow.compiler.text import plan_text
from toolflow.errors import ToolflowError
from toolflow.model import CallPlan, PlanData, RecordedTurn, Times, call_names
from toolflow.recording.masking import masked_recorded
from toolflow.render.facts import count
from toolflow.render.labels import duration
from toolflow.render.report_call import brief, call_data, late, waited
from toolflow.render.report_moments import moments_of
from toolflow.render.report_texts import LongTexts, value_text
from toolflow.render.timeline import Bar, chart_of

_FINE: Final = frozenset({"ok", "running"})
_LONG, _SHARE, _SHORT = 1.0, 0.25, 0.05  # seconds; a share of the turn's time; seconds
_NOTICES = 50


def masked(recorded: RecordedTurn) -> RecordedTurn:
    """A turn without the secrets that the policy of its plan names."""
    return masked_recorded(recorded, recorded.plan.redactor if recorded.plan else None)


def turn_data(recorded: RecordedTurn, number: int) -> dict[str, Any]:
    """What a page says about a turn.

    Args:
        recorded: The turn, without secrets.
        number: Its place in the recording, counted from 1.

    Returns:
        JSON values, in which every text is visible and fit for a page.

    Raises:
        UsageError: If there are not as many outcomes or times as calls.
    """
    texts = LongTexts()
    turn, plan = recorded.turn, _fitting_plan(recorded)
    names = call_names(turn.calls) if plan is None else tuple(call.name for call in plan.calls)
    chart = chart_of(recorded)
    source, moments = moments_of(recorded, {name: at for at, name in enumerate(names)}, texts)
    data: dict[str, Any] = {
        "number": number,
        "id": brief(turn.id, 200),
        "facts": list(_facts(recorded)),
        "status": _status(recorded),
        "counts": dict(sorted(_counts(recorded).items())),
        "problems": list(_problems(recorded, plan, chart.end)),
        "end": chart.end,
        "time": duration(chart.end) if chart.end > 0 else "",
        "barriers": [list(barrier) for barrier in chart.barriers] if recorded.events else [],
        "calls": list(_calls(recorded, plan, names, chart.bars, texts)),
        "moments": moments,
        "from": source,
        "notices": [brief(notice.message) for notice in turn.notices[:_NOTICES]],
        **_graph(plan),
    }
    data["messages"] = list(_messages(recorded, texts))
    data["text"] = "" if plan is None else _plan_text(plan)
    data["cut"] = texts.settle()
    return data


def _fitting_plan(recorded: RecordedTurn) -> PlanData | None:
    """The plan, if it is one of these calls."""
    plan = recorded.plan
    return plan if plan is not None and len(plan.calls) == len(recorded.turn.calls) else None


def _facts(recorded: RecordedTurn) -> Iterator[list[str]]:
    turn, plan = recorded.turn, recorded.plan
    run = recorded.events[0].run if recorded.events else ""
    given = {
        "source": turn.source if turn.source != "main" else "",
        "began": recorded.started_at or "",
        "run": run,
        "message": turn.message_id or "",
        "format": turn.format,
        "line of the log": str(recorded.line or ""),
        "pool": f"at most {plan.limits.pool} at once" if plan is not None else "",
        "policy": plan.policy_digest[:12] if plan is not None else "",
    }
    for name, text in given.items():
        if text:
            yield [name, brief(text, 200)]


def _status(recorded: RecordedTurn) -> str:
    """How the run of the turn ended, in one word."""
    if not recorded.events:
        return "not recorded"
    for event in reversed(recorded.events):
        if event.kind == "run_finished":
            return brief(str(event.data.get("status", "done")), 40)
        if event.kind == "run_paused":
            return "paused"
    return "unfinished"


def _counts(recorded: RecordedTurn) -> Counter[str]:
    return Counter("" if one is None else one.status for one in recorded.outcomes)


def _problems(recorded: RecordedTurn, plan: PlanData | None, end: float) -> Iterator[list[str]]:
    """What went wrong, and what is worth a look: each with ``bad`` or ``note``."""
    for status, number in sorted(_counts(recorded).items()):
        if status not in _FINE:
            word = status.replace("_", " ") if status else "without a result"
            yield ["bad", f"{number} {word}"]
    times = recorded.times
    over = sum((late(one) or 0) >= _SHORT for one in times)
    if over:
        yield ["bad", f"{over} ran on after the report"]
    long = _long_waits(times, end)
    if long:
        yield ["note", f"{len(long)} waited long (up to {duration(max(long))})"]
    met = {edge.after for edge in plan.edges if edge.kind == "key"} if plan is not None else ()
    if met:
        yield ["note", f"keys met: {count(len(met), 'call')} behind others"]
    if recorded.turn.notices:
        yield ["note", count(len(recorded.turn.notices), "notice")]


def _long_waits(times: Sequence[Times], end: float) -> list[float]:
    """Waits of a second and more, and those of a good part of the turn's time."""
    least = min(_LONG, max(_SHARE * end, _SHORT))
    return [span for one in times if (span := waited(one)) is not None and span >= least]


def _calls(
    recorded: RecordedTurn,
    plan: PlanData | None,
    names: Sequence[str],
    bars: Sequence[Bar],
    texts: LongTexts,
) -> Iterator[dict[str, Any]]:
    planned: Sequence[CallPlan | None] = (None,) * len(names) if plan is None else plan.calls
    times: Sequence[Times | None] = recorded.times or (None,) * len(names)
    taken = set(names)
    for at, call in enumerate(recorded.turn.calls):
        data = call_data(call, planned[at], recorded.outcomes[at], times[at], texts)
        key = f"c{at + 1}"
        data["key"] = key if key not in taken or names[at] == key else str(at + 1)
        data["name"] = brief(names[at], 200)
        bar = bars[at]
        data["bars"] = [bar.waiting, bar.running, bar.late, bar.at]
        data["queued"] = bar.waiting[0] if bar.waiting is not None else None
        yield data


def _graph(plan: PlanData | None) -> dict[str, Any]:
    """Pools and barriers with their calls, and who waits for whom by keys.

    ``behind`` holds, for every call and then for every gate, pairs of what must settle before (a
    place in the same list) and why.
    """
    if plan is None:
        return {"nodes": [], "behind": [], "gates": 0}
    vertices = [call.name for call in plan.calls] + [gate.name for gate in plan.gates]
    place = {name: at for at, name in enumerate(vertices)}
    behind: list[list[list[Any]]] = [[] for _ in vertices]
    for edge in plan.edges:
        if edge.kind == "key" and edge.before in place and edge.after in place:
            why = "; ".join(edge.causes[:3])
            behind[place[edge.after]].append([place[edge.before], brief(why, 400)])
    nodes = [[brief(node.id, 100), node.kind, list(node.calls)] for node in plan.nodes]
    return {"nodes": nodes, "behind": behind, "gates": len(plan.gates)}


def _messages(recorded: RecordedTurn, texts: LongTexts) -> Iterator[dict[str, Any]]:
    for message in recorded.messages:
        role = message.get("role") or message.get("type") if isinstance(message, Mapping) else None
        data: dict[str, Any] = {"role": brief(str(role), 60) if role else ""}
        texts.put(data, "text", value_text(message))
        yield data


def _plan_text(plan: PlanData) -> str:
    try:
        return brief(plan_text(plan), 1_000_000)
    except (LookupError, ToolflowError):  # a plan whose parts do not belong together
        return ""
