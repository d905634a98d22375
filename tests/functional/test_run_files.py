"""``toolflow run`` writes in the folder of the run alone, and says what came of it in any case."""

from __future__ import annotations

from pathlib import Path

import pytest
from flow_tools import flow_file

from toolflow.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    return inside


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_names_of_flows_and_stages_do_not_lead_out_of_the_folder(folder: Path) -> None:
    stages = """\
  - {id: ../../../up, calls: [{id: a, tool: give}]}
  - {id: "..-..-..-up", calls: [{id: a, tool: give}]}
  - {id: "con", calls: [{id: a, tool: give}]}
"""
    flow_file(folder, stages, name="'../../evil'")
    assert main(["run", "flow.yaml", "--quiet"]) == 0
    run = ".toolflow/evil-1"
    made = ["journal.jsonl", "recording.yaml", "up.svg", "-..-..-up.svg", "con_.svg"]
    assert files(folder.parent.parent) == {
        "deep/inside/flow.yaml",
        *(f"deep/inside/{run}/{name}" for name in made),
    }


def test_nor_do_names_of_turns_that_come_from_anywhere(folder: Path) -> None:
    flow_file(folder, "  - {id: a, calls: [{tool: give}]}\n")
    assert main(["run", "flow.yaml", "--quiet", "--out", "one"]) == 0
    recording = Path("one/recording.yaml")
    recording.write_text(recording.read_text().replace("id: a\n", "id: ../../../../up\n", 1))
    assert main(["run", str(recording), "--flow", "flow.yaml", "--quiet", "--out", "two"]) == 0
    pictures = {path.relative_to(folder) for path in folder.parent.parent.rglob("*.svg")}
    assert pictures == {Path("one/a.svg"), Path("two/up.svg")}


def test_a_picture_that_cannot_be_written_costs_nothing_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flow_file(folder, "  - {id: a, calls: [{id: x, tool: give, args: {value: 7}}]}\n")
    Path("out/a.svg").mkdir(parents=True)
    assert main(["run", "flow.yaml", "--quiet", "--out", "out"]) == 0
    out, err = capsys.readouterr()
    assert "x  ok         7" in out
    assert "a: out/a.svg: cannot be written" in err
    assert "written: out/recording.yaml" in err


def test_a_recording_that_cannot_be_written_is_an_error_behind_the_results(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flow_file(folder, "  - {id: a, calls: [{id: x, tool: give, args: {value: 7}}]}\n")
    Path("out/recording.yaml").mkdir(parents=True)
    assert main(["run", "flow.yaml", "--quiet", "--out", "out"]) == 2
    out, err = capsys.readouterr()
    assert "x  ok         7" in out
    assert "out/recording.yaml" in err
    assert "written: out/a.svg" in err


def test_a_very_large_turn_is_not_drawn_unasked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = f"[{', '.join(map(str, range(201)))}]"
    flow_file(folder, f"  - {{id: a, calls: [{{id: x, tool: give, foreach: {items}}}]}}\n")
    assert main(["run", "flow.yaml", "--quiet", "--out", "out"]) == 0
    assert files(Path("out")) == {"journal.jsonl", "recording.yaml"}
    assert "a: no picture unasked of more than 200 calls" in capsys.readouterr().err


def test_a_turn_runs_under_a_shipped_policy_by_name(folder: Path) -> None:
    flow_file(folder, "  - {id: a, calls: [{tool: give}]}\n")
    Path("turn.yaml").write_text("calls: [{id: x, tool: give}]\n")
    said = ["run", "turn.yaml", "--flow", "flow.yaml", "--quiet", "--out", "out"]
    assert main([*said, "--policy", "shipped:workspace"]) == 0


def test_a_flow_whose_condition_fails_ends_with_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stages = """\
  - {id: a, calls: [{id: x, tool: give}]}
  - {id: b, when: "{{ results.a.x > 1 }}", calls: [{tool: give}]}
"""
    flow_file(folder, stages)
    assert main(["run", "flow.yaml", "--quiet"]) == 1
    assert "b: skipped, its condition fails: " in capsys.readouterr().out
