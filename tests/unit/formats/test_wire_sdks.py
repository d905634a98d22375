"""What is written passes the types of the official SDKs, and their objects are read as they are."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from sdk_types import CHECKS

from toolflow.formats import FORMATS, read_stream, read_turn, write_turn
from toolflow.formats.bedrock_writer import with_bytes
from toolflow.model import Call, Image, Outcome, Turn

PNG = Image("image/png", base64.b64encode(b"png").decode())
ROWS = (
    Call(0, "a", "read_file", {"path": "x", "n": [1, {"y": None}]}),
    Call(1, "a", "fs.read file", {}, "{", "The arguments are not JSON."),
    Call(2, "", "", {}),
)
OUTCOMES = (
    Outcome("ok", {"rows": [1, "x\ud83dy"]}, images=(PNG,)),
    Outcome("failed", "half", "no", images=(PNG, Image("image/tiff", "AAAA"))),
    Outcome("ok"),
)


def made(form: str) -> tuple[list[Any], list[Any]]:
    """A turn of each oddity, written without a message of the provider to lean on."""
    return write_turn(Turn("t", ROWS, form), OUTCOMES, texts=["go on"])


@pytest.mark.parametrize("form", CHECKS)
def test_what_is_written_passes_the_types_of_the_sdk(form):
    assistant, results = made(form)

    CHECKS[form](assistant, results)


@pytest.mark.parametrize("form", CHECKS)
def test_a_turn_of_the_least_size_passes_the_types_of_the_sdk(form):
    turn = Turn("t", (Call(0, "a", "t"),), form)

    assistant, results = write_turn(turn, [Outcome("ok")])

    CHECKS[form](assistant, results)


@pytest.mark.parametrize("form", CHECKS)
def test_the_checks_of_the_sdk_find_what_is_wrong(form):
    assistant = [{"role": "assistant", "content": "x"}]
    wrong = {
        "anthropic": {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
        "bedrock": {"role": "user", "content": [{"toolResult": {"content": [{"text": 5}]}}]},
        "cohere": {"role": "tool", "content": "x"},
        "gemini": {"role": "user", "parts": [{"functionResponse": {"name": "a", "x": 1}}]},
        "mcp": {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text"}]}},
        "openai-chat": {"role": "tool", "content": "x"},
        "openai-responses": {"type": "function_call_output", "call_id": "a"},
    }
    broken = {name: (assistant if name == "openai-chat" else [], [wrong[name]]) for name in wrong}
    with pytest.raises((ValueError, AssertionError)):
        CHECKS[form](*broken[form])


def test_anthropic_objects_are_read_as_they_are():
    types = pytest.importorskip("anthropic.types")
    data = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {"x": 1}}],
    }

    turn = read_turn(types.Message.model_validate(data))

    assert turn == read_turn(data)
    assert turn.calls == (Call(0, "a", "t", {"x": 1}),)


def test_anthropic_events_are_read_as_they_are():
    types = pytest.importorskip("anthropic.types")
    pydantic = pytest.importorskip("pydantic")
    start = {"type": "tool_use", "id": "a", "name": "t", "input": {}}
    message = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    data = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": '{"x": 1}'},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]
    adapter = pydantic.TypeAdapter(types.RawMessageStreamEvent)

    turn = read_stream([adapter.validate_python(event) for event in data])

    assert turn == read_stream(data)
    assert (turn.calls, turn.notices) == ((Call(0, "a", "t", {"x": 1}),), ())


GEMINI_RESPONSE = {
    "responseId": "r",
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "t", "args": {"x": 1}}, "thoughtSignature": "c2ln"},
                    {"functionCall": {"id": "b", "name": "u"}},
                ],
            },
            "finishReason": "STOP",
        }
    ],
}


def test_gemini_objects_are_read_as_they_are_and_written_as_the_api_spells_it():
    types = pytest.importorskip("google.genai.types")

    turn = read_turn(types.GenerateContentResponse.model_validate(GEMINI_RESPONSE))
    assistant, results = write_turn(turn, [Outcome("ok", "x", images=(PNG,)), Outcome("ok", "y")])

    assert (turn.format, turn.message_id) == ("gemini", "r")
    assert [(call.id, call.tool, call.args) for call in turn.calls] == [
        ("call-1", "t", {"x": 1}),
        ("b", "u", {}),
    ]
    contents = [types.Content.model_validate(content) for content in [*assistant, *results]]
    assert contents[0].parts[0].thought_signature == b"sig"
    assert [part.function_response.id for part in contents[1].parts] == [None, "b"]
    assert "functionResponse" in results[0]["parts"][0]
    assert contents[2].parts[1].inline_data.data == b"png"


def test_gemini_chunks_are_read_as_they_are():
    types = pytest.importorskip("google.genai.types")
    pieces = [
        {"functionCall": {"name": "t", "willContinue": True}},
        {
            "functionCall": {
                "partialArgs": [{"jsonPath": "$.x", "stringValue": "a", "willContinue": True}],
                "willContinue": True,
            }
        },
        {"functionCall": {"partialArgs": [{"jsonPath": "$.x", "stringValue": "b"}]}},
    ]
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [piece]}}]} for piece in pieces
    ]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"

    turn = read_stream([types.GenerateContentResponse.model_validate(chunk) for chunk in chunks])

    assert [(call.tool, call.args, call.problem) for call in turn.calls] == [
        ("t", {"x": "ab"}, None)
    ]
    assert turn.notices == ()


def test_cohere_objects_are_read_as_they_are():
    types = pytest.importorskip("cohere")
    data = {
        "id": "r",
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "tool_plan": "I will",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}}
            ],
        },
    }

    turn = read_turn(types.V2ChatResponse.model_validate(data))

    assert (turn.format, turn.calls, turn.message_id) == ("cohere", (Call(0, "a", "t"),), "r")


def test_mcp_objects_are_read_as_they_are():
    types = pytest.importorskip("mcp.types")
    data = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "t", "arguments": {"x": 1}, "_meta": {"progressToken": "p"}},
    }

    turn = read_turn(types.JSONRPCRequest.model_validate(data))

    assert turn == read_turn(data)
    assert turn.calls[0].extra == {"id": 7, "params": {"_meta": {"progressToken": "p"}}}


def test_pictures_of_bedrock_are_bytes_for_boto3_and_text_on_the_wire():
    _, results = made("bedrock")

    (wire,) = json.loads(json.dumps(results))
    (bytes_form,) = with_bytes(results)

    picture = wire["content"][0]["toolResult"]["content"][1]["image"]
    assert picture == {"format": "png", "source": {"bytes": PNG.data}}
    assert (
        bytes_form["content"][0]["toolResult"]["content"][1]["image"]["source"]["bytes"] == b"png"
    )


def test_every_format_with_conversations_is_checked():
    assert set(CHECKS) == {name for name, form in FORMATS.items() if form.steps is not None}
