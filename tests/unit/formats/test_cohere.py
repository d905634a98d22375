from __future__ import annotations

import re
from typing import Any

import pytest

from toolflow.errors import TurnError
from toolflow.formats import FORMATS, detect, read_stream, read_turn, read_turns, write_turn
from toolflow.formats.base import Answer
from toolflow.model import Call, Image, Outcome, Turn

PNG = Image("image/png", "iVBORw0KGgo=")


def block(call_id: str, name: str = "t", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **more}


def message(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_plan": "I will", "tool_calls": list(blocks), **more}


def codes(turn: Turn) -> list[str]:
    return [notice.code for notice in turn.notices]


def test_a_message_is_read_with_its_calls_in_order():
    given = message(block("a", arguments='{"x": 1}'), block("b", "u", index=1))

    turn = read_turn(given)

    assert turn.format == "cohere"
    assert turn.message is given
    assert turn.calls == (Call(0, "a", "t", {"x": 1}), Call(1, "b", "u", extra={"index": 1}))
    assert write_turn(turn, [Outcome("ok", "x")] * 2)[0] == [given]


def test_a_response_is_cut_into_what_may_be_sent_back_and_the_rest():
    turn = read_turn(
        {"id": "r", "message": message(block("a")), "finish_reason": "TOOL_CALL", "usage": {"n": 1}}
    )

    assert (turn.message, turn.message_id) == (message(block("a")), "r")
    assert turn.extra == {"id": "r", "finish_reason": "TOOL_CALL", "usage": {"n": 1}}


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (message(), "cohere"),
        (
            {"message": {"content": [{"type": "text", "text": "x"}]}, "finish_reason": "COMPLETE"},
            "cohere",
        ),
        (
            {
                "role": "assistant",
                "tool_calls": [block("a")],
                "content": [{"type": "thinking", "thinking": "x"}],
            },
            "cohere",
        ),
        (
            [
                {"role": "assistant", "tool_calls": [block("a")]},
                {
                    "role": "tool",
                    "tool_call_id": "a",
                    "content": [{"type": "document", "document": {"data": {}}}],
                },
            ],
            "cohere",
        ),
        ({"role": "assistant", "tool_calls": [block("a")]}, "openai-chat"),
        ({"choices": [{"message": message()}]}, "openai-chat"),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}, "anthropic"),
    ],
)
def test_only_its_own_marks_make_a_message_one_of_cohere(data, name):
    assert detect(data) == name


@pytest.mark.parametrize("arguments", ["null", " null\n"])
def test_null_means_no_arguments_and_is_told(arguments):
    turn = read_turn(message(block("a", arguments=arguments), block("b", arguments="[null]")))

    assert [(dict(call.args), call.problem is None) for call in turn.calls] == [
        ({}, True),
        ({}, False),
    ]
    assert [(notice.code, notice.call) for notice in turn.notices] == [("null_arguments", "a")]


@pytest.mark.parametrize("arguments", ["", None, "{}"])
def test_empty_arguments_are_an_empty_object(arguments):
    turn = read_turn(message(block("a", arguments=arguments)))

    assert (dict(turn.calls[0].args), turn.calls[0].problem, turn.notices) == ({}, None, ())


@pytest.mark.parametrize(
    ("ended", "blocks", "found"),
    [("TOOL_CALL", (), ["no_calls"]), ("MAX_TOKENS", (block("a"),), ["cut_off"])],
)
def test_odd_endings_are_told(ended, blocks, found):
    assert codes(read_turn({"message": message(*blocks), "finish_reason": ended})) == found


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"message": 5}, "message is 5"),
        (message(5), r"tool_calls\[0\] is 5"),
        (message() | {"tool_calls": {}}, "tool_calls is an empty object"),
        (message(block(5, [])), r"tool_calls\[0\].function.name is an empty[\s\S]*\[0\].id is 5"),  # type: ignore[arg-type]
        ({"role": "user", "content": "x"}, "role is 'user'"),
        ([5, message()], r"\[0\] is 5"),
    ],
)
def test_a_message_of_the_wrong_shape_is_refused_with_every_problem(given, problem):
    with pytest.raises(TurnError) as caught:
        read_turn(given, format="cohere")

    assert re.search(problem, "\n".join(sorted(str(caught.value).splitlines())))


def test_results_are_messages_in_call_order_then_pictures_then_texts():
    turn = read_turn(message(block("a"), block("b", "u v"), block("a")))
    outcomes = [
        Outcome("ok", {"x": 1}),
        Outcome("failed", error="no", images=(PNG,)),
        Outcome("ok", images=(PNG,)),
    ]

    assistant, results = write_turn(turn, outcomes, texts=["go on"])

    assert [b["id"] for b in assistant[0]["tool_calls"]] == ["a", "b", "a_2"]
    assert assistant[0]["tool_calls"][1]["function"]["name"] == "u_v"
    assert results[:3] == [
        {"role": "tool", "tool_call_id": "a", "content": '{"x": 1}'},
        {"role": "tool", "tool_call_id": "b", "content": "no"},
        {
            "role": "tool",
            "tool_call_id": "a_2",
            "content": "The picture follows after the results.",
        },
    ]
    assert [part["type"] for part in results[3]["content"]] == ["text", "image_url"] * 2
    assert results[4] == {"role": "user", "content": "go on"}


def test_a_turn_made_by_hand_is_written_from_its_calls():
    turn = Turn("t", (Call(0, "a", "t", {"x": "é"}),), "cohere")

    (assistant,), _ = write_turn(turn, [Outcome("ok", "x")])

    assert assistant == {
        "role": "assistant",
        "tool_calls": [block("a", arguments='{"x": "é"}')],
    }


def test_a_conversation_is_walked_message_by_message_and_answer_by_answer():
    steps = FORMATS["cohere"].steps
    assert steps is not None

    def answer(name: str, content: Any) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": name, "content": content}

    texts = [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]
    document = {"type": "document", "document": {"id": "1", "data": {"n": 1}}}
    found = list(
        steps(
            [
                {"role": "user", "content": "go"},
                message(block("a"), block("b"), block("c"), block("d")),
                answer("a", "A"),
                answer("b", texts),
                answer("c", [document]),
                answer("d", [document, *texts]),
                answer("e", ["x"]),
                {"message": message(), "finish_reason": "COMPLETE"},
            ]
        )
    )

    assert found[1:-1] == [
        Answer("a", Outcome("ok", "A"), 2),
        Answer("b", Outcome("ok", "x\ny"), 3),
        Answer("c", Outcome("ok", {"n": 1}), 4),
        Answer("d", Outcome("ok", [document, *texts]), 5),
        Answer("e", Outcome("ok", ["x"]), 6),
    ]
    assert [type(found[0]), type(found[-1])] == [Turn, Turn]


def test_results_without_calls_and_calls_without_results_are_told():
    history = [
        message(block("a"), block("b")),
        {"role": "tool", "tool_call_id": "b", "content": "x"},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ]

    assert codes(read_turn(history)) == ["no_result", "result_without_call"]


# Streams


def event(kind: str, index: int | None = None, **told: Any) -> dict[str, Any]:
    at = {} if index is None else {"index": index}
    return {"type": kind, **at, "delta": {"message": told}}


def start(index: int | None, call_id: str, arguments: str = "") -> dict[str, Any]:
    return event("tool-call-start", index, tool_calls=block(call_id, arguments=arguments))


def piece(index: int | None, text: Any) -> dict[str, Any]:
    return event("tool-call-delta", index, tool_calls={"function": {"arguments": text}})


def end(index: int | None, kind: str = "tool-call-end") -> dict[str, Any]:
    return {"type": kind} if index is None else {"type": kind, "index": index}


START: dict[str, Any] = {
    "type": "message-start",
    "id": "r",
    "delta": {"message": {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}},
}
END: dict[str, Any] = {
    "type": "message-end",
    "delta": {"finish_reason": "TOOL_CALL", "usage": {"n": 1}},
}


def test_a_stream_is_read_as_the_response_that_would_have_come_at_once():
    turn = read_stream(
        [
            START,
            event("tool-plan-delta", tool_plan="I "),
            event("tool-plan-delta", tool_plan="will."),
            event("content-start", 0, content={"type": "thinking", "thinking": ""}),
            event("content-delta", 0, content={"thinking": "hm"}),
            end(0, "content-end"),
            event("content-start", 1, content={"type": "text", "text": ""}),
            event("content-delta", 1, content={"text": "H"}),
            event("content-delta", 1, content={"text": "i"}),
            event("citation-start", 0, citations={"start": 0}),
            end(0, "citation-end"),
            end(1, "content-end"),
            start(0, "a"),
            piece(0, '{"x"'),
            piece(0, ": 1}"),
            end(0),
            start(1, "b"),
            end(1),
            END,
        ]
    )

    assert turn.message == {
        "role": "assistant",
        "tool_plan": "I will.",
        "tool_calls": [block("a", arguments='{"x": 1}'), block("b", arguments="")],
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Hi"}],
        "citations": [{"start": 0}],
    }
    assert turn.calls == (Call(0, "a", "t", {"x": 1}), Call(1, "b", "t"))
    assert (turn.message_id, turn.notices) == ("r", ())
    assert turn.extra == {"id": "r", "finish_reason": "TOOL_CALL", "usage": {"n": 1}}


def test_events_without_an_index_follow_each_other():
    turn = read_stream(
        [
            START,
            start(None, "a"),
            piece(None, "{}"),
            end(None),
            start(None, "b", '{"y"'),
            piece(None, ":2}"),
            end(None),
            END,
        ]
    )

    assert turn.calls == (Call(0, "a", "t"), Call(1, "b", "t", {"y": 2}))


def test_what_the_start_of_a_stream_holds_already_is_kept():
    whole = {
        "type": "message-start",
        "delta": {
            "message": {"role": "assistant", "tool_calls": [block("a"), 5], "tool_plan": "I "}
        },
    }

    turn = read_stream([whole, event("tool-plan-delta", tool_plan="will."), END])

    assert turn.calls == (Call(0, "a", "t"),)
    assert turn.message["tool_plan"] == "I will."


def test_calls_of_which_the_arguments_never_came_or_are_cut_do_not_run():
    turn = read_stream([START, start(0, "a"), piece(0, '{"x'), start(1, "b")])

    assert [(call.id, call.raw, call.problem is None) for call in turn.calls] == [
        ("a", '{"x', False),
        ("b", "", False),
    ]
    assert codes(turn) == ["no_end"]


@pytest.mark.parametrize(
    "bad",
    [piece(0, 5), event("tool-call-delta", 0), {"type": "tool-call-delta", "index": 0}, "torn"],
)
def test_a_call_of_which_a_piece_could_not_be_read_does_not_run(bad):
    turn = read_stream(
        [START, start(0, "a"), piece(0, '{"x": "1'), bad, piece(0, '2"}'), end(0), END],
        format="cohere",
    )

    assert turn.calls[0].problem is not None
    assert turn.notices


def test_what_is_odd_about_a_stream_is_told():
    def told(*chunks: Any) -> list[str]:
        return codes(read_stream(chunks))

    call = (start(0, "a"), end(0))
    failed = {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "busy"}}
    assert told(*call, END) == ["no_start"]
    assert told(START, *call) == ["no_end"]
    assert told(START, *call, START, *call, END) == ["second_start"]
    assert told(START, *call, failed) == ["stream_error"]
    assert told(START, piece(9, ""), end(9), {"type": "new"}, {"type": 5}, *call, END) == [
        "unread_event"
    ]
    assert told(START, {"type": "debug", "prompt": "x"}, *call, END) == []


def test_streams_one_after_another_are_turns_each():
    turns = read_turns([START, start(0, "a"), end(0), END, START, start(0, "b"), end(0), END])

    assert [turn.calls[0].id for turn in turns] == ["a", "b"]
    assert [codes(turn) for turn in turns] == [[], []]
