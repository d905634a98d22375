"""Trajectories: whatever is done to a log, it is refused or read, and nothing is mis-paired."""

from __future__ import annotations

import json
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trajectories import BUILDERS, WITHOUT_IDS, mispaired

from toolflow.errors import TurnError
from toolflow.formats.session import SESSION_FORMATS, read_session
from toolflow.model import Recording
from toolflow.recording import dump_recording, load_recording

LAYOUTS = sorted(BUILDERS)
sizes = st.lists(st.integers(1, 3), min_size=1, max_size=4)
junk = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        5,
        2**70,
        1e300,
        "",
        "junk",
        "x\ud83dy",
        "\x00\x1b[31m",
        [],
        {},
        [[]],
        [None],
        {"id": "zz"},
        {"type": "text"},
        {"role": "assistant"},
        json.loads("[" * 150 + "]" * 150),
    ]
)


def built(layout: str, sizes: list[int]) -> Any:
    numbers = iter(range(sum(sizes)))
    return BUILDERS[layout][1]([[next(numbers) for _ in range(size)] for size in sizes])


def read_text(text: str, form: str | None) -> Recording:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.json"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        return read_session(path, format=form)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container with every key or index in it."""
    found, left = [], [value]
    while left:
        inner = left.pop()
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        for key in keys:
            found.append((inner, key))
            if isinstance(inner[key], dict | list):
                left.append(inner[key])
    return found


def spoil(data: st.DataObject, value: Any, number: int) -> None:
    """Change one place of a document: take it out, double it, or put junk there.

    Texts get a number, so that no two faults give a call and the result of another one the same id.
    """
    container, key = data.draw(st.sampled_from(places(value)))
    deed = data.draw(st.sampled_from(["out", "junk", "double"]))
    if deed == "out":
        del container[key]
    elif deed == "double" and isinstance(container, list):
        container.insert(key, deepcopy(container[key]))
    else:
        put = deepcopy(data.draw(junk))
        container[key] = f"{put}{number}" if isinstance(put, str) and put else put


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=20)
@given(sizes=sizes)
def test_every_call_gets_its_own_result(layout, sizes):
    form, _ = BUILDERS[layout]
    shown = [1] * sum(sizes) if layout == "swe-agent, text" else sizes

    recording = read_text(json.dumps(built(layout, sizes), indent=1), None)

    assert recording.source["format"] == form
    assert [len(turn.turn.calls) for turn in recording.turns] == shown
    assert mispaired(recording, ids=layout not in WITHOUT_IDS) == []
    outcomes = [outcome for turn in recording.turns for outcome in turn.outcomes]
    assert (None in outcomes) == (layout == "bfcl")
    numbers = [call.args["command"] for turn in recording.turns for call in turn.turn.calls]
    assert numbers == [f"do {n}" for n in range(sum(sizes))]


@pytest.mark.parametrize("layout", LAYOUTS)
@given(sizes=sizes, data=st.data(), deeds=st.integers(1, 4), lines=st.booleans())
def test_a_spoiled_log_is_refused_or_read_and_nothing_is_mis_paired(
    layout, sizes, data, deeds, lines
):
    form, _ = BUILDERS[layout]
    ids = layout not in WITHOUT_IDS
    value = built(layout, sizes)
    # Without ids two faults can look like another log that is whole: which, nobody can tell.
    for number in range(deeds if ids else 1):
        if places(value):
            spoil(data, value, number)
    text = json.dumps(value)
    if lines and isinstance(value, list):
        text = "\n".join(map(json.dumps, value))

    for name in (form, None):
        try:
            recording = read_text(text, name)
        except TurnError:
            continue
        if recording.source["format"] == form:
            assert mispaired(recording, ids=ids) == []
        again = load_recording(dump_recording(recording))
        assert again == recording


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=50)
@given(sizes=sizes, data=st.data())
def test_a_log_that_is_cut_off_or_holds_odd_bytes_is_refused_or_read(layout, sizes, data):
    form, _ = BUILDERS[layout]
    value = built(layout, sizes)
    text = json.dumps(value, indent=data.draw(st.sampled_from([None, 1])))
    if isinstance(value, list) and data.draw(st.booleans()):
        text = "\n".join(map(json.dumps, value))
    place = data.draw(st.integers(0, len(text)))
    put = data.draw(st.sampled_from(["", "\x00", "\ud800", "{", "[" * 5000]))
    text = text[:place] + put + (text[place:] if put else "")

    for name in (form, None):
        try:
            recording = read_text(text, name)
        except TurnError:
            continue
        if recording.source["format"] == form:
            assert mispaired(recording, ids=layout not in WITHOUT_IDS) == []


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=30)
@given(value=st.recursive(junk, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_json_is_refused_or_read(layout, value):
    for text in (json.dumps(value), json.dumps([value]), json.dumps({"messages": [value]})):
        try:
            read_text(text, BUILDERS[layout][0])
        except TurnError:
            pass


def test_every_layout_is_of_a_known_format():
    assert {form for form, _ in BUILDERS.values()} <= set(SESSION_FORMATS)
