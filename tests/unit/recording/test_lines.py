"""The lines of events, facts and times."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolflow.model import Times
from toolflow.recording.lines import (
    LineError,
    line,
    seconds_of,
    seconds_text,
    split,
    times_of,
    times_text,
    word,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.text(), max_size=3), st.dictionaries(st.text(), JSON, max_size=3))
def test_a_line_is_read_back_exactly(words: list[str], data: dict[str, Any]) -> None:
    text = line([word(each) for each in words], data)
    assert len(text.splitlines()) <= 1
    text.encode()
    assert split(text) == (words, data)


@given(st.floats(0, 1e9))
def test_seconds_are_kept_to_the_microsecond(value: float) -> None:
    text = seconds_text(value)
    assert seconds_of(text) == round(value, 6)
    assert "e" not in text


@given(st.lists(st.none() | st.floats(0, 1e6), min_size=5, max_size=5))
def test_times_are_read_back(values: list[float | None]) -> None:
    times = Times(*(None if value is None else round(value, 6) for value in values))
    assert times_of(times_text(times)) == times


@pytest.mark.parametrize(
    ("times", "text"),
    [
        (Times(), ""),
        (Times(0.0, 0.25, 0.25, 1.0, 1.000001),
         "queued=0 granted=0.25 started=0.25 settled=1 stopped=1.000001"),
        (Times(settled=12.5), "settled=12.5"),
    ],
)  # fmt: skip
def test_times_read_like_this(times: Times, text: str) -> None:
    assert times_text(times) == text


@pytest.mark.parametrize("text", ["started=-1", "started", "begun=1", "started=1 started=2", "5"])
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(LineError, match="is no time"):
        times_of(text)


@pytest.mark.parametrize("text", ["a=", "a=1 a=2", '"open', "[1]", "x={", "a=" + "[" * 9999])
def test_other_lines_are_refused(text: str) -> None:
    with pytest.raises(LineError):
        split(text)
