from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from toolflow.errors import TurnError, UsageError
from toolflow.formats import FORMATS, read_stream, read_turn, read_turns, write_turn
from toolflow.formats.base import Answer
from toolflow.formats.bedrock_writer import with_bytes
from toolflow.model import Call, Image, Outcome, Turn

PNG = Image("image/png", base64.b64encode(b"png").decode())


def use(call_id: str, name: str = "t", given: Any = None, **more: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": given or {}, **more}}


def message(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def response(*blocks: Any, ended: str = "tool_use") -> dict[str, Any]:
    return {"output": {"message": message(*blocks)}, "stopReason": ended, "usage": {"n": 1}}


def result(call_id: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call_id, "content": list(content), **more}}


def codes(turn: Turn) -> list[str]:
    return [notice.code for notice in turn.notices]


def test_a_message_is_read_with_its_calls_in_order():
    given = message({"text": "Let me see."}, use("a", given={"x": 1}), use("b", "u"))

    turn = read_turn(given)

    assert turn.format == "bedrock"
    assert turn.message is given
    assert turn.calls == (Call(0, "a", "t", {"x": 1}), Call(1, "b", "u"))


def test_a_response_is_cut_into_what_may_be_sent_back_and_the_rest():
    turn = read_turn(response(use("a")))

    assert turn.message == message(use("a"))
    assert turn.extra == {"output": {}, "stopReason": "tool_use", "usage": {"n": 1}}


def test_a_message_with_text_only_is_a_turn_without_calls():
    turn = read_turn(response({"text": "Kiwi"}, ended="end_turn"))

    assert (turn.format, turn.calls, turn.notices) == ("bedrock", (), ())


def test_calls_of_the_provider_and_their_results_stay_in_the_message():
    own = use("s", "interpreter", type="server_tool_use")
    turn = read_turn(message(own, result("s", {"json": {}}), use("a:1 ", "t")))

    assistant, _ = write_turn(turn, [Outcome("ok", "x")])

    assert [call.id for call in turn.calls] == ["a:1 "]
    assert assistant[0]["content"] == [own, result("s", {"json": {}}), use("a:1_")]


def test_bytes_of_boto3_are_read_as_the_text_of_the_wire_and_made_bytes_again():
    given = message(
        {"reasoningContent": {"redactedContent": b"secret"}},
        {"image": {"format": "png", "source": {"bytes": b"png"}}},
        use("a", given={"source": {"bytes": "mine"}, "redactedContent": "mine"}),
    )

    turn = read_turn(given)

    assert turn.message["content"][0] == {"reasoningContent": {"redactedContent": "c2VjcmV0"}}
    assert turn.message["content"][1]["image"]["source"] == {"bytes": PNG.data}
    json.dumps(turn.message)
    assert with_bytes([turn.message]) == [given]


def test_what_is_no_base64_is_told():
    with pytest.raises(UsageError, match="no base64"):
        with_bytes([message({"image": {"format": "png", "source": {"bytes": "é"}}})])


@pytest.mark.parametrize(
    ("ended", "calls", "code"),
    [
        ("tool_use", (), "no_calls"),
        ("max_tokens", (use("a"),), "cut_off"),
        ("model_context_window_exceeded", (use("a"),), "cut_off"),
        ("malformed_tool_use", (), "malformed_call"),
    ],
)
def test_odd_endings_are_told(ended, calls, code):
    assert codes(read_turn(response(*calls, ended=ended))) == [code]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"output": {"message": 5}}, "output.message is an object with the keys 'message'"),
        ({"output": 5}, "output.message is 5"),
        (message(5), r"content\[0\] is 5"),
        (message({"toolUse": 5}), r"content\[0\].toolUse is 5"),
        (message(use(5, [])), r"toolUse.toolUseId is 5[\s\S]*toolUse.name is an empty list"),  # type: ignore[arg-type]
        ({"role": "assistant", "content": "x"}, "content is 'x'"),
        ({"role": "user", "content": [{"text": "x"}]}, "role is 'user'"),
        ([5, message(use("a"))], r"\[0\] is 5"),
    ],
)
def test_a_message_of_the_wrong_shape_is_refused_with_every_problem(given, problem):
    with pytest.raises(TurnError, match=problem):
        read_turn(given, format="bedrock")


def test_results_stand_first_in_call_order_with_their_pictures_then_everything_else():
    turn = read_turn(message(use("a"), use("b"), use("c")))
    outcomes = [
        Outcome("ok", "A", images=(PNG,)),
        Outcome("failed", error="no", images=(PNG,)),
        Outcome("ok", images=(Image("image/tiff", "x"),)),
    ]

    _, (user,) = write_turn(turn, outcomes, texts=["go on", " "])

    picture = {"image": {"format": "png", "source": {"bytes": PNG.data}}}
    assert user == {
        "role": "user",
        "content": [
            result("a", {"text": "A"}, picture),
            result("b", {"text": "no"}, status="error"),
            result("c", {"text": "\n[A picture of type image/tiff cannot be shown.]"}),
            {"text": "Picture from the result of call b (t):"},
            picture,
            {"text": "go on"},
        ],
    }


def test_a_result_without_text_says_so_since_blank_text_is_refused():
    turn = read_turn(message(use("a"), use("b")))

    _, (user,) = write_turn(turn, [Outcome("ok", " "), Outcome("ok", images=(PNG,))])

    assert user["content"][0] == result("a", {"text": "(no output)"})
    assert [list(part) for part in user["content"][1]["toolResult"]["content"]] == [["image"]]


@pytest.mark.parametrize(
    ("call_id", "written"),
    [("tooluse_a-1", "tooluse_a-1"), ("f.r:0", "f.r:0"), ("a b", "a_b"), ("x" * 70, "x" * 64)],
)
def test_ids_and_names_are_written_as_the_service_takes_them(call_id, written):
    assistant, results = write_turn(
        read_turn(message(use(call_id, "fs.read"))), [Outcome("ok", "x")]
    )

    body = assistant[0]["content"][0]["toolUse"]
    assert (body["toolUseId"], body["name"]) == (written, "fs_read")
    assert results[0]["content"][0]["toolResult"]["toolUseId"] == written


def test_a_turn_made_by_hand_is_written_from_its_calls():
    turn = Turn("t", (Call(0, "a", "t", {"x": 1}),), "bedrock")

    assert write_turn(turn, [Outcome("ok", "x")])[0] == [message(use("a", given={"x": 1}))]


def test_a_conversation_is_walked_message_by_message_and_answer_by_answer():
    steps = FORMATS["bedrock"].steps
    assert steps is not None
    picture = {"image": {"format": "png", "source": {"bytes": b"png"}}}
    found = list(
        steps(
            [
                {"role": "user", "content": [{"text": "go"}]},
                message(use("a"), use("b"), use("c"), use("d")),
                {
                    "role": "user",
                    "content": [
                        result("b", {"text": "x"}, {"text": "y"}, picture),
                        result("a", {"text": "no"}, status="error"),
                        result("c", {"json": {"n": 1}}, status="success"),
                        result("d", {"json": 1}, {"text": "z"}),
                        {"text": "more"},
                    ],
                },
                response({"text": "done"}, ended="end_turn"),
            ]
        )
    )

    assert [type(step).__name__ for step in found] == ["Turn", *["Answer"] * 4, "Turn"]
    assert found[1:5] == [
        Answer("b", Outcome("ok", "x\ny", images=(PNG,)), 2),
        Answer("a", Outcome("failed", None, "no"), 2),
        Answer("c", Outcome("ok", {"n": 1}), 2),
        Answer("d", Outcome("ok", [{"json": 1}, {"text": "z"}]), 2),
    ]


# Streams


def piece(index: int, **delta: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"delta": delta, "contentBlockIndex": index}}


def begin(index: int, **start: Any) -> dict[str, Any]:
    return {"contentBlockStart": {"start": start, "contentBlockIndex": index}}


def stop(index: int) -> dict[str, Any]:
    return {"contentBlockStop": {"contentBlockIndex": index}}


START: dict[str, Any] = {"messageStart": {"role": "assistant"}}
END: dict[str, Any] = {"messageStop": {"stopReason": "tool_use"}}


def test_a_stream_is_read_as_the_response_that_would_have_come_at_once():
    turn = read_stream(
        [
            START,
            piece(0, reasoningContent={"text": "Let "}),
            piece(0, reasoningContent={"text": "me see."}),
            piece(0, reasoningContent={"signature": "sig"}),
            stop(0),
            piece(1, text="I "),
            piece(1, text="read."),
            stop(1),
            begin(2, toolUse={"toolUseId": "s", "name": "own", "type": "server_tool_use"}),
            piece(2, toolUse={"input": "{}"}),
            stop(2),
            begin(3, toolResult={"toolUseId": "s", "status": "success"}),
            piece(3, toolResult=[{"text": "a"}]),
            piece(3, toolResult=[{"text": "b"}, {"json": 1}]),
            stop(3),
            begin(4, toolUse={"toolUseId": "a", "name": "t"}),
            piece(4, toolUse={"input": '{"x"'}),
            piece(4, toolUse={"input": ": 1}"}),
            stop(4),
            begin(5, toolUse={"toolUseId": "b", "name": "t"}),
            stop(5),
            piece(6, text="As is said."),
            piece(6, citation={"title": "T"}),
            stop(6),
            piece(7, reasoningContent={"redactedContent": b"secret"}),
            begin(8, image={"format": "png"}),
            piece(8, image={"source": {"bytes": b"png"}}),
            END,
            {"metadata": {"usage": {"n": 1}, "metrics": {"latencyMs": 5}}},
        ]
    )

    assert turn.message == message(
        {"reasoningContent": {"reasoningText": {"text": "Let me see.", "signature": "sig"}}},
        {"text": "I read."},
        use("s", "own", type="server_tool_use"),
        result("s", {"text": "ab"}, {"json": 1}, status="success"),
        use("a", given={"x": 1}),
        use("b"),
        {"citationsContent": {"content": [{"text": "As is said."}], "citations": [{"title": "T"}]}},
        {"reasoningContent": {"redactedContent": "c2VjcmV0"}},
        {"image": {"format": "png", "source": {"bytes": PNG.data}}},
    )
    assert turn.calls == (Call(0, "a", "t", {"x": 1}), Call(1, "b", "t"))
    assert turn.notices == ()
    assert turn.extra == {
        "output": {},
        "stopReason": "tool_use",
        "usage": {"n": 1},
        "metrics": {"latencyMs": 5},
    }


def test_calls_of_which_the_arguments_never_came_or_are_cut_do_not_run():
    turn = read_stream(
        [
            START,
            begin(0, toolUse={"toolUseId": "a", "name": "t"}),
            piece(0, toolUse={"input": '{"x'}),
            begin(1, toolUse={"toolUseId": "s", "name": "own", "type": "server_tool_use"}),
            begin(2, toolUse={"toolUseId": "b", "name": "t"}),
        ]
    )

    assert [(call.id, call.raw, call.problem is None) for call in turn.calls] == [
        ("a", '{"x', False),
        ("b", "", False),
    ]
    assert codes(turn) == ["no_end"]


@pytest.mark.parametrize(
    "bad",
    [
        piece(0, toolUse={"input": 5}),
        piece(0, toolUse=5),
        piece(0, text="other"),
        {"contentBlockDelta": {"delta": 5, "contentBlockIndex": 0}},
        "torn",
    ],
)
def test_a_call_of_which_a_piece_could_not_be_read_does_not_run(bad):
    turn = read_stream(
        [
            START,
            begin(0, toolUse={"toolUseId": "a", "name": "t"}),
            piece(0, toolUse={"input": '{"x": "1'}),
            bad,
            piece(0, toolUse={"input": '2"}'}),
            stop(0),
            END,
        ],
        format="bedrock",
    )

    assert turn.calls[0].problem is not None
    assert turn.notices


def test_what_is_odd_about_a_stream_is_told():
    def told(*chunks: Any) -> list[str]:
        return codes(read_stream(chunks, format="bedrock"))

    call = (begin(0, toolUse={"toolUseId": "a", "name": "t"}), stop(0))
    assert told(*call, END) == ["no_start"]
    assert told(START, *call) == ["no_end"]
    assert told(START, *call, START, *call, END) == ["second_start"]
    failed = {"modelStreamErrorException": {"message": "busy"}}
    assert told(START, *call, failed) == ["stream_error", "no_end"]
    assert told(START, stop(9), piece(9, toolUse={}), begin(9), {}, {"x": {}}, *call, END) == [
        "unread_event"
    ]


def test_streams_one_after_another_are_turns_each():
    call = (begin(0, toolUse={"toolUseId": "a", "name": "t"}), stop(0))
    metadata = {"metadata": {"usage": {}}}

    turns = read_turns([START, *call, END, metadata, START, *call, END, metadata])

    assert [len(turn.calls) for turn in turns] == [1, 1]
    assert [codes(turn) for turn in turns] == [[], []]
