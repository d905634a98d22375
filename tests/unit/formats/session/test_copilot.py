from __future__ import annotations

import pytest
from session_logs import codes, ids, read_lines, statuses, told

from toolflow.model import Outcome, Times


def event(kind: str, *, at: int = 0, **data: object) -> dict:
    time = f"2026-01-17T10:00:{at:02}Z"
    return {"type": kind, "data": data, "id": "e", "timestamp": time, "parentId": None}


def said(*calls: str, at: int = 0, **more: object) -> dict:
    requests = [
        {"toolCallId": name, "name": "bash", "arguments": {"command": name}, "type": "function"}
        for name in calls
    ]
    return event(
        "assistant.message", at=at, messageId="m", content="", toolRequests=requests, **more
    )


def began(call_id: str, *, at: int, **more: object) -> dict:
    return event("tool.execution_start", at=at, toolCallId=call_id, toolName="bash", **more)


def ended(call_id: object, text: str = "x", *, at: int = 0, **more: object) -> dict:
    data = {"success": True, "result": {"content": text}, **more}
    return event("tool.execution_complete", at=at, toolCallId=call_id, **data)


@pytest.fixture
def read(tmp_path):
    return lambda lines, **options: read_lines(tmp_path / "events.jsonl", lines, **options)


def test_calls_have_their_results_and_the_times_of_their_bodies(read):
    start = event(
        "session.start",
        sessionId="s",
        copilotVersion="1.0",
        context={"cwd": "/r", "branch": "main"},
    )
    recording = read(
        [
            start,
            said("a", "b", at=1),
            began("a", at=2),
            began("b", at=3),
            ended("b", "B", at=4),
            ended("a", "A", at=9),
        ]
    )

    (turn,) = recording.turns
    assert ids(recording) == [["a", "b"]]
    assert turn.outcomes == (Outcome("ok", "A"), Outcome("ok", "B"))
    assert turn.times == (Times(started=1.0, settled=8.0), Times(started=2.0, settled=3.0))
    assert recording.source["session"] == "s"
    assert recording.source["version"] == "1.0"
    assert (recording.source["cwd"], recording.source["branch"]) == ("/r", "main")


@pytest.mark.parametrize(
    ("code", "status"),
    [("rejected", "declined"), ("denied", "denied"), ("timeout", "timed_out"), ("x", "failed")],
)
def test_a_failure_has_the_status_of_its_code(read, code, status):
    failure = ended("a", "", success=False, result=None, error={"message": "No.", "code": code})

    recording = read([said("a"), failure])

    assert recording.turns[0].outcomes == (Outcome(status, None, "No."),)


def test_a_failure_without_an_error_tells_its_result(read):
    recording = read([said("a"), ended("a", "what it said", success=False)])

    assert recording.turns[0].outcomes == (Outcome("failed", None, "what it said"),)


def test_what_a_sub_agent_does_belongs_to_the_call_that_started_it(read):
    recording = read(
        [
            said("task"),
            said("a", parentToolCallId="task"),
            ended("a", "not of the sub-agent"),
            ended("a", "A", parentToolCallId="task"),
            ended("task", "T"),
        ]
    )

    assert [turn.turn.source for turn in recording.turns] == ["main", "task"]
    assert recording.source["sources"] == ["main", "task"]
    assert [turn.outcomes[0].text for turn in recording.turns if turn.outcomes[0]] == ["T", "A"]
    assert codes(recording) == {"result_without_call": 1}


def test_a_call_that_began_though_no_message_asked_for_it_is_told(read):
    recording = read([said("a"), began("b", at=1), ended("a")])

    assert ids(recording) == [["a"]]
    assert told(recording, "unread_call") == [
        "Line 2 starts call 'b', which no message before it asked for."
    ]


def test_a_tool_that_the_user_ran_is_no_call_of_the_model(read):
    recording = read(
        [
            said("a"),
            event("tool.user_requested", toolCallId="u", toolName="bash"),
            began("u", at=1),
            ended("u"),
            began("v", at=2, isUserRequested=True),
            ended("v"),
            ended("a"),
        ]
    )

    assert ids(recording) == [["a"]]
    assert not recording.notices


def test_an_abort_is_the_reason_why_a_call_has_no_result(read):
    recording = read([said("a", "b"), ended("a"), event("abort", reason="user initiated")])

    assert statuses(recording) == [["ok", None]]
    assert told(recording, "no_result") == [
        "Call 'b' has no result in the log; the user interrupted the turn (line 3)."
    ]


def test_a_placeholder_id_that_two_calls_share_gives_its_results_to_none(read):
    recording = read(
        [said("[x]", "[x]"), began("[x]", at=1), ended("[x]", "one"), ended("[x]", "two")]
    )

    assert statuses(recording) == [[None, None]]
    assert codes(recording) == {"doubled_id": 1, "no_result": 2}


def test_strange_values_everywhere_are_no_error(read):
    odd = event("tool.execution_complete", toolCallId={}, result=[1], success=False)
    requests = event("assistant.message", toolRequests=[1, {"toolCallId": [], "arguments": 3}])

    recording = read([said("a"), odd, requests, event("assistant.message", toolRequests=7), "{"])

    assert ids(recording) == [["a"], [""]]
    assert recording.source["messages"] == 3
