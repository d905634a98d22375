from __future__ import annotations

from typing import Any

import pytest

from toolflow.formats import FORMATS, read_document, read_stream, read_turn, read_turns, write_turn
from toolflow.formats.base import Answer, Misfit
from toolflow.model import Call, Image, Outcome, Turn

PNG = Image("image/png", "iVBORw0KGgo=")


def start(message_id: str = "m1", **more: Any) -> dict[str, Any]:
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": 9, "output_tokens": 1},
        **more,
    }
    return {"type": "message_start", "message": message}


def begin(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def use(index: int, call_id: str, kind: str = "tool_use", **given: Any) -> dict[str, Any]:
    return begin(index, type=kind, id=call_id, name="t", input=given)


def delta(index: int, kind: str, **given: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **given}}


def arguments(index: int, text: str) -> dict[str, Any]:
    return delta(index, "input_json_delta", partial_json=text)


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


END = (
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 5, "input_tokens": None},
    },
    {"type": "message_stop"},
)


def codes(turn: Turn) -> list[str]:
    return [notice.code for notice in turn.notices]


def test_a_stream_is_read_as_the_response_that_would_have_come_at_once():
    turn = read_stream(
        [
            start(),
            begin(0, type="thinking", thinking="", signature=""),
            delta(0, "thinking_delta", thinking="Let me"),
            delta(0, "thinking_delta", thinking=" see."),
            delta(0, "signature_delta", signature="sig"),
            stop(0),
            {"type": "ping"},
            begin(1, type="text", text="", citations=[]),
            delta(1, "text_delta", text="I "),
            delta(1, "citations_delta", citation={"n": 1}),
            delta(1, "citations_delta", citation={"n": 2}),
            delta(1, "text_delta", text="read."),
            stop(1),
            use(2, "a"),
            arguments(2, ""),
            arguments(2, '{"pa'),
            arguments(2, 'th": "x"}'),
            stop(2),
            use(3, "b"),
            arguments(3, ""),
            stop(3),
            *END,
        ]
    )

    assert turn.message == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "sig"},
            {"type": "text", "text": "I read.", "citations": [{"n": 1}, {"n": 2}]},
            {"type": "tool_use", "id": "a", "name": "t", "input": {"path": "x"}},
            {"type": "tool_use", "id": "b", "name": "t", "input": {}},
        ],
    }
    assert turn.calls == (Call(0, "a", "t", {"path": "x"}), Call(1, "b", "t"))
    assert (turn.message_id, turn.notices) == ("m1", ())
    assert turn.extra["stop_reason"] == "tool_use"
    assert turn.extra["usage"] == {"input_tokens": 9, "output_tokens": 5}


def test_calls_of_the_provider_in_a_stream_are_kept_and_are_no_calls():
    own = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    turn = read_stream(
        [
            start(),
            use(0, "s", "server_tool_use"),
            arguments(0, '{"q": 1}'),
            stop(0),
            begin(1, **own),
            stop(1),
            use(2, "a"),
            stop(2),
            *END,
        ]
    )

    assert [call.id for call in turn.calls] == ["a"]
    assert turn.message["content"][0]["input"] == {"q": 1}
    assert turn.message["content"][1] == own


def test_input_that_comes_whole_with_its_block_is_taken():
    turn = read_stream([start(), use(0, "a", x=1), stop(0), *END])

    assert turn.calls == (Call(0, "a", "t", {"x": 1}),)


def test_container_and_context_of_the_end_are_kept():
    ended = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "container": {"id": "c"}},
        "context_management": {"applied_edits": []},
        "usage": {},
    }
    turn = read_stream([start(), ended, {"type": "message_stop"}])

    assert turn.extra["container"] == {"id": "c"}
    assert turn.extra["context_management"] == {"applied_edits": []}


@pytest.mark.parametrize("pieces", [(), ("",), ("  ",)])
def test_a_call_whose_arguments_never_came_does_not_run_with_none(pieces):
    turn = read_stream([start(), use(0, "a"), *(arguments(0, piece) for piece in pieces)])

    (call,) = turn.calls
    assert (call.raw, call.problem) == (
        "",
        "The message was cut off before the arguments of this call came. Give one JSON object.",
    )
    assert codes(turn) == ["no_end"]


def test_a_call_cut_within_its_arguments_is_a_problem_and_one_that_is_whole_is_none():
    cut = read_stream([start(), use(0, "a"), arguments(0, '{"x": "y')])
    whole = read_stream([start(), use(0, "a"), arguments(0, '{"x": "y"}')])

    assert (cut.calls[0].raw, cut.calls[0].problem is None) == ('{"x": "y', False)
    assert (whole.calls[0].args, whole.calls[0].problem) == ({"x": "y"}, None)
    assert codes(cut) == codes(whole) == ["no_end"]


def test_a_cut_call_is_sent_back_with_an_object_and_answered():
    turn = read_stream([start(), use(0, "a"), arguments(0, '{"x": "y')])

    assistant, results = write_turn(turn, [Outcome("invalid_arguments", error="no")])

    assert assistant[0]["content"][0]["input"] == {}
    assert results[0]["content"][0]["tool_use_id"] == "a"


def test_a_second_start_before_the_end_is_one_turn_with_what_both_hold():
    turn = read_stream(
        [
            start("first"),
            use(0, "a"),
            arguments(0, '{"x": 1}'),
            stop(0),
            use(1, "b"),
            start("second"),
            use(0, "c"),
            stop(0),
            *END,
        ]
    )

    assert [(call.id, call.problem is None) for call in turn.calls] == [
        ("a", True),
        ("b", False),
        ("c", True),
    ]
    assert turn.message_id == "second"
    (notice,) = turn.notices
    assert notice.message == (
        "A second message ('second') begins in the stream before the first ('first') ended."
        " What both hold is read as one."
    )


def test_a_start_after_the_end_is_the_next_turn():
    chunks = [start("1"), use(0, "a"), stop(0), *END, start("2"), use(0, "b"), stop(0), *END]

    turns = read_turns(chunks)

    assert [(turn.message_id, turn.calls[0].id) for turn in turns] == [("1", "a"), ("2", "b")]
    assert [codes(turn) for turn in turns] == [[], []]
    last = read_stream(chunks)
    assert (last.calls[0].id, codes(last)) == ("b", ["more_messages"])


def test_an_error_of_the_provider_and_a_missing_end_are_told():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Over\nloaded"}}

    turn = read_stream([start(), use(0, "a"), error])

    assert codes(turn) == ["stream_error", "no_end"]
    assert turn.notices[0].message == (
        r"The provider broke the stream off with an error: 'overloaded_error', 'Over\nloaded'."
    )


def test_a_stream_without_its_start_is_read_and_told():
    turn = read_stream([use(0, "a"), stop(0), *END])

    assert turn.calls == (Call(0, "a", "t"),)
    assert codes(turn) == ["no_start"]


def test_events_that_have_no_place_are_left_out_and_told_once():
    turn = read_stream(
        [
            start(),
            delta(7, "text_delta", text="lost"),
            stop(7),
            {"type": "new_event"},
            {"type": []},
            {"type": "content_block_start", "index": "0", "content_block": {}},
            {"type": "message_start", "message": None},
            {"type": "message_delta", "delta": None},
            *END,
        ]
    )

    assert codes(turn) == ["unread_event", "no_calls"]
    assert turn.notices[0].message == (
        "7 events of the stream are left out (the first is event 2): they are of no known use here"
        " ('', 'content_block_delta', 'content_block_start', 'content_block_stop',"
        " 'message_delta')."
    )


@pytest.mark.parametrize(
    "bad",
    [
        arguments(0, 5),  # type: ignore[arg-type]
        delta(0, "new_delta", partial_json="1"),
        {"type": "content_block_delta", "index": 0, "delta": None},
        '{"type": "content_block_de',
    ],
)
def test_a_call_of_which_a_piece_could_not_be_read_does_not_run(bad):
    turn = read_stream(
        [start(), use(0, "a"), arguments(0, '{"x": "1'), bad, arguments(0, '2"}'), stop(0), *END],
        format="anthropic",
    )

    assert turn.calls[0].problem is not None
    assert dict(turn.calls[0].args) == {}
    assert turn.notices


def test_a_block_that_begins_twice_leaves_the_first_one_open():
    turn = read_stream([start(), use(0, "a"), use(0, "b"), stop(0), *END])

    assert [(call.id, call.problem is None) for call in turn.calls] == [("a", False), ("b", True)]


def test_events_of_the_helpers_of_the_sdk_tell_nothing_new():
    helpers = [
        {"type": "text", "text": "x", "snapshot": "x"},
        {"type": "input_json", "partial_json": "{}", "snapshot": {}},
    ]

    turn = read_stream([start(), use(0, "a"), *helpers, stop(0), *END])

    assert (turn.calls, turn.notices) == ((Call(0, "a", "t"),), ())


def test_server_sent_events_are_read_as_their_data():
    text = (
        'event: message_start\ndata: {"type":"message_start","message":{"role":"assistant",'
        '"content":[]}}\n\nevent: content_block_start\ndata: {"type":"content_block_start",'
        '"index":0,"content_block":{"type":"tool_use","id":"a","name":"t","input":{}}}\n\n'
        'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n'
        'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    )

    (turn,) = read_document(text, source="stream.sse")

    assert turn == read_stream(text.splitlines())
    assert (turn.calls, turn.notices) == ((Call(0, "a", "t"),), ())


def test_calls_of_code_that_has_ended_are_told_and_those_of_code_that_waits_are_not():
    def called(call_id: str, tool_id: str) -> dict[str, Any]:
        caller = {"type": "code_execution_20250825", "tool_id": tool_id}
        return {"type": "tool_use", "id": call_id, "name": "t", "input": {}, "caller": caller}

    done = {"type": "code_execution_tool_result", "tool_use_id": "s1", "content": {}}
    content = [called("a", "s1"), done, called("b", "s2")]

    turn = read_turn({"role": "assistant", "content": content})

    assert [(notice.code, notice.call) for notice in turn.notices] == [("answered_call", "a")]
    assert [call.id for call in turn.calls] == ["a", "b"]


def walk(*items: Any) -> list[Turn | Answer]:
    steps = FORMATS["anthropic"].steps
    assert steps is not None
    return list(steps(items))


def test_a_conversation_is_walked_message_by_message_and_answer_by_answer():
    calls = [{"type": "tool_use", "id": name, "name": "t", "input": {}} for name in "abcde"]
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "x"},
    }
    linked = {"type": "image", "source": {"type": "url", "url": "u"}}

    def result(name: str, content: Any, **more: Any) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": name, "content": content, **more}

    text = [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]
    found = walk(
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": calls},
        {
            "role": "user",
            "content": [
                result("b", "B"),
                result("a", "no", is_error=True),
                result("c", [*text, picture]),
                result("d", [*text, linked]),
                {"type": "text", "text": "go on"},
                result("e", None, is_error=True),
            ],
        },
        {"role": "assistant", "content": "done"},
    )

    assert [step.calls[0].id if step.calls else "" for step in found if isinstance(step, Turn)] == [
        "a",
        "",
    ]
    assert found[1:-1] == [
        Answer("b", Outcome("ok", "B"), 2),
        Answer("a", Outcome("failed", None, "no"), 2),
        Answer("c", Outcome("ok", "x\ny", images=(Image("image/png", "x"),)), 2),
        Answer("d", Outcome("ok", [*text, linked]), 2),
        Answer("e", Outcome("failed", None, "The call failed without a message."), 2),
    ]


@pytest.mark.parametrize("bad", [5, {"role": "assistant", "content": [5]}])
def test_a_conversation_that_cannot_be_read_is_refused_at_its_place(bad):
    with pytest.raises(Misfit, match=r"^\[1\]"):
        walk({"role": "user", "content": "x"}, bad)
