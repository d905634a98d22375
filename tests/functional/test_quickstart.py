"""The quickstart, as a user runs it, and what its recording is good for."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import anyio
import pytest

from toolflow.cli import main
from toolflow.errors import DivergenceError
from toolflow.flow import load_flow, run_flow
from toolflow.recording import dump_recording, load_recording, replay

FLOWS = Path(__file__).parents[2] / "flows"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run of the quickstart."""
    out = tmp_path_factory.mktemp("quickstart")
    assert main(["run", str(FLOWS / "quickstart" / "flow.yaml"), "--out", str(out), "-q"]) == 0
    return out


def test_all_edits_survive_and_the_original_is_untouched(ran: Path) -> None:
    edited = (ran / "workspace" / "src" / "auth.py").read_text("utf-8")
    assert "return compare_digest(known[name], password)" in edited
    assert "from hmac import compare_digest" in edited
    assert "return max(ATTEMPTS - used, 0)" in edited
    original = (FLOWS / "quickstart" / "workspace" / "src" / "auth.py").read_text("utf-8")
    assert "compare_digest" not in original


def test_the_report_uses_results_of_two_stages(ran: Path) -> None:
    report = (ran / "workspace" / "report.md").read_text("utf-8")
    assert "auth.py had 44 words" in report
    assert "compare_digest" in report


def test_it_writes_recording_and_pictures(ran: Path) -> None:
    names = {path.name for path in ran.iterdir()}
    assert names >= {"recording.yaml", "gather.svg", "change.svg", "count.svg", "report.svg"}
    assert (ran / "change.svg").read_text("utf-8").startswith(("<?xml", "<svg"))


def test_results_as_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", str(FLOWS / "quickstart" / "flow.yaml"), "--out", str(tmp_path), "-q"]
    assert main([*words, "--output", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [stage["stage"] for stage in data["stages"]] == ["gather", "change", "count", "report"]
    assert data["status"] == "done"


def test_replay_is_exact_a_hundred_times(ran: Path) -> None:
    recording = load_recording(ran / "recording.yaml")
    reports = {str(replay(recording)) for _ in range(100)}
    assert len(reports) == 1
    assert "no divergence" in reports.pop()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_run_on_each_loop_replays(tmp_path: Path, backend: str) -> None:
    flow = load_flow(FLOWS / "quickstart" / "flow.yaml")
    result = anyio.run(partial(run_flow, flow, out=tmp_path), backend=backend)
    assert result.ok
    again = load_recording(dump_recording(result.recording))
    assert "no divergence" in str(replay(again))


def test_one_changed_argument_is_a_divergence_that_names_the_call(
    ran: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ran / "recording.yaml").read_text("utf-8")
    old = "args: {path: src/session.py}"
    assert text.count(old) == 2  # in the message, and in the call as it was run
    changed = tmp_path / "changed.yaml"
    changed.write_text(text.replace(old, "args: {path: src/other.py}", 1), "utf-8")
    with pytest.raises(DivergenceError, match="session") as caught:
        replay(load_recording(changed))
    assert caught.value.call == "session"
    assert main(["replay", str(changed)]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "'session'" in said
    assert "src/session.py" in said
    assert "src/other.py" in said


def test_the_recording_draws_its_turns(ran: Path, tmp_path: Path) -> None:
    picture = tmp_path / "change.svg"
    recording = str(ran / "recording.yaml")
    assert main(["render", recording, "--turn", "change", "--to", str(picture)]) == 0
    assert "barrier-2" in picture.read_text("utf-8")
    assert main(["render", recording, "--turn", "2", "--timeline", "--to", str(picture)]) == 0


def test_a_flow_beside_other_flows_finds_its_own_modules(tmp_path: Path) -> None:
    shutil.copytree(FLOWS / "quickstart", tmp_path / "copy")
    assert main(["check", str(tmp_path / "copy" / "flow.yaml")]) == 0


def test_the_recording_that_comes_with_it_replays(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(FLOWS / "quickstart" / "recording.yaml")]) == 0
    assert "4 turns replayed, 4 of them compared: no divergence." in capsys.readouterr().out
