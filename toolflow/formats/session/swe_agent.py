"""SWE-agent: a trajectory (``.traj``), one JSON object with ``history`` and ``trajectory``.

Source: the published description of the trajectory file. ``history`` holds the Chat messages, with
``agent``, ``message_type``, ``thought`` and ``action`` beside them; it is what is read. A file that
has only ``trajectory`` (steps with ``action`` and ``observation``) is read from its steps.

A message of the function-calling parser holds its call. With the other parsers the model writes a
command into its text, and the harness tells what it took from it in ``action``: that is a call of
``bash`` with the argument ``command``, and the observation that follows is its result. The text
itself is never searched for commands.

An observation does not say whether its command failed, so every result is ``ok``. A step tells how
long its command ran: that is a time only where the steps are those of the history, one by one.
Lines are places in ``history``. Demonstrations (``is_demo``) are a source ``demo`` of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolflow.formats.base import Misfit
from toolflow.formats.plain import text_of
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log, Record
from toolflow.formats.session.loose import list_of
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.parts import content
from toolflow.formats.session.turns import calls_turn, chat_turn, take
from toolflow.model import Outcome, RecordedTurn, Times, Turn

NAME = "swe-agent"
_OWN = frozenset({"agent", "message_type", "thought", "action", "is_demo", "tags", "cache_control"})
_STEP_MARKS = frozenset({"action", "observation"})
_DURATION = "execution_time"
_LONGEST = 1e9  # seconds: no command ran for thirty years


def _recognise(head: Sequence[Any]) -> bool:
    return any(_is_trajectory(record) for record in head if isinstance(record, dict))


def _is_trajectory(record: dict[str, Any]) -> bool:
    history, steps = list_of(record.get("history")), list_of(record.get("trajectory"))
    return any(
        isinstance(item, dict) and "role" in item and ("message_type" in item or "agent" in item)
        for item in history
    ) or any(isinstance(step, dict) and step.keys() >= _STEP_MARKS for step in steps)


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    conversation = Conversation(reading)
    for record in log.records():
        if record.fault is not None or not isinstance(record.value, dict):
            reading.usable(record)
            continue
        whole = record.value
        _note(reading, whole)
        steps = list_of(whole.get("trajectory"))
        history = list_of(whole.get("history"))
        if any(isinstance(item, dict) and item.get("role") == "assistant" for item in history):
            _History(conversation, reading, history, steps).take_all()
        else:
            _take_steps(conversation, reading, steps)
        for recorded in conversation.rest():
            yield _timed(recorded)


def _note(reading: Reading, whole: Mapping[str, Any]) -> None:
    info = whole.get("info")
    info = info if isinstance(info, dict) else {}
    facts = {
        "environment": whole.get("environment"),
        "exit_status": info.get("exit_status"),
        "version": info.get("swe_agent_version"),
    }
    reading.note(**{key: value for key, value in facts.items() if isinstance(value, str)})


class _History:
    """Takes the messages of one history. Mutable; lives in one reading only."""

    def __init__(
        self, conversation: Conversation, reading: Reading, items: list[Any], steps: list[Any]
    ) -> None:
        self._conversation = conversation
        self._reading = reading
        self._items = items
        self._durations = _durations(items, steps)
        self._open: dict[str, str] = {}
        """The call without an id that waits for its observation, by source."""

    def take_all(self) -> None:
        for number, item in enumerate(self._items, 1):
            if self._reading.usable(Record(number, item)):
                self._take(number, item)

    def _take(self, number: int, item: dict[str, Any]) -> None:
        source = "demo" if item.get("is_demo") is True else text_of(item.get("agent")) or "main"
        if item.get("role") == "assistant":
            turn = _turn(item, self._durations.get(number))
            self._open.pop(source, None)
            if isinstance(turn, Turn) and turn.calls and not turn.carries_ids:
                self._open[source] = turn.calls[0].id
            take(self._conversation, turn, item, line=number, source=source)
        elif item.get("role") == "tool":
            for call_id in _ids(item):
                self._result(call_id, item, number, source)
        elif item.get("message_type") == "observation" and source in self._open:
            self._result(self._open.pop(source), item, number, source)

    def _result(self, call_id: Any, item: dict[str, Any], number: int, source: str) -> None:
        value, images = content(item.get("content"))
        outcome = Outcome("ok", value, images=images)
        self._conversation.result(call_id, outcome, line=number, source=source)


def _turn(item: dict[str, Any], duration: Any) -> Turn | Misfit:
    extra = {} if duration is None else {_DURATION: duration}
    action = text_of(item.get("action"))
    if item.get("tool_calls") or not action.strip():
        return chat_turn(item, _OWN, extra=extra)
    return _command(action, {"message": item, **extra})


def _command(action: str, extra: Mapping[str, Any]) -> Turn | Misfit:
    items = [{"tool": "bash", "args": {"command": action}}]
    return calls_turn(items, extra=extra, carries_ids=False)


def _ids(item: dict[str, Any]) -> list[Any]:
    ids = item.get("tool_call_ids")
    return ids if isinstance(ids, list) and ids else [item.get("tool_call_id")]


def _durations(items: list[Any], steps: list[Any]) -> dict[int, Any]:
    """How long each message's action ran, by its place; nothing where the steps are others."""
    acting = [
        (number, item.get("action"))
        for number, item in enumerate(items, 1)
        if isinstance(item, dict)
        and item.get("role") == "assistant"
        and item.get("is_demo") is not True
    ]
    rows = [step if isinstance(step, dict) else {} for step in steps]
    if [action for _, action in acting] != [row.get("action") for row in rows]:
        return {}
    return {number: row.get(_DURATION) for (number, _), row in zip(acting, rows, strict=True)}


def _take_steps(conversation: Conversation, reading: Reading, steps: list[Any]) -> None:
    for number, step in enumerate(steps, 1):
        if not reading.usable(Record(number, step)):
            continue
        action = text_of(step.get("action"))
        if not action.strip():
            reading.messages += 1
            continue
        extra = {key: value for key, value in step.items() if key != "observation"}
        turn = _command(action, extra)
        take(conversation, turn, step, line=number)
        if isinstance(turn, Turn) and "observation" in step:
            value, images = content(step["observation"])
            outcome = Outcome("ok", value, images=images)
            conversation.result(turn.calls[0].id, outcome, line=number)


def _timed(recorded: RecordedTurn) -> RecordedTurn:
    duration = recorded.turn.extra.get(_DURATION)
    if len(recorded.outcomes) != 1 or recorded.outcomes[0] is None:
        return recorded
    if not isinstance(duration, int | float) or isinstance(duration, bool):
        return recorded
    if not 0 <= duration < _LONGEST:  # nor where it is not a number
        return recorded
    return replace(recorded, times=(Times(started=0.0, settled=round(float(duration), 6)),))


FORMAT = SessionFormat(
    name=NAME,
    about="an object with a history of messages that have an agent and a message_type,"
    " or a trajectory of actions and observations",
    recognise=_recognise,
    read=_read,
)
