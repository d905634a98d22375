"""A run is named by its folder or its name, and commands take what was recorded of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from flow_tools import flow_file

from toolflow.cli import main

STAGES = """\
  - id: one
    calls:
      - {id: a, tool: give, args: {value: x}}
      - {id: b, tool: give, args: {value: x}}
      - {id: c, tool: colour}
"""
POLICY = '{version: 1, rules: [{tool: give, writes: ["k:{{ args.value }}"]}]}'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    flow_file(tmp_path, STAGES, policy=POLICY)
    assert main(["run", "flow.yaml", "--quiet"]) == 3
    return tmp_path


def out(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main([*words]) == code
    return capsys.readouterr().out


def err(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main([*words]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["trial-1", ".toolflow/trial-1", ".toolflow/trial-1/journal.jsonl"]
)
def test_a_run_is_named_by_its_folder_or_its_name(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert "1 turn replayed" in out(capsys, "replay", name)
    assert "a recording without problems" in out(capsys, "check", name)
    assert "b waits for a" in out(capsys, "why", name, "a", "b")
    assert "no difference in 1 turn" in out(capsys, "diff", name, "trial-1")
    assert out(capsys, "export", name, "--format", "openai-chat")


def test_a_run_is_run_again_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "trial-1", "--flow", "flow.yaml", "--quiet", "--out", "again"]) == 3
    assert "a  ok" in capsys.readouterr().out


def test_a_process_that_died_after_a_pause_left_a_journal_that_tells_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = Path(".toolflow/trial-1")
    before = (run / "recording.yaml").read_text()
    assert main(["resume", "trial-1", "--answer", "c=blue", "--quiet"]) == 0
    (run / "recording.yaml").write_text(before)
    stamp = (run / "journal.jsonl").stat().st_mtime_ns
    os.utime(run / "recording.yaml", ns=(stamp - 1, stamp - 1))
    assert "2 turns replayed" in out(capsys, "replay", "trial-1")


def test_without_a_policy_the_plan_of_a_recording_is_the_one_that_ran(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "pool-1: 3 safe calls" in out(capsys, "plan", "trial-1")
    Path("other.yaml").write_text("version: 1\nrules: [{tool: give, safe: true}]\n")
    assert "colour is exclusive" in out(capsys, "plan", "trial-1", "--policy", "other.yaml")


def test_explain_holds_a_recording_against_its_own_policy_and_says_what_it_was_when_it_ran(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = out(capsys, "explain", "trial-1", "b")
    assert "writes: k:x" in said
    assert "exclusive: rule 1 (line 2) does not say safe, and neither does the tool" in said
    assert "when it ran, with its tools at hand: safe: " in said
    (found,) = json.loads(out(capsys, "explain", "trial-1", "b", "--output", "json"))
    assert found["when_it_ran"]["verdict"] == "safe"


def test_a_turn_that_paused_and_went_on_is_one_turn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resume", "trial-1", "--answer", "c=blue", "--quiet"]) == 0
    assert "1 turn, 1 with" in out(capsys, "plan", "trial-1", "--summary")
    assert out(capsys, "render", "trial-1", "--turn", "one", "--timeline").count("  ok · ") == 3
    assert out(capsys, "render", "trial-1", "--turn", "one").count(r"\lok · ") == 3
    assert out(capsys, "explain", "trial-1", "b").count("one b:") == 1
    assert "b waits for a" in out(capsys, "why", "trial-1", "a", "b")
    messages = json.loads(out(capsys, "export", "trial-1", "--format", "openai-chat"))
    assert [message["role"] for message in messages] == ["assistant", "tool", "tool", "tool"]
    assert "2 turns replayed" in out(capsys, "replay", "trial-1", "--turn", "one")


def test_a_folder_that_is_no_run_is_told(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert "this file is a folder, and no run is in it" in err(capsys, "replay", str(folder))
    assert "this file is not there" in err(capsys, "replay", "trial-2")


def test_a_flow_that_goes_on_has_the_lists_of_earlier_processes(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    stages = """\
  - id: one
    calls:
      - {id: a, tool: give, foreach: [1, 2], args: {value: "{{ item }}"}}
      - {id: e, tool: give, foreach: [], args: {value: 1}}
  - id: no
    when: false
    calls: [{id: n, tool: give}]
  - {id: two, needs: [one, no], calls: [{id: c, tool: colour}]}
  - {id: three, calls: [{id: z, tool: give, args: {value: "{{ results }}"}}]}
"""
    flow_file(folder, stages)
    assert main(["run", "flow.yaml", "--quiet", "--out", "out"]) == 3
    said = out(capsys, "resume", "out", "--answer", "c=blue", "--quiet", "--output", "json")
    (last,) = json.loads(said)["stages"][-1]["calls"]
    assert json.loads(last["result"]) == {
        "one": {"a": [1, 2], "e": []},
        "no": {},
        "two": {"c": "blue"},
    }


def test_an_audit_of_a_folder_of_runs_counts_each_run_once(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert main(["run", "flow.yaml", "--quiet"]) == 3
    Path(".toolflow/trial-2/recording.yaml").unlink()  # as if the process had died
    Path(".toolflow/trial-1/workspace").mkdir()
    Path(".toolflow/trial-1/workspace/notes.txt").write_text("no log")
    capsys.readouterr()
    assert main(["audit", ".toolflow", "--policy", "shipped:workspace"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("2 turns, 2 with two calls or more (largest 3); 6 calls, 2 results")
    assert "trial-1/recording.yaml" in out
    assert "trial-2/journal.jsonl" in out
    assert "skipped" not in err


def test_without_a_policy_an_audit_judges_by_the_plans_that_ran(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = out(capsys, "audit", "trial-1")
    assert "under the policy: 3 safe, 0 exclusive" in said
    assert "1 pair of calls meets" in said or "1 pairs of calls meet" in said
    found = json.loads(out(capsys, "audit", "trial-1", "--output", "json"))
    assert (found["policy"], found["policy_digest"]) == (None, None)
    Path("turn.json").write_text('[{"role": "user", "content": "hello"}]')
    assert "only recordings have plans to be judged by" in err(capsys, "audit", "turn.json")


def test_an_audit_takes_a_turn_that_paused_and_went_on_for_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = out(capsys, "audit", "trial-1", "--policy", "shipped:workspace")
    assert said.startswith("1 turn, 1 with two calls or more (largest 3); 3 calls, 1 result")
    assert "0 risk of harm, 1 note" in said
    told = out(capsys, "audit", "trial-1", "--policy", "shipped:workspace", "--turn", "one")
    assert "2 calls have no result, though others of the turn do: the run paused." in told
    assert main(["resume", "trial-1", "--answer", "c=blue", "--quiet"]) == 0
    said = out(capsys, "audit", "trial-1", "--policy", "shipped:workspace")
    assert said.startswith("1 turn, 1 with two calls or more (largest 3); 3 calls, 3 results")
    assert "0 harm, 0 risk of harm, 0 notes" in said


def test_in_a_report_what_a_paused_run_waits_for_has_not_gone_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = out(capsys, "report", "trial-1", "--no-pictures")
    assert '["note","2 still to come"]' in page
    assert "without a result" not in page.partition('type="application/json"')[2]
