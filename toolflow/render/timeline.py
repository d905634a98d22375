"""The timeline of a run as values: who waited, who ran, from when to when (spec 11).

The picture and the text are two ways to write the same `Chart`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from toolflow.model import PlanData, RecordedTurn, Times
from toolflow.render import facts
from toolflow.render.labels import columns, cut, duration, short, visible


@dataclass(frozen=True, slots=True)
class Bar:
    """One call in a timeline.

    Attributes:
        label: The short text that people see for the call.
        name: The call's name in the turn.
        status: How it settled, or ``None`` where nobody knows.
        word: The same in words, with how long the body took.
        waiting: From when to when it waited, in seconds since the run began, or ``None``.
        running: From when to when its body ran, until the outcome was reported, or ``None``.
        late: From the report until the body had really ended, where that was later, or ``None``.
        at: When it settled, or ``None``.
    """

    label: str
    name: str
    status: str | None
    word: str
    waiting: tuple[float, float] | None
    running: tuple[float, float] | None
    late: tuple[float, float] | None
    at: float | None


@dataclass(frozen=True, slots=True)
class Chart:
    """A whole timeline.

    Attributes:
        title: Such as ``turn-1 · 5 calls · 1.2 s``.
        bars: One for each call, in call order.
        barriers: The barriers that ran: their ids with from when to when, in order.
        end: When the last thing happened, in seconds since the run began.
    """

    title: str
    bars: tuple[Bar, ...]
    barriers: tuple[tuple[str, float, float], ...]
    end: float


def chart_of(turn: RecordedTurn, title: str | None = None) -> Chart:
    """Work out the timeline of a recorded turn.

    Args:
        turn: The turn; where it has no times, its bars are empty.
        title: The title; ``None`` for one that counts calls and says how long they took.

    Raises:
        UsageError: If there are not as many outcomes or times as calls.
    """
    calls = turn.turn.calls
    run = facts.match(len(calls), turn.outcomes, turn.times)
    labels, names = _labels(turn)
    bars = []
    for at in range(len(calls)):
        outcome, times = run.outcomes[at], sane(run.times[at])
        word = "" if outcome is None else facts.state_word(outcome, times)
        status = None if outcome is None else outcome.status
        bars.append(_bar(labels[at], names[at], status, word, times))
    ends = [
        end for bar in bars for span in (bar.waiting, bar.running, bar.late) if span for end in span
    ]
    end = max([*ends, *(bar.at for bar in bars if bar.at is not None)], default=0.0)
    parts = (short(turn.turn.id), facts.count(len(calls), "call"), duration(end) if ends else "")
    shown = " · ".join(part for part in parts if part) if title is None else short(title, 100)
    return Chart(shown, tuple(bars), _barriers(turn.plan, bars), end)


def _labels(turn: RecordedTurn) -> tuple[list[str], list[str]]:
    calls = turn.turn.calls
    if turn.plan is not None and len(turn.plan.calls) == len(calls):
        planned = turn.plan.calls
        return [call.label or call.tool for call in planned], [call.name for call in planned]
    return [call.tool for call in calls], [call.id or f"call-{call.index + 1}" for call in calls]


def sane(times: Times | None) -> Times:
    """Times that can be drawn: finite, and not before the run began.

    Args:
        times: The times, or ``None`` where nothing is known.
    """
    if times is None:
        return Times()
    fields = (times.queued, times.granted, times.started, times.settled, times.stopped)
    return Times(
        *(at if at is not None and math.isfinite(at) and at >= 0 else None for at in fields)
    )


def _bar(label: str, name: str, status: str | None, word: str, times: Times) -> Bar:
    end = times.settled if times.settled is not None else times.stopped
    began = times.started if times.started is not None else end
    return Bar(
        label=label,
        name=name,
        status=status,
        word=word,
        waiting=_span(times.queued, began),
        running=_span(times.started, end),
        late=_span(times.settled, times.stopped) if times.started is not None else None,
        at=times.settled,
    )


def _span(start: float | None, end: float | None) -> tuple[float, float] | None:
    return None if start is None or end is None or end < start else (start, end)


def _barriers(plan: PlanData | None, bars: list[Bar]) -> tuple[tuple[str, float, float], ...]:
    found = []
    for node in plan.nodes if plan is not None else ():
        spans = [bars[index].running for index in node.calls if index < len(bars)]
        if node.kind == "barrier" and spans and spans[0] is not None:
            late = bars[node.calls[0]].late
            found.append((short(node.id), spans[0][0], late[1] if late else spans[0][1]))
    return tuple(found)


def ticks(end: float, most: int) -> tuple[float, ...]:
    """Round points in time from 0 to an end, at most so many after the first."""
    if not end > 0:
        return (0.0,)
    power = 10.0 ** math.floor(math.log10(end / most))
    step = next(f * power for f in (1, 2, 5, 10, 20) if f * power * most >= end)
    return tuple(step * at for at in range(int(end / step + 1e-9) + 1))


def row_labels(bars: Sequence[Bar], width: int) -> tuple[str, ...]:
    """Every call's label and name in one line, in two columns that fit a width together.

    Args:
        bars: The bars of a chart.
        width: Columns of a terminal for both.
    """
    names = [cut(short(bar.name, 80), width // 3) for bar in bars]
    wide = max(map(columns, names), default=0)
    lines = []
    for bar, name in zip(bars, names, strict=True):
        label = visible(" ".join(bar.label[:400].split()))
        room = width - wide - 2
        while columns(label) > room:
            label = cut(label, len(label) - 1 if len(label) <= room else room)
        lines.append(f"{_padded(label, room)}  {_padded(name, wide)}")
    return tuple(lines)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - columns(text))
