"""Copilot CLI: the event log of a session (JSON lines of ``type``, ``data``, ``id``, ``parentId``).

Source: the event schema that is published with the Copilot SDK. An ``assistant.message`` is one
whole message of the model; its ``toolRequests`` are its calls. ``tool.execution_start`` gives the
time at which a call began, ``tool.execution_complete`` its result. What runs inside a sub-agent
names the call that started it (``parentToolCallId``), which is its source. A tool that the user ran
is no call of the model. A call that began though no message asked for it is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.plain import text_of
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.formats.session.loose import blocks_of, loose_call, loose_turn
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.parts import content, error
from toolflow.model import Notice, Outcome
from toolflow.model.outcome import Status

NAME = "copilot"
_KINDS = frozenset({"session", "user", "assistant", "tool", "subagent", "hook", "system"})
_CODES: Mapping[str, Status] = {
    "rejected": "declined",
    "denied": "denied",
    "timeout": "timed_out",
    "cancelled": "aborted",
    "aborted": "aborted",
}


def _recognise(head: Sequence[Any]) -> bool:
    return any(
        isinstance(line, dict)
        and isinstance(line.get("data"), dict)
        and {"id", "timestamp", "parentId"} <= line.keys()
        and text_of(line.get("type")).partition(".")[0] in _KINDS
        and "." in line["type"]
        for line in head
    )


def _read(log: Log, reading: Reading) -> Iterator[Any]:
    reader = _Reader(reading)
    for number, line in reading.objects(log):
        data = line.get("data")
        if isinstance(data, dict):
            reader.take(number, text_of(line.get("type")), data, line.get("timestamp"))
        yield from reader.talk.finished()
    yield from reader.talk.rest()


class _Reader:
    """Takes the events of one log. Mutable; lives in one reading only."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._of_user: set[str] = set()  # few: a person's own commands
        self.talk = Conversation(reading)

    def take(self, number: int, kind: str, data: dict[str, Any], time: Any) -> None:
        """Take the next event."""
        source = text_of(data.get("parentToolCallId")) or "main"
        if kind == "assistant.message":
            self._take_message(number, data, time, source)
        elif kind == "tool.execution_start":
            self._take_start(number, data, time, source)
        elif kind == "tool.execution_complete":
            self._take_result(number, data, time, source)
        elif kind == "tool.user_requested":
            if call_id := text_of(data.get("toolCallId")):
                self._of_user.add(call_id)
        elif kind == "abort":
            self.talk.interrupted(line=number)
        else:
            self._note(kind, data)

    def _note(self, kind: str, data: Mapping[str, Any]) -> None:
        if kind in ("session.start", "session.resume"):
            place = data.get("context")
            place = place if isinstance(place, dict) else {}
            self._reading.note(
                session=text_of(data.get("sessionId")),
                version=text_of(data.get("copilotVersion")),
                model=text_of(data.get("selectedModel")),
                cwd=text_of(place.get("cwd")),
                branch=text_of(place.get("branch")),
            )
        elif kind == "session.model_change":
            self._reading.note(model=text_of(data.get("newModel")))

    def _take_message(self, number: int, data: dict[str, Any], time: Any, source: str) -> None:
        calls = [
            loose_call(index, block, call_id="toolCallId", tool="name", args="arguments")
            for index, block in enumerate(blocks_of(data.get("toolRequests")))
        ]
        turn = loose_turn(calls, data, source=source, message_id=data.get("messageId"))
        self.talk.message(turn, line=number, time=time)

    def _take_start(self, number: int, data: Mapping[str, Any], time: Any, source: str) -> None:
        call_id = data.get("toolCallId")
        if data.get("isUserRequested") is True and isinstance(call_id, str):
            self._of_user.add(call_id)
        if text_of(call_id) in self._of_user or self.talk.began(call_id, time=time, source=source):
            return
        shown = quoted(call_id) if isinstance(call_id, str) else "without an id"
        text = f"Line {number} starts call {shown}, which no message before it asked for."
        self._reading.oddities.append(Notice("unread_call", text, line=number))

    def _take_result(self, number: int, data: Mapping[str, Any], time: Any, source: str) -> None:
        call_id = data.get("toolCallId")
        if data.get("isUserRequested") is True or text_of(call_id) in self._of_user:
            return
        self.talk.result(call_id, outcome_of(data), line=number, time=time, source=source)


def outcome_of(data: Mapping[str, Any]) -> Outcome:
    """The outcome that a ``tool.execution_complete`` event tells.

    ``success`` decides; the ``error`` beside it has a sentence and a code.
    """
    result = data.get("result")
    value, images = content(result.get("content") if isinstance(result, dict) else result)
    if data.get("success") is not False:
        return Outcome("ok", value, images=images)
    told = data.get("error")
    if not isinstance(told, dict):
        return error(told if isinstance(told, str) and told else value, images, ())
    message = text_of(told.get("message")) or "The call failed without a message."
    return Outcome(_CODES.get(text_of(told.get("code")), "failed"), value or None, message, images)


FORMAT = SessionFormat(
    name=NAME,
    about="JSON lines with a dotted type such as assistant.message, data, id and parentId",
    recognise=_recognise,
    read=_read,
)
