"""OpenAI Agents: a run state that was saved, often because a call waits for an approval.

Source: the serialised ``RunState`` of the SDK. Its items hold the items of the Responses API as
``raw_item``; those of the whole session are read where they are there, else those generated so far,
after the items of the original input. An approval item repeats a call: it is no second one.

A call that waits for an approval has no result, and its notice says so. A result of a call that was
rejected is ``declined``; the rest is as the Responses API tells it. Lines are places among the
items, those of the original input first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolflow.formats import openai_responses
from toolflow.formats.base import quoted
from toolflow.formats.plain import text_of
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log, Record
from toolflow.formats.session.loose import blocks_of, list_of
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.walk import walk
from toolflow.model import Call, Outcome, RecordedTurn

NAME = "openai-agents"
_VERSION = "$schemaVersion"
_APPROVAL = "tool_approval_item"


def _recognise(head: Sequence[Any]) -> bool:
    return any(
        isinstance(state, dict)
        and _VERSION in state
        and isinstance(state.get("generated_items", state.get("model_responses")), list)
        for state in head
    )


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    conversation = Conversation(reading)
    for record in log.records():
        state = record.value
        if record.fault is not None or not isinstance(state, dict):
            reading.usable(record)
            continue
        _note(reading, state)
        records = [Record(place, item) for place, item in enumerate(_items(state), 1)]
        usable = [each for each in records if reading.usable(each)]
        items = [(each.number, _raw(each.value)) for each in usable if not _repeats(each.value)]
        if items:
            walk(openai_responses.FORMAT, items, conversation, source="main")
        declined = _rejected(state)
        for recorded in conversation.rest():
            yield _declined(recorded, declined)
        _tell_pending(reading, state)


def _note(reading: Reading, state: Mapping[str, Any]) -> None:
    agent = state.get("current_agent")
    name = agent.get("name") if isinstance(agent, dict) else None
    reading.note(
        session=text_of(state.get("conversation_id")),
        agent=text_of(name),
        version=text_of(state.get(_VERSION)),
    )


def _items(state: Mapping[str, Any]) -> list[Any]:
    """The items of the run, in order."""
    given, made = list_of(state.get("original_input")), list_of(state.get("generated_items"))
    session = list_of(state.get("session_items"))
    made = session if len(session) >= len(made) else made
    if not made:
        made = [
            item
            for each in blocks_of(state.get("model_responses"))
            for item in list_of(each.get("output"))
        ]
    return [*given, *made]


def _raw(item: dict[str, Any]) -> dict[str, Any]:
    """The item of the Responses API in an item of the SDK."""
    raw = item.get("raw_item")
    return raw if isinstance(raw, dict) else item


def _repeats(item: dict[str, Any]) -> bool:
    return item.get("type") == _APPROVAL


def _rejected(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was rejected, by tool: the ids of calls, or ``True`` for all of them."""
    context = state.get("context")
    approvals = context.get("approvals") if isinstance(context, dict) else None
    if not isinstance(approvals, dict):
        return {}
    told = {
        tool: each.get("rejected") for tool, each in approvals.items() if isinstance(each, dict)
    }
    return {
        tool: rejected is True or {call for call in list_of(rejected) if isinstance(call, str)}
        for tool, rejected in told.items()
    }


def _declined(recorded: RecordedTurn, rejected: Mapping[str, Any]) -> RecordedTurn:
    pairs = zip(recorded.turn.calls, recorded.outcomes, strict=True)
    outcomes = tuple(_with_decision(call, outcome, rejected) for call, outcome in pairs)
    return recorded if outcomes == recorded.outcomes else replace(recorded, outcomes=outcomes)


def _with_decision(
    call: Call, outcome: Outcome | None, rejected: Mapping[str, Any]
) -> Outcome | None:
    decision = rejected.get(call.tool, False)
    if outcome is None or not (decision is True or (decision and call.id in decision)):
        return outcome
    said = text_of(outcome.value) or "It was rejected."
    return Outcome("declined", None, said, outcome.images)


def _tell_pending(reading: Reading, state: Mapping[str, Any]) -> None:
    """Say of the calls that wait for an approval why they have no result."""
    step = state.get("current_step")
    data = step.get("data") if isinstance(step, dict) else None
    items = blocks_of(data.get("interruptions")) if isinstance(data, dict) else []
    waiting = {text_of(_raw(item).get("call_id", _raw(item).get("id"))) for item in items}
    for place, notice in enumerate(reading.oddities.kept):
        if notice.code == "no_result" and notice.call is not None and notice.call in waiting:
            text = f"Call {quoted(notice.call)} has no result in the log; it waits for an approval."
            reading.oddities.kept[place] = replace(notice, message=text)


FORMAT = SessionFormat(
    name=NAME,
    about="an object with a $schemaVersion and generated_items",
    recognise=_recognise,
    read=_read,
)
