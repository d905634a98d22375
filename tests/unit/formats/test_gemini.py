from __future__ import annotations

from typing import Any

import pytest

from toolflow.errors import TurnError
from toolflow.formats import FORMATS, read_stream, read_turn, read_turns, write_turn
from toolflow.formats.base import Answer
from toolflow.formats.gemini_args import UnfitError, assembled
from toolflow.model import Call, Image, Outcome, Turn

PNG = Image("image/png", "iVBORw0KGgo=")
GIF = Image("image/gif", "R0lGOA==")


def call(name: str = "t", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **more}}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def response(*parts: Any, ended: str | None = "STOP", **more: Any) -> dict[str, Any]:
    candidate = {"content": model(*parts), **({"finishReason": ended} if ended else {})}
    return {"candidates": [candidate], **more}


def answer(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": value, **more}}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def walk(*items: Any) -> list[Turn | Answer]:
    steps = FORMATS["gemini"].steps
    assert steps is not None
    return list(steps(items))


def test_a_content_is_read_with_its_calls_in_order_and_ids_from_their_place():
    given = model({"text": "Let me see."}, call("a", args={"x": 1}), call("b"))

    turn = read_turn(given)

    assert (turn.format, turn.carries_ids) == ("gemini", False)
    assert turn.message is given
    assert turn.calls == (Call(0, "call-1", "a", {"x": 1}), Call(1, "call-2", "b"))


def test_given_ids_are_kept_and_calls_without_one_get_one_that_nobody_has():
    turn = read_turn(model(call("a", id="call-2"), call("b"), call("c", id="")))

    assert turn.carries_ids
    assert [c.id for c in turn.calls] == ["call-2", "call-2+", "call-3"]


def test_both_spellings_are_read_and_written_back_as_they_came():
    given = {"role": "model", "parts": [{"function_call": {"name": "a"}, "thought_signature": "s"}]}

    turn = read_turn(given)
    assistant, results = write_turn(turn, [Outcome("ok", "x", images=(PNG,))])

    assert turn.calls == (Call(0, "call-1", "a", extra={"thought_signature": "s"}),)
    assert assistant == [given]
    assert results == [
        user({"function_response": {"name": "a", "response": {"output": "x"}}}),
        user(
            {"text": "Picture from the result of call call-1 (a):"},
            {"inline_data": {"mime_type": "image/png", "data": PNG.data}},
        ),
    ]


def test_a_response_is_cut_into_what_may_be_sent_back_and_the_rest():
    turn = read_turn(response(call(), responseId="r1", usageMetadata={"n": 1}, modelVersion="m"))

    assert (turn.message, turn.message_id) == (model(call()), "r1")
    assert turn.extra == {
        "candidates": [{"finishReason": "STOP"}],
        "responseId": "r1",
        "usageMetadata": {"n": 1},
        "modelVersion": "m",
    }


def test_content_of_a_response_without_a_role_gets_the_one_that_may_be_sent_back():
    turn = read_turn({"candidates": [{"content": {"parts": [call()]}, "finishReason": "STOP"}]})

    assert turn.message == model(call())
    assert read_turn(turn.message).calls == turn.calls


def test_signatures_and_unknown_fields_are_kept():
    part = {**call("a", args={}, new=1), "thoughtSignature": "sig"}

    turn = read_turn(model(part))

    assert turn.calls[0].extra == {"thoughtSignature": "sig", "functionCall": {"new": 1}}
    assert write_turn(turn, [Outcome("ok")])[0] == [model(part)]


def test_what_the_provider_runs_itself_stays_in_the_message_and_is_no_call():
    own = [
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"toolCall": {"id": "s", "toolType": "GOOGLE_SEARCH"}},
    ]

    turn = read_turn(model(*own, call("a")))

    assert [c.tool for c in turn.calls] == ["a"]
    assert turn.message["parts"][:3] == own


@pytest.mark.parametrize("ended", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
def test_a_response_that_lost_a_call_is_told_with_the_words_of_the_provider(ended):
    given = {"candidates": [{"finishReason": ended, "finishMessage": "bad\ncall"}]}

    (notice,) = read_turn(given).notices

    assert notice.code == "malformed_call"
    assert r"'bad\ncall'" in notice.message


def test_a_response_cut_off_at_its_token_limit_and_one_of_several_candidates_are_told():
    given = response(call(), ended="MAX_TOKENS")
    given["candidates"].append({"content": model({"text": "other"})})

    turn = read_turn(given)

    assert [notice.code for notice in turn.notices] == ["more_choices", "cut_off"]
    assert turn.extra["candidates"][1] == {"content": model({"text": "other"})}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (response() | {"candidates": []}, "candidates is an empty list"),
        (response() | {"candidates": [5]}, r"candidates\[0\] is 5"),
        (
            {"candidates": [{"content": [], "finishReason": "STOP"}]},
            r"candidates\[0\].content is an empty",
        ),
        (model(5), r"parts\[0\] is 5"),
        ({"role": "model", "parts": {}}, "parts is an empty object"),
        (model({"functionCall": 5}), r"parts\[0\].functionCall is 5"),
        (model(call(5), call(id=[])), r"functionCall.id is an empty list[\s\S]*name is 5"),
        ([user({"text": "x"}), 5, model(call())], r"\[1\] is 5"),
        (user(answer("a", {})), "role is 'user'"),
    ],
)
def test_a_message_of_the_wrong_shape_is_refused_with_every_problem(given, problem):
    with pytest.raises(TurnError, match=problem):
        read_turn(given, format="gemini")


def test_a_blocked_prompt_is_recognised_and_refused():
    with pytest.raises(TurnError, match="a prompt that was blocked has none"):
        read_turn({"candidates": [], "promptFeedback": {"blockReason": "SAFETY"}})


def test_a_request_body_is_read_like_its_list():
    body = {"contents": [user({"text": "x"}), model(call())], "tools": []}

    assert [c.tool for c in read_turn(body).calls] == ["t"]
    with pytest.raises(TurnError, match=r"contents\[0\]|\[0\] is 5"):
        read_turn({"contents": [5, model(call())]})


def test_a_result_is_written_under_output_and_a_failure_under_error():
    turn = read_turn(model(call("a", id="1"), call("b", id="2"), call("c", id="3")))
    outcomes = [
        Outcome("ok", {"n": 12345678901234567890}),
        Outcome("denied", error="no"),
        Outcome("ok"),
    ]

    _, (content,) = write_turn(turn, outcomes)

    bodies = [part["functionResponse"] for part in content["parts"]]
    assert bodies == [
        {"id": "1", "name": "a", "response": {"output": '{"n": 12345678901234567890}'}},
        {"id": "2", "name": "b", "response": {"error": "no"}},
        {"id": "3", "name": "c", "response": {"output": ""}},
    ]


def test_texts_and_pictures_follow_in_a_content_of_their_own():
    turn = read_turn(model(call("a")))

    _, results = write_turn(turn, [Outcome("ok", images=(PNG, GIF))], texts=["hi\ud83d"])

    assert results[0]["parts"][0]["functionResponse"]["response"] == {
        "output": "\n[A picture of type image/gif cannot be shown.]"
    }
    assert [list(part) for part in results[1]["parts"]] == [["text"], ["inlineData"], ["text"]]
    assert results[1]["parts"][2] == {"text": "hi\ufffd"}


def test_a_picture_alone_is_announced_in_its_answer():
    _, results = write_turn(read_turn(model(call("a"))), [Outcome("ok", images=(PNG,))])

    (part,) = results[0]["parts"]
    assert part["functionResponse"]["response"] == {
        "output": "The picture follows after the results."
    }


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("ok_1", "ok_1"),
        ("a.b:c-d", "a.b:c-d"),
        ("1a", "_1a"),
        ("", "unnamed"),
        ("é b", "__b"),
        ("x" * 200, "x" * 128),
    ],
)
def test_names_are_written_as_the_provider_takes_them_on_both_sides(name, written):
    assistant, results = write_turn(read_turn(model(call(name, args={}))), [Outcome("ok")])

    assert assistant[0]["parts"][0]["functionCall"]["name"] == written
    assert results[0]["parts"][0]["functionResponse"]["name"] == written


def test_arguments_that_are_no_object_are_sent_back_as_an_empty_one():
    turn = read_turn(model(call("a", args=[1]), call("b", args={"x": 1})))

    assistant, _ = write_turn(turn, [Outcome("invalid_arguments", error="no"), Outcome("ok")])

    assert turn.calls[0].raw == "[1]"
    assert assistant == [model(call("a", args={}), call("b", args={"x": 1}))]


def test_a_turn_made_by_hand_is_written_with_or_without_ids():
    calls = (Call(0, "a", "t", {"x": 1}),)

    with_ids, results = write_turn(Turn("t", calls, "gemini"), [Outcome("ok", "y")])
    without, _ = write_turn(Turn("t", calls, "gemini", carries_ids=False), [Outcome("ok", "y")])

    assert with_ids == [model({"functionCall": {"args": {"x": 1}, "id": "a", "name": "t"}})]
    assert results[0]["parts"][0]["functionResponse"]["id"] == "a"
    assert without == [model({"functionCall": {"args": {"x": 1}, "name": "t"}})]


def test_an_empty_turn_has_no_results():
    assert write_turn(read_turn(model({"text": "Hi"})), [])[1] == []


# Conversations


def test_a_conversation_is_walked_message_by_message_and_answer_by_answer():
    found = walk(
        user({"text": "x"}),
        model(call("a", id="1"), call("b", id="2")),
        user(answer("b", {"output": "B"}, id="2"), answer("a", {"error": "A"}, id="1")),
        model({"text": "done"}),
    )

    assert [type(step).__name__ for step in found] == ["Turn", "Answer", "Answer", "Turn"]
    assert found[1:3] == [
        Answer("2", Outcome("ok", "B"), 2),
        Answer("1", Outcome("failed", None, "A"), 2),
    ]


def test_answers_without_ids_belong_to_the_calls_of_their_name_in_order():
    found = walk(
        model(call("a"), call("b"), call("a")),
        {"role": "function", "parts": [answer("a", {"output": 1}), answer("a", {"output": 2})]},
        user(answer("b", {"output": 3}), answer("a", {"output": 4}), answer("z", {})),
    )

    answers = [step for step in found if isinstance(step, Answer)]
    assert [(step.call_id, step.outcome.value) for step in answers] == [
        ("call-1", 1),
        ("call-3", 2),
        ("call-2", 3),
        ("a", 4),
        ("z", {}),
    ]


def test_an_answer_with_an_id_leaves_the_others_of_its_name_to_those_without():
    found = walk(
        model(call("a", id="1"), call("a", id="2")),
        user(answer("a", {"output": "one"}, id="1"), answer("a", {"output": "two"})),
    )

    assert [step.call_id for step in found if isinstance(step, Answer)] == ["1", "2"]


def test_answers_of_a_turn_are_not_given_to_the_turn_before():
    (first, second) = read_turns(
        [model(call("a")), user(answer("a", {})), model(call("a")), user({"text": "well?"})]
    )

    assert first.notices == ()
    assert [notice.code for notice in second.notices] == ["no_result"]


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        ({"output": {"x": 1}}, Outcome("ok", {"x": 1})),
        ({"result": "x"}, Outcome("ok", "x")),
        ({"return_value": "x"}, Outcome("ok", {"return_value": "x"})),
        ({"output": "x", "error": "y"}, Outcome("ok", {"output": "x", "error": "y"})),
        ({"error": "x"}, Outcome("failed", None, "x")),
        (
            {"error": {"code": 1}},
            Outcome("failed", {"code": 1}, "The call failed without a message."),
        ),
        (None, Outcome("ok", "")),
    ],
)
def test_what_a_response_tells(value, outcome):
    _, step = walk(model(call("a")), user(answer("a", value)))

    assert isinstance(step, Answer)
    assert step.outcome == outcome


def test_pictures_inside_a_response_are_its_own():
    picture = {"inlineData": {"mimeType": "image/png", "data": PNG.data}}
    _, step = walk(model(call("a")), user(answer("a", {"output": "x"}, parts=[picture, {}, 5])))

    assert isinstance(step, Answer)
    assert step.outcome == Outcome("ok", "x", images=(PNG,))


# Streams


def test_texts_that_follow_each_other_are_one_text_unless_a_signature_belongs_to_one():
    turn = read_stream(
        [
            response({"text": "a", "thought": True}, ended=None),
            response({"text": "b", "thought": True}, ended=None),
            response({"text": "c"}, {"text": "d"}, ended=None),
            response({"text": "e", "thoughtSignature": "s"}, {"text": "f"}, {"text": ""}),
        ]
    )

    assert turn.message == model(
        {"text": "ab", "thought": True},
        {"text": "cd"},
        {"text": "e", "thoughtSignature": "s"},
        {"text": "f"},
    )


def test_whole_calls_of_many_chunks_are_the_calls_of_one_turn():
    chunks = [
        response(call("a", args={"x": 1}), ended=None, responseId="r"),
        response(call("b"), ended=None, responseId="r"),
        response(call("a", args={"x": 2}), responseId="r", usageMetadata={"n": 2}),
    ]

    turn = read_stream(chunks)

    assert [(c.tool, dict(c.args)) for c in turn.calls] == [
        ("a", {"x": 1}),
        ("b", {}),
        ("a", {"x": 2}),
    ]
    assert (turn.message_id, turn.extra["usageMetadata"], turn.notices) == ("r", {"n": 2}, ())


def piece(path: str, *, more: bool = True, call_more: bool = True, **value: Any) -> dict[str, Any]:
    arg = {"jsonPath": path, **value, **({"willContinue": True} if more else {})}
    going = {"willContinue": True} if call_more else {}
    return {"functionCall": {"partialArgs": [arg], **going}}


def streamed(*parts: Any, ended: bool = True) -> Turn:
    chunks = [response(part, ended=None) for part in parts]
    if ended:
        chunks.append(response({"text": ""}))
    return read_stream(chunks)


def test_a_call_whose_end_never_comes_does_not_run_even_if_the_response_ends():
    turn = streamed(
        call("t", willContinue=True), piece("$.x", stringValue="a"), piece("$.x", more=False)
    )

    (cut,) = turn.calls
    assert (dict(cut.args), cut.problem) == (
        {},
        "The arguments are pieces of a stream. Give all of its chunks.",
    )
    assert "partialArgs" in turn.message["parts"][0]["functionCall"]
    assert write_turn(turn, [Outcome("ok")])[0] == [model(call("t", args={}))]


def test_a_second_call_leaves_an_open_first_one_cut():
    turn = streamed(
        call("a", willContinue=True), piece("$.x", numberValue=1), call("b", args={"y": 1})
    )

    assert [(c.tool, c.problem is None) for c in turn.calls] == [("a", False), ("b", True)]


def test_a_call_with_an_id_goes_on_under_its_id():
    turn = streamed(
        call("a", id="1", willContinue=True),
        {
            "functionCall": {
                "name": "a",
                "id": "1",
                "partialArgs": [{"jsonPath": "$.x", "boolValue": True}],
            }
        },
    )

    assert turn.calls == (Call(0, "1", "a", {"x": True}),)


def test_pieces_that_do_not_fit_together_are_a_problem_of_their_call():
    turn = streamed(
        call("a", willContinue=True),
        piece("$.x[3]", more=False, call_more=False, numberValue=1),
        call("b"),
    )

    broken, whole = turn.calls
    assert "Piece 1 of the arguments has the path '$.x[3]'" in (broken.problem or "")
    assert whole.problem is None


def test_a_stream_without_its_end_and_one_broken_off_by_the_provider_are_told():
    torn = read_stream([response(call(), ended=None), response({"text": "x"}, ended=None)])
    broken = read_stream(
        [
            response(call(), ended=None),
            {"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}},
        ]
    )

    assert [notice.code for notice in torn.notices] == ["no_end"]
    assert [notice.code for notice in broken.notices] == ["stream_error", "no_end"]
    assert "'UNAVAILABLE', 'busy'" in broken.notices[0].message


def test_one_response_without_an_ending_is_read_whole():
    assert read_turn(response(call(), ended=None)).notices == ()


def test_streams_of_several_responses_are_turns_each():
    chunks = [
        response(call("a"), ended=None, responseId="1"),
        response(call("b"), responseId="1"),
        response(call("c"), ended=None, responseId="2"),
        response({"text": "x"}, responseId="2"),
    ]

    assert [[c.tool for c in turn.calls] for turn in read_turns(chunks)] == [["a", "b"], ["c"]]
    without_ids = [{k: v for k, v in chunk.items() if k != "responseId"} for chunk in chunks]
    assert [[c.tool for c in turn.calls] for turn in read_turns(without_ids)] == [["a", "b"], ["c"]]
    last = read_stream(chunks)
    assert [notice.code for notice in last.notices] == ["more_messages"]


def test_usage_after_the_end_belongs_to_the_response_before():
    chunks = [response(call("a"), ended=None), response(), {"usageMetadata": {"n": 1}}]
    chunks[1]["candidates"][0]["content"] = {"role": "model"}

    (turn,) = read_turns(chunks)

    assert turn.extra["usageMetadata"] == {"n": 1}
    assert turn.notices == ()


def test_candidates_of_a_stream_are_kept_apart():
    chunks = [response({"text": "a"}, ended=None), response({"text": "b"})]
    for chunk, letter in zip(chunks, "xy", strict=True):
        chunk["candidates"].append(
            {"index": 1, "content": model({"text": letter}), "finishReason": "STOP"}
        )

    turn = read_stream(chunks)

    assert turn.message == model({"text": "ab"})
    assert turn.extra["candidates"][1]["content"] == model({"text": "xy"})


def test_a_content_among_the_chunks_of_a_stream_is_refused():
    with pytest.raises(TurnError, match="Use the responses of one stream only"):
        read_turn([response(call(), ended=None), user({"text": "x"})])


# Arguments in pieces


@pytest.mark.parametrize(
    ("pieces", "args"),
    [
        ([], {}),
        ([{"jsonPath": "$.a", "stringValue": "x"}], {"a": "x"}),
        ([{"json_path": "$.a", "string_value": "x"}], {"a": "x"}),
        ([{"jsonPath": "$['a b'].c", "numberValue": 0}], {"a b": {"c": 0}}),
        ([{"jsonPath": "$['it\\'s \"x\"']", "boolValue": False}], {'it\'s "x"': False}),
        ([{"jsonPath": '$["a\\u00e9"]', "nullValue": None}], {"aé": None}),
        (
            [
                {"jsonPath": "$.a[0][0]", "numberValue": 1},
                {"jsonPath": "$.a[0][1]", "numberValue": 2},
                {"jsonPath": "$.a[1]", "stringValue": ""},
            ],
            {"a": [[1, 2], ""]},
        ),
        (
            [
                {"jsonPath": "$.a", "willContinue": True},
                {"jsonPath": "$.a", "stringValue": "x", "willContinue": True},
                {"jsonPath": "$.b", "numberValue": 1},
                {"jsonPath": "$.a", "stringValue": "y"},
            ],
            {"a": "xy", "b": 1},
        ),
    ],
)
def test_pieces_make_arguments(pieces, args):
    assert assembled(pieces) == args


@pytest.mark.parametrize(
    ("pieces", "problem"),
    [
        ([5], "Piece 1 of the arguments is 5"),
        ([{"stringValue": "x"}], "has the path absent or null"),
        ([{"jsonPath": "$", "stringValue": "x"}], r"has the path '\$'"),
        ([{"jsonPath": "$[0]", "stringValue": "x"}], r"has the path '\$\[0\]'"),
        ([{"jsonPath": "$.a[*]", "stringValue": "x"}], r"has the path '\$.a\[\*\]'"),
        ([{"jsonPath": "$..a", "stringValue": "x"}], r"has the path"),
        ([{"jsonPath": "$['\\x']", "stringValue": "x"}], "has the path step"),
        ([{"jsonPath": "$" + ".a" * 101, "stringValue": "x"}], "has the path"),
        ([{"jsonPath": "$.a"}], r"has no value for '\$.a'"),
        ([{"jsonPath": "$.a", "stringValue": 5}], "is 5. Use text"),
        ([{"jsonPath": "$.a", "numberValue": True}], "is True. Use a number"),
        ([{"jsonPath": "$.a", "numberValue": "NaN"}], "is 'NaN'. Use a number"),
        ([{"jsonPath": "$.a", "boolValue": 1}], "is 1. Use true or false"),
        ([{"jsonPath": "$.a", "stringValue": "x", "willContinue": True}], "has no end"),
        (
            [{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a", "stringValue": "y"}],
            r"Piece 2 of the arguments is a second value for '\$.a'",
        ),
        (
            [{"jsonPath": "$.a", "numberValue": 1}, {"jsonPath": "$.a.b", "numberValue": 1}],
            "does not fit the ones before",
        ),
        ([{"jsonPath": "$.a[999999999]", "numberValue": 1}], "does not fit the ones before"),
        (
            [
                {"jsonPath": "$.a", "stringValue": "x", "willContinue": True},
                {"jsonPath": "$.a", "numberValue": 5},
            ],
            r"is 5 within the text of '\$.a'",
        ),
    ],
)
def test_pieces_that_do_not_fit_are_told(pieces, problem):
    with pytest.raises(UnfitError, match=problem):
        assembled(pieces)
