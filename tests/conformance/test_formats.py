"""Conformance lines that the readers and writers of messages hold."""

from __future__ import annotations

import pytest

from toolflow.errors import UsageError
from toolflow.formats import read_turn, read_turns, write_turn
from toolflow.model import Outcome


def chat(*calls: tuple[str, str]) -> dict:
    blocks = [
        {"id": call_id, "type": "function", "function": {"name": "t", "arguments": arguments}}
        for call_id, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": blocks}


def anthropic(*ids: str) -> dict:
    blocks = [{"type": "tool_use", "id": call_id, "name": "t", "input": {}} for call_id in ids]
    return {"role": "assistant", "content": blocks}


def plain(*ids: str) -> dict:
    return {"calls": [{"id": call_id, "tool": "t", "args": {}} for call_id in ids]}


def written_ids(message: dict) -> list[str]:
    blocks = message.get("tool_calls") or message.get("content") or message["calls"]
    return [block["id"] for block in blocks]


def result_ids(messages: list) -> list[str]:
    if "results" in messages[0]:
        return [result["id"] for result in messages[0]["results"]]
    if messages[0]["role"] == "tool":
        return [message["tool_call_id"] for message in messages]
    return [block["tool_use_id"] for block in messages[0]["content"]]


def test_c013_empty_arguments_are_an_empty_object_and_invalid_ones_are_kept_raw():
    empty, blank, invalid = read_turn(chat(("a", ""), ("b", "  "), ("c", '{"x": '))).calls

    assert (dict(empty.args), empty.problem) == ({}, None)
    assert (dict(blank.args), blank.problem) == ({}, None)
    assert (dict(invalid.args), invalid.raw) == ({}, '{"x": ')
    assert invalid.problem is not None


@pytest.mark.parametrize("make", [lambda *ids: chat(*((i, "{}") for i in ids)), anthropic, plain])
def test_c060_an_empty_id_is_kept_empty_and_never_guessed(make):
    turn = read_turn(make("", "b"))

    assert [call.id for call in turn.calls] == ["", "b"]
    assert turn.carries_ids


@pytest.mark.parametrize("make", [lambda *ids: chat(*((i, "{}") for i in ids)), anthropic, plain])
def test_c061_every_holder_of_a_doubled_id_is_read_with_it(make):
    turn = read_turn(make("a", "b", "a"))

    assert [(call.index, call.id) for call in turn.calls] == [(0, "a"), (1, "b"), (2, "a")]


@pytest.mark.parametrize("make", [lambda *ids: chat(*((i, "{}") for i in ids)), anthropic, plain])
def test_c062_each_declared_call_has_exactly_one_result(make):
    turn = read_turn(make("a", "b", "c"))
    outcomes = [Outcome("ok", "1"), Outcome("failed", error="no"), Outcome("denied", error="no")]

    _, results = write_turn(turn, outcomes)

    assert result_ids(results) == ["a", "b", "c"]
    for wrong in (outcomes[:2], [*outcomes, Outcome("ok")]):
        with pytest.raises(UsageError):
            write_turn(turn, wrong)


def test_c063_a_result_for_an_id_with_no_call_in_the_turn_is_told_and_given_to_no_call():
    history = [
        anthropic("a"),
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "x"}]},
    ]

    (turn,) = read_turns(history)

    assert [(notice.code, notice.call) for notice in turn.notices] == [
        ("no_result", "a"),
        ("result_without_call", None),
    ]


@pytest.mark.parametrize("make", [lambda *ids: chat(*((i, "{}") for i in ids)), anthropic, plain])
def test_c064_ids_that_the_provider_refuses_are_written_valid_and_kept_in_the_turn(make):
    ids = ["", "a", "a", ""]
    turn = read_turn(make(*ids))

    assistant, results = write_turn(turn, [Outcome("invalid_id", error="no")] * 4)

    written = written_ids(assistant[0])
    assert written == result_ids(results)
    assert len(set(written)) == 4
    assert all(written)
    assert [call.id for call in turn.calls] == ids
    assert written_ids(turn.message) == ids
