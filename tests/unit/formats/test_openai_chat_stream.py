from __future__ import annotations

import json

import pytest

from toolflow.errors import TurnError
from toolflow.formats import detect, read_document, read_stream, read_turn, read_turns, write_turn
from toolflow.formats.arguments import CUT_SHORT
from toolflow.model import Outcome


def chunk(delta: object = None, ended: object = None, **more: object) -> dict:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": ended}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice], **more}


def calling(*pieces: dict, **more: object) -> dict:
    return chunk({"tool_calls": list(pieces)}, **more)


def piece(
    index: int | None = 0, call_id: str | None = None, name: object = None, arguments: object = None
) -> dict:
    given = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    given["function"] = {k: v for k, v in given["function"].items() if v is not None}
    return {key: value for key, value in given.items() if value is not None}


END = chunk(ended="tool_calls")


def calls(*chunks: dict, end: dict | None = END) -> list[tuple]:
    turn = read_stream([*chunks, *([end] if end else [])])
    assert {notice.code for notice in turn.notices} <= set()
    return [(c.id, c.tool, c.raw if c.problem else dict(c.args)) for c in turn.calls]


def test_a_stream_becomes_the_whole_response():
    usage = {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {"total": 9}}
    turn = read_stream(
        [
            chunk({"role": "assistant", "content": None}, model="m", created=1),
            chunk({"content": "Let "}),
            chunk({"content": "me see."}),
            calling(piece(0, "a", "read", "")),
            calling(piece(0, arguments='{"p": ')),
            calling(piece(0, arguments='"x"}')),
            calling(piece(1, "b", "list", "{}")),
            END,
            usage,
        ],
        turn_id="t",
    )

    def block(call_id: str, name: str, arguments: str) -> dict:
        function = {"name": name, "arguments": arguments}
        return {"id": call_id, "type": "function", "function": function}

    assert (turn.id, turn.format, turn.message_id, turn.notices) == ("t", "openai-chat", "c", ())
    assert turn.message == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [block("a", "read", '{"p": "x"}'), block("b", "list", "{}")],
    }
    assert turn.extra == {
        "id": "c",
        "object": "chat.completion",
        "model": "m",
        "created": 1,
        "choices": [{"index": 0, "finish_reason": "tool_calls"}],
        "usage": {"total": 9},
    }
    assert write_turn(turn, [Outcome("ok", "1"), Outcome("ok", "2")])[0] == [turn.message]
    assert read_turn(turn.message).calls == turn.calls


def test_the_text_of_a_stream_is_read_like_its_chunks(tmp_path):
    chunks = [chunk({"role": "assistant"}), calling(piece(0, "a", "t", "{}")), END]
    text = "".join(f"data: {json.dumps(part)}\n\n" for part in chunks) + "data: [DONE]\n\n"

    (turn,) = read_document(text, source="s")

    assert turn.calls == read_stream(chunks).calls
    assert read_stream([text[:50], text[50:]]).calls == turn.calls
    assert read_document("\n".join(map(json.dumps, chunks)), source="s")[0].calls == turn.calls
    assert detect(turn.message) == "openai-chat"


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        # Pieces of two calls mixed, each with its index and only the first with an id.
        (
            [
                piece(0, "a", "t", '{"x":'),
                piece(1, "b", "u", '{"y":'),
                piece(0, arguments="1}"),
                piece(1, arguments="2}"),
            ],
            [("a", "t", {"x": 1}), ("b", "u", {"y": 2})],
        ),
        # The id is told again with each piece.
        (
            [piece(0, "a", "t", '{"x":'), piece(0, "a", None, "1}")],
            [("a", "t", {"x": 1})],
        ),
        # One index for all calls, a new id for each: a new call begins.
        (
            [piece(0, "a", "t", '{"x":1}'), piece(0, "b", "t", '{"x":2}'), piece(0, "c", "u")],
            [("a", "t", {"x": 1}), ("b", "t", {"x": 2}), ("c", "u", {})],
        ),
        # The same, and the pieces of the first go on under its id.
        (
            [piece(0, "a", "t", '{"x":'), piece(0, "b", "t", "{}"), piece(0, "a", None, "1}")],
            [("a", "t", {"x": 1}), ("b", "t", {})],
        ),
        # No index, ids: an id begins a call, what has none belongs to the last.
        (
            [piece(None, "a", "t", '{"x":'), piece(None, None, None, "1}"), piece(None, "b", "u")],
            [("a", "t", {"x": 1}), ("b", "u", {})],
        ),
        # No index, and the id comes back.
        (
            [
                piece(None, "a", "t", '{"x":'),
                piece(None, "b", "u", "{}"),
                piece(None, "a", arguments="1}"),
            ],
            [("a", "t", {"x": 1}), ("b", "u", {})],
        ),
        # No index and no id: each name begins a call.
        (
            [piece(None, None, "t", "{}"), piece(None, None, "u", "{}"), piece(None, None, "v")],
            [("", "t", {}), ("", "u", {}), ("", "v", {})],
        ),
        # One index, empty ids, whole calls: nothing can follow a whole object but another call.
        (
            [piece(0, "", "t", '{"x":"}"}'), piece(0, "", "t", '{"x":2}'), piece(0, "", "u", "{}")],
            [("", "t", {"x": "}"}), ("", "t", {"x": 2}), ("", "u", {})],
        ),
        # The id comes later than the name.
        (
            [piece(0, None, "t"), piece(0, "a", None, "{}")],
            [("a", "t", {})],
        ),
        # The name in pieces, whole again and again, and longer each time.
        (
            [piece(0, "a", "get_"), piece(0, None, "weather"), piece(0, arguments="{}")],
            [("a", "get_weather", {})],
        ),
        (
            [piece(0, "a", "t"), piece(0, None, "t", '{"x":'), piece(0, None, "t", "1}")],
            [("a", "t", {"x": 1})],
        ),
        (
            [piece(0, "a", "ge"), piece(0, None, "get"), piece(0, arguments="{}")],
            [("a", "get", {})],
        ),
        # A name that is told once more at the end is no new call, unless arguments follow.
        (
            [piece(0, "a", "t", "{}"), piece(0, None, "t", "")],
            [("a", "t", {})],
        ),
        (
            [piece(0, None, "t", "{}"), piece(0, None, "t"), piece(0, arguments='{"x":2}')],
            [("", "t", {}), ("", "t", {"x": 2})],
        ),
        # Without a name or an id between them they stay one text, which is told.
        (
            [piece(0, "a", "t", '{"x":1}'), piece(0, arguments='{"x":2}')],
            [("a", "t", '{"x":1}{"x":2}')],
        ),
        # An empty name is none, and null is nothing.
        (
            [piece(0, "a", "t", ""), piece(0, None, "", "{}"), {"index": 0, "function": None}],
            [("a", "t", {})],
        ),
        # Arguments as an object, at once.
        ([piece(0, "a", "t", {"x": 1})], [("a", "t", {"x": 1})]),
        ([piece(0, "a", "t", {}), piece(0, "b", "u", {})], [("a", "t", {}), ("b", "u", {})]),
        # Two objects in one field are two objects.
        ([piece(0, "a", "t", {"x": 1}), piece(0, arguments="{}")], [("a", "t", '{"x": 1}{}')]),
        # Calls that begin out of order are in the order of their indexes.
        (
            [piece(1, "b", "u", "{}"), piece(0, "a", "t", "{}")],
            [("a", "t", {}), ("b", "u", {})],
        ),
        # Arguments without a call that began: a call that nobody named, which no policy runs.
        ([piece(0, arguments="{}")], [("", "", {})]),
        # Backslashes and quotes at the ends of pieces.
        (
            [
                piece(0, "", "t", '{"x":"a\\'),
                piece(0, None, None, '"}{'),
                piece(0, None, None, '"}'),
                piece(0, "", "t", "{}"),
            ],
            [("", "t", {"x": 'a"}{'}), ("", "t", {})],
        ),
    ],
)
def test_pieces_find_their_call(pieces, expected):
    assert calls(*[calling(part) for part in pieces]) == expected
    assert calls(calling(*pieces)) == expected  # all of them in one chunk


def test_a_custom_tool_comes_in_pieces_too():
    turn = read_stream(
        [
            calling({"index": 0, "id": "a", "type": "custom", "custom": {"name": "sql"}}),
            calling({"index": 0, "custom": {"input": "select "}}),
            calling({"index": 0, "custom": {"input": "1"}}),
            END,
        ]
    )

    assert [(call.tool, dict(call.args)) for call in turn.calls] == [("sql", {"input": "select 1"})]


def test_what_else_a_piece_holds_is_kept():
    extra = {"google": {"thought_signature": "s"}}
    turn = read_stream([calling({**piece(0, "a", "t", "{}"), "extra_content": extra}), END])

    assert turn.calls[0].extra == {"extra_content": extra}


def test_reasoning_refusals_and_other_texts_are_joined():
    turn = read_stream(
        [
            chunk({"role": "assistant", "content": "", "reasoning_content": "I ", "refusal": None}),
            chunk({"reasoning_content": "see"}),
            chunk({"refusal": "No"}),
            chunk({"refusal": "."}),
            chunk({"reasoning_details": [{"text": "a"}], "audio": {"id": "x", "data": "AA"}}),
            chunk({"reasoning_details": [{"text": "b"}], "audio": {"id": "x", "data": "BB"}}),
            chunk({"function_call": {"name": "old", "arguments": "{"}}),
            chunk({"function_call": {"arguments": "}"}}),
            chunk(ended="stop"),
        ]
    )

    assert turn.message == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "I see",
        "refusal": "No.",
        "reasoning_details": [{"text": "a"}, {"text": "b"}],
        "audio": {"id": "x", "data": "AABB"},
        "function_call": {"name": "old", "arguments": "{}"},
    }
    assert [notice.code for notice in turn.notices] == ["unread_call"]


def test_of_several_choices_the_first_is_read_and_the_others_are_kept():
    def of(index: int, delta: dict, ended: str | None = None) -> dict:
        return {"choices": [{"index": index, "delta": delta, "finish_reason": ended}]}

    turn = read_stream(
        [
            of(1, {"role": "assistant", "content": "b"}),
            of(0, {"role": "assistant", "tool_calls": [piece(0, "a", "t", "{}")]}),
            of(1, {"content": "b"}, "stop"),
            of(0, {}, "tool_calls"),
        ]
    )

    assert [call.id for call in turn.calls] == ["a"]
    assert turn.extra["choices"][1]["message"] == {"role": "assistant", "content": "bb"}
    assert [notice.code for notice in turn.notices] == ["more_choices"]


def test_a_missing_end_is_told_and_a_call_without_arguments_is_not_run():
    turn = read_stream(
        [
            calling(piece(0, "a", "t", "{}"), piece(1, "b", "t", '{"x')),
            calling(piece(2, "c", "t", "")),
        ]
    )

    assert [notice.code for notice in turn.notices] == ["no_end"]
    whole, broken, bare = turn.calls
    assert whole.problem is None
    assert "not JSON" in (broken.problem or "")
    assert bare.problem == CUT_SHORT


def test_a_message_that_reached_its_limit_is_told_and_its_bare_call_not_run():
    turn = read_stream([calling(piece(0, "a", "t", "")), chunk(ended="length")])

    assert [notice.code for notice in turn.notices] == ["cut_off"]
    assert turn.calls[0].problem == CUT_SHORT
    assert read_stream([calling(piece(0, "a", "t")), END]).calls[0].problem is None


def test_torn_events_and_errors_are_told():
    events = [calling(piece(0, "a", "t", "{}")), "x", {"error": {"message": "busy\n"}}]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + 'data: {"id":'

    turn = read_stream([text])

    torn, error, end = turn.notices
    assert (torn.code, error.code, end.code) == ("torn_event", "stream_error", "no_end")
    assert torn.message.startswith("2 events of the stream are no JSON, the first is event 2.")
    assert error.message == "The stream holds an error: 'busy\\n'."
    assert turn.extra["error"] == {"message": "busy\n"}
    assert [call.id for call in turn.calls] == ["a"]


def test_a_call_that_was_open_when_an_event_was_lost_does_not_run():
    custom = {"index": 3, "id": "d", "custom": {"name": "sql", "input": "x"}}
    turn = read_stream(
        [
            calling(piece(0, "a", "t", "{}"), piece(1, "b", "t", '{"x": 1'), piece(2, "c", "t")),
            calling(custom),
            "{",
            calling(piece(1, arguments="}"), piece(2, arguments="{}"), piece(4, "e", "t", "{}")),
            END,
        ]
    )

    assert [notice.code for notice in turn.notices] == ["torn_event"]
    assert [call.problem is None for call in turn.calls] == [True, False, False, False, True]
    assert turn.calls[3].problem == CUT_SHORT
    again = read_turn(turn.message)  # a custom tool's text alone does not show it
    assert [call.problem is None for call in again.calls] == [True, False, False, True, True]


def test_a_custom_tool_never_runs_with_a_text_that_may_be_cut():
    custom = {"index": 0, "id": "a", "custom": {"name": "sql", "input": "delete from x"}}

    for ended in (None, "length"):
        turn = read_stream([calling(custom), chunk(ended=ended)])
        assert turn.calls[0].problem == CUT_SHORT
    assert read_stream([calling(custom), END]).calls[0].problem is None


def test_a_stream_that_starts_again_is_read_from_its_last_start():
    def other(delta: dict, ended: str | None = None) -> dict:
        return {**chunk(delta, ended), "id": "d"}

    turn = read_stream(
        [
            chunk({"role": "assistant", "content": "a"}),
            calling(piece(0, "a", "t", '{"x')),
            other({"role": "assistant", "content": "b"}),
            other({"tool_calls": [piece(0, "b", "t", "{}")]}),
            other({}, "tool_calls"),
        ]
    )

    assert (turn.message["content"], [call.id for call in turn.calls]) == ("b", ["b"])
    assert [notice.code for notice in turn.notices] == ["second_start"]


def test_streams_one_after_another_are_turns_one_after_another():
    one = [chunk({"role": "assistant"}), calling(piece(0, "a", "t", "{}")), END]
    two = [{**part, "id": "d"} for part in one]

    turns = read_turns([*one, *two])

    assert [[call.id for call in turn.calls] for turn in turns] == [["a"], ["a"]]
    assert [turn.message_id for turn in turns] == ["c", "d"]
    assert [notice.code for notice in read_stream([*one, *two]).notices] == ["more_messages"]


def test_ids_that_differ_in_each_chunk_are_no_second_start():
    chunks = [
        {**chunk({"role": "assistant", "content": text}), "id": text} for text in ("a", "b", "c")
    ]

    turn = read_stream([*chunks, chunk(ended="stop")])

    assert turn.message["content"] == "abc"
    assert turn.notices == ()


@pytest.mark.parametrize(
    ("spoiled", "problem"),
    [
        (5, "[1] is 5. Use a chunk: an object with choices."),
        ({"choices": 5}, "[1].choices is 5. Use a list of choices."),
        ({"choices": [5]}, "[1].choices[0] is 5. Use an object with a delta."),
        ({"choices": [{"index": "x"}]}, "[1].choices[0].index is 'x'. Use a whole number."),
        ({"choices": [{"delta": 5}]}, "[1].choices[0].delta is 5. Use an object."),
        (
            chunk({"tool_calls": 5}),
            "[1].choices[0].delta.tool_calls is 5. Use a list of pieces of calls.",
        ),
        (
            calling(5),  # type: ignore[arg-type]
            ("[1].choices[0].delta.tool_calls[0] is 5. Use an object with index, id and function."),
        ),
        (
            calling({"index": 1.5}),
            "[1].choices[0].delta.tool_calls[0].index is 1.5. Use a whole number.",
        ),
        (
            calling({"function": 5}),
            (
                "[1].choices[0].delta.tool_calls[0].function is 5."
                " Use an object with name and arguments."
            ),
        ),
        (calling({"id": 5}), "[1].choices[0].delta.tool_calls[0].id is 5. Use text."),
        (
            calling({"function": {"name": 5}}),
            "[1].choices[0].delta.tool_calls[0].function.name is 5. Use text.",
        ),
    ],
)
def test_a_chunk_of_the_wrong_shape_is_refused_with_its_place(spoiled, problem):
    with pytest.raises(TurnError) as caught:
        read_stream([chunk({"role": "assistant"}), spoiled, END])

    assert [found.message for found in caught.value.problems] == [problem]


def test_a_single_chunk_is_a_stream_too():
    turn = read_turn({"choices": [{"delta": {"tool_calls": [piece(0, "a", "t", "{}")]}}]})

    assert [call.id for call in turn.calls] == ["a"]
    assert [notice.code for notice in turn.notices] == ["no_end"]
