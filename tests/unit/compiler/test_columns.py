from __future__ import annotations

import pytest

from toolflow.compiler.columns import clean, pad, width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\t", r"a\nb\t"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("left\u202eright\u2066", r"left\u202eright\u2066"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("\ud83d", r"\ud83d"),
        ("\x9b31m", r"\x9b31m"),
        ("naïve 日本", "naïve 日本"),
    ],
)
def test_what_does_not_print_is_an_escape(text: str, shown: str) -> None:
    assert clean(text, 40) == shown


def test_long_text_is_cut_at_the_end_or_in_the_middle() -> None:
    assert clean("abcdefghij", 6) == "abcde…"
    assert clean("/long/path/to/file.py", 11, keep_end=True) == "/long…le.py"
    assert clean("abcdef", 6) == "abcdef"


@pytest.mark.parametrize("text", ["日本" * 500, "\x1b" * 500, "x" * 500, "e\u0301" * 500])
@pytest.mark.parametrize("keep_end", [False, True])
def test_cut_text_never_takes_more_columns_than_allowed(text: str, keep_end: bool) -> None:
    assert width(clean(text, 20, keep_end=keep_end)) <= 20


def test_wide_letters_take_two_columns_and_marks_none() -> None:
    assert width("日本") == 4
    assert width("e\u0301") == 1
    assert pad("日", 4) == "日  "
