"""pi: the session log of the pi coding agent (JSON lines), in its flat and in its tree form.

Source: the project's page on its session format. The first line is a header (``type: session``);
an entry of ``type: message`` holds one whole message of the user, the model (``assistant``) or a
tool (``toolResult``). From the second version of the format on each entry names its parent, since
a user may go back and take another way; the entries of the way that was left stay in the file.
They are read like all others, since those calls did run; where the conversation branches is told,
and ``Turn.extra`` keeps ``id`` and ``parentId``.

A message that was aborted or failed while it streamed (``stopReason``) may hold calls; the agent
does not run them. The log holds no results for them, so they have no outcome, and the notice about
each tells the reason.
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
from toolflow.formats.session.parts import content, error, sentences
from toolflow.formats.session.recent import Recent
from toolflow.model import Notice, Outcome

NAME = "pi"
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom"})
_BROKEN_OFF = frozenset({"error", "aborted"})
_SENTENCES = sentences(
    (r"Skipped due to queued user message", "skipped"),
    (r"Validation failed for tool ", "invalid_arguments"),
    (r"Tool .{1,200} not found$", "unknown_tool"),
    (r"(?:^|\n)(?:Command|Operation|Request|Tool execution)(?: was)? aborted\.?\s*$", "aborted"),
    (r"(?:^|\n)Command timed out after [\d.]+ seconds\s*$", "timed_out"),
)


def _recognise(head: Sequence[Any]) -> bool:
    return any(isinstance(line, dict) and (_is_header(line) or _is_message(line)) for line in head)


def _is_header(line: Mapping[str, Any]) -> bool:
    return line.get("type") == "session" and isinstance(line.get("id"), str) and "cwd" in line


def _is_message(line: Mapping[str, Any]) -> bool:
    message = line.get("message")
    if line.get("type") != "message" or not isinstance(message, dict):
        return False
    role = text_of(message.get("role"))
    return role == "toolResult" or (role == "assistant" and "stopReason" in message)


def _read(log: Log, reading: Reading) -> Iterator[Any]:
    talk, tree = Conversation(reading), _Tree(reading)
    for number, entry in reading.objects(log):
        tree.take(number, entry)
        _note(entry, reading)
        message = entry.get("message")
        if entry.get("type") == "message" and isinstance(message, dict):
            _take(number, entry, message, talk)
        yield from talk.finished()
    yield from talk.rest()


def _note(entry: Mapping[str, Any], reading: Reading) -> None:
    if _is_header(entry):
        reading.note(
            session=entry["id"],
            cwd=text_of(entry.get("cwd")),
            model=text_of(entry.get("modelId")),
            provider=text_of(entry.get("provider")),
            parent=text_of(entry.get("parentSession")) or text_of(entry.get("branchedFrom")),
        )
    elif entry.get("type") == "model_change":
        reading.note(model=text_of(entry.get("modelId")), provider=text_of(entry.get("provider")))


def _take(
    number: int, entry: Mapping[str, Any], message: dict[str, Any], talk: Conversation
) -> None:
    role, time = message.get("role"), entry.get("timestamp")
    if role == "assistant":
        _take_assistant(number, entry, message, talk)
    elif role == "toolResult":
        talk.result(message.get("toolCallId"), outcome_of(message), line=number, time=time)


def _take_assistant(
    number: int, entry: Mapping[str, Any], message: dict[str, Any], talk: Conversation
) -> None:
    blocks = blocks_of(message.get("content"), "toolCall")
    calls = [
        loose_call(index, block, call_id="id", tool="name", args="arguments")
        for index, block in enumerate(blocks)
    ]
    place = {key: entry[key] for key in ("id", "parentId") if key in entry}
    ended, notices = None, []
    if calls and text_of(message.get("stopReason")) in _BROKEN_OFF:
        ended = _ending(message)
        notices.append(Notice("cut_off", ended[0].upper() + ended[1:] + ".", line=number))
    turn = loose_turn(calls, message, message_id=entry.get("id"), notices=notices, extra=place)
    talk.message(turn, line=number, time=entry.get("timestamp"), ended=ended)


def _ending(message: Mapping[str, Any]) -> str:
    text = f"the message ended with {quoted(message['stopReason'])}"
    reason = text_of(message.get("errorMessage"))
    return f"{text} ({quoted(reason)})" if reason else text


def outcome_of(message: Mapping[str, Any]) -> Outcome:
    """The outcome that a ``toolResult`` message tells."""
    value, images = content(message.get("content"))
    if message.get("isError") is True:
        return error(value, images, _SENTENCES)
    return Outcome("ok", value, images=images)


class _Tree:
    """Tells where the conversation branches. Mutable; lives in one reading only."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._lines = Recent[int]()
        self._last: tuple[str, int] | None = None

    def take(self, number: int, entry: Mapping[str, Any]) -> None:
        """Take the next entry of the log."""
        own, parent = entry.get("id"), entry.get("parentId")
        if not isinstance(own, str) or "parentId" not in entry:
            return
        if self._last is not None and parent != self._last[0]:
            self._tell(number, parent, self._last[1])
        if own not in self._lines:
            self._lines.remember(own, number)
        self._last = own, number

    def _tell(self, number: int, parent: Any, before: int) -> None:
        start = self._lines.get(parent) if isinstance(parent, str) else None
        if start is not None:
            where = f"from line {start}, not from line {before}"
        elif parent is None:
            where = f"from the start, not from line {before}"
        elif self._lines.forgot:
            where = "from an entry that is not in the log, or stands long before"
        else:
            where = "from an entry that is not in the log"
        text = f"Line {number} goes on {where}: the conversation branches. All branches are read."
        self._reading.oddities.append(Notice("branch", text, line=number))


FORMAT = SessionFormat(
    name=NAME,
    about="JSON lines with a session header and messages that hold toolCall blocks or a stopReason",
    recognise=_recognise,
    read=_read,
)
