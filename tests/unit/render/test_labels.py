"""Text made fit to be seen."""

from __future__ import annotations

import pytest

from toolflow.render import labels


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("tab\there", "tab here"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("a\nb\rc", "a\\nb\\rc"),
        ("\ud800", "\\ud800"),
        ("\u202e", "\\u202e"),
        ("\ufffe\U0001ffff", "\\ufffe\\U0001ffff"),
        ("\U000e0041", "\\U000e0041"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert labels.visible(text) == shown


def test_long_text_is_cut_in_the_middle_with_a_mark() -> None:
    assert labels.cut("edit_file src/server/handlers.py", 20) == "edit_file …ndlers.py"
    assert len(labels.cut("x" * 500, 20)) == 20
    assert labels.cut("short", 20) == "short"


def test_a_cut_leaves_no_half_of_a_joined_character() -> None:
    assert labels.cut_left("a" * 10 + "e\u0301bc", 4) == "…bc"
    assert labels.cut_right("ab👩\u200d💻cdef", 5) == "ab👩…"


def test_a_path_is_cut_from_the_left_at_a_slash() -> None:
    assert labels.cut_left("/repo/project/src/app.py", 16) == "…/src/app.py"
    assert labels.cut_left("x" * 40, 5) == "…xxxx"


def test_many_lines_become_a_few_and_a_count() -> None:
    shown = labels.lines_of("cat <<EOF\none\ntwo\nthree\nEOF", width=30, most=3)
    assert shown == ("cat <<EOF", "one", "… 3 more lines")


def test_lines_far_behind_are_counted() -> None:
    assert labels.lines_of("a\n" * 10_000, width=10, most=2)[1] == "… 9999 more lines"


def test_every_kind_of_line_end_ends_a_line() -> None:
    assert labels.lines_of("a\r\nb\u2028c", width=9, most=3) == ("a", "b", "c")


@pytest.mark.parametrize("text", ["", "\n", "  \n  ", "\u2028"])
def test_text_without_anything_to_show_is_one_empty_line(text: str) -> None:
    assert labels.lines_of(text, width=10, most=3) == ("",)


def test_a_long_line_is_broken_once_at_a_blank() -> None:
    shown = labels.lines_of("edit_file src/server/handlers.py", width=24, most=3)
    assert shown == ("edit_file", "src/server/handlers.py")


def test_wide_characters_get_shorter_lines() -> None:
    assert len(labels.lines_of("日" * 100, width=18, most=3)[0]) == 10


def test_a_sentence_is_wrapped_and_the_rest_marked() -> None:
    assert labels.wrap("one two three four", width=9, most=2) == ("one two", "three …")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"),
        (0.00025, "0.25 ms"),
        (0.41, "410 ms"),
        (0.9996, "1 s"),
        (2.5, "2.5 s"),
        (59.97, "60 s"),
        (120, "2 m"),
        (3900, "1 h 5 m"),
        (1e9, "2.78e+05 h"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
    ],
)
def test_spans_of_time_are_written_as_people_do(seconds: float, words: str) -> None:
    assert labels.duration(seconds) == words


def test_columns_count_wide_characters_twice_and_joiners_not_at_all() -> None:
    assert labels.columns("a日e\u0301") == 4
