"""``toolflow replay`` as a question: exit codes, data, pictures, wrong input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import ran
from recorded_runs import POLICY, PureRun, message_of, plan_of, recording_of

from toolflow import load_recording, yamlio
from toolflow.cli import main
from toolflow.policy import load_policy
from toolflow.recording import save_recording, sweep, what_if
from toolflow.recording.asking_data import what_if_data

CALLS = [("look", "a"), ("look", "b"), ("grind", "c"), ("grind", "d"), ("build", "c")]
OTHER = "version: 1\nlimits: {pool: 2, resources: {cpu: 1}}\nrules: [{tool: look, safe: true}]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    turn = PureRun(plan_of(message_of(CALLS)), lambda count: count - 1).run()
    other = replace(turn, turn=replace(turn.turn, id="second"), plan=None, events=(), facts=())
    save_recording(recording_of(turn, replace(other, messages=(), committed=None)), "r.yaml")
    Path("other.yaml").write_text(OTHER, "utf-8")
    Path("own.yaml").write_text(POLICY, "utf-8")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return ran(capsys, "replay", "r.yaml", *words)


@pytest.mark.parametrize(
    "words",
    [
        ["--policy", "other.yaml"],
        ["--pool", "1"],
        ["--resources", "cpu=1"],
        ["--resources", "cpu=1,net=4", "--resources", "disk=2"],
        ["--policy", "other.yaml", "--pool", "4", "--resources", "cpu=3"],
        ["--policy", "own.yaml"],
    ],
)
def test_a_question_ends_with_0(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    code, out, err = run(capsys, *words)

    assert (code, err) == (0, "")
    assert out.splitlines()[0].startswith("turn-1: 5 calls, ")


@pytest.mark.parametrize("words", [["--policy", "other.yaml"], ["--pool", "1"]])
def test_with_strict_what_changes_is_a_divergence(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    code, out, err = run(capsys, "--strict", *words)

    assert (code, out) == (1, "")
    assert err.startswith("toolflow: Replay diverged")
    assert err.count("\n") == 1


def test_strict_alone_is_what_replay_does_anyway(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--strict") == run(capsys)
    assert run(capsys)[0] == 0


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_data_is_that_of_the_report(capsys: pytest.CaptureFixture[str], output: str) -> None:
    code, out, _ = run(capsys, "-p", "other.yaml", "--missing", "median", "-o", output)

    found = json.loads(out) if output == "json" else yamlio.load(out).value
    report = what_if(
        load_recording("r.yaml"), policy=load_policy(Path("other.yaml")), missing="median"
    )
    assert code == 0
    assert found == what_if_data(report)


def test_a_sweep_is_a_table_or_data(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--sweep", "1..3,8", "-p", "other.yaml", "-o", "json")
    found = sweep(load_recording("r.yaml"), [1, 2, 3, 8], policy=load_policy(Path("other.yaml")))
    assert (code, json.loads(out)) == (0, found.data())

    code, out, _ = run(capsys, "--sweep", "1,2")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[:3]] == ["pool", "1", "2"]


def test_the_picture_is_written_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--pool", "1", "--picture", "a.svg")
    assert (code, err) == (0, "written: a.svg\n")
    assert out
    assert Path("a.svg").read_text("utf-8").startswith("<svg")
    assert run(capsys, "--pool", "1", "--turn", "second", "--picture", "a.png")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sweep", ""], "--sweep is ''"),
        (["--sweep", "3..1"], "--sweep is '3..1'"),
        (["--sweep", "0,1"], "--sweep is '0,1'"),
        (["--sweep", "1,two"], "--sweep is '1,two'"),
        (["--sweep", "1..9999"], "The sweep has 9999 pool sizes"),
        (["--sweep", "1", "--pool", "2"], "Leave --pool out"),
        (["--pool", "0"], "--pool"),
        (["--pool", "many"], "--pool"),
        (["--resources", "cpu"], "--resources is 'cpu'"),
        (["--resources", "cpu=0"], "--resources is 'cpu=0'"),
        (["--resources", "=1"], "--resources is '=1'"),
        (["--resources", "cpu=-1"], "--resources is 'cpu=-1'"),
        (["--policy", "nothing.yaml"], "nothing.yaml"),
        (["--policy", "r.yaml"], "r.yaml"),
        (["--pool", "1", "--turn", "third"], "--turn is 'third'"),
        (["--pool", "1", "--missing", "most"], "--missing"),
        (["--pool", "1", "--picture", "a.gif"], "a.gif"),
        (["--pool", "1", "--picture", "a.png"], "There are 2 turns"),
        (["--picture", "a.svg"], "--picture draws an answer"),
    ],
)
def test_wrong_input_is_told_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    before = sorted(Path.cwd().iterdir())
    code, out, err = run(capsys, *words)

    assert (code, out) == (2, "")
    assert said in err
    assert all(line.startswith("toolflow: ") for line in err.splitlines())
    assert sorted(Path.cwd().iterdir()) == before


def entry(at: str, kind: str, content: list[dict[str, object]]) -> str:
    message = {"id": "m1", "role": kind, "content": content}
    stamp = f"2026-01-05T09:00:{at}Z"
    return json.dumps({"type": kind, "sessionId": "s", "timestamp": stamp, "message": message})


def test_a_session_log_may_stand_for_a_recording(capsys: pytest.CaptureFixture[str]) -> None:
    calls = [
        {"type": "tool_use", "id": name, "name": "look", "input": {"path": name}} for name in "ab"
    ]
    results = [{"type": "tool_result", "tool_use_id": name, "content": name} for name in "ab"]
    lines = [
        entry("00.000", "assistant", calls),
        entry("02.000", "user", results[:1]),
        entry("05.000", "user", results[1:]),
    ]
    Path("log.jsonl").write_text("\n".join(lines) + "\n", "utf-8")

    code = main(["replay", "log.jsonl", "-p", "other.yaml", "-o", "json"])
    data = json.loads(capsys.readouterr().out)

    assert code == 0
    (turn,) = data["turns"]
    assert [node["kind"] for node in turn["before"]["nodes"]] == ["barrier", "barrier"]
    assert [node["kind"] for node in turn["after"]["nodes"]] == ["pool"]
    assert turn["before"]["total"] > turn["after"]["total"] == 5.0
