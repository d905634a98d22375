"""The events of a Responses stream become the whole response (spec 3.1).

Source: the published reference of the streaming events. The last event holds the whole response,
and what it says counts; where it is missing, or holds no items (some servers leave them out), the
response is put together from the events of its items. An item that did not end stays
``in_progress``, so that the reader knows that its arguments may be missing.

Events are put in the order of their sequence numbers; an event that is there twice counts once. A
stream in which another response begins is read from there.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from toolflow.formats.base import Flaw, Joined, Misfit, flaw
from toolflow.formats.openai_items import type_of
from toolflow.formats.openai_responses_pieces import Items
from toolflow.formats.openai_stream import no_end, second_start, stream_error, torn_events
from toolflow.formats.plain import plain
from toolflow.model import Notice

_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
_MARKS = ("response", "sequence_number", "output_index", "item_id", "item", "delta")
_Numbered = tuple[int, dict[str, Any]]


def is_chunk(data: Any) -> bool:
    """Whether a value is one event of a stream."""
    if not isinstance(data, dict):
        return False
    kind = data.get("type")
    if not isinstance(kind, str) or not kind.startswith("response."):
        return False
    return any(mark in data for mark in _MARKS)


def join(chunks: Sequence[Any]) -> Joined:
    """Put a stream together (see `toolflow.formats.base.Format`)."""
    flaws: list[Flaw] = []
    events, torn = _sorted_out(chunks, flaws)
    notices = list(torn_events(torn))
    events = _in_order(_from_last_start(events, notices), notices)
    items = Items(flaws)
    response: dict[str, Any] = {}
    ended = False
    lost = _losses(events, torn)
    for (number, event), before in zip(events, lost, strict=True):
        kind = type_of(event)
        told = plain(event.get("response"))
        if before:
            items.lost()
        if isinstance(told, dict) and not ended:
            response.update(told)
        if kind == "error":
            notices.append(stream_error(event.get("error", event)))
        ended = ended or kind in _LAST
        items.take(event, (number,))
    if flaws:
        raise Misfit(flaws)
    if torn and events and torn[-1] > events[-1][0]:
        items.lost()
    output = plain(response.get("output"))
    if not ended or not isinstance(output, list) or not output:
        output = items.whole(ended=ended)
        if any(lost) and not torn:
            text = "Events of the stream are missing: its sequence numbers have gaps."
            notices.append(Notice("missing_event", text))
    if not ended:
        notices.append(no_end("response.completed"))
    return Joined({"object": "response", **response, "output": output}, tuple(notices))


def _sorted_out(chunks: Sequence[Any], flaws: list[Flaw]) -> tuple[list[_Numbered], list[int]]:
    """The events with their places, and the places of what was torn."""
    torn: list[int] = []
    events: list[_Numbered] = []
    for number, chunk in enumerate(chunks):
        if isinstance(chunk, str):
            torn.append(number)
        elif not isinstance(chunk, dict):
            flaws.append(flaw((number,), chunk, "Use an event: an object with a type."))
        else:
            events.append((number, chunk))
    return events, torn


def _losses(events: list[_Numbered], torn: list[int]) -> list[bool]:
    """For each event whether something was lost before it: a torn event, or a number left out."""
    lost = [False] * len(events)
    for place, ((before, one), (after, other)) in enumerate(pairwise(events), 1):
        first, second = one.get("sequence_number"), other.get("sequence_number")
        if type(first) is int and type(second) is int:
            lost[place] = second > first + 1
        else:
            lost[place] = bisect(torn, before) < bisect(torn, after)
    return lost


def split(chunks: Sequence[Any]) -> list[Sequence[Any]]:
    """Cut where one response has ended and the next begins (see `toolflow.formats.base.Format`)."""
    events = [(number, chunk) for number, chunk in enumerate(chunks) if isinstance(chunk, dict)]
    cuts = [events[place][0] for place, ended in _starts(events) if ended]
    return [chunks[a:b] for a, b in pairwise([0, *cuts, len(chunks)])]


def _starts(events: list[_Numbered]) -> Iterator[tuple[int, bool]]:
    """Where a response with another id begins, and whether the one before had ended."""
    current, ended = None, False
    for place, (_, event) in enumerate(events):
        ended = ended or type_of(event) in _LAST
        told = plain(event.get("response")) if event.get("type") == "response.created" else None
        name = told.get("id") if isinstance(told, dict) else None
        if isinstance(name, str):
            if current is not None and name != current:
                yield place, ended
                ended = False
            current = name


def _from_last_start(events: list[_Numbered], notices: list[Notice]) -> list[_Numbered]:
    """The events of the last response: from where one with another id than before begins."""
    start = max((place for place, _ in _starts(events)), default=0)
    if start:
        notices.append(second_start("event", events[start][0], start))
    return events[start:]


def _in_order(events: list[_Numbered], notices: list[Notice]) -> list[_Numbered]:
    """The events by sequence number, each once; as they came where not all have a number."""
    numbers = [n for _, event in events if type(n := event.get("sequence_number")) is int]
    if len(numbers) < len(events):
        return events
    if all(before < after for before, after in pairwise(numbers)):
        return events
    ordered = sorted(events, key=lambda pair: pair[1]["sequence_number"])
    if [pair[0] for pair in ordered] != [pair[0] for pair in events]:
        text = "Events of the stream came out of order. They are read by their sequence numbers."
        notices.append(Notice("events_out_of_order", text))
    once = ordered[:1]
    for pair in ordered[1:]:
        if pair[1] != once[-1][1]:
            once.append(pair)
    if len(once) < len(ordered):
        count = len(ordered) - len(once)
        text = f"{count} events of the stream are there twice. Each counts once."
        notices.append(Notice("doubled_event", text))
    return once
