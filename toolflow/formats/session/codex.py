"""Codex: the rollout of a session (JSON lines), in both layouts.

Source: the project's own code that writes these files. Lines hold items of the Responses API. In
the newer layout an item is the ``payload`` of a ``response_item``, beside lines about the session
(``session_meta``, ``turn_context``) and events (``event_msg``); in the older one it is the line
itself, after a header without a type.

A message of the model is a run of its items (reasoning, text, calls): it ends where a result, a
message of someone else, or the begin of a new turn of the agent stands. Its items are read by the
reader of the wire format ``openai-responses``. Runs that hold only reasoning are not counted.

A history that was made shorter (``compacted``) repeats items that stand before it; it is counted in
``Recording.source``, not read again. Events tell more about a result than the item does (how long
the call took, whether it was declined): they are taken for the result that follows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from toolflow.formats.openai_items import ANSWERS, CALLS, is_by_model
from toolflow.formats.plain import text_of
from toolflow.formats.registry import FORMATS
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.codex_outcomes import Ending, ending_of, outcome_of
from toolflow.formats.session.log import Log
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.times import parse_time
from toolflow.formats.session.walk import walk
from toolflow.formats.session.wire import attempt

NAME = "codex"
RESPONSES = "openai-responses"
_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_BREAKS = frozenset({"user_message", "task_started", "task_complete", "turn_aborted"})
_ENDINGS_KEPT = 4096


def _recognise(head: Sequence[Any]) -> bool:
    return any(isinstance(line, dict) and (_is_new(line) or _is_old(line)) for line in head)


def _is_new(line: Mapping[str, Any]) -> bool:
    return isinstance(line.get("payload"), dict) and text_of(line.get("type")) in _KINDS


def _is_old(line: Mapping[str, Any]) -> bool:
    """Whether it is the header of the older layout, or its marker of state."""
    if line.get("record_type") == "state":
        return True
    header = {"id", "timestamp", "instructions"} <= line.keys()
    return header and "type" not in line and isinstance(line["id"], str)


def _read(log: Log, reading: Reading) -> Iterator[Any]:
    reader = _Reader(reading)
    for number, line in reading.objects(log):
        reader.take(number, line)
        yield from reader.talk.finished()
    reader.flush()
    yield from reader.talk.rest()


class _Reader:
    """Takes the lines of one rollout. Mutable; lives in one reading only."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._run: list[tuple[dict[str, Any], int, Any]] = []
        self._endings: dict[str, Ending] = {}
        self.talk = Conversation(reading)

    def take(self, number: int, line: dict[str, Any]) -> None:
        """Take the next line."""
        if not _is_new(line):
            if isinstance(line.get("type"), str):
                self._item(number, line, line.get("timestamp"))
            elif _is_old(line):
                self._reading.note(session=text_of(line.get("id")), git=line.get("git"))
            return
        kind, payload, time = line["type"], line["payload"], line.get("timestamp")
        if kind == "response_item":
            self._item(number, payload, time)
        elif kind == "event_msg":
            self._event(number, payload, time)
        else:
            self.flush()
            self._note(kind, payload)

    def _note(self, kind: str, payload: Mapping[str, Any]) -> None:
        if kind == "compacted":
            self._reading.about["compactions"] = self._reading.about.get("compactions", 0) + 1
            return
        place = payload.get("git")
        self._reading.note(
            session=text_of(payload.get("id")),
            cwd=text_of(payload.get("cwd")),
            version=text_of(payload.get("cli_version")),
            model=text_of(payload.get("model")),
            provider=text_of(payload.get("model_provider")),
            branch=text_of(place.get("branch")) if isinstance(place, dict) else None,
            parent=text_of(payload.get("parent_thread_id"))
            or text_of(payload.get("forked_from_id")),
        )

    def _event(self, number: int, payload: Mapping[str, Any], time: Any) -> None:
        kind = text_of(payload.get("type"))
        if kind in _BREAKS:
            self.flush()
        if kind == "turn_aborted":
            self.talk.interrupted(line=number)
        found = ending_of(kind, payload, parse_time(time))
        call_id = text_of(payload.get("call_id"))
        if found is not None and call_id and len(self._endings) < _ENDINGS_KEPT:
            self._endings[call_id] = found

    def _item(self, number: int, item: dict[str, Any], time: Any) -> None:
        kind = text_of(item.get("type"))
        if kind in _OUTPUTS:
            self.flush()
            self._output(number, item, time)
        elif kind in ANSWERS or (kind == "message" and item.get("role") != "assistant"):
            self.flush()
            if kind in ANSWERS and item.get("execution") in (None, "client"):
                walk(FORMATS[RESPONSES], [(number, item)], self.talk, source="main")
        elif is_by_model(item):
            self._run.append((item, number, time))

    def _output(self, number: int, item: Mapping[str, Any], time: Any) -> None:
        call_id = item.get("call_id")
        ending = self._endings.pop(text_of(call_id), None)
        if ending is not None and ending.at is not None and ending.seconds is not None:
            began = ending.at - timedelta(seconds=ending.seconds)
            self.talk.began(call_id, time=began.isoformat())
        self.talk.result(call_id, outcome_of(item, ending), line=number, time=time)

    def flush(self) -> None:
        """Give out the message whose items were taken last."""
        run, self._run = self._run, []
        if all(item.get("type") == "reasoning" for item, _, _ in run):
            return
        line, time = run[0][1], run[0][2]
        items = [item for item, _, _ in run]
        turns = attempt(lambda: FORMATS[RESPONSES].read(items), self.talk, items, line=line)
        times = [at for item, _, at in run if text_of(item.get("type")) in CALLS]
        for turn in turns:
            known = times if len(turn.calls) == len(times) else None
            self.talk.message(turn, line=line, time=time, call_times=known)


FORMAT = SessionFormat(
    name=NAME,
    about="JSON lines of a type and a payload (session_meta, response_item ...), or items of the"
    " Responses API after a header with instructions",
    recognise=_recognise,
    read=_read,
)
