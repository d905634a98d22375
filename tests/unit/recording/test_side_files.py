"""Results too large for a recording stand in files beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import PureRun, message_of, plan_of, recording_of

from toolflow.errors import RecordingError
from toolflow.model.outcome import Outcome
from toolflow.model.recording import Recording
from toolflow.recording import load_recording, save_recording

LARGE = "text \u00e9\n" * 300


def recording(*values: Any) -> Recording:
    plan = plan_of(message_of([("look", str(n)) for n in range(len(values))]))
    turn = PureRun(plan, lambda count: 0).run()
    turn = replace(turn, outcomes=tuple(Outcome("ok", value) for value in values))
    return recording_of(replace(turn, messages=(), committed=None))


@pytest.mark.parametrize("name", ["recording.yaml", "recording.json"])
def test_large_results_stand_aside_and_come_back(tmp_path: Path, name: str) -> None:
    odd = {"$file": "results/" + "0" * 64 + ".txt"}
    whole = recording(LARGE, "small", LARGE, {"rows": [LARGE, 1]}, odd, "\ud800" * 500, None)
    save_recording(whole, tmp_path / name, aside=1000)
    files = sorted(each.suffix for each in (tmp_path / "results").iterdir())
    assert files == [".json", ".json", ".txt"]  # equal ones share a file
    assert LARGE[:20] not in (tmp_path / name).read_text()
    assert load_recording(tmp_path / name).turns == whole.turns
    assert load_recording(str(tmp_path / name)).turns[0].outcomes == whole.turns[0].outcomes
    assert load_recording(tmp_path / name).notices == ()


def test_without_large_results_nothing_stands_aside(tmp_path: Path) -> None:
    save_recording(recording("small"), tmp_path / "a.yaml", aside=1000)
    save_recording(recording("small"), tmp_path / "b.yaml")
    assert (tmp_path / "a.yaml").read_bytes() == (tmp_path / "b.yaml").read_bytes()
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "/etc/passwd",
        "results/../../secret.txt",
        "results/" + "g" * 64 + ".txt",
        "results/" + "0" * 64 + ".txt/x",
        "RESULTS/" + "0" * 64 + ".txt",
        5,
    ],
)
def test_no_other_file_is_ever_read(tmp_path: Path, name: Any) -> None:
    path = tmp_path / "recording.json"
    save_recording(recording(LARGE, "small"), path, aside=1000)
    text = path.read_text()
    place = text.index('"results/')
    end = text.index('"', place + 1) + 1
    path.write_text(text[:place] + (f'"{name}"' if isinstance(name, str) else "5") + text[end:])
    with pytest.raises(RecordingError, match=r"is no file of results\. Use results/ and a digest"):
        load_recording(path, strict=True)


def test_a_file_that_was_changed_or_is_gone_or_leads_away_is_told(tmp_path: Path) -> None:
    path = tmp_path / "recording.yaml"
    save_recording(recording(LARGE, "small"), path, aside=1000)
    (file,) = (tmp_path / "results").iterdir()
    file.write_text("other")
    with pytest.raises(RecordingError, match="its content was changed"):
        load_recording(path)
    file.unlink()
    with pytest.raises(RecordingError, match="cannot be read: no such file"):
        load_recording(path)
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere.txt"
    elsewhere.write_text(LARGE)
    file.symlink_to(elsewhere)
    with pytest.raises(RecordingError, match="leads out of the recording's folder"):
        load_recording(path)
    with pytest.raises(RecordingError, match="Load the recording from its file"):
        load_recording(path.read_text())
