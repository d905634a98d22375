from __future__ import annotations

import base64
import gzip
import json

import pytest
from session_logs import codes, ids, read_value, statuses, told

from toolflow.errors import TurnError
from toolflow.formats.session import read_session
from toolflow.model import Outcome

USER = {"role": "user", "content": "go"}


def asked(*calls: str) -> dict:
    blocks = [
        {"id": name, "type": "function", "function": {"name": "t", "arguments": "{}"}}
        for name in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": blocks}


def got(call_id: str, text: str = "x") -> dict:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def answer(message: dict) -> dict:
    return {"id": "r", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}


def interaction(messages: object, response: object, **more: object) -> dict:
    body = {"model": "m", "messages": messages} if isinstance(messages, list) else messages
    request = {"method": "POST", "uri": "https://api.example/v1", "body": json.dumps(body)}
    inside = response if isinstance(response, str) else json.dumps(response)
    status = {"code": 200, "message": "OK"}
    return {"request": request, "response": {"body": {"string": inside}, "status": status}, **more}


def cassette(*interactions: object) -> dict:
    return {"version": 1, "interactions": list(interactions)}


@pytest.fixture
def read(tmp_path):
    return lambda *found: read_value(tmp_path / "cassette.json", cassette(*found))


def test_every_response_is_a_message_and_results_come_from_later_requests(read):
    one, done = asked("a", "b"), {"role": "assistant", "content": "done"}

    recording = read(
        interaction([USER], answer(one)),
        interaction([USER, one, got("b", "B"), got("a", "A")], answer(done)),
        interaction([USER, one, got("b"), got("a"), done, USER], answer(asked("c"))),
    )

    assert ids(recording) == [["a", "b"], ["c"]]
    assert recording.turns[0].outcomes == (Outcome("ok", "A"), Outcome("ok", "B"))
    assert recording.turns[0].turn.format == "openai-chat"
    assert statuses(recording)[1] == [None]
    facts = {key: recording.source[key] for key in ("format", "model", "messages", "lines")}
    assert facts == {"format": "vcr", "model": "m", "messages": 3, "lines": 3}


def test_messages_of_the_first_request_count_too(read):
    recording = read(interaction([USER, asked("a"), got("a", "A"), USER], answer(asked("b"))))

    assert ids(recording) == [["a"], ["b"]]
    assert statuses(recording) == [["ok"], [None]]
    assert recording.source["messages"] == 2


def test_a_streamed_response_is_a_message(read):
    pieces = [{"index": 0, "id": "a", "function": {"name": "t", "arguments": ""}}]
    chunks: list[dict] = [
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}
        for delta in ({"role": "assistant", "content": ""}, {"tool_calls": pieces})
    ]
    chunks.append(
        {
            "object": "chat.completion.chunk",
            "choices": [{"delta": {}, "finish_reason": "tool_calls"}],
        }
    )
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"

    recording = read(interaction([USER], events), interaction([USER, asked("a"), got("a")], "{}"))

    assert ids(recording) == [["a"]]
    assert statuses(recording) == [["ok"]]


def test_items_of_responses_are_read_also_where_a_request_sends_only_what_is_new(read):
    call = {"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"}
    first = {"object": "response", "id": "r1", "output": [call]}
    result = {"type": "function_call_output", "call_id": "a", "output": "A"}
    said = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "k"}],
    }

    recording = read(
        interaction({"input": "go"}, first),
        interaction({"previous_response_id": "r1", "input": [result]}, {**first, "output": [said]}),
    )

    assert recording.turns[0].turn.format == "openai-responses"
    assert statuses(recording) == [["ok"]]
    assert not recording.notices


def test_failed_and_foreign_responses_are_skipped_and_failed_ones_told(read):
    failed = interaction([USER], {"error": {"message": "no"}})
    failed["response"]["status"]["code"] = 429

    recording = read(failed, interaction(None, "<html>"), interaction([USER], answer(asked("a"))))

    assert ids(recording) == [["a"]]
    assert told(recording, "failed_response") == [
        "Interaction 1 failed with status 429. It holds no message."
    ]


def test_a_response_of_a_known_format_that_cannot_be_read_is_told(read):
    recording = read(interaction([USER], {"choices": []}), interaction([USER], answer(asked("a"))))

    assert ids(recording) == [["a"]]
    assert codes(recording) == {"unreadable": 1, "no_result": 1}


def test_a_yaml_cassette_may_hold_binary_bodies(tmp_path):
    packed = base64.encodebytes(gzip.compress(json.dumps(answer(asked("a"))).encode())).decode()
    lines = "".join(f"        {line}\n" for line in packed.splitlines())
    path = tmp_path / "cassette.yaml"
    path.write_text(
        "interactions:\n- request:\n    body: null\n    method: POST\n  response:\n"
        f"    body:\n      string: !!binary |\n{lines}    status: {{code: 200}}\nversion: 1\n",
        encoding="utf-8",
    )

    assert ids(read_session(path)) == [["a"]]


def test_cassettes_of_other_programs_are_read(tmp_path):
    packed = base64.b64encode(json.dumps(answer(asked("a"))).encode()).decode()
    request = {"method": "POST", "uri": "u", "body": {"encoding": "utf-8", "string": "{}"}}
    response = {"status": {"code": 200}, "body": {"encoding": "utf-8", "base64_string": packed}}
    each = {"request": request, "response": response, "recorded_at": "2026-01-17T10:00:00"}

    recording = read_value(
        tmp_path / "c.json", {"http_interactions": [each], "recorded_with": "betamax/0.9"}
    )

    assert ids(recording) == [["a"]]
    assert recording.source["recorded_with"] == "betamax/0.9"
    assert recording.turns[0].started_at == "2026-01-17T10:00:00"


def test_strange_values_everywhere_are_no_error(read):
    odd = interaction([USER, 7, {"role": []}], answer(asked("a")))
    recording = read(7, {}, {"request": {}, "response": {}}, odd, interaction({"messages": 3}, "7"))

    assert ids(recording) == [["a"]]


def test_a_torn_cassette_is_told_with_its_place(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("interactions:\n- request: {\n", encoding="utf-8")

    with pytest.raises(TurnError, match=r"c\.yaml"):
        read_session(path)
