"""tau-bench, inspect, BFCL and the run states of OpenAI Agents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from session_logs import codes, ids, read_lines, read_value, statuses, told
from trajectories import chat, inspect, openai_agents, tau_bench

from toolflow.formats.session.python_calls import MAX_TEXT, read_call
from toolflow.model import Image, Times


def read(tmp_path, value: Any):
    return read_value(tmp_path / "x.json", value)


# ---- tau-bench ----


def test_runs_never_mix(tmp_path):
    value = tau_bench([[1], [1]])
    del value[0]["traj"][2]  # the first run has no result, and the second the same id

    recording = read(tmp_path, value)

    assert [turn.turn.source for turn in recording.turns] == ["run-1", "run-2"]
    assert statuses(recording) == [[None], ["ok"]]
    assert recording.source["runs"] == [
        {"source": "run-1", "task_id": 0, "trial": 0, "reward": 1.0},
        {"source": "run-2", "task_id": 1, "trial": 0, "reward": 1.0},
    ]
    assert recording.turns[0].turn.extra == {"task_id": 0, "trial": 0, "reward": 1.0}


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("Error: no seats", "failed"),
        ("Unknown action book", "unknown_tool"),
        ("Errors: 0", "ok"),
        ([{"type": "text", "text": "Error: parts"}], "failed"),
        (None, "ok"),
    ],
)
def test_the_runner_tells_an_error_in_the_text(tmp_path, content, status):
    value = tau_bench([[1]])
    value[1]["traj"][2]["content"] = content

    assert statuses(read(tmp_path, value)) == [[status]]


def test_a_run_that_cannot_be_read_keeps_no_other_away(tmp_path):
    value = [*tau_bench([[1], [2]]), {"task_id": 7, "traj": "gone"}, 5]
    value[0]["traj"].append(5)

    recording = read(tmp_path, value)

    assert ids(recording) == [["c1"], ["c2"]]
    assert codes(recording) == {"unreadable": 1, "broken_line": 2}
    assert [notice.line for notice in recording.notices] == [1, 3, 4]


# ---- inspect ----


def test_a_sample_is_a_source_and_its_events_tell_the_times(tmp_path):
    recording = read(tmp_path, inspect([[1, 2]]))

    (turn,) = recording.turns
    assert turn.turn.source == "sample-1"
    assert turn.turn.message["calls"][0]["id"] == "c1"
    assert turn.turn.extra["message"]["role"] == "assistant"
    assert turn.started_at == "2025-01-01T00:00:01Z"
    assert turn.times == (Times(started=0.0, settled=1.0),) * 2
    assert recording.source["samples"] == [{"source": "sample-1", "id": 1, "epoch": 1}]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("parsing", "invalid_arguments"),
        ("timeout", "timed_out"),
        ("approval", "denied"),
        ("cancelled", "aborted"),
        ("permission", "failed"),
        ([], "failed"),
    ],
)
def test_the_kind_of_an_error_tells_the_status(tmp_path, kind, status):
    value = inspect([[1]])
    value["samples"][0]["messages"][1]["error"] = {"type": kind, "message": "no"}

    (outcome,) = read(tmp_path, value).turns[0].outcomes

    assert outcome is not None
    assert (outcome.status, outcome.error, outcome.value) == (status, "no", "r1")


def test_a_sample_without_messages_is_read_from_its_events(tmp_path):
    value = inspect([[1]])
    sample = value["samples"][0]
    message = sample["messages"][0]
    sample["messages"] = []
    sample["events"][0] |= {"result": "attachment://ab", "error": None}
    sample["events"].insert(
        0,
        {
            "event": "model",
            "completed": "2025-01-01T00:00:00Z",
            "output": {"choices": [{"message": message}]},
        },
    )
    sample["attachments"] = {"ab": "r1"}

    recording = read(tmp_path, value)

    assert statuses(recording) == [["ok"]]
    assert recording.turns[0].outcomes[0].value == "r1"
    assert recording.turns[0].times == (Times(started=1.0, settled=2.0),)


def test_pictures_of_a_result_are_pictures(tmp_path):
    value = inspect([[1]])
    value["samples"][0]["messages"][1]["content"] = [
        {"type": "image", "image": "data:image/png;base64,AAAA"},
        {"type": "image", "image": "https://example.org/a.png"},
    ]

    (outcome,) = read(tmp_path, value).turns[0].outcomes

    assert outcome is not None
    assert outcome.images == (Image("image/png", "AAAA"),)
    assert outcome.value == [{"type": "image", "image": "https://example.org/a.png"}]


def test_a_log_without_samples_has_no_turns(tmp_path):
    value = {"eval": {"task": "t", "model": "m", "run_id": "r"}, "plan": {}, "status": "error"}

    recording = read(tmp_path, value)

    assert recording.turns == ()
    assert (recording.source["session"], recording.source["status"]) == ("r", "error")


def test_two_samples_with_the_same_ids_never_mix(tmp_path):
    value = inspect([[1]])
    value["samples"] = [json.loads(json.dumps(value["samples"][0])) for _ in range(2)]
    del value["samples"][0]["messages"][1]

    assert statuses(read(tmp_path, value)) == [[None], ["ok"]]


# ---- BFCL ----


def test_answers_are_calls_without_results(tmp_path):
    entries = [
        {"id": "a", "ground_truth": [{"f.g": {"x": [1, 2], "y": ["", "z"], "w": [[{"k": [3]}]]}}]},
        {"id": "b", "ground_truth": [["cd(folder='d')", "ls(a=True, n=-1)"], []]},
        {"id": "c", "ground_truth": [{"f": {}, "g": {}}]},
    ]

    recording = read_lines(tmp_path / "x.jsonl", entries)

    calls = [[(c.tool, dict(c.args)) for c in turn.turn.calls] for turn in recording.turns]
    assert calls == [
        [("f.g", {"x": 1, "w": [{"k": [3]}]})],
        [("cd", {"folder": "d"}), ("ls", {"a": True, "n": -1})],
    ]
    assert [turn.turn.source for turn in recording.turns] == ["a", "b"]
    assert recording.turns[1].turn.extra["step"] == 1
    assert recording.source["messages"] == 4
    assert codes(recording) == {"no_results": 1, "unreadable": 1}


def test_questions_and_tools_hold_no_calls_which_is_told(tmp_path):
    lines = [
        {"id": "q", "question": [[{"role": "user", "content": "x"}]], "function": []},
        {"name": "cat", "description": "d", "parameters": {"type": "dict", "properties": {}}},
    ]

    recording = read_lines(tmp_path / "x.jsonl", lines)

    assert recording.turns == ()
    assert told(recording, "no_calls") == [
        "The file holds 1 questions and 1 tools, which are no calls."
    ]
    assert (recording.source["questions"], recording.source["tools"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "tool", "args"),
    [
        ("f()", "f", {}),
        (" a.b.f(x=1) ", "a.b.f", {"x": 1}),
        ("f('a', 2, k=[1, (2, None)], d={'x': {'y': -1.5}})", "f",
         {"*args": ["a", 2], "k": [1, [2, None]], "d": {"x": {"y": -1.5}}}),
        (r"f(p='\d')", "f", {"p": "\\d"}),
        ("f('é' 'b')", "f", {"*args": ["éb"]}),
    ],
)  # fmt: skip
def test_call_text_is_read_as_literals(text, tool, args):
    assert read_call(text) == {"tool": tool, "args": args}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "f",
        "f(",
        "f(x)",
        "f(x=g())",
        "f(**{'a': 1})",
        "f(a=1, a=2)",
        "f(*[1])",
        "f(1 + 1)",
        "f(b'x')",
        "f(1j)",
        "f(...)",
        "f({1: 2})",
        "f({**{}})",
        "f(-'x')",
        "f(-True)",
        "f(f'{x}')",
        "f(lambda: 1)",
        "__import__('os').system('x')",
        "(f)()()",
        "f(); g()",
        "x = f()",
        "f(\x00)",
        "f(" + "[" * 300 + "]" * 300 + ")",
        "f(" + "-" * 100_000 + "1)",
        "f(" + "9" * 5_000 + ")",
        "f('" + "x" * MAX_TEXT + "')",
        "(" * 100_000,
        "f" * 100_001,
        "a." * 60_000 + "f()",
        "f(x='\ud800')",
        "f(1if 1else 2)",
        "f(0x1for x in y)",
    ],
)
def test_what_would_have_to_be_run_is_kept_as_text(tmp_path, text):
    recording = read(tmp_path, [{"id": "a", "ground_truth": [[text, "ok()"]]}])

    broken, fine = recording.turns[0].turn.calls
    assert broken.problem is not None
    assert broken.args == {}
    assert (fine.tool, fine.problem) == ("ok", None)
    assert broken.tool in {"", "f", "__import__"}


# ---- OpenAI Agents ----


def test_the_items_of_a_run_are_turns(tmp_path):
    recording = read(tmp_path, openai_agents([[1, 2], [3]]))

    assert ids(recording) == [["c1", "c2"], ["c3"]]
    assert statuses(recording) == [["ok", "ok"], ["ok"]]
    assert recording.turns[0].turn.format == "openai-responses"
    assert recording.source["agent"] == "a"


def test_a_pending_approval_is_the_reason_and_no_second_call(tmp_path):
    value = openai_agents([[1, 2]])
    items = value["generated_items"]
    approval = {**items[1], "type": "tool_approval_item"}
    items[:] = [items[0], items[1], approval, items[2]]
    value["current_step"] = {"data": {"interruptions": [approval]}}

    recording = read(tmp_path, value)

    assert ids(recording) == [["c1", "c2"]]
    assert statuses(recording) == [["ok", None]]
    assert told(recording, "no_result") == [
        "Call 'c2' has no result in the log; it waits for an approval."
    ]


@pytest.mark.parametrize("rejected", [True, ["c1"], ["other"], "c1", None])
def test_a_call_that_was_rejected_is_declined(tmp_path, rejected):
    value = openai_agents([[1]])
    value["context"]["approvals"] = {"t": {"approved": [], "rejected": rejected}}

    declined = rejected in (True, ["c1"])
    assert statuses(read(tmp_path, value)) == [["declined" if declined else "ok"]]


def test_the_items_of_the_session_and_of_the_input_are_read_where_they_are_more(tmp_path):
    value = openai_agents([[1], [2]])
    value["session_items"], value["generated_items"] = value["generated_items"], []
    value["original_input"] = [
        {"role": "user", "content": "go"},
        {"type": "function_call", "call_id": "c0", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c0", "output": "r0"},
    ]

    assert ids(read(tmp_path, value)) == [["c0"], ["c1"], ["c2"]]


def test_a_state_with_responses_alone_is_read_from_them(tmp_path):
    items = [item["raw_item"] for item in openai_agents([[1]])["generated_items"]]
    value = {"$schemaVersion": "1.0", "generated_items": [], "model_responses": [{"output": items}]}

    assert statuses(read(tmp_path, value)) == [["ok"]]


def test_an_item_that_cannot_be_read_is_told(tmp_path):
    value = openai_agents([[1], [2]])
    value["generated_items"][0]["raw_item"]["arguments"] = '{"a":'
    value["generated_items"][2]["raw_item"]["name"] = 5
    value["generated_items"].append(7)

    recording = read(tmp_path, value)

    assert recording.turns[0].turn.calls[0].problem is not None
    assert codes(recording)["unreadable"] == 1
    assert codes(recording)["broken_line"] == 1


def test_messages_that_look_like_nothing_else_are_messages(tmp_path):
    assert read(tmp_path, chat([[1]])).source["format"] == "messages"
