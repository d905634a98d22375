from __future__ import annotations

import pytest

from toolflow.formats.anthropic_writer import ID_RULE as ANTHROPIC
from toolflow.formats.ids import ANY_TEXT, made_up_ids, valid_ids
from toolflow.formats.openai_chat_writer import ID_RULE as CHAT


@pytest.mark.parametrize("rule", [ANTHROPIC, CHAT, ANY_TEXT])
def test_valid_different_ids_stay_as_they_are(rule):
    assert valid_ids(["toolu_1", "toolu-2", "A"], rule) == ("toolu_1", "toolu-2", "A")


@pytest.mark.parametrize(
    ("ids", "written"),
    [
        (["run:7", "run:7"], ("run_7", "run_7_2")),
        (["", "", "c9"], ("call", "call_2", "c9")),
        (["call", ""], ("call", "call_2")),
        (["", "call"], ("call_2", "call")),
        (["a", "a", "a_2"], ("a", "a_3", "a_2")),
        (["é"], ("_",)),
        (["\ud83d"], ("_",)),
    ],
)
def test_anthropic_ids_are_mended_without_touching_those_that_are_right(ids, written):
    assert valid_ids(ids, ANTHROPIC) == written


def test_chat_ids_are_cut_at_forty_characters_and_stay_different():
    long = "x" * 50

    first, second, third = valid_ids([long, long + "y", "ok"], CHAT)

    assert first == "x" * 40
    assert second == "x" * 38 + "_2"
    assert third == "ok"


def test_chat_ids_may_hold_any_character_but_half_ones():
    assert valid_ids(["run:7 é", "a\ud83db"], CHAT) == ("run:7 é", "a_b")


def test_many_equal_ids_are_written_in_linear_time_and_all_different():
    written = valid_ids(["same"] * 20_000, CHAT)

    assert len(set(written)) == 20_000
    assert written[:3] == ("same", "same_2", "same_3")


def test_made_up_ids_are_stable_and_collide_with_no_given_one():
    assert made_up_ids([None, "call-1", None, "", "call-3"]) == (
        "call-1+",
        "call-1",
        "call-3+",
        "",
        "call-3",
    )
