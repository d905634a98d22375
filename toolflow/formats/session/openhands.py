"""OpenHands: the events of a conversation, a list or JSON lines of actions and observations.

Source: the event classes that its two generations publish.

* Older events have ``action`` or ``observation``. An action's ``tool_call_metadata`` holds the
  whole Chat response that it was made of: that is the message of the turn, and all actions of one
  response are one turn. An action without it (the model wrote a command into its text) tells the
  action itself: a call of that name with its ``args``. An observation names its call, else the
  action that caused it.
* Newer events have a ``kind``. Each ``ActionEvent`` holds one call; those of one
  ``llm_response_id`` are one turn. ``ObservationEvent``, ``AgentErrorEvent`` and
  ``UserRejectObservation`` are results.

A result goes to the action that it names, so ids that come back are no matter. What an event tells
beside its call is in ``Turn.extra["events"]``. Times are those of the events; lines their places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolflow.formats.base import Misfit, quoted
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.formats.session.openhands_outcomes import KINDS, is_result, outcome_of
from toolflow.formats.session.pairing import Pending, Result, named
from toolflow.formats.session.times import parse_time
from toolflow.formats.session.turns import calls_turn, chat_turn, sentence
from toolflow.model import Notice, RecordedTurn, Turn

NAME = "openhands"
_NO_CALLS = frozenset(
    {
        "message",
        "system",
        "recall",
        "change_agent_state",
        "condensation",
        "condensation_request",
        "null",
        "start",
        "stop",
        "pause",
        "resume",
    }
)


def _recognise(head: Sequence[Any]) -> bool:
    return any(isinstance(event, dict) and _is_event(event) for event in head)


def _is_event(event: dict[str, Any]) -> bool:
    if not isinstance(event.get("source"), str):
        return False
    kind = event.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        return True
    told = event.get("action", event.get("observation"))
    return isinstance(told, str) and "timestamp" in event and ("args" in event or "extras" in event)


@dataclass(slots=True)
class _Group:
    """The actions of one response while they come in. Mutable: it lives in one reader only."""

    line: int
    began: Any
    response: dict[str, Any] | None = None
    items: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    started: dict[str, Any] = field(default_factory=dict)
    results: dict[str, list[Result]] = field(default_factory=dict)
    message_id: str | None = None

    def turn(self) -> Turn | Misfit:
        extra = {"events": self.events}
        if self.response is not None:
            return chat_turn(self.response, extra=extra)
        carries_ids = all("id" in item for item in self.items)
        turn = calls_turn(self.items, extra=extra, carries_ids=carries_ids)
        return turn if isinstance(turn, Misfit) else replace(turn, message_id=self.message_id)


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    reader = _Reader(reading)
    for number, event in reading.objects(log):
        reader.take(number, event)
    yield from reader.turns()


class _Reader:
    """Takes the events of one log. Mutable; lives in one reading only."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._groups: dict[tuple[str, Any], _Group] = {}
        self._by_event: dict[str | int, tuple[_Group, str]] = {}
        self._by_call: dict[str, _Group] = {}
        self._seen: dict[str | int, dict[str, Any]] = {}

    def take(self, number: int, event: dict[str, Any]) -> None:
        """Take the next event."""
        event_id = _key(event.get("id"))
        earlier = event if event_id is None else self._seen.setdefault(event_id, event)
        if earlier is not event and earlier == event:
            text = f"Line {number} tells an event again. It is left out."
            self._reading.oddities.append(Notice("repeated_line", text, line=number))
            return
        if event.get("kind") == "ActionEvent":
            self._take_action(number, event)
        elif is_result(event):
            self._take_result(number, event)
        elif isinstance(event.get("action"), str) and event.get("source") == "agent":
            self._take_older(number, event)
        elif event.get("kind") == "MessageEvent" and event.get("source") == "agent":
            self._reading.messages += 1

    def _take_action(self, number: int, event: dict[str, Any]) -> None:
        told = event.get("tool_call")
        told = told if isinstance(told, dict) else {}
        inner = told.get("function")
        body = inner if isinstance(inner, dict) else told
        item = {
            "id": told.get("id", event.get("tool_call_id", "")),
            "tool": body.get("name", event.get("tool_name")),
            "args": body.get("arguments"),
        }
        response = _key(event.get("llm_response_id"))
        group = self._group(number, event, response)
        group.message_id = response if isinstance(response, str) else None
        group.items.append(item)
        self._add(group, event, item["id"])

    def _take_older(self, number: int, event: dict[str, Any]) -> None:
        told = event.get("tool_call_metadata")
        if not isinstance(told, dict):
            self._take_bare(number, event)
            return
        response = told.get("model_response")
        if isinstance(response, dict):
            group = self._group(number, event, _key(response.get("id")))
            group.response = group.response or response
        else:
            group = self._group(number, event, None)
            name, call_id = told.get("function_name"), told.get("tool_call_id")
            group.items.append({"id": call_id, "tool": name, "args": event.get("args")})
        rest = {key: value for key, value in event.items() if key != "tool_call_metadata"}
        self._add(group, rest, told.get("tool_call_id"))

    def _take_bare(self, number: int, event: dict[str, Any]) -> None:
        if event["action"] in _NO_CALLS:
            self._reading.messages += event["action"] == "message"
            return
        group = self._group(number, event, None)
        group.items.append({"tool": event["action"], "args": event.get("args")})
        self._add(group, event, "call-1", made=True)

    def _group(self, number: int, event: dict[str, Any], response: str | int | None) -> _Group:
        key = ("event", number) if response is None else ("response", response)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(number, event.get("timestamp"))
        return group

    def _add(
        self, group: _Group, event: dict[str, Any], call_id: Any, *, made: bool = False
    ) -> None:
        group.events.append(event)
        if not isinstance(call_id, str):
            return
        group.started.setdefault(call_id, parse_time(event.get("timestamp")))
        event_id = _key(event.get("id"))
        if event_id is not None:
            self._by_event[event_id] = group, call_id
        if not made:
            self._by_call[call_id] = group

    def _take_result(self, number: int, event: dict[str, Any]) -> None:
        told = event.get("tool_call_metadata")
        call_id = (told if isinstance(told, dict) else event).get("tool_call_id")
        cause = _key(event.get("action_id", event.get("cause")))
        found = None if cause is None else self._by_event.get(cause)
        if isinstance(call_id, str):
            if found is None and call_id in self._by_call:
                found = self._by_call[call_id], call_id
            if found is not None and found[1] != call_id:
                found = None  # it names a call and the action of another one
        elif found is None and cause in self._seen:
            return  # what the user or the environment did had an effect: no result of a call
        if found is None:
            shown = quoted(call_id) if isinstance(call_id, str) else f"event {quoted(cause)}"
            text = f"The result for {shown} belongs to no call that stands before it in the log."
            self._reading.oddities.append(Notice("result_without_call", text, line=number))
            return
        group, own = found
        result = Result(outcome_of(event), number, parse_time(event.get("timestamp")))
        group.results.setdefault(own, []).append(result)

    def turns(self) -> Iterator[RecordedTurn]:
        """What was read."""
        given = 0
        for group in self._groups.values():
            self._reading.messages += 1
            turn = group.turn()
            if isinstance(turn, Misfit):
                text = f"The message cannot be read: {sentence(turn)}"
                self._reading.oddities.append(Notice("unreadable", text, line=group.line))
            elif turn.calls:
                given += 1
                times = [group.started.get(call.id) for call in turn.calls]
                turn = named(turn, f"turn-{given}")
                pending = Pending(turn, group.line, group.began, times, group.results)
                recorded, notices = pending.recorded()
                self._reading.oddities += notices
                yield recorded


def _key(value: Any) -> str | int | None:
    return value if isinstance(value, str | int) and value != "" else None


FORMAT = SessionFormat(
    name=NAME,
    about="events with a source and an action and args, an observation and extras, or a kind",
    recognise=_recognise,
    read=_read,
)
