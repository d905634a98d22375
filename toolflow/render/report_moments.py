"""The places of the slider through a run: its events, or what the times of a log tell."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from toolflow.model import Event, RecordedTurn, Times
from toolflow.render.labels import visible_lines
from toolflow.render.report_texts import LongTexts, line_text

From = Literal["events", "times", ""]
_RANK = ("call_queued", "call_started", "call_settled", "call_stopped")


def moments_of(
    recorded: RecordedTurn, names: Mapping[str, int], texts: LongTexts
) -> tuple[From, list[dict[str, Any]]]:
    """What the slider stops at.

    Args:
        recorded: The turn.
        names: The places of its calls, by name.
        texts: Takes what is long.

    Returns:
        What they were made of (nothing where neither events nor times are known), and one entry a
        moment: ``at`` (seconds), ``kind``, ``call`` (its place, or -1), ``text``.
    """
    if recorded.events:
        return "events", [_event(event, names, texts) for event in recorded.events]
    found = sorted(_timed(recorded.times))
    entries = [
        {"at": at, "kind": _RANK[rank], "call": call, "text": ""} for at, rank, call in found
    ]
    return ("times" if entries else ""), entries


def when(at: float | None) -> float | None:
    """A time that can be drawn, to the microsecond; ``None`` for any other."""
    return round(at, 6) if at is not None and math.isfinite(at) and at >= 0 else None


def _event(event: Event, names: Mapping[str, int], texts: LongTexts) -> dict[str, Any]:
    call = -1 if event.call is None else names.get(event.call, -1)
    words = [] if event.call is None or call >= 0 else [event.call]
    words += [f"of {event.source}"] if event.source != "main" else []
    words += [f"{name}={_data(value)}" for name, value in event.data.items()]
    data = {"at": when(event.at) or 0, "kind": visible_lines(str(event.kind)), "call": call}
    texts.put(data, "text", " ".join(words))
    return data


def _data(value: Any) -> str:
    """What belongs to an event; of messages, which the page shows elsewhere, their number."""
    many = isinstance(value, list | tuple) and any(isinstance(one, Mapping) for one in value)
    return str(len(value)) if many else line_text(value)


def _timed(times: tuple[Times, ...]) -> Iterator[tuple[float, int, int]]:
    for call, one in enumerate(times):
        stopped = one.stopped if one.stopped != one.settled else None
        for rank, at in enumerate((one.queued, one.started, one.settled, stopped)):
            seconds = when(at)
            if seconds is not None:
                yield seconds, rank, call
