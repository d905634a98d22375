"""Limits on results: fair, deterministic, never inside a character."""

from __future__ import annotations

import pytest

from toolflow.errors import UsageError
from toolflow.model import Image, Outcome
from toolflow.runtime.cut import cut_text, share_out
from toolflow.runtime.results import limit_outcomes


def test_what_fits_stays_the_same_object():
    outcomes = (Outcome("ok", "x" * 10), Outcome("ok", {"a": 1}), Outcome("ok"))
    limited = limit_outcomes(outcomes, per_call=10, per_turn=100)
    assert all(after is before for after, before in zip(limited, outcomes, strict=True))


def test_no_limit_changes_nothing():
    outcomes = [Outcome("ok", "x" * 10)]
    assert limit_outcomes(outcomes) == tuple(outcomes)


def test_head_and_tail_stay_and_the_middle_is_counted():
    text = "a" * 500 + "b" * 500
    cut = cut_text(text, 100)
    assert cut == f"{'a' * 32}\n[... 936 characters left out ...]\n{'b' * 32}"
    assert len(cut) <= 100


def test_the_limit_of_a_turn_is_shared_like_water():
    assert share_out([10, 100, 40], 1000) == [10, 100, 40]
    assert share_out([10, 100, 100], 90) == [10, 40, 40]
    assert share_out([10, 100, 35], 91) == [10, 46, 35]
    assert share_out([5, 5, 5], 10) == [4, 3, 3]
    assert share_out([], 10) == []


def test_small_results_stay_whole_beside_a_large_one():
    outcomes = [Outcome("ok", "s" * 100), Outcome("ok", "l" * 10_000), Outcome("ok", "m" * 200)]
    small, large, medium = limit_outcomes(outcomes, per_turn=1000)
    assert (small, medium) == (outcomes[0], outcomes[2])
    assert 650 < len(large.text) <= 700


def test_a_cut_object_becomes_text():
    (outcome,) = limit_outcomes([Outcome("ok", {"k": "v" * 1000})], per_call=100)
    assert outcome.value.startswith('{"k": "vvv')
    assert outcome.value.endswith('vvv"}')
    assert outcome.note == "Cut to 99 of 1009 characters."


def test_an_error_is_kept_before_its_output():
    (outcome,) = limit_outcomes([Outcome("failed", "o" * 1000, "It broke.")], per_call=100)
    assert outcome.error == "It broke."
    assert 90 < len(outcome.text) <= 100
    (outcome,) = limit_outcomes([Outcome("failed", "o" * 1000, "It broke.")], per_call=5)
    assert (outcome.value, outcome.error) == (None, "It br")


def test_earlier_notes_and_pictures_stay():
    image = Image("image/png", "AAAA")
    outcome = Outcome("ok", "x" * 100, images=(image,), note="first")
    (cut,) = limit_outcomes([outcome], per_call=50)
    assert cut.images == (image,)
    assert cut.note.startswith("first\nCut to ")


def test_a_limit_of_nothing_leaves_nothing():
    (cut,) = limit_outcomes([Outcome("ok", "abc")], per_call=0)
    assert (cut.text, cut.note) == ("", "Cut to 0 of 3 characters.")


@pytest.mark.parametrize(
    "character",
    [
        "e\u0301",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f44d\U0001f3fd",
        "\r\n",
        "\u2764\ufe0f",
        "\U0001f1e9\U0001f1ea",
    ],
)
def test_no_cut_falls_inside_a_character(character):
    text = character * 200
    for size in range(60, 120):
        cut = cut_text(text, size)
        head, tail = cut.split("\n[...")[0], cut.split("left out ...]\n")[1]
        assert head.replace(character, "") == ""
        assert tail.replace(character, "") == ""
        assert len(cut) <= size


def test_marks_without_end_are_cut_all_the_same():
    assert 0 < len(cut_text("a" + "\u0301" * 100_000, 1000)) <= 1000


@pytest.mark.parametrize("limit", [-1, 1.5, True, "10"])
def test_limits_that_are_no_numbers_are_refused(limit):
    with pytest.raises(UsageError, match="per_turn"):
        limit_outcomes([], per_turn=limit)
