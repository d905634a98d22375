"""``toolflow replay --live``: real tools in a real folder, run again and compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import ran, record_flow

from toolflow import Engine, Toolbox, load_recording
from toolflow.cli import main
from toolflow.flow.live import replay_live
from toolflow.model import Outcome, RecordedTurn, Recording
from toolflow.recording import Recorder, save_recording
from toolflow.tools import workspace

Runner = Callable[..., Any]
POLICY = """\
version: 1
rules:
  - {tool: [read_file, list_files, grep, write_file, edit_file], safe: true}
  - {tool: delete_file, ask: "Delete {{ args.path }}?"}
  - {tool: run_command, deny: No commands here.}
"""
FLOW = """\
version: 1
name: live
policy: policy.yaml
tools: {workspace: {root: files}}
stages:
  - id: look
    calls:
      - {id: notes, tool: read_file, args: {path: notes.txt}}
      - {id: gone, tool: read_file, args: {path: gone.txt}}
      - {id: find, tool: grep, args: {pattern: one, path: .}}
      - {id: add, tool: write_file, args: {path: log.txt, text: "written"}}
      - {id: shell, tool: run_command, args: {command: "true"}}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    record_flow(POLICY, FLOW, {"notes.txt": "one\ntwo\n"})
    return tmp_path


def live(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], str]:
    flow = ("--live", "--flow", "flow.yaml")
    code, out, err = ran(capsys, "replay", "run/recording.yaml", *flow, *words)
    return code, out.splitlines(), err


def test_what_reads_runs_again_and_what_writes_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("files/log.txt").unlink()

    code, lines, err = live(capsys)

    assert code == 0
    assert lines[0] == "look:"
    assert lines[1:4] == ["  same       notes", "  same       gone", "  same       find"]
    assert lines[4].startswith("  not run    add: it writes file:")
    assert lines[5] == "  not run    shell: it did not run (denied)"
    assert lines[6] == "5 calls: 3 same, 2 not run."
    assert "were not run again" in err
    assert not Path("files/log.txt").exists()


def test_with_writes_they_run_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("files/log.txt").unlink()

    code, lines, err = live(capsys, "--writes")

    assert (code, err) == (0, "")
    assert lines[4] == "  same       add"
    assert Path("files/log.txt").read_text("utf-8") == "written"


def test_what_changed_is_told_call_by_call(capsys: pytest.CaptureFixture[str]) -> None:
    Path("files/notes.txt").unlink()
    Path("files/gone.txt").write_text("here now", "utf-8")

    code, lines, _ = live(capsys)

    assert code == 1
    assert lines[1].startswith("  new error  notes: recorded ok 'one\\ntwo\\n', now failed ")
    assert lines[2].startswith("  changed    gone: recorded failed ")
    assert lines[2].endswith("now ok 'here now'")
    assert lines[3].startswith("  changed    find: ")
    assert lines[-1] == "5 calls: 2 changed, 1 new error, 2 not run."


def test_the_report_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    Path("files/notes.txt").write_text("other\n", "utf-8")

    code, lines, _ = live(capsys, "-o", "json")

    data = json.loads("\n".join(lines))
    assert (code, data["ok"]) == (1, False)
    notes = data["turns"][0]["calls"][0]
    assert (notes["result"], notes["now"]) == ("changed", {"status": "ok", "value": "other\n"})


def test_a_recording_does_not_choose_what_runs(capsys: pytest.CaptureFixture[str]) -> None:
    recording = load_recording("run/recording.yaml")
    source = {**recording.source, "flow": str(Path("flow.yaml").resolve())}
    save_recording(replace(recording, source=source), "named.yaml")
    capsys.readouterr()

    assert main(["replay", "named.yaml", "--live"]) == 2
    assert "Name the flow that has them (--flow)." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--live"], "Name the flow that has them (--flow)."),
        (["--live", "--flow", "nothing.yaml"], "nothing.yaml"),
        (["--live", "--flow", "policy.yaml"], "policy.yaml"),
        (["--writes"], "belong to --live"),
        (["--flow", "flow.yaml"], "belong to --live"),
        (["--live", "--flow", "flow.yaml", "--pool", "2"], "Leave rules"),
        (["--live", "--flow", "flow.yaml", "--step"], "Leave rules"),
    ],
)
def test_wrong_input_is_told(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    code, out, err = ran(capsys, "replay", "run/recording.yaml", *words)

    assert (code, out) == (2, "")
    assert said in err
    assert all(line.startswith("toolflow: ") for line in err.splitlines())


# ---- from Python, on both loops ----


def recorded(run: Runner, tools: Toolbox, calls: list[dict[str, Any]], policy: str) -> Recording:
    async def main() -> Recording:
        engine = Engine(tools, policy=policy, approver=lambda question: True)
        recorder = Recorder(policy=engine.policy)
        recorder.add(await engine.run({"calls": calls}))
        return recorder.recording

    made: Recording = run(main)
    return made


def test_what_was_approved_is_approved_again_and_what_was_declined_does_not_run(
    run: Runner,
) -> None:
    tools = workspace(Path("files"))
    Path("files/old.txt").write_text("old", "utf-8")
    calls = [{"id": "drop", "tool": "delete_file", "args": {"path": "old.txt"}}]
    recording = recorded(run, tools, calls, POLICY)
    Path("files/old.txt").write_text("again", "utf-8")
    engine = Engine(tools, policy=POLICY)

    assert run(lambda: replay_live(recording, engine)).turns[0].calls[0].result == "not run"
    assert Path("files/old.txt").exists()
    report = run(lambda: replay_live(recording, engine, writes=True))
    assert report.turns[0].calls[0].result == "same"
    assert not Path("files/old.txt").exists()

    (turn,) = recording.turns
    declined = replace(turn, outcomes=(Outcome("declined", error="No."),))
    report = run(lambda: replay_live(replace(recording, turns=(declined,)), engine, writes=True))
    assert report.turns[0].calls[0].why == "it did not run (declined)"


def test_a_call_whose_tool_became_exclusive_is_not_run_again(run: Runner) -> None:
    tools, seen = Toolbox(), []

    @tools.tool
    async def look(path: str) -> str:
        seen.append(path)
        return path

    calls = [{"id": "a", "tool": "look", "args": {"path": "x"}}]
    recording = recorded(run, tools, calls, "version: 1\nrules: [{tool: look, safe: true}]\n")

    report = run(lambda: replay_live(recording, Engine(tools)))

    assert report.turns[0].calls[0].why == "it is exclusive; --writes runs it"
    assert seen == ["x"]


def test_a_value_of_another_type_is_another_value(run: Runner) -> None:
    values: list[Any] = [1, True, 1.0, 1]
    tools = Toolbox()
    tools.tool(lambda: values.pop(0), name="count", safe=True)
    recording = recorded(run, tools, [{"id": "a", "tool": "count", "args": {}}], "version: 1\n")
    engine = Engine(tools)

    results = [run(lambda: replay_live(recording, engine)).turns[0].calls[0].result for _ in "abc"]

    assert results == ["changed", "changed", "same"]


def test_a_call_without_an_outcome_is_left_alone(run: Runner) -> None:
    tools = Toolbox()
    tools.tool(lambda: 1, name="count", safe=True)
    recording = recorded(run, tools, [{"id": "a", "tool": "count", "args": {}}], "version: 1\n")
    (turn,) = recording.turns
    bare = replace(recording, turns=(RecordedTurn(turn.turn, (None,)),))

    (call,) = run(lambda: replay_live(bare, Engine(tools))).turns[0].calls
    assert (call.result, call.why) == ("not run", "it has no outcome in the recording")


def test_secrets_are_masked_in_what_is_compared_and_masked_arguments_do_not_run(
    run: Runner,
) -> None:
    tools = Toolbox()
    tools.tool(lambda path: {"path": path, "password": "hunter2"}, name="look", safe=True)
    tools.tool(lambda password: "in", name="login", safe=True)
    policy = "version: 1\nredact: [password]\n"
    calls = [
        {"id": "a", "tool": "look", "args": {"path": "x"}},
        {"id": "b", "tool": "login", "args": {"password": "hunter2"}},
    ]
    recording = recorded(run, tools, calls, policy)
    assert recording.turns[0].outcomes[0].value["password"] == "***"

    report = run(lambda: replay_live(recording, Engine(tools, policy=policy)))

    assert [call.result for call in report.turns[0].calls] == ["same", "not run"]
    assert report.turns[0].calls[1].why == "its arguments are masked in the recording"
    assert "hunter2" not in str(report.data())
