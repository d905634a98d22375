"""The official SDKs: their objects are read as they are, and their types accept what is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from toolflow.formats import read_stream, read_turn, read_turns, write_turn
from toolflow.model import Image, Outcome, Turn

PNG = Image("image/png", "iVBORw0KGgo=")
OUTCOMES = [
    Outcome("ok", "x"),
    Outcome("ok", {"a": 1}, images=(PNG, PNG)),
    Outcome("failed", error="No.", images=(PNG,)),
    Outcome("timed_out", error="Late."),
    Outcome("aborted", "part", "Stopped."),
    Outcome("running", "soon"),
]
CHAT_MESSAGE = {
    "role": "assistant",
    "content": "So.",
    "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "t", "arguments": '{"x": 1}'}},
        {"id": "", "type": "function", "function": {"name": " u", "arguments": "{"}},
        {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
    ],
}
ITEMS = [
    {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]},
    {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "So.", "annotations": []}],
    },
    {
        "type": "web_search_call",
        "id": "ws",
        "status": "completed",
        "action": {"type": "search", "query": "x"},
    },
    {
        "type": "function_call",
        "id": "fc",
        "call_id": "a",
        "name": "t",
        "arguments": '{"x": 1}',
        "status": "completed",
        "async": True,
    },
    {"type": "function_call", "call_id": "", "name": " u", "arguments": "{"},
    {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "select 1"},
    {
        "type": "local_shell_call",
        "id": "ls",
        "call_id": "b",
        "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {}},
    },
    {
        "type": "shell_call",
        "id": "sh",
        "call_id": "c",
        "status": "completed",
        "action": {"commands": ["ls"], "max_output_length": 99},
        "environment": {"type": "local"},
    },
    {
        "type": "apply_patch_call",
        "id": "ap",
        "call_id": "d",
        "status": "completed",
        "operation": {"type": "update_file", "path": "a", "diff": "+x"},
    },
    {
        "type": "computer_call",
        "id": "cc",
        "call_id": "e",
        "status": "completed",
        "pending_safety_checks": [{"id": "sc", "code": "x", "message": "y"}],
        "action": {"type": "screenshot"},
    },
    {
        "type": "tool_search_call",
        "id": "ts",
        "call_id": "f",
        "status": "completed",
        "execution": "client",
        "arguments": {"q": "x"},
    },
]


def accepted(adapter: Any, value: Any) -> None:
    """Whether the SDK's own type takes a value; what it takes lazily is looked at too."""
    _walk(adapter.validate_python(value))


def _walk(value: Any) -> None:
    if isinstance(value, dict):
        for item in value.values():
            _walk(item)
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        for item in value:
            _walk(item)


def chat_response() -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": CHAT_MESSAGE}],
    }


def responses() -> dict[str, Any]:
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": ITEMS,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def same(turn: Turn, plain: Turn) -> None:
    assert turn.calls == plain.calls
    assert json.dumps(turn.message, sort_keys=True) == json.dumps(plain.message, sort_keys=True)


def test_chat_objects_are_read_and_what_is_written_is_accepted():
    chat = pytest.importorskip("openai.types.chat")
    response = chat.ChatCompletion.model_validate(chat_response())
    adapter = TypeAdapter(chat.ChatCompletionMessageParam)

    plain = read_turn(chat_response())
    for given in (response, response.choices[0].message, [response.choices[0].message]):
        same(read_turn(given), plain)
    for outcome in OUTCOMES:
        assistant, results = write_turn(plain, [outcome] * 3, texts=["go on"])
        for message in (*assistant, *results):
            accepted(adapter, message)


def test_chunk_objects_are_read():
    chat = pytest.importorskip("openai.types.chat")

    def chunk(delta: dict, ended: str | None = None) -> Any:
        return chat.ChatCompletionChunk.model_validate(
            {
                "id": "x",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": ended}],
            }
        )

    piece = {"index": 0, "id": "a", "type": "function", "function": {"name": "t", "arguments": "{"}}
    turn = read_stream(
        [
            chunk({"role": "assistant", "tool_calls": [piece]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}),
            chunk({}, "tool_calls"),
        ]
    )

    assert [(call.id, call.problem) for call in turn.calls] == [("a", None)]
    accepted(TypeAdapter(chat.ChatCompletionAssistantMessageParam), turn.message)
    chat.ChatCompletion.model_validate(
        {**turn.extra, "choices": [{**turn.extra["choices"][0], "message": turn.message}]}
    )


def test_response_objects_are_read_and_what_is_written_is_accepted():
    types = pytest.importorskip("openai.types.responses")
    response = types.Response.model_validate(responses())
    adapter = TypeAdapter(types.ResponseInputItemParam)

    plain = read_turn(responses())
    assert len(plain.calls) == 8
    same(read_turn(response), plain)
    same(read_turn(response.output), plain)
    for outcome in OUTCOMES:
        assistant, results = write_turn(plain, [outcome] * 8, texts=["go on"])
        for item in (*assistant, *results):
            accepted(adapter, item)
            accepted(_own_type(types, item), item)


def _own_type(types: Any, item: dict[str, Any]) -> Any:
    """The one type of an item, so that no laxer member of the union takes it instead."""
    from openai.types.responses import response_input_item_param as module

    names: dict[str, Callable[[], Any]] = {
        "function_call_output": lambda: module.FunctionCallOutput,
        "custom_tool_call_output": lambda: types.ResponseCustomToolCallOutputParam,
        "local_shell_call_output": lambda: module.LocalShellCallOutput,
        "shell_call_output": lambda: module.ShellCallOutput,
        "apply_patch_call_output": lambda: module.ApplyPatchCallOutput,
        "computer_call_output": lambda: module.ComputerCallOutput,
        "tool_search_output": lambda: module.ResponseToolSearchOutputItemParamParam,
        "function_call": lambda: types.ResponseFunctionToolCallParam,
        "custom_tool_call": lambda: types.ResponseCustomToolCallParam,
    }
    make = names.get(item.get("type", ""), lambda: types.ResponseInputItemParam)
    return TypeAdapter(make())


def test_event_objects_are_read():
    types = pytest.importorskip("openai.types.responses")
    adapter = TypeAdapter(types.ResponseStreamEvent)
    item = ITEMS[3]
    begun = {**item, "arguments": "", "status": "in_progress"}
    kind = "response.function_call_arguments.delta"
    empty = {**responses(), "output": [], "status": "in_progress"}
    events = [
        {"type": "response.created", "response": empty},
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
        {"type": kind, "output_index": 0, "item_id": "fc", "delta": '{"x": 1}'},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**responses(), "output": [item]}},
    ]
    objects = [
        adapter.validate_python({**event, "sequence_number": number})
        for number, event in enumerate(events)
    ]

    for end in (4, 5):
        turn = read_stream(objects[:end])
        assert [(call.id, dict(call.args)) for call in turn.calls] == [("a", {"x": 1})]
        assert turn.message == [item]


def test_mistral_objects_are_read_and_what_is_written_is_accepted():
    models = pytest.importorskip("mistralai.client.models")
    call = {"id": "abcDEF123", "function": {"name": "t", "arguments": '{"x": 1}'}, "index": 0}
    other = {"id": "abcDEF124", "function": {"name": "t", "arguments": {"x": 2}}, "index": 0}
    message = {"role": "assistant", "content": "", "tool_calls": [call, other]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    whole = {"id": "x", "object": "chat.completion", "model": "m", "created": 1, "usage": usage}
    response = models.ChatCompletionResponse.model_validate({**whole, "choices": [choice]})

    turn = read_turn(response)
    assert [dict(c.args) for c in turn.calls] == [{"x": 1}, {"x": 2}]
    assistant, results = write_turn(turn, [Outcome("ok", "x", images=(PNG,)), Outcome("ok", "y")])
    models.AssistantMessage.model_validate(assistant[0])
    assert [models.ToolMessage.model_validate(m).tool_call_id for m in results[:2]] == [
        "abcDEF123",
        "abcDEF124",
    ]
    models.UserMessage.model_validate(results[2])

    deltas = [
        models.CompletionChunk.model_validate(
            {
                "id": "x",
                "model": "m",
                "choices": [{"index": 0, "delta": {"tool_calls": [c]}, "finish_reason": ended}],
            }
        )
        for c, ended in ((call, None), (other, "tool_calls"))
    ]
    streamed = read_stream(deltas)
    assert [(c.id, dict(c.args)) for c in streamed.calls] == [
        ("abcDEF123", {"x": 1}),
        ("abcDEF124", {"x": 2}),
    ]
    assert read_turns([response.choices[0].message])[0].calls == turn.calls
