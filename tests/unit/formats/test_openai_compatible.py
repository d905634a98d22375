"""Servers that follow Chat with deviations: Mistral, Ollama, Gemini's and others."""

from __future__ import annotations

import pytest

from toolflow.errors import TurnError
from toolflow.formats import (
    FORMATS,
    detect,
    read_stream,
    read_turn,
    read_turns,
    write_turn,
    written_ids,
)
from toolflow.formats.base import Answer, Misfit
from toolflow.model import Call, Image, Outcome, Turn

PNG = Image("image/png", "iVBORw0KGgo=")
STEPS = FORMATS["openai-chat"].steps


def block(call_id: str, name: str = "t", arguments: object = "{}") -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat(*blocks: dict, **more: object) -> dict:
    return {"role": "assistant", "content": None, "tool_calls": list(blocks), **more}


def native(name: str, **arguments: object) -> dict:
    return {"function": {"name": name, "arguments": arguments}}


def ollama(*blocks: dict, done: bool = True, content: str = "") -> dict:
    message: dict = {"role": "assistant", "content": content}
    if blocks:
        message["tool_calls"] = list(blocks)
    return {"model": "m", "created_at": "x", "message": message, "done": done}


def test_content_in_parts_and_thinking_beside_calls_are_mistrals():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    message = chat(block("abcDEF123", arguments={"a": 1}), content=[thinking])

    turn = read_turn(message)

    assert (turn.format, turn.calls[0].args) == ("openai-chat", {"a": 1})
    assert write_turn(turn, [Outcome("ok", "x")])[0] == [message]
    assert detect(
        {"role": "assistant", "content": [{"type": "reference", "reference_ids": []}]}
    ) == ("openai-chat")


def test_mistrals_thinking_in_a_history_hides_no_calls():
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    history = [{"role": "assistant", "content": [thinking]}, chat(block("abcDEF123"))]

    assert [turn.calls[0].id for turn in read_turns(history)] == ["abcDEF123"]


def test_parts_of_a_streamed_content_are_joined():
    def of(content: object, ended: str | None = None) -> dict:
        choice = {"index": 0, "delta": {"content": content}, "finish_reason": ended}
        return {"object": "chat.completion.chunk", "choices": [choice]}

    def thinking(text: str) -> list:
        return [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]

    parts = [thinking("I "), thinking("see"), "So ", [{"type": "text", "text": "be"}], "", "."]

    turn = read_stream([*map(of, parts), of("", "stop")])

    assert turn.message["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "I see"}]},
        {"type": "text", "text": "So be."},
    ]


@pytest.mark.parametrize(
    ("ids", "written"),
    [
        (["abcDEF123", "abcDEF123", "abcDEF124"], ["abcDEF123", "abcDEF102", "abcDEF124"]),
        (["abcDEF123", "", ""], ["abcDEF123", "call00000", "call00002"]),
        (["abcDEF123", "abcDEF1234", "abcDEF123"], ["abcDEF123", "abcDEF1234", "abcDEF123_2"]),
        (["", ""], ["call", "call_2"]),
        (["x" * 46], ["x" * 40]),
        (["chatcmpl-tool-" + "0" * 32], ["chatcmpl-tool-" + "0" * 32]),
        (["functions." + "x" * 40 + ":0", ""], ["functions." + "x" * 40 + ":0", "call"]),
    ],
)
def test_written_ids_follow_the_rule_of_the_server_that_all_ids_show(ids, written):
    calls = tuple(Call(index, name, "t") for index, name in enumerate(ids))

    assert list(written_ids(Turn("t", calls, "openai-chat"))) == written


def test_reasoning_beside_the_calls_stays():
    message = chat(block("a"), reasoning_content="hm", reasoning_details=[{"text": "hm"}])

    turn = read_turn({"choices": [{"message": message, "finish_reason": "tool_calls"}]})

    assert write_turn(turn, [Outcome("ok", "x")])[0] == [message]


def test_a_chunk_that_holds_its_piece_twice_counts_it_once():
    def of(delta: dict, ended: str | None = None) -> dict:
        choice = {"index": 0, "delta": delta, "message": delta, "finish_reason": ended}
        return {"object": "chat.completion.chunk", "choices": [choice]}

    first = {"index": 0, "id": "a", "function": {"name": "t", "arguments": None}}
    more = {"index": 0, "id": None, "function": {"name": None, "arguments": '{"x": 1}'}}
    turn = read_stream(
        [of({"tool_calls": None}), of({"tool_calls": [first]}), of({"tool_calls": [more]}, "stop")]
    )

    assert turn.calls == (Call(0, "a", "t", {"x": 1}),)


def test_ollama_calls_get_ids_by_place_and_results_without_any():
    response = ollama(native("read", p="a"), native("read", p="b"), native(" x"))

    turn = read_turn(response)
    assistant, results = write_turn(
        turn, [Outcome("ok", "1"), Outcome("ok", "", images=(PNG,)), Outcome("failed", error="no")]
    )

    assert not turn.carries_ids
    assert [(call.id, call.tool) for call in turn.calls] == [
        ("call-1", "read"),
        ("call-2", "read"),
        ("call-3", " x"),
    ]
    assert turn.extra == {"model": "m", "created_at": "x", "done": True}
    assert [part["function"]["name"] for part in assistant[0]["tool_calls"]] == [
        "read",
        "read",
        "x",
    ]
    assert all("id" not in part for part in assistant[0]["tool_calls"])
    assert results == [
        {"role": "tool", "tool_name": "read", "content": "1"},
        {"role": "tool", "tool_name": "read", "content": ""},
        {"role": "tool", "tool_name": "x", "content": "no"},
        {
            "role": "user",
            "content": "Picture from the result of call call-2 (read):",
            "images": ["iVBORw0KGgo="],
        },
    ]
    valid = read_turn(ollama(native("read", p="a")))
    assert write_turn(valid, [Outcome("ok", "x")])[0] == [valid.message]
    assert read_turn(valid.message).calls == valid.calls


def test_the_lines_of_an_ollama_stream_are_one_response():
    lines = [
        ollama(done=False, content="Let "),
        ollama(done=False, content="me"),
        ollama(native("read", p="a"), done=False),
        ollama(native("list"), done=False),
        {**ollama(), "done_reason": "stop", "eval_count": 9},
    ]

    turn = read_stream(lines)

    assert [(call.id, call.tool) for call in turn.calls] == [("call-1", "read"), ("call-2", "list")]
    assert turn.message["content"] == "Let me"
    assert turn.extra["eval_count"] == 9
    assert turn.notices == ()
    assert [notice.code for notice in read_stream(lines[:3]).notices] == ["no_end"]
    with pytest.raises(TurnError, match=r"\[1\] is 5\. Use an object with message and done\."):
        read_stream([lines[0], 5])


def test_ollama_results_belong_to_the_first_call_of_their_tool_that_waits():
    history = [
        chat(native("a"), native("b"), native("a")),
        {"role": "tool", "tool_name": "a", "content": "1"},
        {"role": "tool", "tool_name": "b", "content": "2"},
        {"role": "tool", "content": "3"},
        {"role": "tool", "content": "4"},
        chat(native("c")),
    ]

    steps = list(STEPS(history))

    assert [step.call_id for step in steps if isinstance(step, Answer)] == [
        "call-1",
        "call-2",
        "call-3",
        "",
    ]
    assert [notice.code for notice in read_turns(history)[0].notices] == ["result_without_call"]


def test_steps_of_a_chat_are_its_turns_and_results_in_order():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    link = {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}}
    history = [
        {"role": "user", "content": "go"},
        chat(block("a"), block("b")),
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        5,
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "1"}, picture]},
        {"choices": [{"message": chat(block("c"))}]},
        {"role": "tool", "tool_call_id": "c", "content": "no", "is_error": True},
        {"role": "tool", "tool_call_id": "d", "content": None, "status": "error"},
        {"role": "tool", "tool_call_id": "e", "content": [link]},
        {"role": "assistant", "content": "done"},
    ]

    steps = list(STEPS(history))

    assert [
        [call.id for call in step.calls] if isinstance(step, Turn) else step for step in steps
    ] == [
        ["a", "b"],
        Answer("b", Outcome("ok", "2"), 2),
        Answer("a", Outcome("ok", "1", images=(PNG,)), 4),
        ["c"],
        Answer("c", Outcome("failed", None, "no"), 6),
        Answer("d", Outcome("failed", None, "The call failed without a message."), 7),
        Answer("e", Outcome("ok", [link]), 8),
        [],
    ]
    with pytest.raises(Misfit, match=r"\[0\]\.tool_calls is 5"):
        list(STEPS([{"role": "assistant", "tool_calls": 5}]))
