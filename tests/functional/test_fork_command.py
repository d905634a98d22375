"""``toolflow fork``: exit codes, the new recording, wrong input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import ran, record_flow

from toolflow import load_recording
from toolflow.cli import main

POLICY = """\
version: 1
rules:
  - {tool: read_file, safe: true}
  - {tool: write_file, safe: false}
  - {tool: delete_file, safe: false, ask: "Delete this file?"}
"""
FLOW = """\
version: 1
name: forked
policy: policy.yaml
tools: {workspace: {root: files}}
stages:
  - id: work
    calls:
      - {id: read, tool: read_file, args: {path: a.txt}}
      - {id: drop, tool: delete_file, args: {path: a.txt}}
      - {id: note, tool: write_file, args: {path: log.txt, text: done}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert record_flow(POLICY, FLOW, {"a.txt": "a", "b.txt": "b"}, "--yes") == 0
    return tmp_path


def fork(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return ran(capsys, "fork", "run/recording.yaml", "--flow", "flow.yaml", "--quiet", *words)


def test_other_arguments_with_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--at", "drop", "--args", 'drop={"path": "b.txt"}', "--answer", "drop=yes"]
    code, out, err = fork(capsys, *words, "--to", "new.yaml")

    assert (code, err) == (0, "written: new.yaml\n")
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [
        ["read", "kept", "ok"],
        ["drop", "ran", "ok"],
        ["note", "ran", "ok"],
    ]
    assert not Path("files/b.txt").exists()
    recording = load_recording("new.yaml")
    assert recording.source["fork"] == {"at": "drop"}
    assert main(["replay", "new.yaml"]) == 0
    assert main(["diff", "run/recording.yaml", "new.yaml"]) == 1
    assert "args.path: a.txt -> b.txt" in capsys.readouterr().out


def test_an_approval_does_not_hold_for_other_arguments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, err = fork(capsys, "--at", "drop", "--args", 'drop={"path": "b.txt"}')

    assert code == 3
    assert "drop waits for an answer: Delete this file?" in err
    assert Path("files/b.txt").exists()
    assert fork(capsys, "--at", "drop", "--answer", "drop=no", "--to", "no.yaml")[0] == 1


def test_data_and_the_name_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = fork(capsys, "--at", "work/note", "-o", "json")

    data = json.loads(out)
    assert (code, data["written"]) == (0, "run/recording-fork.yaml")
    assert [(call["call"], call["kept"], call["ran"]) for call in data["calls"]] == [
        ("read", True, False),
        ("drop", True, False),
        ("note", False, True),
    ]
    code, out, err = fork(capsys, "--at", "note")
    assert (code, out) == (2, "")
    assert "this file is there already" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", "nobody"], "There is no call 'nobody'."),
        (["--at", "note", "--args", "read={}"], "'read' had settled before 'note' started"),
        (["--at", "note", "--args", "note"], "--args is 'note'"),
        (["--at", "note", "--args", "note=[1]"], "--args of 'note' is '[1]'"),
        (["--at", "note", "--args", "note={"], "--args of 'note' is '{'"),
        (["--at", "note", "--args", "other={}"], "no call 'other'"),
        (["--at", "note", "--answer", "=yes"], "--answer is '=yes'"),
        (["--at", "drop", "--answer", "drop=7"], "asked for a yes or a no"),
        (["--at", "drop", "--answer", "drop=yes", "--answer", "drop=no"], "'drop' twice"),
        ([], "--at"),
    ],
)
def test_wrong_input_is_one_line_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    before = sorted(Path.cwd().rglob("*"))
    code, out, err = fork(capsys, *words)

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert sorted(Path.cwd().rglob("*")) == before


def test_without_a_flow_there_are_no_tools(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["fork", "run/recording.yaml", "--at", "note"]) == 2
    assert "Name the flow that has them (--flow)." in capsys.readouterr().err
    assert main(["fork", "flow.yaml", "--at", "note"]) == 2
    assert "this is a flow, not a recording" in capsys.readouterr().err
