"""Faults of real users, in the formats of Gemini, Bedrock, Cohere, MCP and in streams."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolflow.formats import read_document, read_stream, read_turn, read_turns, write_turn
from toolflow.model import Image, Outcome

PNG = Image("image/png", "iVBORw0KGgo=")


def gemini(*rows: tuple[str, str, Any]) -> dict[str, Any]:
    bodies = [{"id": call_id, "name": name, "args": args} for call_id, name, args in rows]
    return {"role": "model", "parts": [{"functionCall": body} for body in bodies]}


def bedrock(*rows: tuple[str, str, Any]) -> dict[str, Any]:
    bodies = [{"toolUseId": i, "name": name, "input": args} for i, name, args in rows]
    return {"role": "assistant", "content": [{"toolUse": body} for body in bodies]}


def cohere(*rows: tuple[str, str, Any]) -> dict[str, Any]:
    blocks = [
        {
            "id": call_id,
            "type": "function",
            "function": {
                "name": name,
                "arguments": args if isinstance(args, str) else json.dumps(args),
            },
        }
        for call_id, name, args in rows
    ]
    return {"role": "assistant", "tool_plan": "I will", "tool_calls": blocks}


def mcp(*rows: tuple[str, str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "jsonrpc": "2.0",
            "id": call_id,
            "method": "tools/call",
            "params": {"name": name, "arguments": args},
        }
        for call_id, name, args in rows
    ]


def gemini_answers(*ids: str) -> dict[str, Any]:
    bodies = [{"id": name, "name": "t", "response": {"output": "x"}} for name in ids]
    return {"role": "user", "parts": [{"functionResponse": body} for body in bodies]}


def bedrock_answers(*ids: str) -> dict[str, Any]:
    bodies = [{"toolUseId": name, "content": [{"text": "x"}]} for name in ids]
    return {"role": "user", "content": [{"toolResult": body} for body in bodies]}


def cohere_answer(name: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": "x"}


def mcp_answer(name: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": name, "result": {"content": [{"type": "text", "text": "x"}]}}


def answers(results: list[Any]) -> list[tuple[str, str]]:
    """The id and the text of every result, in the order in which they were written."""
    found = []
    for message in results:
        if "jsonrpc" in message:
            found.append((message["id"], message["result"]["content"][0]["text"]))
        elif message["role"] == "tool":
            found.append((message["tool_call_id"], message["content"]))
        for block in message.get("content", ()):
            if isinstance(block, dict) and "toolResult" in block:
                body = block["toolResult"]
                found.append((body["toolUseId"], body["content"][0]["text"]))
        for part in message.get("parts", ()):
            if "functionResponse" in part:
                body = part["functionResponse"]
                found.append((body["id"], body["response"]["output"]))
    return found


MAKERS = [gemini, bedrock, cohere, mcp]


@pytest.mark.parametrize(
    ("history", "wrong"),
    [
        (
            [
                bedrock(("k1", "t", {}), ("k2", "t", {})),
                {"role": "user", "content": [{"text": "wait"}, *bedrock_answers("k1")["content"]]},
                bedrock_answers("k2"),
            ],
            {"results_apart", "results_not_first"},
        ),
        (
            [
                gemini(("k1", "t", {}), ("k2", "t", {})),
                {"role": "user", "parts": [{"text": "wait"}, *gemini_answers("k1")["parts"]]},
                gemini_answers("k2"),
            ],
            {"results_apart", "results_not_first"},
        ),
        (
            [
                cohere(("k1", "t", {}), ("k2", "t", {})),
                cohere_answer("k1"),
                {"role": "user", "content": "wait"},
                cohere_answer("k2"),
            ],
            {"results_apart"},
        ),
    ],
)
def test_b007_results_that_do_not_stand_together_are_told_and_written_together(history, wrong):
    turn = read_turn(history)

    _, results = write_turn(turn, [Outcome("ok", "one"), Outcome("ok", "two")], texts=["wait"])

    assert {notice.code for notice in turn.notices} == wrong
    assert answers(results) == [("k1", "one"), ("k2", "two")]
    first = results[0].get("content", results[0].get("parts"))
    assert "wait" not in json.dumps(first if isinstance(first, str) else first[:2])
    assert "wait" in json.dumps(results[-1])


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("picture_of", [0, 1, 2])
def test_b008_a_call_that_returns_a_picture_is_answered_once(ids, picture_of):
    names = ["a", "b", "c"]
    calls = [{"name": name, **({"id": f"id-{name}"} if ids else {})} for name in names]
    message = {"role": "model", "parts": [{"functionCall": call} for call in calls]}
    outcomes = [
        Outcome("ok", f"text {n}", images=(PNG,) if n == picture_of else ()) for n in range(3)
    ]

    turn = read_turn(message)
    _, results = write_turn(turn, outcomes)

    answered = results[0]["parts"]
    assert [list(part) for part in answered] == [["functionResponse"]] * 3
    assert [part["functionResponse"]["name"] for part in answered] == names
    assert [part["functionResponse"].get("id") for part in answered] == (
        ["id-a", "id-b", "id-c"] if ids else [None] * 3
    )
    after = [part for content in results[1:] for part in content["parts"]]
    assert [part["inlineData"]["data"] for part in after if "inlineData" in part] == [PNG.data]
    assert not any("functionResponse" in part for part in after)


def test_b008_a_picture_between_the_answers_of_a_history_is_told():
    first, second = gemini_answers("a", "b")["parts"]
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG.data}}
    history = [
        gemini(("a", "t", {}), ("b", "t", {})),
        {"role": "user", "parts": [first, picture, second]},
    ]

    assert [notice.code for notice in read_turn(history).notices] == ["results_not_first"]


@pytest.mark.parametrize("make", MAKERS)
def test_b009_calls_with_one_id_stay_two_calls_with_results_under_different_ids(make):
    turn = read_turn(make(("run:7", "shell", {"c": "one"}), ("run:7", "shell", {"c": "two"})))

    _, results = write_turn(turn, [Outcome("ok", "one"), Outcome("ok", "two")])

    assert [(call.id, call.args["c"]) for call in turn.calls] == [
        ("run:7", "one"),
        ("run:7", "two"),
    ]
    assert answers(results) == [("run:7", "one"), ("run:7_2", "two")]


@pytest.mark.parametrize("make", [bedrock, cohere, mcp])
def test_b011_calls_without_an_id_keep_their_order_and_get_ids_that_collide_with_none(make):
    turn = read_turn(make(("", "a", {}), ("", "b", {}), ("c9", "c", {})))

    _, results = write_turn(turn, [Outcome("ok", text) for text in "abc"])

    assert [call.id for call in turn.calls] == ["", "", "c9"]
    assert [text for _, text in answers(results)] == ["a", "b", "c"]
    assert len({name for name, _ in answers(results)}) == 3
    assert answers(results)[2][0] == "c9"


def test_b011_calls_of_a_format_without_ids_get_them_from_their_place():
    turn = read_turn(gemini(("", "a", {}), ("", "b", {}), ("call-1", "c", {})))

    assert [call.id for call in turn.calls] == ["call-1+", "call-2", "call-1"]


@pytest.mark.parametrize(
    ("make", "answer", "after"),
    [
        (gemini, gemini_answers, {"role": "user", "parts": [{"text": "well?"}]}),
        (bedrock, bedrock_answers, {"role": "user", "content": [{"text": "well?"}]}),
        (cohere, cohere_answer, {"role": "user", "content": "well?"}),
        (lambda row: mcp(row)[0], mcp_answer, mcp_answer("other")),
    ],
)
def test_b013_an_id_that_comes_back_unanswered_in_the_next_turn_is_told(make, answer, after):
    history = [make(("k1", "t", {})), answer("k1"), make(("k1", "t", {})), after]

    first, second = read_turns(history)

    assert first.notices == ()
    assert ("no_result", "k1") in [(notice.code, notice.call) for notice in second.notices]


def test_b075_empty_and_cut_arguments_leave_the_turn_whole():
    turn = read_turn(cohere(("a", "t", "{}"), ("b", "t", ""), ("c", "t", '{"city": "Par')))

    whole, empty, cut = turn.calls
    assert (dict(whole.args), whole.problem) == ({}, None)
    assert (dict(empty.args), empty.problem) == ({}, None)
    assert (dict(cut.args), cut.raw) == ({}, '{"city": "Par')
    assert "at character 10" in (cut.problem or "")


@pytest.mark.parametrize("make", [gemini, bedrock, mcp])
def test_b075_arguments_that_are_no_object_leave_the_turn_whole(make):
    turn = read_turn(make(("a", "t", {}), ("b", "t", None), ("c", "t", [1])))

    assert [(dict(call.args), call.problem is None) for call in turn.calls] == [
        ({}, True),
        ({}, True),
        ({}, False),
    ]
    assert turn.calls[2].raw == "[1]"


@pytest.mark.parametrize("make", [cohere, gemini, bedrock, mcp])
def test_b077_glued_arguments_are_told_as_two_objects_in_one_field(make):
    (call,) = read_turn(make(("a", "t", '{"ns":"a"}{"ns":"b"}'))).calls

    assert (dict(call.args), call.raw) == ({}, '{"ns":"a"}{"ns":"b"}')
    assert "two objects in one field" in (call.problem or "")


@pytest.mark.parametrize("make", [cohere, gemini, bedrock])
def test_b078_one_corrupt_argument_text_in_old_history_leaves_the_others_readable(make):
    lines = [
        json.dumps(make((f"c{n}", "t", '{"a":' if n == 2 else {"a": 1}))) for n in range(1, 10)
    ]

    turns = read_document("\n".join(lines), source="history.jsonl")

    assert [turn.calls[0].problem is None for turn in turns] == [True, False] + [True] * 7


@pytest.mark.parametrize("make", MAKERS)
def test_b079_names_with_blanks_are_read_verbatim_and_written_valid(make):
    turn = read_turn(make(("a", " read", {}), ("b", "read ", {}), ("c", " ", {})))

    assistant, _ = write_turn(turn, [Outcome("ok", "x")] * 3)

    assert [call.tool for call in turn.calls] == [" read", "read ", " "]
    again = read_turn(assistant[0], format=turn.format)
    assert [call.tool for call in again.calls] == ["read", "read", "unnamed"]


@pytest.mark.parametrize("make", MAKERS)
def test_b080_a_message_with_one_call_and_no_text_is_not_empty(make):
    assert [call.tool for call in read_turn(make(("a", "nosuch_tool", {}))).calls] == [
        "nosuch_tool"
    ]


def _block(index: int, *pieces: str) -> list[dict[str, Any]]:
    return [
        {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": "input_json_delta", "partial_json": piece},
        }
        for piece in pieces
    ]


def _start(index: int, call_id: str) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": "t", "input": {}}
    return {"type": "content_block_start", "index": index, "content_block": block}


def _bedrock_piece(index: int, piece: str) -> dict[str, Any]:
    return {
        "contentBlockDelta": {"delta": {"toolUse": {"input": piece}}, "contentBlockIndex": index}
    }


def _bedrock_start(index: int, call_id: str) -> dict[str, Any]:
    start = {"toolUse": {"toolUseId": call_id, "name": "t"}}
    return {"contentBlockStart": {"start": start, "contentBlockIndex": index}}


def _cohere_event(kind: str, index: int, **call: Any) -> dict[str, Any]:
    return {"type": kind, "index": index, "delta": {"message": {"tool_calls": call}}}


@pytest.mark.parametrize(
    "chunks",
    [
        [
            {"type": "message_start", "message": {"role": "assistant", "content": []}},
            _start(0, "a"),
            *_block(0, '{"x":'),
            _start(1, "b"),
            *_block(1, '{"y":'),
            *_block(0, "1}"),
            *_block(1, "2}"),
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ],
        [
            {"messageStart": {"role": "assistant"}},
            _bedrock_start(0, "a"),
            _bedrock_piece(0, '{"x":'),
            _bedrock_start(1, "b"),
            _bedrock_piece(1, '{"y":'),
            _bedrock_piece(0, "1}"),
            _bedrock_piece(1, "2}"),
            {"messageStop": {"stopReason": "tool_use"}},
        ],
        [
            {"type": "message-start", "delta": {"message": {"role": "assistant"}}},
            _cohere_event("tool-call-start", 0, id="a", function={"name": "t", "arguments": ""}),
            _cohere_event("tool-call-delta", 0, function={"arguments": '{"x":'}),
            _cohere_event("tool-call-start", 1, id="b", function={"name": "t", "arguments": ""}),
            _cohere_event("tool-call-delta", 1, function={"arguments": '{"y":'}),
            _cohere_event("tool-call-delta", 0, function={"arguments": "1}"}),
            _cohere_event("tool-call-delta", 1, function={"arguments": "2}"}),
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
        ],
    ],
)
def test_b081_pieces_of_a_stream_go_to_the_call_of_their_index(chunks):
    turn = read_stream(chunks)

    assert [(call.id, call.args) for call in turn.calls] == [("a", {"x": 1}), ("b", {"y": 2})]
    assert turn.notices == ()


@pytest.mark.parametrize(
    "given",
    [
        {"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "tool_use"},
        {"message": {"role": "assistant", "tool_calls": []}, "finish_reason": "TOOL_CALL"},
        {"message": {"role": "assistant"}, "finish_reason": "TOOL_CALL"},
    ],
)
def test_b083_an_ending_for_calls_without_calls_is_an_empty_turn_with_a_notice(given):
    turn = read_turn(given)

    assert turn.calls == ()
    assert [notice.code for notice in turn.notices] == ["no_calls"]
    assert write_turn(turn, [])[1] == []


def test_b083_a_call_that_the_provider_lost_is_an_empty_turn_with_a_notice():
    turn = read_turn(
        {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "call:read{"}]}
    )

    assert turn.calls == ()
    assert [notice.code for notice in turn.notices] == ["malformed_call"]


@pytest.mark.parametrize("pictures", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("make", MAKERS)
def test_b091_b092_pictures_never_stand_between_results(make, pictures):
    outcomes = [Outcome("ok", "x", images=(PNG,) if picture else ()) for picture in pictures]

    _, results = write_turn(read_turn(make(("a", "t", {}), ("b", "t", {}))), outcomes)

    assert answers(results) == [("a", "x"), ("b", "x")]
    if make is bedrock:
        assert [list(block) for block in results[0]["content"]] == [["toolResult"]] * 2
    elif make is gemini:
        assert [list(part) for part in results[0]["parts"]] == [["functionResponse"]] * 2
    elif make is cohere:
        assert [message["role"] for message in results] == ["tool", "tool", "user"]
    assert json.dumps(results).count(PNG.data) == sum(pictures)
