"""Faults that real users met with messages of the OpenAI family: none of them is here."""

from __future__ import annotations

import json

import pytest

from toolflow.formats import FORMATS, read_document, read_stream, read_turn, read_turns, write_turn
from toolflow.formats.base import Answer
from toolflow.model import Image, Outcome, Turn

PNG = Image("image/png", "iVBORw0KGgo=")
ABORTED = Outcome("aborted", error="Interrupted by the user.")


def call(call_id: str, name: str = "t", arguments: str = "{}") -> dict:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def result(call_id: str, output: str = "x") -> dict:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def response(*items: dict) -> dict:
    return {"object": "response", "output": list(items)}


def chunk(*pieces: dict, ended: str | None = None) -> dict:
    choice = {"index": 0, "delta": {"tool_calls": list(pieces)}, "finish_reason": ended}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


def piece(index: int, arguments: str, call_id: str | None = None, name: str = "") -> dict:
    told = {"id": call_id, "type": "function"} if call_id else {}
    body = {"name": name, "arguments": arguments} if name else {"arguments": arguments}
    return {"index": index, **told, "function": body}


def done(ended: str = "tool_calls") -> dict:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": ended}]}


def test_b001_the_call_that_was_interrupted_is_answered_right_after_the_turn_in_call_order():
    turn = read_turn(response(call("r1", "read"), call("r2", "read")))

    _, results = write_turn(turn, [Outcome("ok", "notes"), ABORTED])
    _, again = write_turn(turn, [Outcome("ok", "notes"), ABORTED])

    assert [(item["call_id"], item.get("status")) for item in results] == [
        ("r1", None),
        ("r2", "incomplete"),
    ]
    assert results == again


def test_b003_an_interrupted_function_call_is_answered_before_the_next_user_message():
    turn = read_turn(response(call("c1", "sleep_then_echo")))

    assistant, results = write_turn(turn, [ABORTED], texts=["go on"])

    assert [*assistant, *results] == [
        call("c1", "sleep_then_echo"),
        {**result("c1", "Interrupted by the user."), "status": "incomplete"},
        {"role": "user", "content": "go on"},
    ]
    assert read_turns([*assistant, *results])[0].notices == ()


def test_b007_results_of_responses_behind_another_message_are_told_and_written_together():
    items = [
        call("k1"),
        call("k2"),
        {"role": "user", "content": "wait"},
        result("k1"),
        result("k2"),
    ]

    turn = read_turn(items)
    _, results = write_turn(turn, [Outcome("ok", "x")] * 2, texts=["wait"])

    assert [notice.code for notice in turn.notices] == ["results_apart"]
    assert results == [result("k1"), result("k2"), items[2]]


def test_b008_a_picture_in_a_result_makes_no_second_answer():
    turn = read_turn(response(call("a"), call("b"), call("c")))
    outcomes = [Outcome("ok", "x"), Outcome("ok", "y", images=(PNG,)), Outcome("ok", "z")]

    _, results = write_turn(turn, outcomes)

    assert [(item["type"], item["call_id"]) for item in results] == [
        ("function_call_output", name) for name in "abc"
    ]


def test_b009_functions_with_one_id_stay_two_with_results_under_different_ids():
    items = [call("run:7", "shell", '{"c": 1}'), call("run:7", "shell", '{"c": 2}')]

    turn = read_turn(response(*items))
    assistant, results = write_turn(turn, [Outcome("ok", "one"), Outcome("ok", "two")])

    assert [found.args["c"] for found in turn.calls] == [1, 2]
    assert [item["call_id"] for item in assistant] == ["run:7", "run:7_2"]
    assert results == [result("run:7", "one"), result("run:7_2", "two")]


@pytest.mark.parametrize("streamed", [False, True])
def test_b011_functions_without_an_id_keep_their_order_and_get_ids_of_their_own(streamed):
    items = [call("", "a"), call("", "b"), call("c9", "c")]
    events = [{"type": "response.output_item.done", "item": item} for item in items]

    turn = read_stream(events) if streamed else read_turn(response(*items))
    _, results = write_turn(turn, [Outcome("ok", name) for name in "abc"])

    assert [item["output"] for item in results] == ["a", "b", "c"]
    assert [item["call_id"] for item in results] == ["call", "call_2", "c9"]


def test_b013_an_id_that_comes_back_unanswered_in_a_later_response_is_told():
    items = [call("k1"), result("k1"), call("k1"), {"role": "user", "content": "well?"}]

    first, second = read_turns(items)

    assert first.notices == ()
    assert [(notice.code, notice.call) for notice in second.notices] == [("no_result", "k1")]
    walk = list(FORMATS["openai-responses"].steps(items))
    assert [isinstance(step, Turn) for step in walk] == [True, False, True]


def test_b014_an_item_that_is_there_twice_is_never_two_answers_under_one_id():
    turn = read_turn(response(call("c1"), call("c1")))

    _, results = write_turn(turn, [Outcome("invalid_id", error="Doubled.")] * 2)

    assert len({item["call_id"] for item in results}) == 2
    calls = [found.id for found in turn.calls]
    assert calls == ["c1", "c1"]  # the policy settles both: nothing is guessed


@pytest.mark.parametrize("form", ["response", "chat stream", "response stream"])
def test_b075_empty_and_cut_arguments_leave_the_turn_whole(form):
    texts = ["{}", "", '{"city": "Par']
    if form == "chat stream":
        pieces = [piece(n, text, f"c{n}", "t") for n, text in enumerate(texts)]
        turn = read_stream([chunk(*pieces), done()])
    else:
        items = [call(f"c{n}", arguments=text) for n, text in enumerate(texts)]
        events = [{"type": "response.output_item.done", "item": item} for item in items]
        turn = read_turn(response(*items)) if form == "response" else read_stream(events)

    whole, empty, cut = turn.calls
    assert (dict(whole.args), whole.problem) == ({}, None)
    assert (dict(empty.args), empty.problem) == ({}, None)
    assert (dict(cut.args), cut.raw) == ({}, '{"city": "Par')
    assert "at character 10" in (cut.problem or "")


def test_b075_arguments_that_had_not_come_when_a_stream_broke_off_are_no_empty_object():
    events = [
        {"type": "response.created", "response": {"id": "r"}},
        {
            "type": "response.output_item.added",
            "item": {**call("a", arguments=""), "status": "in_progress"},
        },
    ]

    for turn in (read_stream(events), read_stream([chunk(piece(0, "", "a", "t"))])):
        assert "cut off" in (turn.calls[0].problem or "")
        assert [notice.code for notice in turn.notices] == ["no_end"]


def test_b077_glued_arguments_are_told_as_two_objects_in_one_field():
    glued = '{"ns":"a"}{"ns":"b"}'
    streams = [chunk(piece(0, '{"ns":"a"}', "a", "t")), chunk(piece(0, '{"ns":"b"}')), done()]

    for turn in (read_turn(response(call("a", arguments=glued))), read_stream(streams)):
        (found,) = turn.calls
        assert (dict(found.args), found.raw) == ({}, glued)
        assert "two objects in one field" in (found.problem or "")


def test_b078_one_corrupt_argument_text_in_an_old_response_leaves_the_others_readable():
    items = []
    for n in range(1, 10):
        items += [call(f"c{n}", arguments='{"a":' if n == 2 else '{"a": 1}'), result(f"c{n}")]

    turns = read_document(json.dumps(items), source="history.json")

    assert [turn.calls[0].problem is None for turn in turns] == [True, False] + [True] * 7


def test_b079_names_with_blanks_are_read_verbatim_and_written_valid():
    names = [" read", "read ", " "]

    turn = read_turn(response(*[call(f"c{n}", name) for n, name in enumerate(names)]))
    assistant, _ = write_turn(turn, [Outcome("ok", "x")] * 3)

    assert [found.tool for found in turn.calls] == names
    assert [item["name"] for item in assistant] == ["read", "read", "unnamed"]


def test_b080_an_unknown_name_without_text_is_a_turn_with_a_call():
    stream = [chunk(piece(0, "{}", "a", "nosuch_tool")), done()]

    for turn in (read_turn(response(call("a", "nosuch_tool"))), read_stream(stream)):
        assert [found.tool for found in turn.calls] == ["nosuch_tool"]
        _, results = write_turn(turn, [Outcome("unknown_tool", error="There is no nosuch_tool.")])
        assert len(results) == 1


def test_b081_pieces_without_an_id_belong_to_the_call_at_their_index():
    turn = read_stream(
        [
            chunk(piece(0, '{"x":', "a", "f")),
            chunk(piece(1, '{"y":', "b", "g")),
            chunk(piece(0, "1}")),
            chunk(piece(1, "2}")),
            done(),
        ]
    )

    assert [(found.id, dict(found.args)) for found in turn.calls] == [
        ("a", {"x": 1}),
        ("b", {"y": 2}),
    ]
    assert turn.notices == ()


def test_b081_pieces_of_responses_belong_to_the_item_that_they_name():
    events: list[dict] = [{"type": "response.created", "response": {"id": "r"}}]
    for index, name in enumerate("ab"):
        item = {**call(name, arguments=""), "id": f"fc_{name}"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": item})
    for index, delta in [(0, '{"x":'), (1, '{"y":'), (0, "1}"), (1, "2}")]:
        kind = "response.function_call_arguments.delta"
        events.append({"type": kind, "output_index": index, "delta": delta})

    turn = read_stream(events)

    assert [(found.id, dict(found.args)) for found in turn.calls] == [
        ("a", {"x": 1}),
        ("b", {"y": 2}),
    ]


def test_b083_a_stream_that_ends_for_calls_and_holds_none_is_an_empty_turn_with_a_notice():
    turn = read_stream([chunk(), done()])

    assert turn.calls == ()
    assert [notice.code for notice in turn.notices] == ["no_calls"]
    assert write_turn(turn, [])[1] == []
    assert read_turn(response()).calls == ()


@pytest.mark.parametrize("pictures", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("kind", ["function", "patch"])
def test_b091_b092_pictures_of_responses_never_stand_between_results(kind, pictures):
    patch = [
        {"type": "apply_patch_call", "call_id": name, "operation": {"path": name}} for name in "ab"
    ]
    items = [call("a"), call("b")] if kind == "function" else patch
    outcomes = [Outcome("ok", "x", images=(PNG,) if picture else ()) for picture in pictures]

    _, results = write_turn(read_turn(response(*items)), outcomes)

    assert [item.get("call_id") for item in results[:2]] == ["a", "b"]
    if kind == "function":
        assert [isinstance(item["output"], list) for item in results] == list(pictures)
    else:
        (last,) = results[2:]
        assert [part["type"] for part in last["content"]] == ["input_text", "input_image"] * sum(
            pictures
        )
    answers = [s for s in FORMATS["openai-responses"].steps(results) if isinstance(s, Answer)]
    assert [step.call_id for step in answers] == ["a", "b"]
