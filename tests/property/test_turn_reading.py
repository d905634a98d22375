"""A recording read turn by turn is the recording that is loaded: turns, notices and problems."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded_runs import TOOLS, PureRun, message_of, plan_of, recording_of
from streamed import loaded, never_at_once, streamed

from toolflow.model import Notice, Outcome, Recording
from toolflow.recording import dump_recording, save_recording
from toolflow.recording.file import recording_data
from toolflow.recording.sealing import seal

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(
    [*ROOT.glob("flows/*/recording.yaml"), *ROOT.glob("tests/golden/recording/*.yaml")]
)
SETTINGS = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
CALLS = st.lists(
    st.tuples(st.sampled_from(TOOLS), st.sampled_from(["a", "b", "c"])), min_size=1, max_size=3
)
VALUES = st.sampled_from(
    [
        "one line",
        "two\nlines\n",
        "\ud83d",
        {"$json": "1"},
        {"$file": "x"},
        ["é😀", None],
        "# no\n- a",
    ]
)
WORDS = ["id", "calls", "ok", "status", "message", "0", "plan", "version", ":", "outcome", "- "]
STYLES: list[dict[str, Any]] = [
    {"default_flow_style": True},
    {"default_flow_style": False, "indent": 4, "width": 40},
    {"default_style": '"', "explicit_start": True},
    {"sort_keys": True},  # turns stand before the version
]


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    turns = []
    for number in range(draw(st.integers(0, 3))):
        turn = PureRun(plan_of(message_of(draw(CALLS))), lambda count: count - 1).run()
        outcomes = tuple(
            Outcome("ok", draw(VALUES)) if outcome is not None and outcome.ok else outcome
            for outcome in turn.outcomes
        )
        turn = replace(turn, outcomes=outcomes, messages=(), committed=None)
        turns.append(replace(turn, turn=replace(turn.turn, id=f"turn-{number + 1}")))
    notices = (Notice("odd", "It was odd.", 3),) if draw(st.booleans()) else ()
    return replace(recording_of(*turns), notices=notices)


@st.composite
def texts(draw: st.DrawFn) -> str:
    recording = draw(recordings())
    form = draw(st.sampled_from(["yaml", "json", "other yaml", "one line of json"]))
    if form == "other yaml":
        style = {"sort_keys": False, **draw(st.sampled_from(STYLES))}
        text: str = yaml.dump(json.loads(json.dumps(seal(recording_data(recording)))), **style)
        return text
    if form == "one line of json":
        return json.dumps(seal(recording_data(recording)), sort_keys=draw(st.booleans()))
    return dump_recording(recording, "json" if form == "json" else "yaml")


@SETTINGS
@given(texts(), st.integers(1, 3000))
def test_every_style_of_a_recording_reads_as_it_loads(
    tmp_path: Path, text: str, chunk: int
) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(text, "utf-8")
    with never_at_once(chunk):
        assert streamed(path) == loaded(path)


@SETTINGS
@given(st.data(), texts(), st.integers(1, 3000))
def test_a_spoilt_recording_reads_as_it_loads(
    tmp_path: Path, data: st.DataObject, text: str, chunk: int
) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        word = data.draw(st.sampled_from([word for word in WORDS if word in text] or [""]))
        before = text[: data.draw(st.integers(0, len(text)))].count(word)
        parts = text.split(word) if word else [text]
        other = data.draw(st.sampled_from(["7", "x", "null", "[]", "calls", "", "\t", "- x\n"]))
        at = min(before + 1, len(parts))
        text = word.join(parts[:at]) + other + word.join(parts[at:])
    path = tmp_path / "r.yaml"
    path.write_text(text, "utf-8")
    with never_at_once(chunk):
        found, expected = streamed(path), loaded(path)
    if found != expected:  # what stands before the turns is told before they are read
        assert {problem.code for problem in found} == {"invalid"}
        assert "invalid" not in {problem.code for problem in expected}


@SETTINGS
@given(recordings(), st.sampled_from(["r.yaml", "r.json"]), st.booleans())
def test_results_in_files_beside_it_read_as_they_load(
    tmp_path: Path, recording: Recording, name: str, spoil: bool
) -> None:
    path = tmp_path / name
    save_recording(recording, path, aside=4)
    for file in sorted((tmp_path / "results").glob("*"))[:1] if spoil else ():
        file.unlink()
    with never_at_once():
        assert streamed(path) == loaded(path)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_recording_of_the_project_reads_as_it_loads(path: Path, tmp_path: Path) -> None:
    with never_at_once():
        found = streamed(path)
        assert isinstance(found, Recording)
        assert found == loaded(path)
        copy = tmp_path / "r.json"
        copy.write_text(dump_recording(found, "json"), "utf-8")
        assert streamed(copy) == loaded(copy) == found
