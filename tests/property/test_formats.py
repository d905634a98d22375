"""Reading, writing and reading again, for turns of every format and every oddity."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_or_refused
from turn_strategies import any_text, arguments, good_ids, outcomes, values

from toolflow.errors import TurnError
from toolflow.formats import FORMATS, read_document, read_turn, write_turn
from toolflow.formats.arguments import parse
from toolflow.formats.history import Step, reviewed
from toolflow.model import Outcome, Turn

odd_ids = st.sampled_from(["", "a", "a_2", "run:7", "call", "call_2", "é", "x" * 50]) | any_text
names = st.text("abcXYZ019_-", min_size=1, max_size=20)
extras = st.dictionaries(st.sampled_from(["cache_control", "index", "x"]), values, max_size=1)


def chat(calls: list[tuple[str, str, Any, dict]]) -> dict:
    blocks = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
            **extra,
        }
        for call_id, name, args, extra in calls
    ]
    return {"role": "assistant", "content": "é", "tool_calls": blocks}


def anthropic(calls: list[tuple[str, str, Any, dict]]) -> dict:
    blocks: list[dict] = [{"type": "thinking", "thinking": "hm", "signature": "s"}]
    for call_id, name, args, extra in calls:
        block = {"type": "tool_use", "id": call_id, "name": name, "input": args}
        blocks += [{**block, **extra}, {"type": "text", "text": "next"}]
    return {"role": "assistant", "content": blocks}


def plain(calls: list[tuple[str, str, Any, dict]]) -> dict:
    items = [
        {"id": call_id, "tool": name, "args": args, **extra} for call_id, name, args, extra in calls
    ]
    return {"calls": items}


makers = st.sampled_from([chat, anthropic, plain])


@given(makers, st.lists(st.tuples(good_ids, names, arguments, extras), unique_by=lambda c: c[0]))
def test_what_is_valid_is_written_as_it_was_read(make, calls):
    message = make(calls)

    turn = read_turn(message)
    assistant, results = write_turn(turn, [Outcome("ok", "x")] * len(calls))

    assert [(call.id, call.tool, dict(call.args)) for call in turn.calls] == [
        (call_id, name, args) for call_id, name, args, _ in calls
    ]
    assert json.dumps(assistant) == json.dumps([message])
    assert read_turn(assistant[0], format=turn.format) == turn
    json.dumps(results)


@given(
    makers,
    st.lists(st.tuples(odd_ids, any_text, arguments | values, extras, outcomes), max_size=6),
)
def test_whatever_is_read_is_written_valid_with_one_result_a_call(make, rows):
    turn = read_turn(make([row[:4] for row in rows]))

    assistant, results = write_turn(turn, [row[4] for row in rows])

    again = read_turn(assistant[0], format=turn.format)
    ids = [call.id for call in again.calls]
    assert len(ids) == len(rows) == len(set(ids))
    assert result_ids(turn, results) == ids
    for name in ids:
        rule = FORMATS[turn.format].id_rule
        assert rule.legal.fullmatch(name)
        assert rule.limit is None or len(name) <= rule.limit
    assert [call.args for call in again.calls] == [call.args for call in turn.calls]
    # Written once more it is the same: what is valid stays as it is.
    assert write_turn(again, [row[4] for row in rows]) == (assistant, results)


def result_ids(turn: Turn, results: list) -> list[str]:
    if turn.format == "calls":
        return [result["id"] for message in results for result in message["results"]]
    if turn.format == "openai-chat":
        tools = [message for message in results if message["role"] == "tool"]
        assert results[: len(tools)] == tools
        return [message["tool_call_id"] for message in tools]
    content = results[0]["content"] if results else []
    ids = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
    assert all(block["type"] == "tool_result" for block in content[: len(ids)])
    return ids


@given(makers, st.lists(st.tuples(good_ids, names, arguments, extras), max_size=4))
def test_an_original_turn_is_never_changed_by_writing(make, calls):
    message = make(calls)
    before = json.dumps(message)
    turn = read_turn(message)

    write_turn(turn, [Outcome("ok", "x")] * len(calls))

    assert json.dumps(turn.message) == before


@given(st.text() | any_text | values.map(json.dumps) | st.text('{}[]",:1 \\uda', max_size=30))
def test_argument_text_is_parsed_or_told_and_never_guessed(text):
    got = parse(text)

    if got.problem is None:
        assert got.raw is None
        stripped = text.strip(" \t\n\r")
        assert got.args == (json.loads(stripped) if stripped else {})
        json.dumps(got.args, allow_nan=False).encode()
    else:
        assert (dict(got.args), got.raw) == ({}, text)
        assert re.fullmatch(r"[^\n\ud800-\udfff]+\.", got.problem)


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | any_text | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "tool_calls",
                    "type",
                    "id",
                    "name",
                    "input",
                    "function",
                    "arguments",
                    "choices",
                    "message",
                    "messages",
                    "calls",
                    "tool",
                    "args",
                ]
            )
            | any_text,
            inner
            | st.sampled_from(
                ["assistant", "user", "tool", "tool_use", "tool_result", "message", "function"]
            ),
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(anything, st.sampled_from([None, *FORMATS]))
def test_any_value_is_read_or_refused_in_plain_lines(value, form):
    read_or_refused(value, form)


@given(any_text | st.text("{}[]:-,\"'#&*!|>%@` \n\tabc"))
def test_any_text_is_read_or_refused(text):
    with suppress(TurnError):
        read_document(text, source="t")


@pytest.mark.parametrize("one_message", [True, False])
@given(st.data())
def test_a_history_in_good_order_has_no_notices(one_message, data):
    ids = data.draw(st.lists(good_ids, unique=True, min_size=1, max_size=4))
    turn = read_turn(plain([(name, "t", {}, {}) for name in ids]))
    results: list[str | None] = [*data.draw(st.permutations(ids))]
    after = [[*results, None]] if one_message else [[name] for name in results] + [[None]]

    assert reviewed([Step(turn, after)], one_message=one_message) == [turn]
