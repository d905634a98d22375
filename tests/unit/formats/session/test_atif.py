from __future__ import annotations

import pytest
from session_logs import codes, ids, read_lines, read_value, statuses, told

from toolflow.model import Outcome


def step(
    number: int, *calls: str, results: object = None, source: str = "agent", **more: object
) -> dict:
    asked = [
        {"tool_call_id": name, "function_name": "search", "arguments": {"q": name}}
        for name in calls
    ]
    whole: dict = {"step_id": number, "source": source, "message": "", **more}
    if asked:
        whole["tool_calls"] = asked
    return whole if results is None else {**whole, "observation": {"results": results}}


def result(call_id: object, text: object = "x", **more: object) -> dict:
    return {"source_call_id": call_id, "content": text, **more}


def trajectory(*steps: object, **more: object) -> dict:
    agent = {"name": "harness", "version": "1", "model_name": "m"}
    fields = {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, **more}
    return {**fields, "steps": list(steps)}


@pytest.fixture
def read(tmp_path):
    return lambda value, **options: read_value(tmp_path / "t.json", value, **options)


def test_a_step_of_the_agent_is_a_turn_with_the_results_of_its_observation(read):
    recording = read(
        trajectory(
            step(1, source="user"),
            step(2, "a", "b", results=[result("b", "B"), result("a", "A")], reasoning_content="r"),
            step(3),
        )
    )

    (turn,) = recording.turns
    assert ids(recording) == [["a", "b"]]
    assert turn.outcomes == (Outcome("ok", "A"), Outcome("ok", "B"))
    assert turn.turn.extra["message"]["reasoning_content"] == "r"
    assert recording.source["messages"] == 2
    facts = {key: recording.source[key] for key in ("session", "agent", "version", "model")}
    assert facts == {"session": "s", "agent": "harness", "version": "1", "model": "m"}


def test_a_result_is_never_given_to_a_call_of_another_step(read):
    recording = read(
        trajectory(
            step(1, "a"), step(2, "b", results=[result("a"), result(None), result("b", "B")])
        )
    )

    assert statuses(recording) == [[None], ["ok"]]
    assert told(recording, "result_without_call") == [
        "The result for 'a' in step 2 belongs to no call of its step.",
        "The result without a call in step 2 belongs to no call of its step.",
    ]


def test_a_system_step_may_bring_a_result_later_and_may_observe_what_no_call_asked_for(read):
    recording = read(
        trajectory(
            step(1, "a"),
            step(2, source="system", results=[result(None, "reset"), result("a", "late")]),
        )
    )

    assert recording.turns[0].outcomes == (Outcome("ok", "late"),)
    assert not recording.notices


def test_a_doubled_id_gives_its_results_to_none_of_its_calls(read):
    recording = read(trajectory(step(1, "x", "x", "y", results=[result("x"), result("y", "Y")])))

    assert statuses(recording) == [[None, None, "ok"]]
    assert codes(recording) == {"doubled_id": 1, "no_result": 2}


def test_what_a_result_tells_of_a_failure_is_believed(read):
    failed = result("a", "no such file", extra={"status": "error"})

    recording = read(trajectory(step(1, "a", results=[failed])))

    assert recording.turns[0].outcomes == (Outcome("failed", None, "no such file"),)


def test_embedded_trajectories_of_sub_agents_are_sources(read):
    inner = trajectory(step(1, "b", results=[result("b", "B")]), session_id="sub-1")

    recording = read(trajectory(step(1, "a"), subagent_trajectories=[inner, 7, {}]))

    assert [turn.turn.source for turn in recording.turns] == ["main", "sub-1"]
    assert statuses(recording) == [[None], ["ok"]]


def test_several_trajectories_of_one_file_are_kept_apart(tmp_path):
    lines = [
        trajectory(step(1, "a")),
        trajectory(step(1, "b", results=[result("a")]), session_id="t"),
    ]

    recording = read_lines(tmp_path / "t.jsonl", lines)

    assert [turn.turn.source for turn in recording.turns] == ["main", "t"]
    assert statuses(recording) == [[None], [None]]


def test_strange_values_everywhere_are_no_error(read):
    recording = read(
        trajectory(
            7,
            {"tool_calls": {}, "observation": []},
            step(3, "a", results=[1, {}, result([], {})]),
            {"source": [], "tool_calls": [{"arguments": [1], "function_name": 3}]},
        )
    )

    assert ids(recording) == [["a"], [""]]
    assert recording.turns[1].turn.calls[0].problem
