"""Reading, writing and reading again in the formats of Gemini, Bedrock, Cohere and MCP."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_or_refused
from turn_strategies import any_text, arguments, good_ids, outcomes, values, whole_text
from wire_messages import (
    MAKERS,
    answered_ids,
    bedrock,
    cohere,
    gemini,
    gemini_without_ids,
    mcp,
    sent_ids,
)

from toolflow.formats import FORMATS, read_stream, read_turn, write_turn
from toolflow.formats.base import Answer, Misfit
from toolflow.formats.gemini_args import UnfitError, assembled
from toolflow.model import Outcome, Turn

NAMES = ("anthropic", "bedrock", "cohere", "gemini", "mcp")

names = st.text("abcXYZ_", min_size=1, max_size=20)
odd_ids = st.sampled_from(["", "a", "a_2", "run:7", "call", "call-2", "é", "x" * 80]) | any_text
extras = st.dictionaries(st.sampled_from(["x", "y"]), values, max_size=1)
makers = st.sampled_from(MAKERS)


@given(
    makers,
    st.lists(
        st.tuples(good_ids, names, arguments, extras),
        unique_by=lambda row: row[0],
        min_size=1,
        max_size=5,
    ),
)
def test_what_is_valid_is_written_as_it_was_read(make, rows):
    message = make(rows)

    turn = read_turn(message, format=_form(make))
    assistant, results = write_turn(turn, [Outcome("ok", "x")] * len(rows))

    assert [(call.tool, dict(call.args)) for call in turn.calls] == [row[1:3] for row in rows]
    assert json.dumps(assistant) == json.dumps([message])
    assert read_turn(assistant[0], format=turn.format) == turn
    json.dumps(results)


@given(
    makers,
    st.lists(
        st.tuples(odd_ids, any_text, arguments | values, extras, outcomes), min_size=1, max_size=5
    ),
)
def test_whatever_is_read_is_written_valid_with_one_result_a_call(make, rows):
    message = make([row[:4] for row in rows])
    before = copy.deepcopy(message)
    turn = read_turn(message, format=_form(make))

    assistant, results = write_turn(turn, [row[4] for row in rows])

    assert message == before
    again = read_turn(assistant[0], format=turn.format)
    ids = [call.id for call in again.calls]
    assert len(ids) == len(rows) == len(set(ids))
    assert answered_ids(turn.format, results) == sent_ids(again)
    assert [call.args for call in again.calls] == [call.args for call in turn.calls]
    assert write_turn(again, [row[4] for row in rows]) == (assistant, results)
    json.dumps(results, ensure_ascii=False).encode()


@given(makers, st.lists(st.tuples(good_ids, names, arguments, extras), min_size=1, max_size=4))
def test_results_that_are_written_are_read_again_call_by_call(make, rows):
    turn = read_turn(make(rows), format=_form(make))
    given_outcomes = [
        Outcome("ok", f"out {n}") if n % 2 else Outcome("failed", error=f"no {n}")
        for n in range(len(rows))
    ]

    assistant, results = write_turn(turn, given_outcomes)
    steps = FORMATS[turn.format].steps
    assert steps is not None
    found = list(steps([*assistant, *results]))

    turns = [step for step in found if isinstance(step, Turn)]
    answers = [step for step in found if isinstance(step, Answer)]
    assert [[call.id for call in each.calls] for each in turns] == [[a.call_id for a in answers]]
    told = [answer.outcome.text for answer in answers]
    assert told == [outcome.text for outcome in given_outcomes]
    if turn.format != "cohere":  # its results do not say whether they are errors
        assert [a.outcome.ok for a in answers] == [outcome.ok for outcome in given_outcomes]


_KEYS = [
    "role",
    "parts",
    "candidates",
    "content",
    "functionCall",
    "function_call",
    "functionResponse",
    "partialArgs",
    "jsonPath",
    "stringValue",
    "willContinue",
    "args",
    "id",
    "name",
    "text",
    "finishReason",
    "toolUse",
    "toolResult",
    "toolUseId",
    "input",
    "output",
    "message",
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockIndex",
    "contentBlockStop",
    "messageStop",
    "start",
    "delta",
    "type",
    "index",
    "content_block",
    "tool_calls",
    "tool_plan",
    "function",
    "arguments",
    "jsonrpc",
    "method",
    "params",
    "result",
    "error",
    "status",
    "contents",
    "messages",
    "usage",
]
_WORDS = [
    "assistant",
    "user",
    "model",
    "tool",
    "2.0",
    "tools/call",
    "$.a",
    "$.a[0]",
    "tool_use",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "input_json_delta",
    "text_delta",
    "message-start",
    "tool-call-start",
    "tool-call-delta",
    "tool-call-end",
    "content-start",
    "content-delta",
    "message-end",
    "tool_result",
    "STOP",
]
anything = st.recursive(
    st.none() | st.booleans() | st.floats() | any_text | st.integers() | st.sampled_from(_WORDS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_KEYS), inner | st.sampled_from(_WORDS) | st.integers(0, 2), max_size=5
        )
    ),
    max_leaves=20,
)


@given(anything, st.sampled_from([None, *NAMES]))
def test_any_value_is_read_or_refused_in_plain_lines(value, form):
    _read_anything(value, form)


def _read_anything(value: Any, form: str | None) -> None:
    read_or_refused(value, form)
    for name in NAMES if isinstance(value, list) else ():
        steps = FORMATS[name].steps
        assert steps is not None
        with suppress(Misfit):
            list(steps(value))


def _form(make: Any) -> str:
    named = {bedrock: "bedrock", cohere: "cohere", mcp: "mcp"}
    return named.get(make, "gemini")


def _conversation(make: Any) -> list[Any]:
    rows = [("a", "t", {"x": [1]}, {}), ("b", "u", {}, {})]
    turn = read_turn(make(rows), format=_form(make))
    assistant, results = write_turn(turn, [Outcome("ok", "x"), Outcome("failed", error="no")])
    return [*assistant, *results]


ANTHROPIC_STREAM: list[Any] = [
    {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "a", "name": "t", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"x":'},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": "1}"},
    },
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"n": 1}},
    {"type": "message_stop"},
]
BEDROCK_STREAM: list[Any] = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"delta": {"text": "hi"}, "contentBlockIndex": 0}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {
        "contentBlockStart": {
            "start": {"toolUse": {"toolUseId": "a", "name": "t"}},
            "contentBlockIndex": 1,
        }
    },
    {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"x":'}}, "contentBlockIndex": 1}},
    {"contentBlockDelta": {"delta": {"toolUse": {"input": "1}"}}, "contentBlockIndex": 1}},
    {"contentBlockStop": {"contentBlockIndex": 1}},
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": {"inputTokens": 1}}},
]
COHERE_STREAM: list[Any] = [
    {"type": "message-start", "id": "m", "delta": {"message": {"role": "assistant"}}},
    {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I"}}},
    {
        "type": "tool-call-start",
        "index": 0,
        "delta": {
            "message": {
                "tool_calls": {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "t", "arguments": ""},
                }
            }
        },
    },
    {
        "type": "tool-call-delta",
        "index": 0,
        "delta": {"message": {"tool_calls": {"function": {"arguments": '{"x":'}}}},
    },
    {
        "type": "tool-call-delta",
        "index": 0,
        "delta": {"message": {"tool_calls": {"function": {"arguments": "1}"}}}},
    },
    {"type": "tool-call-end", "index": 0},
    {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
]


def _gemini_chunk(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **more}]}


GEMINI_STREAM: list[Any] = [
    _gemini_chunk({"text": "hi"}),
    _gemini_chunk({"functionCall": {"name": "t", "willContinue": True}}),
    _gemini_chunk(
        {
            "functionCall": {
                "partialArgs": [{"jsonPath": "$.x", "numberValue": 1}],
                "willContinue": True,
            }
        }
    ),
    _gemini_chunk({"functionCall": {}}),
    _gemini_chunk({"text": ""}, finishReason="STOP"),
]
STREAMS = {
    "anthropic": ANTHROPIC_STREAM,
    "bedrock": BEDROCK_STREAM,
    "cohere": COHERE_STREAM,
    "gemini": GEMINI_STREAM,
}


@pytest.mark.parametrize("form", STREAMS)
def test_a_whole_stream_is_one_call_with_its_arguments_and_no_notice(form):
    turn = read_stream(STREAMS[form])

    assert (turn.format, turn.notices) == (form, ())
    assert [(call.tool, call.args, call.problem) for call in turn.calls] == [("t", {"x": 1}, None)]


@pytest.mark.parametrize("form", STREAMS)
def test_a_stream_cut_at_any_event_never_runs_a_call_with_other_arguments(form):
    chunks = STREAMS[form]
    for end in range(1, len(chunks)):
        turn = read_stream(chunks[:end], format=form)
        for call in turn.calls:
            assert call.problem is not None or call.args == {"x": 1}
        assert (end < len(chunks) - 1) <= bool(turn.notices or end == 1)


@pytest.mark.parametrize("form", STREAMS)
def test_a_torn_event_anywhere_never_makes_other_arguments(form):
    chunks = STREAMS[form]
    for place in range(len(chunks)):
        torn = [*chunks[:place], '{"type', *chunks[place + 1 :]]
        turn = read_stream(torn, format=form)
        assert "torn_event" in {notice.code for notice in turn.notices}
        for call in turn.calls:
            assert call.problem is not None or call.args == {"x": 1} or not call.tool


_VALID = [*map(_conversation, MAKERS), *STREAMS.values()]


@given(st.sampled_from(_VALID), st.data())
def test_mutated_documents_are_read_or_refused_in_plain_lines(valid, data):
    value = copy.deepcopy(valid)
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(_places(value))
        holder, key = data.draw(st.sampled_from(places)) if places else (None, None)
        if holder is None:
            break
        if data.draw(st.booleans()):
            holder[key] = data.draw(anything)
        else:
            del holder[key]
    _read_anything(value, data.draw(st.sampled_from([None, *NAMES])))


def _places(value: Any) -> Any:
    if isinstance(value, dict):
        for key, item in value.items():
            yield value, key
            yield from _places(item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield value, index
            yield from _places(item)


_paths = st.sampled_from(["$.a", "$.b", "$.a.c", "$.a[0]", "$.a[1]", "$['a b']", "$", "$.a[5]"])
pieces = st.fixed_dictionaries(
    {"jsonPath": _paths | whole_text},
    optional={
        "stringValue": whole_text,
        "numberValue": st.integers() | st.floats(),
        "boolValue": st.booleans(),
        "nullValue": st.just("NULL_VALUE"),
        "willContinue": st.booleans(),
    },
)


@given(st.lists(pieces | anything, max_size=6))
def test_pieces_of_arguments_make_an_object_or_a_sentence(given_pieces):
    try:
        args, problem = assembled(given_pieces), "."
    except UnfitError as error:
        args, problem = {}, str(error)
    assert isinstance(args, dict)
    assert problem.isprintable()
    assert problem.endswith(".")


leaves = whole_text | st.booleans() | st.none() | st.integers() | st.just(0.5)
nested = st.dictionaries(
    whole_text,
    st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, min_size=1, max_size=3)
            | st.dictionaries(whole_text, inner, min_size=1, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=4,
)


@given(nested, st.integers(1, 3))
def test_arguments_that_were_cut_into_pieces_come_back(args, size):
    assert assembled(list(_pieces(args, "$", size))) == args


def _pieces(value: Any, path: str, size: int) -> Any:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _pieces(item, f"{path}[{json.dumps(key)}]", size)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _pieces(item, f"{path}[{index}]", size)
    elif isinstance(value, str):
        for start in range(0, len(value), size):
            piece = value[start : start + size]
            yield {"jsonPath": path, "stringValue": piece, "willContinue": True}
        yield {"jsonPath": path, "stringValue": ""}
    elif isinstance(value, bool):
        yield {"jsonPath": path, "boolValue": value}
    elif value is None:
        yield {"jsonPath": path, "nullValue": "NULL_VALUE"}
    else:
        yield {"jsonPath": path, "numberValue": value}


@pytest.mark.parametrize("make", [gemini, gemini_without_ids, bedrock, cohere, mcp])
def test_a_message_of_each_format_is_detected(make):
    rows = [("a", "t", {}, {})]

    assert read_turn(make(rows)).format == _form(make)
