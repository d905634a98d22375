"""Faults that real users met in reading and writing messages: none of them is here."""

from __future__ import annotations

import json

import pytest

from toolflow.formats import read_document, read_turn, read_turns, write_turn, written_ids
from toolflow.formats.session import read_session
from toolflow.model import Image, Outcome

PNG = Image("image/png", "iVBORw0KGgo=")


def block(call_id: str, name: str = "t", arguments: str = "{}") -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def chat(*blocks: dict, **more: object) -> dict:
    return {"role": "assistant", "content": None, "tool_calls": list(blocks), **more}


def use(call_id: str, **given: object) -> dict:
    return {"type": "tool_use", "id": call_id, "name": "t", "input": given}


def result(call_id: str, content: str = "x") -> dict:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def test_b007_results_that_do_not_stand_together_are_told_and_written_together():
    history = [
        {"role": "assistant", "content": [use("k1"), use("k2")]},
        {"role": "user", "content": [{"type": "text", "text": "wait"}, result("k1", "one")]},
        {"role": "user", "content": [result("k2", "two")]},
    ]

    turn = read_turn(history)
    _, results = write_turn(turn, [Outcome("ok", "one"), Outcome("ok", "two")], texts=["wait"])

    assert {notice.code for notice in turn.notices} == {"results_apart", "results_not_first"}
    assert results == [
        {
            "role": "user",
            "content": [
                result("k1", "one"),
                result("k2", "two"),
                {"type": "text", "text": "wait"},
            ],
        }
    ]


def test_b007_chat_results_after_another_message_are_told():
    history = [
        chat(block("k1"), block("k2")),
        {"role": "tool", "tool_call_id": "k1", "content": "one"},
        {"role": "user", "content": "wait"},
        {"role": "tool", "tool_call_id": "k2", "content": "two"},
    ]

    assert [notice.code for notice in read_turn(history).notices] == ["results_apart"]


def test_b009_calls_with_one_id_stay_two_calls_with_results_under_different_ids():
    turn = read_turn(
        chat(
            block("run:7", "shell", '{"c": "echo one"}'),
            block("run:7", "shell", '{"c": "echo two"}'),
        )
    )

    assistant, results = write_turn(turn, [Outcome("ok", "one"), Outcome("ok", "two")])

    assert [call.args["c"] for call in turn.calls] == ["echo one", "echo two"]
    assert [part["id"] for part in assistant[0]["tool_calls"]] == ["run:7", "run:7_2"]
    assert [(part["tool_call_id"], part["content"]) for part in results] == [
        ("run:7", "one"),
        ("run:7_2", "two"),
    ]
    assert written_ids(turn) == ("run:7", "run:7_2")


def test_b011_calls_without_an_id_keep_their_order_and_get_ids_that_collide_with_none():
    turn = read_turn(chat(block("", "a"), block("", "b"), block("c9", "c")))

    _, results = write_turn(turn, [Outcome("ok", "a"), Outcome("ok", "b"), Outcome("ok", "c")])

    assert [part["content"] for part in results] == ["a", "b", "c"]
    assert len({part["tool_call_id"] for part in results}) == 3
    assert results[2]["tool_call_id"] == "c9"


def test_b013_an_id_that_comes_back_unanswered_in_the_next_turn_is_told():
    history = [
        chat(block("k1")),
        {"role": "tool", "tool_call_id": "k1", "content": "x"},
        chat(block("k1")),
        {"role": "user", "content": "well?"},
    ]

    first, second = read_turns(history)

    assert first.notices == ()
    assert [(notice.code, notice.call) for notice in second.notices] == [("no_result", "k1")]


def test_b013_an_id_that_comes_back_unanswered_in_a_log_is_told(tmp_path):
    lines = [
        {"type": "assistant", "sessionId": "s", "message": {"id": "m1", "content": [use("k1")]}},
        {"type": "user", "sessionId": "s", "message": {"content": [result("k1")]}},
        {"type": "assistant", "sessionId": "s", "message": {"id": "m2", "content": [use("k1")]}},
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")

    recording = read_session(path)

    assert [outcome is None for turn in recording.turns for outcome in turn.outcomes] == [
        False,
        True,
    ]
    assert [(notice.code, notice.turn) for notice in recording.notices] == [("no_result", "turn-2")]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_use", "id": "c1", "name": "t", "input": {"a": 1}},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "t", "args": {"a": 1}},
        {"type": "tool_call", "id": "c1", "name": "t", "arguments": '{"a": 1}'},
    ],
)
def test_b014_a_call_told_in_two_places_of_a_message_is_one_call(part):
    message = chat(block("c1", arguments='{"a":1}'), content=[{"type": "text", "text": "x"}, part])

    turn = read_turn(message)

    assert [(call.id, dict(call.args)) for call in turn.calls] == [("c1", {"a": 1})]
    assert [(notice.code, notice.call) for notice in turn.notices] == [("doubled_mention", "c1")]
    assert write_turn(turn, [Outcome("ok", "x")])[0] == [message]


def test_b075_empty_and_cut_arguments_leave_the_turn_whole():
    turn = read_turn(
        chat(
            block("a", arguments="{}"),
            block("b", arguments=""),
            block("c", arguments='{"city": "Par'),
        )
    )

    whole, empty, cut = turn.calls
    assert (dict(whole.args), whole.problem) == ({}, None)
    assert (dict(empty.args), empty.problem) == ({}, None)
    assert (dict(cut.args), cut.raw) == ({}, '{"city": "Par')
    assert "at character 10" in (cut.problem or "")


def test_b077_glued_arguments_are_told_as_two_objects_in_one_field():
    (call,) = read_turn(chat(block("a", arguments='{"ns":"a"}{"ns":"b"}'))).calls

    assert dict(call.args) == {}
    assert call.raw == '{"ns":"a"}{"ns":"b"}'
    assert "two objects in one field" in (call.problem or "")


def test_b078_one_corrupt_argument_text_in_old_history_leaves_the_others_readable():
    lines = [
        json.dumps(chat(block(f"c{n}", arguments='{"a":' if n == 2 else '{"a": 1}')))
        for n in range(1, 10)
    ]

    turns = read_document("\n".join(lines), source="history.jsonl")

    assert [turn.calls[0].problem is None for turn in turns] == [True, False] + [True] * 7


def test_b079_names_with_blanks_are_read_verbatim_and_written_valid():
    turn = read_turn(chat(block("a", " read"), block("b", "read "), block("c", " ")))

    assistant, _ = write_turn(turn, [Outcome("ok", "x")] * 3)

    assert [call.tool for call in turn.calls] == [" read", "read ", " "]
    names = [part["function"]["name"] for part in assistant[0]["tool_calls"]]
    assert names == ["read", "read", "unnamed"]


@pytest.mark.parametrize(
    "given",
    [
        {"choices": [{"finish_reason": "tool_calls", "message": chat()}]},
        chat(finish_reason="tool_calls"),
        {"type": "message", "role": "assistant", "content": [], "stop_reason": "tool_use"},
    ],
)
def test_b083_an_ending_for_calls_without_calls_is_an_empty_turn_with_a_notice(given):
    turn = read_turn(given)

    assert turn.calls == ()
    assert [notice.code for notice in turn.notices] == ["no_calls"]
    assert write_turn(turn, [])[1] == []


@pytest.mark.parametrize(
    "pictures",
    [
        (True, True),
        (True, False),
        (False, True),
    ],
)
def test_b091_b092_pictures_never_stand_between_results(pictures):
    outcomes = [Outcome("ok", "x", images=(PNG,) if picture else ()) for picture in pictures]

    _, results = write_turn(read_turn(chat(block("a"), block("b"))), outcomes)

    assert [message["role"] for message in results] == ["tool", "tool", "user"]
    shown = [part["type"] for part in results[2]["content"]]
    assert shown == ["text", "image_url"] * sum(pictures)
    named = [part["text"] for part in results[2]["content"] if part["type"] == "text"]
    expected = [name for name, picture in zip("ab", pictures, strict=True) if picture]
    assert [text.split()[-2] for text in named] == expected


@pytest.mark.parametrize("pictures", [(True, True), (True, False), (False, True)])
def test_b092_anthropic_results_stand_together_with_their_pictures_inside(pictures):
    outcomes = [Outcome("ok", "x", images=(PNG,) if picture else ()) for picture in pictures]
    message = {"role": "assistant", "content": [use("a"), use("b")]}

    _, results = write_turn(read_turn(message), outcomes)

    assert [part["type"] for part in results[0]["content"]] == ["tool_result", "tool_result"]
