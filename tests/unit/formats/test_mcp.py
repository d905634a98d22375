from __future__ import annotations

from typing import Any

import pytest

from toolflow.errors import TurnError
from toolflow.formats import FORMATS, read_turn, read_turns, write_turn
from toolflow.formats.base import Answer, Misfit
from toolflow.model import Call, Image, Outcome, Turn

PNG = Image("image/png", "iVBORw0KGgo=")


def request(call_id: Any, name: Any = "t", arguments: Any = None, **params: Any) -> dict[str, Any]:
    given = {"name": name, **({} if arguments is None else {"arguments": arguments}), **params}
    return {"jsonrpc": "2.0", "id": call_id, "method": "tools/call", "params": given}


def response(call_id: Any, text: str = "x", **more: Any) -> dict[str, Any]:
    result = {"content": [{"type": "text", "text": text}], **more}
    return {"jsonrpc": "2.0", "id": call_id, "result": result}


def codes(turn: Turn) -> list[str]:
    return [notice.code for notice in turn.notices]


def test_a_request_is_a_turn_of_one_call():
    given = request("a", arguments={"x": 1})

    turn = read_turn(given)

    assert (turn.format, turn.calls) == ("mcp", (Call(0, "a", "t", {"x": 1}),))
    assert turn.message is given


def test_a_list_of_requests_is_one_turn():
    batch = [request(1), request(2, "u"), request("c")]

    turn = read_turn(batch)

    assert [(call.id, call.tool) for call in turn.calls] == [("1", "t"), ("2", "u"), ("c", "t")]
    assert turn.message == batch
    assert write_turn(turn, [Outcome("ok", "x")] * 3) == (
        [batch],
        [response(1), response(2), response("c")],
    )


def test_a_number_and_a_text_are_different_ids_and_answered_as_they_came():
    turn = read_turn([request(1), request("1"), request(2)])

    assert [call.id for call in turn.calls] == ["1+", "1", "2"]
    assert [call.extra for call in turn.calls] == [{"id": 1}, {}, {"id": 2}]
    _, results = write_turn(turn, [Outcome("ok", "x")] * 3)
    assert [message["id"] for message in results] == [1, "1", 2]


def test_a_doubled_id_is_kept_and_written_apart():
    turn = read_turn([request(7), request(7), request("")])

    assistant, results = write_turn(turn, [Outcome("ok", "x")] * 3)

    assert [call.id for call in turn.calls] == ["7", "7", ""]
    assert turn.carries_ids
    assert [each["id"] for each in assistant[0]] == [7, "7_2", "call"]
    assert [message["id"] for message in results] == [7, "7_2", "call"]


def test_a_request_without_an_id_has_an_empty_one():
    without = request("a")
    del without["id"]

    turn = read_turn(without)

    assert (turn.calls[0].id, turn.carries_ids) == ("", True)


def test_progress_tokens_and_unknown_fields_are_kept():
    given = request(1, _meta={"progressToken": "p"}, task={"ttl": 1}) | {"trace": "z"}

    turn = read_turn(given)

    assert turn.calls[0].extra == {
        "trace": "z",
        "id": 1,
        "params": {"_meta": {"progressToken": "p"}, "task": {"ttl": 1}},
    }
    assert write_turn(turn, [Outcome("ok", "x")])[0] == [given]


def test_a_request_as_handlers_see_it_has_no_id_and_a_result_without_envelope():
    given = {"method": "tools/call", "params": {"name": "t"}}

    turn = read_turn(given)
    assistant, results = write_turn(turn, [Outcome("ok", "x")])

    assert (turn.calls[0].id, turn.carries_ids) == ("call-1", False)
    assert assistant == [given]
    assert results == [{"content": [{"type": "text", "text": "x"}]}]


def test_results_carry_text_pictures_errors_and_structured_content():
    turn = read_turn([request(n) for n in range(4)])
    outcomes = [
        Outcome("ok", {"k\ud83d": ["x\ud83dy", 1, None]}),
        Outcome("failed", {"half": 1}, "no"),
        Outcome("ok", images=(PNG, Image("image/tiff", "T"), Image("text/plain", "P"))),
        Outcome("ok", [1]),
    ]

    _, results = write_turn(turn, outcomes, texts=["has no place"])

    assert [message["result"] for message in results] == [
        {
            "content": [{"type": "text", "text": '{"k\ufffd": ["x\ufffdy", 1, null]}'}],
            "structuredContent": {"k\ufffd": ["x\ufffdy", 1, None]},
        },
        {"content": [{"type": "text", "text": 'no\n{"half": 1}'}], "isError": True},
        {
            "content": [
                {"type": "text", "text": "\n[A picture of type text/plain cannot be shown.]"},
                {"type": "image", "data": PNG.data, "mimeType": "image/png"},
                {"type": "image", "data": "T", "mimeType": "image/tiff"},
            ]
        },
        {"content": [{"type": "text", "text": "[1]"}]},
    ]


def test_arguments_and_names_that_a_server_refuses_are_written_valid():
    turn = read_turn([request(1, " t ", [1]), request(2, "")])

    assistant, _ = write_turn(turn, [Outcome("ok")] * 2)

    assert [call.raw for call in turn.calls] == ["[1]", None]
    assert [each["params"] for each in assistant[0]] == [
        {"name": "t", "arguments": {}},
        {"name": "unnamed"},
    ]


def test_a_turn_made_by_hand_is_written_from_its_calls():
    calls = (Call(0, "a", "t", {"x": 1}), Call(1, "b", "u"))

    one, _ = write_turn(Turn("t", calls[:1], "mcp"), [Outcome("ok")])
    two, _ = write_turn(Turn("t", calls, "mcp"), [Outcome("ok")] * 2)

    assert one == [request("a", arguments={"x": 1})]
    assert two == [[request("a", arguments={"x": 1}), request("b", "u", {})]]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (5, "the message is 5"),
        ({"method": "tools/call"}, "params is absent or null"),
        (request(1, 5), "params.name is 5"),
        (request([]), "id is an empty list. Use text or a whole number"),
        (request(1.5), "id is 1.5"),
        (request(True), "id is True"),
        (request(2**70), "id is 1180591620717411303424"),
        ([request(1), 5], r"\[1\] is 5"),
        ([[request(1), {"method": "tools/call", "params": 5}]], r"\[0\]\[1\].params is 5"),
    ],
)
def test_a_message_of_the_wrong_shape_is_refused(given, problem):
    with pytest.raises(TurnError, match=problem):
        read_turn(given, format="mcp")


def walk(*items: Any) -> list[Turn | Answer]:
    steps = FORMATS["mcp"].steps
    assert steps is not None
    return list(steps(items))


def test_a_turn_is_what_was_asked_for_up_to_the_next_response():
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    found = walk(
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}},
        request(1),
        progress,
        request(2),
        response(2, "two"),
        request(3),
        response(1, "one"),
        progress,
        response(3, "three"),
        response(9, "nine"),
    )

    told = [
        [call.id for call in step.calls]
        if isinstance(step, Turn)
        else (step.call_id, step.outcome.value, step.place)
        for step in found
    ]
    assert told == [
        ["1", "2"],
        ("2", "two", 4),
        ["3"],
        ("1", "one", 6),
        ("3", "three", 8),
        ("9", "nine", 9),
    ]


def test_batches_are_turns_each_and_answered_by_the_kind_of_the_id():
    found = walk(
        [request(1), request("1")],
        [request(2)],
        [response("1", "text"), response(1, "number")],
        response(1.0, "again"),
    )

    assert [len(step.calls) for step in found if isinstance(step, Turn)] == [2, 1]
    answers = [step for step in found if isinstance(step, Answer)]
    assert [(step.call_id, step.outcome.value) for step in answers] == [
        ("1", "text"),
        ("1+", "number"),
        ("1+", "again"),
    ]


def test_unanswered_calls_of_a_list_are_told():
    first, second = read_turns([request(1), request(2), response(1), request(3)])

    assert [(notice.code, notice.call) for notice in first.notices] == [("no_result", "2")]
    assert second.notices == ()


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (response(1, "x"), Outcome("ok", "x")),
        (response(1, "no", isError=True), Outcome("failed", None, "no")),
        (response(1, "no", is_error=True), Outcome("failed", None, "no")),
        (response(1, "{}", structuredContent={"n": 1}), Outcome("ok", {"n": 1})),
        (
            {
                "id": 1,
                "result": {"content": [{"type": "image", "data": "x", "mimeType": "image/png"}]},
            },
            Outcome("ok", "", images=(Image("image/png", "x"),)),
        ),
        (
            {"id": 1, "result": {"content": [{"type": "resource_link", "uri": "u"}]}},
            Outcome("ok", [{"type": "resource_link", "uri": "u"}]),
        ),
        ({"id": 1, "error": {"code": -32602, "message": "bad"}}, Outcome("failed", None, "bad")),
        ({"id": 1, "error": 5}, Outcome("failed", 5, "The call failed without a message.")),
        ({"id": 1, "result": 5}, Outcome("ok", 5)),
    ],
)
def test_what_a_response_tells(given, outcome):
    _, step = walk(request(1), given)

    assert step == Answer("1", outcome, 1)


def test_a_list_that_cannot_be_read_is_refused_at_its_place():
    with pytest.raises(Misfit, match=r"^\[1\] is 5"):
        walk(request(1), 5)
