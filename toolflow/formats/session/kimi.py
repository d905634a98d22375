"""Kimi CLI: the context of a session (``context.jsonl``) and its events (``wire.jsonl``).

Source: the project's own code that writes and reads the two files. The context holds Chat messages,
one a line, between lines of its own (``_system_prompt``, ``_usage``, ``_checkpoint``); it has no
times, and tells an error only by the sentence at the start of a result. The events tell both, and
have sub-agents in them (see `kimi_wire`). When the user goes back to a checkpoint, the program
writes a new context file; the old one stays beside it and is a log of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolflow.formats import openai_chat
from toolflow.formats.plain import text_of
from toolflow.formats.session import kimi_wire
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.parts import content, status_of
from toolflow.formats.session.wire import attempt
from toolflow.model import Outcome

NAME = "kimi"
_OWN_ROLES = frozenset({"_system_prompt", "_usage", "_checkpoint"})
_ERROR = ("<system>ERROR</system>", "<system>ERROR:")
_OPEN = "<system>"


def _recognise(head: Sequence[Any]) -> bool:
    return any(
        isinstance(line, dict)
        and (text_of(line.get("role")) in _OWN_ROLES or kimi_wire.is_event(line))
        for line in head
    )


def _read(log: Log, reading: Reading) -> Iterator[Any]:
    talk = Conversation(reading)
    events = kimi_wire.Events(reading, talk)
    for number, line in reading.objects(log):
        if "role" in line:
            _take(number, line, talk)
        else:
            events.take(number, line)
        yield from talk.finished()
    events.end()
    yield from talk.rest()


def _take(number: int, line: dict[str, Any], talk: Conversation) -> None:
    role = line.get("role")
    if role == "assistant":
        for turn in attempt(lambda: openai_chat.FORMAT.read(line), talk, line, line=number):
            talk.message(turn, line=number)
    elif role == "tool":
        talk.result(line.get("tool_call_id"), outcome_of(line), line=number)


def outcome_of(message: Mapping[str, Any]) -> Outcome:
    """The outcome that a ``tool`` message of a context tells."""
    value, images = content(message.get("content"))
    if not isinstance(value, str) or not value.startswith(_ERROR):
        return Outcome("ok", value, images=images)
    told = value.replace(_ERROR[0], "", 1).replace(_ERROR[1], _OPEN, 1)
    sentence = told.lstrip().removeprefix(_OPEN).lstrip()
    return Outcome(status_of(sentence, kimi_wire.SENTENCES), None, value, images)


FORMAT = SessionFormat(
    name=NAME,
    about="JSON lines with the roles _checkpoint or _usage, or with a timestamp and a wire message",
    recognise=_recognise,
    read=_read,
)
