"""The events of a Kimi CLI session (``wire.jsonl``): lines of a timestamp and a message.

The first line tells the version of the protocol. A step of the agent is one message of the model:
it begins with ``StepBegin`` and holds content, ``ToolCall`` and, where arguments came in pieces,
``ToolCallPart`` events. A call may have its ``ToolResult`` while the model still speaks, so results
are given out after the step they stand in. Events inside a ``SubagentEvent`` belong to the call
that started the sub-agent, which is their source.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolflow.formats.plain import text_of
from toolflow.formats.session.base import Reading
from toolflow.formats.session.loose import blocks_of, loose_call, loose_turn
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.parts import content, sentences, status_of
from toolflow.model import Outcome

SENTENCES = sentences(
    (r"The tool call is rejected by the user", "declined"),
    (r"Tool .{1,200} not found", "unknown_tool"),
    (r"Error (?:parsing|validating) JSON arguments", "invalid_arguments"),
    (r"Tool call (?:was )?(?:cancelled|interrupted|aborted)", "aborted"),
    (r"(?:Command )?[Kk]illed by timeout", "timed_out"),
)
_ENDS = frozenset({"StepBegin", "TurnBegin", "TurnEnd", "StepInterrupted", "StepRetry"})
_SPOKEN = frozenset({"ContentPart", "TextPart", "ThinkPart", "ImageURLPart"})
_CALLED = frozenset({"ToolCall", "ToolCallPart"})
_ARGUMENTS = "arguments"
_WAITING = 256
MAX_DEPTH = 20


def is_event(line: Mapping[str, Any]) -> bool:
    """Whether a line is of this kind."""
    if line.get("type") == "metadata":
        return isinstance(line.get("protocol_version"), str)
    message = line.get("message")
    return (
        isinstance(message, dict)
        and isinstance(message.get("payload"), dict)
        and text_of(message.get("type")) in _ENDS
        and isinstance(line.get("timestamp"), int | float)
    )


class _At(NamedTuple):
    """Where an event stands: its line, its time as the log has it, and whose it is."""

    line: int
    time: Any
    source: str


@dataclass(slots=True)
class _Step:
    """One message of the model while it comes in. Mutable; lives in one reading only."""

    at: _At
    parts: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    times: list[Any] = field(default_factory=list)
    pieces: list[list[str]] = field(default_factory=list)
    results: list[tuple[Any, Outcome, _At]] = field(default_factory=list)
    over: bool = False
    interrupted: int | None = None

    def tell(self, talk: Conversation) -> None:
        """Give the message and its results to the conversation."""
        blocks = [_whole(call, more) for call, more in zip(self.calls, self.pieces, strict=True)]
        calls = [
            loose_call(index, block, call_id="id", tool="name", args=_ARGUMENTS)
            for index, block in enumerate(blocks)
        ]
        message = {"content": self.parts, "tool_calls": blocks}
        source = self.at.source
        turn = loose_turn(calls, message, source=source)
        talk.message(turn, line=self.at.line, time=self.at.time, call_times=self.times)
        for call_id, outcome, at in self.results:
            talk.result(call_id, outcome, line=at.line, time=at.time, source=source)
        if self.interrupted is not None:
            talk.interrupted(line=self.interrupted, source=source)


class Events:
    """Takes the events of one log. Mutable; lives in one reading only.

    A sub-agent runs while the step that called it is open. Its steps are given out after that
    step, so that turns come in the order in which they began. Its last step ends with the result
    of that call, since nothing else tells; of steps that never end, so many wait and no more.

    Args:
        reading: Where facts about the session are kept.
        talk: Where messages and results go.
    """

    def __init__(self, reading: Reading, talk: Conversation) -> None:
        self._reading = reading
        self._talk = talk
        self._waiting: deque[_Step] = deque()
        self._latest: dict[str, _Step] = {}

    def take(self, number: int, line: Mapping[str, Any]) -> None:
        """Take the next line."""
        if line.get("type") == "metadata":
            self._reading.note(version=text_of(line.get("protocol_version")))
        message, source = line.get("message"), "main"
        for _ in range(MAX_DEPTH):
            payload = message.get("payload") if isinstance(message, dict) else None
            if not isinstance(message, dict) or not isinstance(payload, dict):
                return
            kind = text_of(message.get("type"))
            if kind != "SubagentEvent":
                self._event(_At(number, line.get("timestamp"), source), kind, payload)
                return
            source = _caller(payload) or source
            message = payload.get("event")

    def end(self) -> None:
        """Give out what is left at the end of the log."""
        while self._waiting:
            self._waiting.popleft().tell(self._talk)

    def _event(self, at: _At, kind: str, payload: dict[str, Any]) -> None:
        step = self._latest.get(at.source)
        if kind in _ENDS:
            self._end_step(at, kind, step)
        elif kind == "ToolResult":
            self._result(at, payload, step)
        elif kind in _SPOKEN or kind in _CALLED:
            if step is None or step.over:
                step = self._latest[at.source] = _Step(at)
                self._waiting.append(step)
                if len(self._waiting) > _WAITING:
                    self._waiting[0].over = True
                    self._tell()
            _speak(step, kind, payload, at.time)

    def _result(self, at: _At, payload: dict[str, Any], step: _Step | None) -> None:
        call_id, outcome = payload.get("tool_call_id"), outcome_of(payload.get("return_value"))
        if step is None:
            self._talk.result(call_id, outcome, line=at.line, time=at.time, source=at.source)
        else:
            step.results.append((call_id, outcome, at))
        if isinstance(call_id, str) and call_id in self._latest:
            self._latest[call_id].over = True

    def _end_step(self, at: _At, kind: str, step: _Step | None) -> None:
        if step is not None:
            step.over = True
        if kind == "StepInterrupted":
            if step is None:
                self._talk.interrupted(line=at.line, source=at.source)
            else:
                step.interrupted = at.line
        self._tell()

    def _tell(self) -> None:
        """Give out the steps at the front that are over."""
        while self._waiting and self._waiting[0].over:
            first = self._waiting.popleft()
            if self._latest.get(first.at.source) is first:
                del self._latest[first.at.source]
            first.tell(self._talk)


def _speak(step: _Step, kind: str, payload: dict[str, Any], time: Any) -> None:
    if kind == "ToolCall":
        step.calls.append(payload)
        step.times.append(time)
        step.pieces.append([])
    elif kind == "ToolCallPart":
        if step.pieces:
            step.pieces[-1].append(text_of(payload.get("arguments_part")))
    else:
        step.parts.append(payload)


def _caller(payload: Mapping[str, Any]) -> str:
    """The call that a sub-agent belongs to, or the sub-agent's own name."""
    names = (payload.get(key) for key in ("parent_tool_call_id", "task_tool_call_id", "agent_id"))
    return next((name for name in names if isinstance(name, str) and name), "")


def _whole(call: Mapping[str, Any], pieces: list[str]) -> dict[str, Any]:
    """A call with its function's fields beside its id, and its arguments in one piece."""
    body = call.get("function")
    body = body if isinstance(body, dict) else {}
    whole = {key: value for key, value in call.items() if key not in ("function", "type")} | body
    if pieces:
        whole[_ARGUMENTS] = text_of(whole.get(_ARGUMENTS)) + "".join(pieces)
    return whole


def outcome_of(returned: Any) -> Outcome:
    """The outcome that the ``return_value`` of a ``ToolResult`` tells."""
    fields = returned if isinstance(returned, dict) else {"output": returned}
    output = fields.get("output")
    value, images = content(blocks_of(output) if isinstance(output, list) else output)
    said = text_of(fields.get("message"))
    if fields.get("is_error") is not True:
        return Outcome("ok", value, images=images, note=said or None)
    status = status_of(said, SENTENCES)
    return Outcome(status, value or None, said or "The call failed without a message.", images)
