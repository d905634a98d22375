"""Claude Code: the session log (JSON lines) and the ``stream-json`` output, also as one list.

A line is an ``assistant`` or a ``user`` message, or one of many other kinds, which are skipped.
An assistant message is spread over lines, mostly one block a line, that share ``message.id``.
Times are those of the lines: a call starts when its block was logged, and settles when its result
was. What a line tells beside its message (``cwd``, ``requestId``, ``gitBranch`` ...) is kept in
``Turn.extra``, from the first line of the turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.session.base import SessionFormat
from toolflow.formats.session.grouping import Message, Result, parse_time
from toolflow.formats.session.log import Log, Record
from toolflow.formats.session.outcomes import outcome_of
from toolflow.formats.session.sources import MAIN, Sources
from toolflow.model import Notice, RecordedTurn, Recording

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
_SHOWN_FAULTS = 100
_INTERRUPT = "[Request interrupted by user"


def _recognise(head: Sequence[Any]) -> bool:
    return any(
        isinstance(line, dict)
        and isinstance(line.get("type"), str)
        and "payload" not in line
        and not _MARKS.isdisjoint(line)
        for line in head
    )


def _read(log: Log) -> Recording:
    reader = _Reader()
    for record in log.records():
        reader.take(record)
    return reader.recording(log)


class _Reader:
    """Takes the lines of one log. Mutable; lives in one reading only."""

    def __init__(self) -> None:
        self._sources = Sources()
        self._messages: dict[tuple[str, str], Message] = {}
        self._holders: dict[tuple[str, str], Message] = {}
        self._latest: dict[str, Message] = {}
        self._about: dict[str, Any] = {}
        self._sessions: dict[str, None] = {}
        self._notices: list[Notice] = []
        self._lines = 0
        self._broken = 0

    def take(self, record: Record) -> None:
        """Take the next line."""
        self._lines += 1
        line = record.value
        if record.fault is None and not isinstance(line, dict):
            self._skip(record.number, "it is no JSON object")
        elif record.fault is not None:
            self._skip(record.number, record.fault)
        else:
            self._note(line)
            source = self._sources.of(line)
            message = line.get("message")
            if not isinstance(message, dict):
                return
            if line.get("type") == "assistant":
                self._take_assistant(record.number, line, message, source)
            elif line.get("type") == "user":
                self._take_user(record.number, line, message, source)

    def _skip(self, number: int, fault: str) -> None:
        self._broken += 1
        if self._broken <= _SHOWN_FAULTS:
            text = f"Line {number} was skipped: {fault}."
            self._notices.append(Notice("broken_line", text, line=number))

    def _note(self, line: Mapping[str, Any]) -> None:
        """Keep what the lines tell of the session: the first value of each."""
        session = line.get("sessionId", line.get("session_id"))
        if isinstance(session, str) and session not in self._sessions:
            self._sessions[session] = None
        if len(self._about) < 3 and "cwd" in line:
            for key, name in (("cwd", "cwd"), ("version", "version"), ("gitBranch", "branch")):
                value = line.get(key)
                if isinstance(value, str) and value:
                    self._about.setdefault(name, value)

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
            self._notices.append(Notice("repeated_line", text, line=number))
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
            self._notices.append(Notice("result_without_call", text, line=number))
            return
        outcome = outcome_of(block, line.get("toolUseResult"))
        result = Result(outcome, number, parse_time(line.get("timestamp")))
        holder.results.setdefault(str(call_id), []).append(result)

    def recording(self, log: Log) -> Recording:
        """What was read."""
        if self._broken > _SHOWN_FAULTS:
            text = f"{self._broken - _SHOWN_FAULTS} more lines were skipped."
            self._notices.append(Notice("broken_line", text))
        turns: list[RecordedTurn] = []
        for message in self._messages.values():
            if message.has_calls:
                turn, notices = message.recorded(f"turn-{len(turns) + 1}")
                turns.append(turn)
                self._notices += notices
        self._notices.sort(key=lambda notice: notice.line or inf)
        return Recording(tuple(turns), self._source(log, turns), notices=tuple(self._notices))

    def _source(self, log: Log, turns: Sequence[RecordedTurn]) -> dict[str, Any]:
        sessions = list(self._sessions)
        sources = list(dict.fromkeys(turn.turn.source for turn in turns))
        return {
            "format": NAME,
            "path": log.path.as_posix(),
            **({"session": sessions[0]} if sessions else {}),
            **({"sessions": sessions} if len(sessions) > 1 else {}),
            **self._about,
            **({"sources": sources} if sources not in ([], [MAIN]) else {}),
            "lines": self._lines,
            "broken_lines": self._broken,
            "messages": len(self._messages),
        }


FORMAT = SessionFormat(
    name=NAME,
    about="JSON lines (or one list) of objects with a type and a sessionId, uuid chain or summary",
    recognise=_recognise,
    read=_read,
)
