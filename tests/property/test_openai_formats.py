"""Messages and streams of the OpenAI family: read, cut, mixed up and written again."""

from __future__ import annotations

import copy
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import read_or_refused
from turn_strategies import any_text, arguments, good_ids, outcomes, values, whole_text

from toolflow.formats import (
    FORMATS,
    detect,
    read_stream,
    read_turn,
    write_turn,
    written_ids,
)
from toolflow.formats.base import Misfit
from toolflow.model import Outcome, Turn

names = st.text("abcXYZ019_-", min_size=1, max_size=20)
odd_ids = st.sampled_from(["", "a", "a_2", "call", "é", "x" * 80]) | any_text
reasoning = st.builds(
    lambda text: {"type": "reasoning", "id": "rs_1", "summary": [{"text": text}]}, whole_text
)
said = st.builds(
    lambda text: {"type": "message", "role": "assistant", "content": [{"text": text}]}, whole_text
)
searched = st.just({"type": "web_search_call", "id": "ws_1", "status": "completed"})


def call_items(call_ids: st.SearchStrategy[str], tools: st.SearchStrategy[str]) -> Any:
    """Items that are calls for the client, of every type."""

    def function(call_id: str, name: str, args: Any) -> dict[str, Any]:
        text = json.dumps(args)
        return {"type": "function_call", "call_id": call_id, "name": name, "arguments": text}

    def other(call_id: str, kind: tuple[str, str], args: Any) -> dict[str, Any]:
        return {"type": kind[0], "call_id": call_id, "status": "completed", kind[1]: args}

    kinds = [
        ("local_shell_call", "action"),
        ("shell_call", "action"),
        ("apply_patch_call", "operation"),
        ("computer_call", "action"),
    ]
    custom = st.builds(
        lambda call_id, name, text: {
            "type": "custom_tool_call",
            "call_id": call_id,
            "name": name,
            "input": text,
        },
        call_ids,
        tools,
        whole_text,
    )
    return (
        st.builds(function, call_ids, tools, arguments)
        | custom
        | st.builds(other, call_ids, st.sampled_from(kinds), arguments)
    )


def rows(call_ids: Any, tools: Any) -> Any:
    return st.lists(call_items(call_ids, tools) | reasoning | said | searched, max_size=6)


def called(items: list[dict[str, Any]]) -> list[str]:
    return [item["call_id"] for item in items if "call_id" in item]


@given(rows(good_ids, names).filter(lambda items: len(set(called(items))) == len(called(items))))
def test_items_are_written_as_they_were_read(items):
    response = {"object": "response", "id": "r", "output": items}

    turn = read_turn(response)
    assistant, results = write_turn(turn, [Outcome("ok", "x")] * len(turn.calls))

    assert [call.id for call in turn.calls] == called(items)
    assert assistant == items
    assert [item["call_id"] for item in results if "call_id" in item] == called(items)
    if items:
        again = read_turn(assistant, format="openai-responses")
        assert (again.calls, again.message) == (turn.calls, turn.message)


@given(rows(odd_ids, any_text), st.data())
def test_whatever_items_are_read_are_written_valid_with_one_result_a_call(items, data):
    turn = read_turn({"object": "response", "output": items})
    told = [data.draw(outcomes) for _ in turn.calls]

    assistant, results = write_turn(turn, told)

    again = read_turn({"object": "response", "output": assistant})
    written = [call.id for call in again.calls]
    assert len(written) == len(turn.calls) == len(set(written))
    assert [item["call_id"] for item in results if "call_id" in item] == written
    for name in written:
        rule = FORMATS["openai-responses"].id_rule
        assert rule.legal.fullmatch(name)
        assert len(name) <= 64
    assert [call.args for call in again.calls] == [call.args for call in turn.calls]
    assert write_turn(again, told) == (assistant, results)
    json.dumps([assistant, results]).encode()


@given(rows(good_ids, names))
def test_steps_of_a_conversation_are_its_turns_and_results(items):
    turn = read_turn({"object": "response", "output": items})
    assistant, results = write_turn(turn, [Outcome("ok", "x")] * len(turn.calls))
    conversation = [{"role": "user", "content": "go"}, *assistant, *results]

    steps = list(FORMATS["openai-responses"].steps(conversation))

    turns = [step for step in steps if isinstance(step, Turn)]
    assert [call.id for step in turns for call in step.calls] == list(written_ids(turn))
    found = [step.call_id for step in steps if not isinstance(step, Turn)]
    assert sorted(found) == sorted(item["call_id"] for item in results if "call_id" in item)


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted({cut % (len(text) + 1) for cut in cuts}), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(places)]


@st.composite
def chat_streams(draw: Any) -> tuple[list[Any], list[tuple[str, str, dict[str, Any]]]]:
    """Chunks that mix the pieces of several calls, each piece with its index."""
    calls = draw(
        st.lists(st.tuples(good_ids, names, arguments), max_size=4, unique_by=lambda call: call[0])
    )
    queues = []
    for index, (call_id, name, args) in enumerate(calls):
        body = {"name": name, "arguments": ""}
        first = {"index": index, "id": call_id, "type": "function", "function": body}
        cuts = draw(st.lists(st.integers(0, 200), max_size=5))
        more = [
            {"index": index, "function": {"arguments": piece}}
            for piece in pieces_of(json.dumps(args), cuts)
        ]
        queues.append([first, *more])
    mixed = []
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        mixed.append(queue.pop(0))
    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"tool_calls": [piece]}) for piece in mixed]
    return [*chunks, chunk({}, "tool_calls")], calls


def chunk(delta: Any, ended: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": ended}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


@given(chat_streams())
def test_a_chat_stream_is_the_message_whatever_its_pieces(stream):
    chunks, calls = stream

    turn = read_stream(chunks)

    assert [(c.id, c.tool, dict(c.args)) for c in turn.calls] == calls
    assert {notice.code for notice in turn.notices} <= {"no_calls"}


@given(chat_streams(), st.integers(0, 60))
def test_a_stream_that_breaks_off_never_runs_a_call_with_arguments_that_it_does_not_have(
    stream, end
):
    chunks, calls = stream
    cut = chunks[: max(1, end % len(chunks))]

    turn = read_stream(cut)

    assert [notice.code for notice in turn.notices] == ["no_end"]
    whole = {call_id: args for call_id, _, args in calls}
    for call in turn.calls:
        assert call.problem is not None or call.args == whole[call.id]


@st.composite
def response_streams(draw: Any) -> tuple[list[Any], list[dict[str, Any]]]:
    """Events of a response with functions, custom tools and text, as the provider sends them."""
    items, events = [], []
    rows = draw(st.lists(st.tuples(st.sampled_from("fct"), names, arguments), max_size=4))
    for index, (kind, name, args) in enumerate(rows):
        text, item_id = json.dumps(args), f"it_{index}"
        base = {"id": item_id, "call_id": f"call_{index}", "name": name}
        if kind == "f":
            key, what = "arguments", "response.function_call_arguments"
            item = {"type": "function_call", **base, "status": "completed", key: text}
        elif kind == "c":
            key, what = "input", "response.custom_tool_call_input"
            item = {"type": "custom_tool_call", **base, key: text}
        else:
            part = {"type": "output_text", "text": text}
            item = {"type": "message", "id": item_id, "role": "assistant", "content": [part]}
        begun = {**item, **({"status": "in_progress"} if kind == "f" else {})}
        where = {"output_index": index, "item_id": item_id}
        if kind == "t":
            begun["content"] = []
            empty = {"type": "output_text", "text": ""}
            more = [{"type": "response.content_part.added", "content_index": 0, "part": empty}]
            key, what = "text", "response.output_text"
        else:
            begun[key] = ""
            more = []
        cuts = draw(st.lists(st.integers(0, 200), max_size=5))
        more += [
            {"type": f"{what}.delta", "content_index": 0, "delta": piece}
            for piece in pieces_of(text, cuts)
        ]
        more.append({"type": f"{what}.done", "content_index": 0, key: text})
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        events += [{**event, **where} for event in more]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        items.append(item)
    head = {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}}
    ordered = [head, *events]
    return [{**event, "sequence_number": n} for n, event in enumerate(ordered)], items


@given(response_streams(), st.booleans())
def test_a_response_stream_is_the_response_with_its_end_or_without(stream, ended):
    events, items = stream
    end = {"type": "response.completed", "response": {"id": "r", "output": items}}

    turn = read_stream([*events, {**end, "sequence_number": len(events)}] if ended else events)

    assert turn.message == items
    assert [notice.code for notice in turn.notices] == ([] if ended else ["no_end"])


@given(response_streams(), st.randoms(use_true_random=False))
def test_events_in_any_order_and_twice_are_the_same_response(stream, random):
    events, items = stream
    mixed = [*events, *random.sample(events, len(events) // 2)]
    random.shuffle(mixed)

    turn = read_stream(mixed)

    assert turn.message == items
    assert {notice.code for notice in turn.notices} <= {
        "no_end",
        "events_out_of_order",
        "doubled_event",
    }


@given(response_streams(), st.integers(0, 100))
def test_a_response_stream_that_breaks_off_runs_nothing_half(stream, end):
    events, items = stream
    turn = read_stream(events[: max(1, end % len(events))])

    whole = {item["call_id"]: item for item in items if "call_id" in item}
    for call in turn.calls:
        item = whole[call.id]
        if item["type"] == "function_call":
            assert call.problem is not None or call.args == json.loads(item["arguments"])


CHAT: dict[str, Any] = {
    "id": "x",
    "choices": [
        {
            "index": 0,
            "finish_reason": "length",
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "x"}],
                "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}},
                    {"id": "b", "type": "custom", "custom": {"name": "t", "input": "x"}},
                ],
            },
        }
    ],
}
RESPONSE: dict[str, Any] = {
    "object": "response",
    "status": "incomplete",
    "error": {"message": "x"},
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "b", "name": "t", "input": "x"},
        {"type": "shell_call", "call_id": "c", "action": {"commands": []}, "environment": {}},
        {"type": "shell_call_output", "call_id": "z", "output": [{"outcome": {"type": "exit"}}]},
        {"type": "computer_call", "call_id": "d", "action": {}, "pending_safety_checks": [{}]},
        {"type": "tool_search_call", "call_id": "e", "execution": "client", "arguments": {}},
        {"type": "tool_search_output", "execution": "server", "tools": []},
        {"type": "apply_patch_call", "call_id": "f", "operation": {"type": "delete_file"}},
        {"type": "mcp_approval_request", "name": "t", "server_label": "s"},
        {"type": "computer_call_output", "call_id": "d", "output": {"image_url": "data:x"}},
        {"type": "local_shell_call_output", "id": "g", "output": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text"}]},
        {"role": "user", "content": [{"type": "input_text"}]},
    ],
}
STREAMS: list[list[Any]] = [
    [
        chunk({"role": "assistant", "content": "x"}),
        chunk({"tool_calls": [{"index": 0, "id": "a"}]}),
    ],
    [
        {"message": {"role": "assistant", "content": "x", "thinking": "y"}, "done": False},
        {
            "message": {"tool_calls": [{"function": {"name": "t", "arguments": {"a": 1}}}]},
            "done": False,
        },
        {"message": {"content": ""}, "done": True, "done_reason": "stop"},
    ],
    [
        {"type": "response.created", "response": {"id": "r"}, "sequence_number": 0},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {"type": "function_call", "call_id": "a", "name": "t", "arguments": ""},
            "sequence_number": 1,
        },
        {
            "type": "response.function_call_arguments.delta",
            "output_index": 0,
            "delta": "{}",
            "sequence_number": 2,
        },
        {
            "type": "response.content_part.added",
            "output_index": 0,
            "content_index": 0,
            "part": {"type": "output_text", "text": "x"},
            "sequence_number": 3,
        },
        {"type": "error", "message": "x", "sequence_number": 4},
        {"type": "response.completed", "response": {"output": []}, "sequence_number": 5},
    ],
]
anything = (
    values
    | any_text
    | st.floats()
    | st.sampled_from([[], {}, [[]], [{}], 10**5000, "data:image/png;base64,", -1])
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    pairs = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else pairs:
        found += places(item, (*path, key))
    return found


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    whole = copy.deepcopy(value)
    if not path:
        return new
    inner = whole
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = new
    return whole


@given(
    st.sampled_from([CHAT, CHAT["choices"], RESPONSE, RESPONSE["output"], *STREAMS]),
    st.data(),
    anything,
    st.sampled_from(["openai-chat", "openai-responses", None]),
)
def test_any_value_in_any_place_is_read_or_refused_in_plain_lines(valid, data, new, form):
    value = replaced(valid, data.draw(st.sampled_from(places(valid))), new)
    read_or_refused(value, form)
    for name in ("openai-chat", "openai-responses"):
        try:
            list(FORMATS[name].steps(value if isinstance(value, list) else [value]))
        except Misfit:
            pass


@pytest.mark.parametrize("stream", STREAMS)
def test_the_streams_that_are_spoiled_here_are_streams(stream):
    assert read_stream(stream).format == (
        "openai-responses" if "type" in stream[0] else "openai-chat"
    )
    assert detect(CHAT) == "openai-chat"
    assert detect(RESPONSE) == "openai-responses"
