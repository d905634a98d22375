"""Claude Code: the session log (JSON lines) and the ``stream-json`` output, also as one list.

A line is an ``assistant`` or a ``user`` message, or one of many other kinds, which are skipped.
An assistant message is spread over lines, mostly one block a line, that share ``message.id``.
Times are those of the lines: a call starts when its block was logged, and settles when its result
was. What a line tells beside its message (``cwd``, ``requestId``, ``gitBranch`` ...) is kept in
``Turn.extra``, from the first line of the turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.grouping import Message
from toolflow.formats.session.log import Log
from toolflow.formats.session.outcomes import outcome_of
from toolflow.formats.session.pairing import Result
from toolflow.formats.session.sources import Sources
from toolflow.formats.session.times import parse_time
from toolflow.model import Notice, RecordedTurn

NAME = "claude-code"
_MARKS = frozenset(
    {
        "parentUuid",
        "isSidechain",
        "leafUuid",
        "isSnapshotUpdate",
        "sessionId",
        "session_id",
        "parent_tool_use_id",
    }
)
_NOT_EXTRA = frozenset(
    {
        "type",
        "message",
        "timestamp",
        "isSidechain",
        "parentUuid",
        "parent_tool_use_id",
        "userType",
        "sessionId",
        "session_id",
        "toolUseResult",
    }
)
_INTERRUPT = "[Request interrupted by user"


def _recognise(head: Sequence[Any]) -> bool:
    return any(
        isinstance(line, dict)
        and isinstance(line.get("type"), str)
        and "payload" not in line
        and not _MARKS.isdisjoint(line)
        for line in head
    )


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    reader = _Reader(reading)
    for number, line in reading.objects(log):
        reader.take(number, line)
    yield from reader.turns()


class _Reader:
    """Takes the lines of one log. Mutable; lives in one reading only."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._sources = Sources()
        self._messages: dict[tuple[str, str], Message] = {}
        self._holders: dict[tuple[str, str], Message] = {}
        self._latest: dict[str, Message] = {}
        self._sessions: dict[str, None] = {}

    def take(self, number: int, line: dict[str, Any]) -> None:
        """Take the next line."""
        self._note(line)
        source = self._sources.of(line)
        message = line.get("message")
        if not isinstance(message, dict):
            return
        if line.get("type") == "assistant":
            self._take_assistant(number, line, message, source)
        elif line.get("type") == "user":
            self._take_user(number, line, message, source)

    def _note(self, line: Mapping[str, Any]) -> None:
        """Keep what the lines tell of the session: the first value of each."""
        session = line.get("sessionId", line.get("session_id"))
        if isinstance(session, str) and session not in self._sessions:
            self._sessions[session] = None
        if "cwd" in line:
            for key, name in (("cwd", "cwd"), ("version", "version"), ("gitBranch", "branch")):
                value = line.get(key)
                if isinstance(value, str):
                    self._reading.note(**{name: value})

    def _take_assistant(
        self, number: int, line: dict[str, Any], message: dict[str, Any], source: str
    ) -> None:
        message_id, uuid = message.get("id"), line.get("uuid")
        if not isinstance(message_id, str) or not message_id:
            # A line of its own: what could join it to others is not there.
            message_id = f"uuid {uuid}" if isinstance(uuid, str) else f"line {number}"
        time = line.get("timestamp")
        found = self._messages.get((source, message_id))
        if found is None:
            extra = {key: value for key, value in line.items() if key not in _NOT_EXTRA}
            found = self._messages[source, message_id] = Message(source, number, time, extra)
        calls, left_out = found.add(message, uuid, parse_time(time))
        if left_out:
            noun = "block was" if left_out == 1 else "blocks were"
            text = f"Line {number} tells again what is known: {left_out} {noun} left out."
            self._reading.oddities.append(Notice("repeated_line", text, line=number))
        self._latest[source] = found
        for block in calls:
            call_id = block.get("id")
            if isinstance(call_id, str) and call_id:
                self._holders[source, call_id] = found
            self._sources.remember_call(block)

    def _take_user(
        self, number: int, line: dict[str, Any], message: dict[str, Any], source: str
    ) -> None:
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(content, list):
            return
        for block in content:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_result":
                self._take_result(number, line, block, source)
            elif str(block.get("text", "")).startswith(_INTERRUPT) and source in self._latest:
                self._latest[source].interrupted = number

    def _take_result(
        self, number: int, line: dict[str, Any], block: dict[str, Any], source: str
    ) -> None:
        call_id = block.get("tool_use_id")
        holder = self._holders.get((source, call_id)) if isinstance(call_id, str) else None
        if holder is None:
            shown = quoted(call_id) if isinstance(call_id, str) else "no id"
            text = f"The result for {shown} belongs to no call that stands before it in the log."
            self._reading.oddities.append(Notice("result_without_call", text, line=number))
            return
        outcome = outcome_of(block, line.get("toolUseResult"))
        result = Result(outcome, number, parse_time(line.get("timestamp")))
        holder.results.setdefault(str(call_id), []).append(result)

    def turns(self) -> Iterator[RecordedTurn]:
        """What was read."""
        reading = self._reading
        reading.messages = len(self._messages)
        sessions = list(self._sessions)
        reading.note(session="".join(sessions[:1]), sessions=sessions if sessions[1:] else None)
        given = 0
        for message in self._messages.values():
            if message.has_calls:
                given += 1
                turn, notices = message.recorded(f"turn-{given}")
                reading.oddities += notices
                yield turn


FORMAT = SessionFormat(
    name=NAME,
    about="JSON lines (or one list) of objects with a type and a sessionId, uuid chain or summary",
    recognise=_recognise,
    read=_read,
)
