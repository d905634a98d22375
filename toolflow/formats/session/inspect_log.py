"""inspect: the log of an evaluation as one JSON object, with ``samples``.

Source: the published log file reference. A ``.eval`` file is an archive of the same; the log dump
command of inspect makes JSON of it. Each sample is a source of its own, ``sample-1`` ..., by its
place; which sample and epoch it is stands in ``Recording.source["samples"]``. Lines are samples.

A sample's ``messages`` are read: a call there has ``function`` and ``arguments`` beside its ``id``,
and a result an ``error`` with a kind. ``events`` tell when a call began and ended, and when its
message was there. A sample that kept no messages of the model is read from its events alone.
Texts that a log keeps apart (``attachment://``) are put back where they are a whole result.

===========================================  =====================
kind of error                                status
===========================================  =====================
``parsing``                                  ``invalid_arguments``
``timeout``                                  ``timed_out``
``approval``                                 ``denied``
``cancelled``                                ``aborted``
any other                                    ``failed``
===========================================  =====================
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from toolflow.formats.base import Misfit
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.formats.session.loose import list_of
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.parts import content
from toolflow.formats.session.turns import calls_turn, take
from toolflow.model import Notice, Outcome, RecordedTurn, Turn
from toolflow.model.outcome import Status

NAME = "inspect"
_STATUS: dict[str, Status] = {
    "parsing": "invalid_arguments",
    "timeout": "timed_out",
    "approval": "denied",
    "cancelled": "aborted",
}
_ATTACHED = "attachment://"


def _recognise(head: Sequence[Any]) -> bool:
    return any(
        isinstance(log, dict)
        and isinstance(log.get("eval"), dict)
        and "task" in log["eval"]
        and ("samples" in log or "plan" in log)
        for log in head
    )


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    conversation = Conversation(reading)
    samples: list[dict[str, Any]] = []
    for _, whole in reading.objects(log):
        _note(reading, whole)
        for number, sample in enumerate(list_of(whole.get("samples")), 1):
            if isinstance(sample, dict):
                reader = _Sample(conversation, reading, sample, number)
                samples.append(reader.facts)
                reader.take_all()
                yield from conversation.rest()
            else:
                text = f"Sample {number} cannot be read: it is no JSON object."
                reading.oddities.append(Notice("unreadable", text, line=number))
    reading.note(samples=samples)


def _note(reading: Reading, whole: dict[str, Any]) -> None:
    told = whole.get("eval")
    facts = told if isinstance(told, dict) else {}
    for name, key in (("session", "run_id"), ("task", "task"), ("model", "model")):
        if isinstance(facts.get(key), str):
            reading.note(**{name: facts[key]})
    if isinstance(whole.get("status"), str):
        reading.note(status=whole["status"])


class _Sample:
    """Takes one sample. Mutable; lives in one reading only."""

    def __init__(
        self, conversation: Conversation, reading: Reading, sample: dict[str, Any], number: int
    ) -> None:
        self._conversation = conversation
        self._reading = reading
        self._sample = sample
        self._number = number
        self._source = f"sample-{number}"
        self._events = [e for e in list_of(sample.get("events")) if isinstance(e, dict)]
        self._spans: dict[str, deque[dict[str, Any]]] = {}
        self._made: dict[str, Any] = {}

    @property
    def facts(self) -> dict[str, Any]:
        """Which sample it is."""
        told = ((name, self._sample[name]) for name in ("id", "epoch") if name in self._sample)
        return {"source": self._source, **dict(told)}

    def take_all(self) -> None:
        """Take its messages, else its events."""
        for event in self._events:
            if event.get("event") == "tool" and isinstance(event.get("id"), str):
                self._spans.setdefault(event["id"], deque()).append(event)
            message = _said(event)
            if isinstance(message.get("id"), str):
                self._made.setdefault(message["id"], event.get("completed"))
        messages = list_of(self._sample.get("messages"))
        if not messages:
            messages = [made for event in self._events for made in _messages(event)]
        for place, message in enumerate(messages, 1):
            if isinstance(message, dict):
                self._take(message)
            else:
                text = f"Message {place} of the sample cannot be read: it is no JSON object."
                notice = Notice("unreadable", text, line=self._number)
                self._reading.oddities.append(notice)

    def _take(self, message: dict[str, Any]) -> None:
        number, source = self._number, self._source
        if message.get("role") == "assistant":
            turn = _turn(message)
            events = [] if isinstance(turn, Misfit) else [self._span(c.id) for c in turn.calls]
            times = [event.get("timestamp") for event in events]
            message_id = message.get("id")
            made = self._made.get(message_id) if isinstance(message_id, str) else None
            time = made or next((each for each in times if each is not None), None)
            take(
                self._conversation,
                turn,
                message,
                line=number,
                time=time,
                call_times=times,
                source=source,
            )
        elif message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            event = self._span(call_id, done=True)
            self._conversation.result(
                call_id,
                self._outcome(message),
                line=number,
                time=event.get("completed"),
                source=source,
            )

    def _span(self, call_id: Any, *, done: bool = False) -> dict[str, Any]:
        """The event of a call: its first one that no result has taken yet."""
        spans = self._spans.get(call_id) if isinstance(call_id, str) else None
        if not spans:
            return {}
        return spans.popleft() if done else spans[0]

    def _outcome(self, message: dict[str, Any]) -> Outcome:
        value, images = content(message.get("content"))
        if isinstance(value, str) and value.startswith(_ATTACHED):
            attached = self._sample.get("attachments")
            kept = attached if isinstance(attached, dict) else {}
            value = kept.get(value.removeprefix(_ATTACHED), value)
        error = message.get("error")
        if not isinstance(error, dict):
            return Outcome("ok", value, images=images)
        kind, said = error.get("type"), error.get("message")
        status = _STATUS.get(kind, "failed") if isinstance(kind, str) else "failed"
        text = said if isinstance(said, str) and said else "The call failed without a message."
        return Outcome(status, value or None, text, images)


def _turn(message: dict[str, Any]) -> Turn | Misfit:
    items = [_item(call) for call in list_of(message.get("tool_calls"))]
    return calls_turn(items, extra={"message": message})


def _item(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    return {
        "id": call.get("id", ""),
        "tool": call.get("function"),
        "args": call.get("arguments"),
        **({"parse_error": call["parse_error"]} if call.get("parse_error") else {}),
    }


def _said(event: dict[str, Any]) -> dict[str, Any]:
    """The message that a model event tells."""
    output = event.get("output") if event.get("event") == "model" else None
    choices = list_of(output.get("choices")) if isinstance(output, dict) else []
    message = choices[0].get("message") if choices and isinstance(choices[0], dict) else None
    return message if isinstance(message, dict) else {}


def _messages(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages that an event stands for: what the model said, or a result."""
    if message := _said(event):
        yield {"role": "assistant", **message}
    if event.get("event") == "tool" and "completed" in event:
        yield {
            "role": "tool",
            "tool_call_id": event.get("id"),
            "content": event.get("result"),
            "error": event.get("error"),
        }


FORMAT = SessionFormat(
    name=NAME,
    about="an object with the task of an eval, a plan and samples",
    recognise=_recognise,
    read=_read,
)
