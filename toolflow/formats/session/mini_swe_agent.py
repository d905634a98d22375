"""mini-SWE-agent: a trajectory (``.traj.json``), one object with ``messages`` or a bare list.

Source: the published description of its output files. The harness knows one tool, ``bash``.

* Messages with ``tool_calls`` hold their calls (version 2).
* Where the harness tells what it took from a message in ``extra.actions``, these are the calls:
  with their ``tool_call_id`` where the message is one of the Responses API, and without ids where
  the commands stood in the text. Then the observations that follow are their results, in order, but
  only where there are as many.
* In older files commands stand only in a fence of the text. Which of them ran is not told, and text
  is not searched for calls: such a message is a message without calls, and how many there are is
  told (``unread_call``).

A result has the status of its exit code, as for any command; what the harness says of an exception
(``exception_info``) tells a timeout and an action that was not executed. Times are those that
``extra`` holds. Lines are places in the list of messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from toolflow.formats.base import Misfit
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log, Record
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.parts import content
from toolflow.formats.session.turns import calls_turn, chat_turn, take
from toolflow.model import Notice, Outcome, RecordedTurn, Turn

NAME = "mini-swe-agent"
_OWN = frozenset({"extra"})
_FENCE = re.compile(r"```(?:mswea_bash_command|bash)\s")
_TOLD_FENCE = "```mswea_bash_command"
_NOT_RUN = "action was not executed"


def _recognise(head: Sequence[Any]) -> bool:
    return any(_is_file(item) or _is_message(item) for item in head if isinstance(item, dict))


def _is_file(record: dict[str, Any]) -> bool:
    info, named = record.get("info"), record.get("trajectory_format")
    return isinstance(record.get("messages"), list) and (
        (isinstance(named, str) and named.startswith("mini-swe-agent"))
        or (isinstance(info, dict) and "mini_version" in info)
    )


def _is_message(record: dict[str, Any]) -> bool:
    said = record.get("content")
    return isinstance(record.get("role"), str) and (
        (isinstance(said, str) and _TOLD_FENCE in said) or _actions(record) is not None
    )


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    reader = _Reader(reading)
    for record in log.records():
        whole = record.value
        if isinstance(whole, dict) and isinstance(whole.get("messages"), list):
            _note(reading, whole)
            for number, message in enumerate(whole["messages"], 1):
                reader.take(Record(number, message))
        else:
            reader.take(record)
        yield from reader.conversation.finished()
    reader.end()
    yield from reader.conversation.rest()


def _note(reading: Reading, whole: dict[str, Any]) -> None:
    info = whole.get("info")
    if isinstance(info, dict):
        facts = {"exit_status": info.get("exit_status"), "version": info.get("mini_version")}
        reading.note(**{key: value for key, value in facts.items() if isinstance(value, str)})


class _Reader:
    """Takes the messages of one trajectory. Mutable; lives in one reading only."""

    def __init__(self, reading: Reading) -> None:
        self.conversation = Conversation(reading)
        self._reading = reading
        self._waiting: list[str] = []
        self._observed: list[tuple[int, dict[str, Any], dict[str, Any]]] = []
        self._unread: list[int] = []

    def take(self, record: Record) -> None:
        """Take the next message."""
        if not self._reading.usable(record):
            return
        number, message = record.number, record.value
        extra = message.get("extra")
        extra = extra if isinstance(extra, dict) else {}
        if message.get("role") == "assistant" or _actions(message) is not None:
            self._pair()
            self._take_assistant(number, message, extra.get("timestamp"))
        elif message.get("type") == "function_call_output":
            self._result(message.get("call_id"), number, message, extra)
        elif message.get("role") == "tool":
            self._result(message.get("tool_call_id"), number, message, extra)
        elif "returncode" in extra and self._waiting:
            self._observed.append((number, message, extra))

    def end(self) -> None:
        """Take the end of the trajectory, and tell of the commands that were not read as calls."""
        self._pair()
        if self._unread:
            text = (
                f"The text of {len(self._unread)} messages holds commands."
                " They are kept, not read as calls."
            )
            self._reading.oddities.append(Notice("unread_call", text, line=self._unread[0]))

    def _take_assistant(self, number: int, message: dict[str, Any], time: Any) -> None:
        turn = _turn(message)
        if isinstance(turn, Turn) and not turn.carries_ids:
            self._waiting = [call.id for call in turn.calls]
        said = message.get("content")
        if isinstance(turn, Turn) and not turn.calls and isinstance(said, str):
            self._unread += [number] if _FENCE.search(said) else []
        take(self.conversation, turn, message, line=number, time=time)

    def _pair(self) -> None:
        """Give observations without ids to their calls; if one is missing, which is not known."""
        complete = len(self._observed) == len(self._waiting)
        for place, (number, message, extra) in enumerate(self._observed):
            self._result(self._waiting[place] if complete else None, number, message, extra)
        self._waiting, self._observed = [], []

    def _result(
        self, call_id: Any, number: int, message: dict[str, Any], extra: dict[str, Any]
    ) -> None:
        outcome, time = _outcome(message, extra), extra.get("timestamp")
        self.conversation.result(call_id, outcome, line=number, time=time)


def _turn(message: dict[str, Any]) -> Turn | Misfit:
    actions = _actions(message)
    if actions is None or message.get("tool_calls"):
        return chat_turn(message, _OWN)
    carries_ids = all(isinstance(a, dict) and "tool_call_id" in a for a in actions)
    items = [_item(action, carries_ids=carries_ids) for action in actions]
    return calls_turn(items, extra={"message": message}, carries_ids=carries_ids)


def _item(action: Any, *, carries_ids: bool) -> Any:
    if not isinstance(action, dict):
        return action
    item = {"tool": "bash", "args": {"command": action.get("command")}}
    return {"id": action["tool_call_id"], **item} if carries_ids else item


def _actions(message: dict[str, Any]) -> list[Any] | None:
    extra = message.get("extra")
    actions = extra.get("actions") if isinstance(extra, dict) else None
    return actions if isinstance(actions, list) else None


def _outcome(message: dict[str, Any], extra: dict[str, Any]) -> Outcome:
    value, images = content(message.get("content", message.get("output")))
    said, code = extra.get("exception_info"), extra.get("returncode")
    if isinstance(said, str) and said:
        if said == _NOT_RUN:
            return Outcome("not_started", value, f"The {_NOT_RUN}.", images)
        return Outcome("timed_out" if "timed out" in said else "failed", value, said, images)
    if isinstance(code, int) and code != 0:
        error = f"The command ended with exit code {_number(code)}."
        return Outcome("failed", value, error, images)
    return Outcome("ok", value, images=images)


def _number(code: int) -> str:
    return str(code) if abs(code) < 2**63 else "out of range"


FORMAT = SessionFormat(
    name=NAME,
    about="messages with extra.actions or a fence mswea_bash_command,"
    " alone or under an info with a mini_version",
    recognise=_recognise,
    read=_read,
)
