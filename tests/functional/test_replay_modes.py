"""``toolflow replay``: lenient modes, up to a call, step by step."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from commands import ran
from recorded_runs import POLICY, PureRun, message_of, plan_of, recording_of

from toolflow.recording import save_recording

CALLS = [("look", "a"), ("write", "b"), ("read", "b"), ("build", "c")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    turn = PureRun(plan_of(message_of(CALLS)), lambda count: count - 1).run()
    save_recording(recording_of(turn), "r.yaml")
    second = PureRun(plan_of(message_of([("look", "z")])), lambda count: count - 1).run()
    second = replace(second, turn=replace(second.turn, id="second"))
    assert second.plan is not None
    second = replace(second, plan=replace(second.plan, turn_id="second"))
    save_recording(recording_of(turn, second), "two.yaml")
    Path("slow.yaml").write_text(POLICY.replace("pool: 3", "pool: 1"), "utf-8")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return ran(capsys, "replay", *words)


def test_what_is_ignored_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "r.yaml", "-p", "slow.yaml", "--ignore", "order,limits")

    assert code == 0
    assert "; ignored: limits 1" in out
    assert err.startswith("ignored limits: Replay diverged at call 'toolu_02'")
    code, out, err = run(capsys, "r.yaml", "-p", "slow.yaml", "--ignore", "order")
    assert (code, out) == (1, "")


def test_the_report_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "two.yaml", "-p", "slow.yaml", "--ignore", "limits", "-o", "json")

    data = json.loads(out)
    assert (code, data["ok"]) == (0, True)
    assert data["turns"][0]["ignored"][0]["kind"] == "limits"
    assert data["turns"][1] == {
        "turn": "second", "compared": ["plan", "run", "messages"], "starts": ["toolu_01"],
        "unused": [], "divergence": None, "ignored": [],
    }  # fmt: skip


def test_until_a_call_starts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "r.yaml", "--until", "toolu_04")

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "turn-1: before toolu_04 starts",
        "done: toolu_01, toolu_02, toolu_03",
        "runs: nothing",
        "waits: toolu_04 for its start: it has a permit",
        "next: toolu_04 starts",
    ]
    code, out, _ = run(capsys, "two.yaml", "--until", "second/toolu_01", "-o", "json")
    assert (code, json.loads(out)["next"]) == (0, "toolu_01 starts")


def test_a_walk_follows_what_is_typed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n2\ntoolu_03\ntoolu_01\nnobody\nq\n"))
    code, out, err = run(capsys, "r.yaml", "--step")

    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Plan of turn-1: 4 calls (1 pool, 1 barrier)"
    shown = [line.split("  ")[-1] for line in lines if "/" in line.split(" ")[0]]
    assert shown[:3] == ["the run begins", "toolu_01 starts", "toolu_02 starts"]
    assert "    waits: toolu_03 for toolu_02 (key file:b read after write)" in lines
    assert "    next: toolu_03 starts" in lines
    assert "toolu_01 does not start from here on." in lines
    assert lines[-2].startswith("There is no call 'nobody'.")
    assert lines[-1].startswith("Enter: next")


def test_a_walk_goes_through_all_turns_and_ends_with_the_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("99\n99\n"))
    code, out, _ = run(capsys, "two.yaml", "--step")
    assert code == 0
    assert [line for line in out.splitlines() if line.startswith("Plan of")] == [
        "Plan of turn-1: 4 calls (1 pool, 1 barrier)",
        "Plan of second: 1 call (1 pool)",
    ]
    assert out.count("next: the end") == 2

    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    code, out, _ = run(capsys, "two.yaml", "--step", "--until", "second/toolu_01")
    assert code == 0
    assert out.splitlines()[0] == "Plan of second: 1 call (1 pool)"
    assert out.splitlines()[-1] == "    next: toolu_01 starts"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["r.yaml", "--ignore", "tims"], "ignore: 'tims' is unknown. Did you mean 'times'?"),
        (["r.yaml", "--ignore", ""], "ignore: '' is unknown."),
        (["r.yaml", "--ignore", "order", "--step"], "--ignore belongs to a replay"),
        (["r.yaml", "--ignore", "order", "--sweep", "1"], "--ignore belongs to a replay"),
        (["r.yaml", "--pool", "1", "--strict", "--picture", "a.svg"], "--picture draws an answer"),
        (["r.yaml", "--sweep", "1", "--picture", "a.svg"], "--picture draws an answer"),
        (["r.yaml", "--until", "toolu_9"], "There is no call 'toolu_9'."),
        (["two.yaml", "--until", "toolu_01"], "2 turns have a call 'toolu_01'."),
        (["r.yaml", "--until", "toolu_01", "--pool", "2"], "Leave rules out."),
        (["r.yaml", "--step", "--policy", "slow.yaml"], "Leave rules out."),
    ],
)
def test_wrong_input_is_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    code, out, err = run(capsys, *words)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
