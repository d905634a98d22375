"""OpenHands: both generations of its events."""

from __future__ import annotations

from typing import Any

import pytest
from session_logs import codes, ids, read_lines, read_value, statuses, told
from trajectories import openhands, openhands_kinds

from toolflow.model import Times


def read(tmp_path, value: Any):
    return read_value(tmp_path / "x.json", value)


def test_all_actions_of_one_response_are_one_turn(tmp_path):
    recording = read(tmp_path, openhands([[1, 2], [3]]))

    first = recording.turns[0]
    assert ids(recording) == [["c1", "c2"], ["c3"]]
    assert first.turn.message["content"] == "x"
    assert first.turn.message_id == "resp0"
    assert [event["id"] for event in first.turn.extra["events"]] == [0, 1]
    assert first.started_at == "2025-01-01T00:00:00"
    assert first.times == (Times(started=0.0, settled=2.0), Times(started=1.0, settled=3.0))


def test_a_call_of_a_response_that_never_became_an_action_has_no_result(tmp_path):
    recording = read(tmp_path, [e for e in openhands([[1, 2]]) if e["id"] not in (1, 3)])

    assert ids(recording) == [["c1", "c2"]]
    assert statuses(recording) == [["ok", None]]


def test_a_result_goes_to_the_action_that_it_names_also_where_ids_come_back(tmp_path):
    events = openhands([[1], [2]])
    for event, cause in ((events[1], 0), (events[3], 2)):
        event["cause"] = cause
    for event in events:
        told = event["tool_call_metadata"]
        told["tool_call_id"] = "same"
        call = told["model_response"]["choices"][0]["message"]["tool_calls"][0]
        call["id"] = "same"
    events = [events[0], events[2], events[1]]  # the first result comes after the second action

    recording = read(tmp_path, events)

    assert statuses(recording) == [["ok"], [None]]
    assert recording.turns[0].outcomes[0].value == "r1"


def test_an_action_without_a_response_is_a_call_of_its_own(tmp_path):
    events = [
        {"id": 1, "source": "user", "action": "message", "args": {}, "timestamp": "x"},
        {"id": 2, "source": "agent", "action": "run", "args": {"command": "ls"}, "timestamp": 5},
        {
            "id": 3,
            "source": "agent",
            "observation": "run",
            "cause": 2,
            "content": "a",
            "extras": {},
        },
        {"id": 4, "source": "agent", "action": "message", "args": {"content": "done"}},
        {"id": 5, "source": "environment", "observation": "agent_state_changed", "cause": 4},
        {"id": 6, "source": "environment", "observation": "run", "cause": 99, "content": "?"},
        {"id": 7, "source": "environment", "observation": "success", "cause": 4, "content": "?"},
    ]

    recording = read_lines(tmp_path / "x.jsonl", events)

    (turn,) = recording.turns
    assert [(call.tool, dict(call.args)) for call in turn.turn.calls] == [
        ("run", {"command": "ls"})
    ]
    assert not turn.turn.carries_ids
    assert [outcome.value for outcome in turn.outcomes if outcome] == ["a"]
    assert recording.source["messages"] == 2
    assert codes(recording) == {"result_without_call": 1}


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({"observation": "error"}, "failed", "r1"),
        ({"observation": "error", "content": ""}, "failed", "The call failed without a message."),
        ({"observation": "user_rejected"}, "declined", "r1"),
        ({"extras": {"metadata": {"exit_code": 2}}}, "failed",
         "The command ended with exit code 2."),
        ({"extras": {"exit_code": -1}}, "running", None),
        ({"extras": {"exit_code": True}}, "ok", None),
        ({"extras": None}, "ok", None),
    ],
)  # fmt: skip
def test_the_status_of_an_older_observation(tmp_path, change, status, error):
    events = openhands([[1]])
    events[1] |= change

    (outcome,) = read(tmp_path, events).turns[0].outcomes

    assert outcome is not None
    assert (outcome.status, outcome.error) == (status, error)


def test_calls_of_the_newer_events_are_those_of_one_response(tmp_path):
    recording = read(tmp_path, openhands_kinds([[1, 2], [3]]))

    assert ids(recording) == [["c1", "c2"], ["c3"]]
    assert recording.turns[0].turn.message_id == "resp0"
    assert [event["id"] for event in recording.turns[0].turn.extra["events"]] == ["a1", "a2"]
    assert statuses(recording) == [["ok", "ok"], ["ok"]]


def test_the_older_form_of_a_newer_call_is_read_too(tmp_path):
    events = openhands_kinds([[1]])
    events[0]["tool_call"] = {"id": "c1", "function": {"name": "t", "arguments": '{"a":'}}

    (call,) = read(tmp_path, events).turns[0].turn.calls

    assert (call.id, call.tool, call.raw) == ("c1", "t", '{"a":')
    assert call.problem is not None


@pytest.mark.parametrize(
    ("change", "status", "text"),
    [
        ({"kind": "AgentErrorEvent", "error": "no such tool"}, "failed", "no such tool"),
        ({"kind": "UserRejectObservation", "rejection_reason": "not now"}, "declined", "not now"),
        ({"kind": "UserRejectObservation", "rejection_source": "hook"}, "denied",
         "It was rejected."),
        ({"observation": {"content": "bad", "is_error": True}}, "failed", "bad"),
        ({"observation": {"content": "x", "exit_code": 1}}, "failed",
         "The command ended with exit code 1.\nx"),
        ({"observation": {"output": "x"}}, "ok", '{"output": "x"}'),
        ({"observation": "x"}, "ok", "x"),
    ],
)  # fmt: skip
def test_the_status_of_a_newer_result(tmp_path, change, status, text):
    events = openhands_kinds([[1]])
    events[1] |= change

    (outcome,) = read(tmp_path, events).turns[0].outcomes

    assert outcome is not None
    assert (outcome.status, outcome.text) == (status, text)


def test_an_event_that_is_told_twice_counts_once(tmp_path):
    events = openhands_kinds([[1]])

    recording = read(tmp_path, [events[0], *events, events[1]])

    assert ids(recording) == [["c1"]]
    assert codes(recording) == {"repeated_line": 2}


def test_a_result_that_contradicts_itself_is_given_to_nobody(tmp_path):
    events = openhands_kinds([[1], [2]])
    events[3]["action_id"] = "a1"  # it names call c2 and the action of c1

    recording = read(tmp_path, events)

    assert statuses(recording) == [["ok"], [None]]
    assert told(recording, "result_without_call") == [
        "The result for 'c2' belongs to no call that stands before it in the log."
    ]


def test_a_response_that_cannot_be_read_is_told(tmp_path):
    events = openhands([[1], [2]])
    events[0]["tool_call_metadata"]["model_response"]["choices"] = 5

    recording = read(tmp_path, events)

    assert ids(recording) == [["c2"]]
    assert codes(recording)["unreadable"] == 1
