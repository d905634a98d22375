from __future__ import annotations

import pytest

from toolflow.errors import TurnError
from toolflow.formats import read_turn, read_turns, write_turn
from toolflow.model import Call, Image, Outcome, Turn


def test_plain_calls_are_read_with_made_up_ids_where_none_is_given():
    given = {"calls": [{"tool": "a", "args": {"x": 1}}, {"id": "", "tool": "b"}, {"tool": "c"}]}

    turn = read_turn(given)

    assert turn.calls == (
        Call(0, "call-1", "a", {"x": 1}),
        Call(1, "", "b"),
        Call(2, "call-3", "c"),
    )
    assert turn.message == given


def test_an_id_that_is_a_number_is_its_text():
    assert read_turn({"calls": [{"id": 7, "tool": "a"}]}).calls[0].id == "7"


def test_arguments_may_be_json_text_like_a_providers():
    turn = read_turn({"calls": [{"tool": "a", "args": '{"x": 1}'}, {"tool": "b", "args": '{"x'}]})

    assert turn.calls[0].args == {"x": 1}
    assert turn.calls[1].raw == '{"x'
    assert turn.calls[1].problem is not None


def test_unknown_fields_are_kept():
    assert read_turn({"calls": [{"tool": "a", "why": "x"}]}).calls[0].extra == {"why": "x"}


def test_a_list_of_plain_calls_is_several_turns():
    turns = read_turns([{"calls": [{"tool": "a"}]}, {"calls": []}, {"calls": [{"tool": "b"}]}])

    assert [(turn.id, turn.calls[0].tool) for turn in turns] == [("turn-1", "a"), ("turn-2", "b")]


def test_a_document_of_the_wrong_shape_is_refused_with_every_problem():
    given = {"calls": [{"tool": 5}, 3, {"id": [], "tool": "a"}, {"args": {}}]}

    with pytest.raises(TurnError) as caught:
        read_turn(given)

    assert {problem.message for problem in caught.value.problems} == {
        "calls[0].tool is 5. Use the name of a tool.",
        "calls[1] is 3. Use an object with tool, args and perhaps id.",
        "calls[2].id is an empty list. Use text.",
        "calls[3].tool is absent or null. Use the name of a tool.",
    }


def test_results_are_written_with_status_and_everything_that_an_outcome_holds():
    turn = read_turn({"calls": [{"tool": "a"}, {"id": "b", "tool": "b"}]})
    outcomes = [
        Outcome("ok", {"n": 1}, images=(Image("image/png", "AA=="),), note="cut"),
        Outcome("failed", error="No."),
    ]

    assistant, results = write_turn(turn, outcomes, texts=["go on"])

    assert assistant == [turn.message]
    assert results == [
        {
            "results": [
                {
                    "id": "call-1",
                    "tool": "a",
                    "status": "ok",
                    "value": {"n": 1},
                    "images": [{"media_type": "image/png", "data": "AA=="}],
                    "note": "cut",
                },
                {"id": "b", "tool": "b", "status": "failed", "error": "No."},
            ],
            "texts": ["go on"],
        }
    ]


def test_doubled_and_empty_ids_are_rewritten_on_both_sides():
    turn = read_turn(
        {"calls": [{"id": "x", "tool": "a"}, {"id": "x", "tool": "b"}, {"id": "", "tool": "c"}]}
    )

    assistant, results = write_turn(turn, [Outcome("invalid_id", error="no")] * 3)

    assert [item["id"] for item in assistant[0]["calls"]] == ["x", "x_2", "call"]
    assert [item["id"] for item in results[0]["results"]] == ["x", "x_2", "call"]


def test_a_turn_without_a_message_is_written_from_its_calls():
    calls = (Call(0, "a", "t", {"x": 1}), Call(1, "b", "t", raw="{", problem="broken"))

    assistant, _ = write_turn(Turn("t", calls), [Outcome("ok")] * 2)

    assert assistant == [
        {
            "calls": [
                {"id": "a", "tool": "t", "args": {"x": 1}},
                {"id": "b", "tool": "t", "args": "{"},
            ]
        }
    ]
