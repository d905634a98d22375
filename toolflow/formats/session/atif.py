"""ATIF: the Agent Trajectory Interchange Format, one JSON object a session (or a line).

Source: the RFC of the format. A step of source ``agent`` is one message of the model with its
``tool_calls``; the results stand in the ``observation`` of the same step and name their call
(``source_call_id``). A result is given only to a call of its own step; in a step without calls (a
system step) to the latest call before it that has the id. A result that names no call belongs to
no call and is told where its step has calls. Sub-agents have trajectories of their own: those that
are embedded are read, with their session as source; references are kept in ``Turn.extra``.

The format knows no status: a result is ``ok``, unless its ``extra`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from toolflow.formats.base import quoted
from toolflow.formats.plain import text_of
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.formats.session.loose import blocks_of, loose_call, loose_turn
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.parts import content, error
from toolflow.model import Notice, Outcome

NAME = "atif"
_EMBEDDED = "subagent_trajectories"
_FAILED = frozenset({"error", "failed", "failure"})
MAX_DEPTH = 50


def _recognise(head: Sequence[Any]) -> bool:
    return any(_is_trajectory(item) for item in head)


def _is_trajectory(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("steps"), list):
        return False
    if text_of(item.get("schema_version")).startswith("ATIF"):
        return True
    return isinstance(item.get("agent"), dict) and any(
        {"step_id", "source"} <= step.keys() for step in blocks_of(item["steps"])
    )


def _read(log: Log, reading: Reading) -> Iterator[Any]:
    reader = _Reader(reading)
    for number, item in reading.objects(log):
        if isinstance(item.get("steps"), list):
            yield from reader.take(number, item)
    yield from reader.talk.rest()


class _At(NamedTuple):
    """Where a step stands: the record, the step's place, its time, and whose it is."""

    line: int
    step: int
    time: Any
    source: str


class _Reader:
    """Takes the trajectories of one log. Mutable; lives in one reading only."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._main: str | None = None
        self.talk = Conversation(reading)

    def take(self, number: int, item: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
        """Take a trajectory, and those that are embedded in it."""
        name = text_of(item.get("session_id")) or text_of(item.get("trajectory_id"))
        if self._main is None:
            self._main = name
            self._note(name, item)
        source = "main" if name == self._main and depth == 0 else name or "sub-agent"
        for place, step in enumerate(item["steps"], 1):
            if isinstance(step, dict):
                self._take_step(_At(number, place, step.get("timestamp"), source), step)
            else:
                self._tell(f"Step {place} is no JSON object. It is left out.", number)
            yield from self.talk.finished()
        if depth < MAX_DEPTH:
            for inner in blocks_of(item.get(_EMBEDDED)):
                if isinstance(inner.get("steps"), list):
                    yield from self.take(number, inner, depth + 1)

    def _note(self, name: str, item: Mapping[str, Any]) -> None:
        agent = item.get("agent")
        agent = agent if isinstance(agent, dict) else {}
        self._reading.note(
            session=name,
            agent=text_of(agent.get("name")),
            version=text_of(agent.get("version")),
            model=text_of(agent.get("model_name")),
            schema_version=text_of(item.get("schema_version")),
        )

    def _take_step(self, at: _At, step: dict[str, Any]) -> None:
        calls = [
            loose_call(index, block, call_id="tool_call_id", tool="function_name", args="arguments")
            for index, block in enumerate(blocks_of(step.get("tool_calls")))
        ]
        if step.get("source") == "agent" or calls:
            message = {key: value for key, value in step.items() if key != "observation"}
            turn = loose_turn(calls, message, source=at.source)
            self.talk.message(turn, line=at.line, time=at.time)
            self._reading.note(model=text_of(step.get("model_name")))
        held = step.get("observation")
        ids = {call.id for call in calls}
        for result in blocks_of(held.get("results") if isinstance(held, dict) else None):
            self._take_result(at, result, ids)

    def _take_result(self, at: _At, result: Mapping[str, Any], ids: set[str]) -> None:
        call_id = result.get("source_call_id")
        if ids and (not isinstance(call_id, str) or call_id not in ids):
            shown = f"for {quoted(call_id)}" if isinstance(call_id, str) else "without a call"
            text = f"The result {shown} in step {at.step} belongs to no call of its step."
            self._tell(text, at.line, "result_without_call")
        elif ids or call_id is not None:
            outcome = outcome_of(result)
            self.talk.result(call_id, outcome, line=at.line, time=at.time, source=at.source)

    def _tell(self, text: str, number: int, code: str = "unreadable") -> None:
        self._reading.oddities.append(Notice(code, text, line=number))


def outcome_of(result: Mapping[str, Any]) -> Outcome:
    """The outcome that a result of an observation tells."""
    value, images = content(result.get("content"))
    more = result.get("extra")
    if isinstance(more, dict):
        failed = text_of(more.get("status")).lower() in _FAILED or more.get("is_error") is True
        if failed:
            return error(value, images, ())
    return Outcome("ok", value, images=images)


FORMAT = SessionFormat(
    name=NAME,
    about="a JSON object with schema_version ATIF and steps",
    recognise=_recognise,
    read=_read,
)
