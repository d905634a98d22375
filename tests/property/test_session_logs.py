"""Logs that were cut, shuffled, doubled or filled with anything: told, read on, never mis-paired.

Each sample is a small valid log whose results carry the id of their call in their text. However its
lines are dropped, doubled, torn or moved, a result that is given to a call must carry its id.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from session_samples import DOCUMENTS, LINES

from toolflow.errors import TurnError
from toolflow.formats.session import SESSION_FORMATS, read_session
from toolflow.model import Recording
from toolflow.recording import dump_recording, load_recording

LOGS = [*LINES, *DOCUMENTS]


def read(form: str, text: bytes, name: str) -> Recording | None:
    """The recording of a log, or ``None`` where it was refused in plain lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text)
        try:
            return read_session(path, format=form)
        except TurnError as error:
            for problem in error.problems:
                assert str(problem).isprintable()
            return None


def check(recording: Recording | None, *, own: bool) -> None:
    for recorded in recording.turns if recording is not None else ():
        calls = recorded.turn.calls
        assert len(calls) == len(recorded.outcomes) == len(recorded.times) > 0
        assert [call.index for call in calls] == list(range(len(calls)))
        for call, outcome, times in zip(calls, recorded.outcomes, recorded.times, strict=True):
            if own and outcome is not None and call.id:
                assert f"<{call.id}>" in outcome.text
            if times.started is not None and times.settled is not None:
                assert 0 <= times.started <= times.settled
    if recording is not None:
        assert all(notice.message.isprintable() for notice in recording.notices)
        assert load_recording(dump_recording(recording)) == recording


@st.composite
def shuffled(draw: st.DrawFn, count: int) -> list[int]:
    """Which lines stay, in which order: dropped, doubled and moved ones among them."""
    order = draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=count + 4))
    return sorted(order) if draw(st.booleans()) else order


@pytest.mark.parametrize("name", LINES)
@settings(max_examples=60)
@given(st.data())
def test_lines_that_are_lost_doubled_moved_or_torn_are_never_mis_paired(name, data):
    lines = [json.dumps(line).encode() for line in LINES[name].lines]
    kept = [lines[index] for index in data.draw(shuffled(len(lines)))]
    torn = data.draw(st.integers(0, len(kept) - 1))
    kept[torn] = kept[torn][: data.draw(st.integers(0, len(kept[torn])))]

    check(read(LINES[name].form, b"\n".join(kept), "log.jsonl"), own=True)


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=60)
@given(st.data())
def test_parts_of_a_document_that_are_lost_doubled_or_moved_are_never_mis_paired(name, data):
    value = deepcopy(DOCUMENTS[name].value)
    inside = value[DOCUMENTS[name].inside]
    value[DOCUMENTS[name].inside] = [inside[i] for i in data.draw(shuffled(len(inside)))]

    check(read(DOCUMENTS[name].form, json.dumps(value).encode(), "log.json"), own=True)


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)  # NaN is kept, but is equal to nothing
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """The path of every value inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


@pytest.mark.parametrize("name", LOGS)
@settings(max_examples=60)
@given(st.data())
def test_any_value_in_any_place_is_read_or_told(name, data):
    sample = LINES.get(name) or DOCUMENTS[name]
    whole: Any = deepcopy(sample.lines if name in LINES else sample.value)
    every = list(places(whole))
    for path in data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=3)):
        at = whole
        try:
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = data.draw(anything)
        except (LookupError, TypeError):
            continue  # what was there was replaced before
    rows = whole if name in LINES else [whole]
    text = "\n".join(json.dumps(row) for row in rows).encode("utf-8", "surrogatepass")

    check(read(sample.form, text, "log.jsonl"), own=False)


@pytest.mark.parametrize("form", SESSION_FORMATS)
@settings(max_examples=30)
@given(st.binary(max_size=60) | st.text('{}[]":,\n \\u0dtyperole', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(form, text):
    for name in ("log.jsonl", "log.yaml"):
        check(read(form, text, name), own=False)
