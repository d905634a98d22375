"""Lists of messages of every wire format that has conversations, in every shape of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from session_logs import codes, ids, read_lines, read_value, statuses, told
from trajectories import chat, mispaired

from toolflow.errors import TurnError
from toolflow.formats import read_document
from toolflow.formats.session import messages as module
from toolflow.formats.session import read_session
from toolflow.model import Recording

ARGS = {"command": "do 1"}
CONVERSATIONS: dict[str, list[Any]] = {
    "openai-chat": chat([[1, 2], [3]]),
    "anthropic": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "c1", "name": "t", "input": {"command": "do 1"}},
                {"type": "tool_use", "id": "c2", "name": "t", "input": {"command": "do 2"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c2", "content": "r2"},
                {"type": "tool_result", "tool_use_id": "c1", "content": "r1"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "c3", "name": "t", "input": {"command": "do 3"}}
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c3", "content": "r3"}],
        },
    ],
    "openai-responses": [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs", "summary": []},
        *(
            {
                "type": "function_call",
                "call_id": f"c{n}",
                "name": "t",
                "arguments": json.dumps({"command": f"do {n}"}),
            }
            for n in (1, 2)
        ),
        *({"type": "function_call_output", "call_id": f"c{n}", "output": f"r{n}"} for n in (2, 1)),
        {
            "type": "function_call",
            "call_id": "c3",
            "name": "t",
            "arguments": '{"command": "do 3"}',
        },
        {"type": "function_call_output", "call_id": "c3", "output": "r3"},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "go"}]},
        {
            "role": "model",
            "parts": [
                {"functionCall": {"name": "t", "args": {"command": "do 1"}}},
                {"functionCall": {"name": "u", "args": {"command": "do 2"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "t", "response": {"output": "r1"}}},
                {"functionResponse": {"name": "u", "response": {"output": "r2"}}},
            ],
        },
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "t", "args": {"command": "do 3"}}}],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "t", "response": {"output": "r3"}}}],
        },
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": f"c{n}", "name": "t", "input": {"command": f"do {n}"}}}
                for n in (1, 2)
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": f"c{n}", "content": [{"text": f"r{n}"}]}}
                for n in (1, 2)
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": "c3", "name": "t", "input": {"command": "do 3"}}}
            ],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c3", "content": [{"text": "r3"}]}}],
        },
    ],
}
FORMS = sorted(CONVERSATIONS)


def check(recording: Recording, form: str, *, bare: bool = False) -> None:
    """That the recording holds the conversation of a format, each result at its call."""
    # A bare list of contents is what Gemini CLI saves: its own reader has that, and reads the same.
    assert recording.source["format"] == ("gemini-cli" if bare and form == "gemini" else "messages")
    assert {turn.turn.format for turn in recording.turns} == {form}
    commands = [[c.args["command"] for c in turn.turn.calls] for turn in recording.turns]
    assert commands == [["do 1", "do 2"], ["do 3"]]
    texts = [[str(outcome and outcome.text) for outcome in t.outcomes] for t in recording.turns]
    assert [[f"r{n}" in text for n, text in zip(numbers, row, strict=True)] for numbers, row in
            zip(([1, 2], [3]), texts, strict=True)] == [[True, True], [True]]  # fmt: skip
    assert recording.notices == ()


@pytest.mark.parametrize("form", FORMS)
def test_a_list_of_messages_is_a_session(tmp_path, form):
    check(read_value(tmp_path / "x.json", CONVERSATIONS[form]), form, bare=True)


@pytest.mark.parametrize("form", FORMS)
def test_one_message_a_line_is_a_session(tmp_path, form):
    check(read_lines(tmp_path / "x.jsonl", CONVERSATIONS[form]), form, bare=True)


@pytest.mark.parametrize("form", FORMS)
def test_a_yaml_file_of_messages_is_a_session(tmp_path, form):
    path = tmp_path / "x.yaml"
    lines = [f"- {json.dumps(message)}" for message in CONVERSATIONS[form]]
    path.write_text("\n".join(lines), encoding="utf-8")

    check(read_session(path), form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["messages", "contents", "input"])
def test_the_body_of_a_request_is_a_session(tmp_path, form, name):
    body = {"model": "m", name: CONVERSATIONS[form]}
    check(read_value(tmp_path / "x.json", body), form)
    check(read_value(tmp_path / "y.json", {"request": body}), form)


@pytest.mark.parametrize("form", FORMS)
def test_conversations_of_one_file_never_mix(tmp_path, form):
    conversation = CONVERSATIONS[form]
    last = conversation[:-1]  # its last call has no result, and the next file has the same ids

    recording = read_lines(tmp_path / "x.jsonl", [{"messages": last}, {"messages": conversation}])

    assert recording.source["sources"] == ["conversation-1", "conversation-2"]
    assert statuses(recording) == [["ok", "ok"], [None], ["ok", "ok"], ["ok"]]
    assert [notice.line for notice in recording.notices] == [1]


@pytest.mark.parametrize("form", FORMS)
def test_pieces_of_a_long_log_are_the_same_as_the_whole(tmp_path, monkeypatch, form):
    lines = [message for _ in range(20) for message in CONVERSATIONS[form]]
    whole = read_lines(tmp_path / "x.jsonl", lines, format="messages")
    monkeypatch.setattr(module, "PIECE", 3)

    pieces = read_lines(tmp_path / "x.jsonl", lines, format="messages")

    assert pieces == whole
    assert len(pieces.turns) == 40
    assert pieces.notices == ()


def test_a_long_log_of_one_message_a_line_is_read_as_it_goes(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 10)
    walked: list[int] = []
    real = module.walk

    def walk(form, items, conversation, *, source):
        walked.append(len(items))
        real(form, items, conversation, source=source)

    monkeypatch.setattr(module, "walk", walk)

    read_lines(tmp_path / "x.jsonl", chat([[n] for n in range(100)]))

    assert max(walked) <= 12
    assert len(walked) > 15


def test_a_message_that_cannot_be_read_is_told_and_the_others_are_read(tmp_path):
    conversation = chat([[1], [2], [3]])
    conversation[3]["tool_calls"] = [{"id": "c2", "type": "function", "function": 5}]

    recording = read_lines(tmp_path / "x.jsonl", conversation)

    assert ids(recording) == [["c1"], ["c3"]]
    assert statuses(recording) == [["ok"], ["ok"]]
    assert codes(recording) == {"unreadable": 1, "result_without_call": 1}
    assert told(recording, "unreadable")[0].startswith("The message cannot be read: ")
    assert [notice.line for notice in recording.notices] == [4, 5]
    assert recording.source["messages"] == 3


def test_the_result_of_an_unreadable_message_is_not_given_to_an_earlier_call_of_its_id(tmp_path):
    conversation = chat([[1], [1]])
    del conversation[2]  # the first call has no result
    conversation[2]["tool_calls"][0]["function"] = None

    recording = read_value(tmp_path / "x.json", conversation)

    assert statuses(recording) == [[None]]
    assert codes(recording) == {"unreadable": 1, "no_result": 1, "result_without_call": 1}


def test_without_ids_results_after_an_unreadable_message_belong_to_nobody(tmp_path):
    conversation = [dict(each) for each in CONVERSATIONS["gemini"]]
    conversation[2] = {"role": "user", "parts": [{"text": "wait"}]}
    conversation[3] = {"role": "model", "parts": [{"functionCall": 5}]}

    recording = read_value(tmp_path / "x.json", {"contents": conversation})

    assert statuses(recording) == [[None, None]]
    assert mispaired(recording, ids=False) == []
    assert codes(recording)["unreadable"] == 1


def test_broken_lines_are_skipped_and_told(tmp_path):
    lines = [json.dumps(message) for message in chat([[1], [2]])]
    lines[2:2] = ['{"role": "tool"', "5", "\x00\x00"]

    recording = read_lines(tmp_path / "x.jsonl", lines)

    assert statuses(recording) == [["ok"], ["ok"]]
    assert [notice.line for notice in recording.notices] == [3, 4, 5]
    assert recording.source["broken_lines"] == 3


RESPONSE = {
    "id": "r",
    "model": "m-2",
    "choices": [{"message": chat([[9]])[1], "finish_reason": "tool_calls"}],
}


def test_the_response_beside_a_request_is_its_last_message(tmp_path):
    log = {"messages": chat([[1]]), "response": RESPONSE, "timestamp": 1_700_000_000}

    recording = read_value(tmp_path / "x.json", log)

    assert ids(recording) == [["c1"], ["c9"]]
    assert recording.turns[1].turn.message_id == "r"
    assert recording.turns[1].started_at == "2023-11-14T22:13:20+00:00"
    assert [notice.line for notice in recording.notices] == [4]
    assert recording.source["model"] == "m-2"


def test_a_response_that_the_request_holds_too_is_one_message(tmp_path):
    log = {"messages": [*chat([[1]]), chat([[9]])[1]], "response": RESPONSE}

    assert ids(read_value(tmp_path / "x.json", log)) == [["c1"], ["c9"]]


def test_a_response_that_says_again_what_was_answered_is_another_message(tmp_path):
    log = {"messages": chat([[9]]), "response": RESPONSE}

    recording = read_value(tmp_path / "x.json", log)

    assert ids(recording) == [["c9"], ["c9"]]
    assert statuses(recording) == [["ok"], [None]]


def test_a_response_that_cannot_be_read_is_told(tmp_path):
    for response in ({"error": "overloaded"}, {"choices": []}, {"choices": [5]}):
        recording = read_value(tmp_path / "x.json", {"messages": chat([[1]]), "response": response})
        assert ids(recording) == [["c1"]]
        assert told(recording, "unreadable") == ["The response beside the messages cannot be read."]


def test_chunks_of_a_stream_are_no_messages(tmp_path):
    chunk = {
        "choices": [{"index": 0, "delta": {"content": "x"}}],
        "object": "chat.completion.chunk",
    }
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([json.dumps(chunk)] * 3), encoding="utf-8")

    with pytest.raises(TurnError, match="format of the log cannot be told"):
        read_session(path)


def test_what_holds_no_messages_is_refused(tmp_path):
    for value in ([], [5], {"messages": []}, {"messages": [5]}, {"input": "x"}, [[]], {"a": []}):
        with pytest.raises(TurnError, match="format of the log cannot be told"):
            read_value(tmp_path / "x.json", value)


@pytest.mark.parametrize("form", FORMS)
def test_a_session_has_the_calls_that_a_message_file_has(tmp_path, form):
    text = json.dumps(CONVERSATIONS[form])
    (tmp_path / "x.json").write_text(text, encoding="utf-8")

    session = read_session(tmp_path / "x.json")

    turns = read_document(text, source="x.json")
    assert [turn.turn.calls for turn in session.turns] == [turn.calls for turn in turns]
    assert [turn.turn.message for turn in session.turns] == [turn.message for turn in turns]


def test_a_log_of_another_kind_is_read_as_messages_only_if_that_is_asked_for(tmp_path: Path):
    value = {"info": {"mini_version": "2"}, "messages": chat([[1]])}

    assert read_value(tmp_path / "x.json", value).source["format"] == "mini-swe-agent"
    forced = read_value(tmp_path / "x.json", value, format="messages")
    assert forced.source["format"] == "messages"
    assert statuses(forced) == [["ok"]]
