"""SWE-agent and mini-SWE-agent: what is a call there, and what became of it."""

from __future__ import annotations

from typing import Any

import pytest
from session_logs import codes, ids, read_value, statuses, told
from trajectories import chat, mini_swe_agent, mini_swe_agent_text, swe_agent, swe_agent_text

from toolflow.model import Times


def read(tmp_path, value: Any):
    return read_value(tmp_path / "x.traj", value)


def test_fields_of_the_harness_are_kept_beside_the_message(tmp_path):
    value = swe_agent([[1]])
    value["history"][1]["thinking_blocks"] = [{"x": 1}]

    turn = read(tmp_path, value).turns[0].turn

    assert turn.format == "openai-chat"
    assert set(turn.message) == {"role", "content", "tool_calls", "thinking_blocks"}
    assert turn.extra == {"agent": "main", "message_type": "action", "action": "do", "thought": "x"}


def test_an_action_without_a_call_is_a_command_of_bash(tmp_path):
    recording = read(tmp_path, swe_agent_text([[1], [2]]))

    first = recording.turns[0]
    assert [(call.id, call.tool, dict(call.args)) for call in first.turn.calls] == [
        ("call-1", "bash", {"command": "do 1"})
    ]
    assert not first.turn.carries_ids
    assert first.turn.format == "calls"
    assert first.turn.extra["message"]["content"] == "x"
    assert statuses(recording) == [["ok"], ["ok"]]


def test_text_is_never_searched_for_commands(tmp_path):
    value = swe_agent_text([[1]])
    value["history"].append({"role": "assistant", "content": "```bash\nls\n```", "agent": "main"})
    value["history"].append({"role": "assistant", "content": "x", "action": "  ", "agent": "main"})

    recording = read(tmp_path, value)

    assert ids(recording) == [["call-1"]]
    assert recording.source["messages"] == 3


def test_an_observation_belongs_to_the_action_straight_before_it(tmp_path):
    value = swe_agent_text([[1], [2]])
    del value["history"][1]  # the first action has no observation
    value["history"].append(value["history"][-1])  # the second has two

    recording = read(tmp_path, value)

    assert statuses(recording) == [[None], ["ok"]]
    assert recording.turns[1].outcomes[0].value == "r2"
    assert codes(recording) == {"no_result": 1}


def test_demonstrations_and_other_agents_are_sources_of_their_own(tmp_path):
    value = swe_agent([[1], [1], [1]])
    for item in value["history"][1:3]:
        item["is_demo"] = True
    for item in value["history"][3:5]:
        item["agent"] = "reviewer"

    recording = read(tmp_path, value)

    assert [turn.turn.source for turn in recording.turns] == ["demo", "reviewer", "main"]
    assert statuses(recording) == [["ok"], ["ok"], ["ok"]]


def test_a_file_with_steps_alone_is_read_from_them(tmp_path):
    steps = [
        {"action": "ls", "observation": "a.txt", "thought": "look", "execution_time": 0.25},
        {"action": "", "observation": "", "response": "exit"},
        {"action": "pwd", "execution_time": -1},
    ]

    recording = read(tmp_path, {"trajectory": steps, "info": {"exit_status": "early"}})

    assert [call.args["command"] for turn in recording.turns for call in turn.turn.calls] == [
        "ls",
        "pwd",
    ]
    assert statuses(recording) == [["ok"], [None]]
    assert recording.turns[0].times == (Times(started=0.0, settled=0.25),)
    assert recording.turns[0].turn.extra["thought"] == "look"
    assert recording.source["exit_status"] == "early"
    assert recording.source["messages"] == 3


def test_durations_are_used_only_where_the_steps_are_those_of_the_history(tmp_path):
    value = swe_agent([[1], [2]])
    value["trajectory"] = [{"action": "do", "observation": "", "execution_time": 2.5}] * 2
    assert [turn.times[0].settled for turn in read(tmp_path, value).turns] == [2.5, 2.5]

    value["trajectory"].append({"action": "do", "observation": "", "execution_time": 9})
    assert [turn.times[0].settled for turn in read(tmp_path, value).turns] == [None, None]


@pytest.mark.parametrize("duration", [True, "1", float("nan"), float("inf"), -1, 10**400, [], None])
def test_a_duration_that_makes_no_sense_is_left_out(tmp_path, duration):
    value = swe_agent([[1]])
    value["trajectory"] = [{"action": "do", "observation": "", "execution_time": duration}]

    assert read(tmp_path, value).turns[0].times[0].settled is None


# ---- mini-SWE-agent ----


def test_actions_in_extra_are_calls_of_bash_with_results_in_their_order(tmp_path):
    recording = read(tmp_path, mini_swe_agent_text([[1, 2], [3]]))

    assert ids(recording) == [["call-1", "call-2"], ["call-1"]]
    assert [o.value for turn in recording.turns for o in turn.outcomes if o] == ["r1", "r2", "r3"]
    assert not recording.turns[0].turn.carries_ids


def test_where_an_observation_is_missing_nobody_guesses_which(tmp_path):
    value = mini_swe_agent_text([[1, 2], [3]])
    del value["messages"][1]

    recording = read(tmp_path, value)

    assert statuses(recording) == [[None, None], ["ok"]]
    assert codes(recording) == {"no_result": 2, "result_without_call": 1}


def test_actions_of_the_responses_api_have_the_ids_of_its_calls(tmp_path):
    actions = [{"command": "ls", "tool_call_id": "fc1"}, {"command": "pwd", "tool_call_id": "fc2"}]
    messages = [
        {"object": "response", "output": [], "extra": {"actions": actions}},
        {"type": "function_call_output", "call_id": "fc2", "output": "r2", "extra": {}},
        {"type": "function_call_output", "call_id": "fc1", "output": "r1", "extra": {}},
    ]

    recording = read(tmp_path, {"info": {"mini_version": "2"}, "messages": messages})

    assert ids(recording) == [["fc1", "fc2"]]
    assert [outcome.value for outcome in recording.turns[0].outcomes if outcome] == ["r1", "r2"]
    assert recording.turns[0].turn.carries_ids


@pytest.mark.parametrize(
    ("extra", "status", "error"),
    [
        ({"returncode": 0}, "ok", None),
        ({"returncode": 2}, "failed", "The command ended with exit code 2."),
        ({"returncode": -1, "exception_info": "action was not executed"}, "not_started",
         "The action was not executed."),
        ({"returncode": -1, "exception_info": "Command timed out after 30 s"}, "timed_out",
         "Command timed out after 30 s"),
        ({"returncode": -1, "exception_info": "no shell"}, "failed", "no shell"),
        ({"returncode": 10**400}, "failed", "The command ended with exit code out of range."),
        ({"returncode": "1", "exception_info": ""}, "ok", None),
    ],
)  # fmt: skip
def test_the_status_of_a_command_is_that_of_its_exit_code(tmp_path, extra, status, error):
    value = mini_swe_agent([[1]])
    value["messages"][2]["extra"] = extra

    (outcome,) = read(tmp_path, value).turns[0].outcomes

    assert outcome is not None
    assert (outcome.status, outcome.error, outcome.value) == (status, error, "r1")


def test_times_of_a_trajectory_are_those_of_its_messages(tmp_path):
    value = mini_swe_agent([[1]])
    value["messages"][2]["extra"]["timestamp"] += 1.25

    (turn,) = read(tmp_path, value).turns

    assert turn.started_at == "2023-11-14T22:13:20.500000+00:00"
    assert turn.times[0] == Times(started=0.0, settled=1.25)


def test_commands_that_stand_in_the_text_alone_are_told(tmp_path):
    text = "I look.\n\n```mswea_bash_command\nls\n```"
    value = [{"role": "user", "content": "go"}, {"role": "assistant", "content": text}]

    recording = read(tmp_path, value)

    assert recording.turns == ()
    assert recording.source["messages"] == 1
    assert told(recording, "unread_call") == [
        "The text of 1 messages holds commands. They are kept, not read as calls."
    ]


def test_a_list_of_plain_messages_is_no_trajectory(tmp_path):
    assert read(tmp_path, chat([[1]])).source["format"] == "messages"
