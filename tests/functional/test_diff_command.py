"""``toolflow diff``: marks, exit codes, what may be compared with what."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from commands import ran
from recorded_runs import PureRun, message_of, plan_of, recording_of

from toolflow import yamlio
from toolflow.compiler import dump_plan
from toolflow.model import Outcome
from toolflow.recording import save_recording

TURN = """\
calls:
  - {id: toolu_01, tool: look, args: {path: a}}
  - {id: toolu_02, tool: write, args: {path: b}}
"""
OLD = "version: 1\nlimits: {pool: 3, resources: {cpu: 2}}\nrules: [{tool: look, safe: true}]\n"
NEW = """\
version: 1
rules:
  - {tool: look, safe: true}
  - {tool: write, safe: true, writes: ["file:{{ args.path }}"]}
"""
CALLS = [("look", "a"), ("write", "b")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("turn.yaml").write_text(TURN, "utf-8")
    Path("old.yaml").write_text(OLD, "utf-8")
    Path("new.yaml").write_text(NEW, "utf-8")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return ran(capsys, "diff", *words)


def test_two_policies_for_one_turn(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capsys, "turn.yaml", "turn.yaml", "-p", "old.yaml", "--policy-b", "new.yaml"
    )

    assert (code, err) == (1, "")
    assert out.splitlines() == [
        "~ limits.pool: 3 -> 10",
        "- limits.resources.cpu: 2",
        "~ call toolu_02  verdict: exclusive -> safe  (rule 2 (line 4) says safe)",
        "+ call toolu_02  writes file:b",
        "~ node pool-1  calls: toolu_01 -> toolu_01, toolu_02",
        "- node barrier-2: toolu_02",
    ]


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_data_holds_every_change(capsys: pytest.CaptureFixture[str], output: str) -> None:
    code, out, _ = run(
        capsys, "turn.yaml", "turn.yaml", "-p", "old.yaml", "--policy-b", "new.yaml", "-o", output
    )

    found = json.loads(out) if output == "json" else yamlio.load(out).value
    assert code == 1
    assert found["same"] is False
    assert [c["mark"] for c in found["turns"][0]["changes"]] == ["~", "-", "~", "+", "~", "-"]


def test_what_is_the_same_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "turn.yaml", "turn.yaml") == (0, "no difference in 1 turn\n", "")
    code, out, _ = run(capsys, "turn.yaml", "turn.yaml", "-o", "json")
    assert (code, json.loads(out)) == (0, {"same": True, "compared": 1, "turns": []})


def test_a_recording_a_plan_and_a_turn(capsys: pytest.CaptureFixture[str]) -> None:
    turn = PureRun(plan_of(message_of(CALLS)), lambda count: count - 1).run()
    save_recording(recording_of(turn), "recording.yaml")
    other = replace(turn, outcomes=(Outcome("ok", "new"), *turn.outcomes[1:]))
    save_recording(recording_of(other), "other.yaml")
    assert turn.plan is not None
    Path("plan.yaml").write_text(dump_plan(turn.plan), "utf-8")

    assert run(capsys, "recording.yaml", "plan.yaml")[0] == 0  # outcomes are on one side only
    assert run(capsys, "plan.yaml", "recording.yaml")[0] == 0
    code, out, _ = run(capsys, "recording.yaml", "other.yaml")
    assert (code, out.count("\n"), out[:30]) == (1, 1, "~ outcome toolu_01  value: res")
    code, out, _ = run(capsys, "plan.yaml", "turn.yaml", "-p", "old.yaml")
    assert code == 1
    assert "~ call toolu_02  verdict: safe -> exclusive" in out


def test_one_side_may_be_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(TURN))
    assert run(capsys, "-", "turn.yaml")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["turn.yaml", "nothing.yaml"], "nothing.yaml: this file is not there."),
        (["-", "-"], "A and B are both standard input."),
        (["turn.yaml", "old.yaml"], "old.yaml: this is a policy."),
        (["turn.yaml", "turn.yaml", "--turn", "7"], "--turn is '7'."),
        (["turn.yaml", "turn.yaml", "-p", "nothing.yaml"], "nothing.yaml"),
        (["turn.yaml"], "Missing argument"),
        (["turn.yaml", "turn.yaml", "-o", "xml"], "xml"),
    ],
)
def test_wrong_input_is_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    code, out, err = run(capsys, *words)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_secrets_that_the_policy_names_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("redact.yaml").write_text(f"{OLD}redact: [path]\n", "utf-8")
    Path("other.yaml").write_text(TURN.replace("path: a", "path: hunter2"), "utf-8")

    code, out, _ = run(capsys, "turn.yaml", "other.yaml", "-p", "redact.yaml")

    assert "hunter2" not in out
    assert (code, out) == (0, "no difference in 1 turn\n")
