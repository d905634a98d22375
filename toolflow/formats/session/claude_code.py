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
from toolflow.formats.session.outcomes import before_of, outcome_of, seconds_of
from toolflow.formats.session.pairing import LIMIT, WINDOW, Result
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
_RESULT = "tool_result"
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
        yield from reader.finished()
    yield from reader.rest()


class _Reader:
    """Takes the lines of one log. Mutable; lives in one reading only.

    A message is given out once `WINDOW` later ones of its source have come since its last line or
    result, so that memory stays bounded. What comes for it later is told and left out.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._sources = Sources()
        self._messages: dict[tuple[str, str], Message] = {}  # those that may still grow, in order
        self._ended: set[int] = set()  # hashes of the names of the others
        self._holders: dict[tuple[str, str], Message] = {}
        self._latest: dict[str, Message] = {}
        self._counts: dict[str, int] = {}  # messages so far, by source
        self._sessions: dict[str, None] = {}
        self._given = 0

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

    def finished(self) -> Iterator[RecordedTurn]:
        """The turns, in order, that have ended."""
        while self._messages:
            first = next(iter(self._messages.values()))
            since = self._counts[first.source] - first.touched
            if since < WINDOW and len(self._messages) <= LIMIT:
                return
            yield from self._give()

    def rest(self) -> Iterator[RecordedTurn]:
        """The turns that are left, at the end of the log."""
        while self._messages:
            yield from self._give()
        sessions = list(self._sessions)
        self._reading.note(
            session="".join(sessions[:1]), sessions=sessions if sessions[1:] else None
        )

    def _give(self) -> Iterator[RecordedTurn]:
        key = next(iter(self._messages))
        message = self._messages.pop(key)
        self._ended.add(hash(key))
        if not message.has_calls:
            return
        for call_id in message.call_ids():
            if self._holders.get((message.source, call_id)) is message:
                del self._holders[message.source, call_id]
        self._given += 1
        turn, notices = message.recorded(f"turn-{self._given}")
        self._reading.oddities += notices
        yield turn

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
        if found is None and hash((source, message_id)) in self._ended:
            text = f"Line {number} belongs to a message that ended long before. It was left out."
            self._reading.oddities.append(Notice("late_line", text, line=number))
            return
        if found is None:
            extra = {key: value for key, value in line.items() if key not in _NOT_EXTRA}
            found = self._messages[source, message_id] = Message(source, number, time, extra)
            self._reading.messages += 1
            self._counts[source] = self._counts.get(source, 0) + 1
        found.touched = self._counts[source]
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
            if block.get("type") == _RESULT:
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
            text = f"The result for {shown} belongs to no call that waits for it."
            self._reading.oddities.append(Notice("result_without_call", text, line=number))
            return
        outcome = outcome_of(block, line.get("toolUseResult"))
        time, details = parse_time(line.get("timestamp")), line.get("toolUseResult")
        content = line["message"]["content"]
        if sum(isinstance(each, dict) and each.get("type") == _RESULT for each in content) > 1:
            details = None  # nobody says whose they are
        result = Result(outcome, number, time, seconds_of(details), before_of(details))
        holder.touched = self._counts[source]
        holder.results.setdefault(str(call_id), []).append(result)


FORMAT = SessionFormat(
    name=NAME,
    about="JSON lines (or one list) of objects with a type and a sessionId, uuid chain or summary",
    recognise=_recognise,
    read=_read,
)
