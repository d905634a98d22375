"""One call of a turn as a page shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolflow.model import Call, CallPlan, Outcome, Times
from toolflow.render.facts import badges
from toolflow.render.labels import duration, visible_lines
from toolflow.render.report_moments import when
from toolflow.render.report_texts import LongTexts, shortened, value_text

_LABEL, _NAME, _SENTENCE = 400, 200, 2_000
_STAGES = ("queued", "granted", "started", "settled", "stopped")


def call_data(
    call: Call,
    planned: CallPlan | None,
    outcome: Outcome | None,
    times: Times | None,
    texts: LongTexts,
) -> dict[str, Any]:
    """What a page says about a call.

    Args:
        call: The call as the model sent it.
        planned: What the plan says about it, or ``None``.
        outcome: How it settled, or ``None``.
        times: When things happened to it, or ``None``.
        texts: Takes what is long.
    """
    tool = call.tool if planned is None else planned.tool
    label = (planned.label if planned is not None else "") or tool
    data: dict[str, Any] = {
        "label": brief(label, _LABEL),
        "tool": brief(tool, _NAME),
        "status": outcome.status if outcome is not None else "",
        **_plan(planned),
        **_times(times),
    }
    _sent(call, planned, data, texts)
    _result(outcome, data, texts)
    return data


def brief(text: str, most: int = _SENTENCE) -> str:
    """A short text of which, where it is too long, the ends are shown."""
    return visible_lines(shortened(text, most))


def waited(times: Times | None) -> float | None:
    """How many seconds a call waited from when it could have run until it did, or settled."""
    if times is None or times.queued is None:
        return None
    return _span(times.queued, times.started if times.started is not None else times.settled)


def ran(times: Times | None) -> float | None:
    """How many seconds its body ran until its outcome was reported."""
    return None if times is None else _span(times.started, times.settled)


def late(times: Times | None) -> float | None:
    """How many seconds its body went on after that, or ``None`` where it did not."""
    if times is None or times.started is None:
        return None
    return _span(times.settled, times.stopped) or None


def _span(start: float | None, end: float | None) -> float | None:
    start, end = when(start), when(end)
    return None if start is None or end is None or end < start else end - start


def _plan(planned: CallPlan | None) -> dict[str, Any]:
    if planned is None:
        return {"verdict": "", "reason": "", "rule": "", "keys": [], "terms": [], "line": 0}
    verdict = planned.verdict
    keys = [["reads", key] for key in planned.reads or ()]
    keys += [["writes", key] for key in planned.writes or ()]
    terms = [] if verdict.kind == "settled" else list(badges(planned)[1:])
    return {
        "verdict": verdict.kind,
        "reason": brief(verdict.reason),
        "rule": _rule(planned),
        "line": verdict.line or 0 if verdict.base is None else 0,
        "keys": [[how, brief(key, _LABEL)] for how, key in keys],
        "declared": planned.reads is not None or planned.writes is not None,
        "terms": terms,
        **({"ask": brief(planned.ask)} if planned.ask is not None else {}),
    }


def _rule(planned: CallPlan) -> str:
    verdict = planned.verdict
    if verdict.rule is None:
        return ""
    line = f", line {verdict.line}" if verdict.line is not None else ""
    base = f" of {brief(verdict.base, _NAME)}" if verdict.base is not None else ""
    return f"rule {verdict.rule + 1}{line}{base}"


def _times(times: Times | None) -> dict[str, Any]:
    spans = {"waited": waited(times), "ran": ran(times), "late": late(times)}
    told = {name: duration(span) for name, span in spans.items() if span is not None}
    moments = [] if times is None else list(_moments(times))
    return {**told, "times": moments}


def _moments(times: Times) -> Iterator[list[str]]:
    for name in _STAGES:
        at = when(getattr(times, name))
        if at is not None:
            yield [name, f"{at:.6f}".rstrip("0").rstrip(".") + " s"]


def _sent(call: Call, planned: CallPlan | None, data: dict[str, Any], texts: LongTexts) -> None:
    args = call.args if planned is None else planned.args
    texts.put(data, "args", value_text(dict(args)) if args or call.raw is None else None)
    if planned is not None and call.args != planned.args:
        texts.put(data, "sent", value_text(dict(call.args)))
    texts.put(data, "raw", call.raw)
    texts.put(data, "problem", call.problem)


def _result(outcome: Outcome | None, data: dict[str, Any], texts: LongTexts) -> None:
    if outcome is None:
        return
    texts.put(data, "result", None if outcome.value is None else value_text(outcome.value))
    texts.put(data, "error", outcome.error)
    texts.put(data, "note", outcome.note)
    if outcome.images:
        data["images"] = [
            f"{brief(image.media_type, _NAME)}, {len(image.data) * 3 // 4:,} bytes"
            for image in outcome.images[:20]
        ]
