"""``toolflow run``, ``resume`` and ``runs``: a run goes on in other processes, and is listed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import toolflow
from toolflow.cli import main
from toolflow.flow import past_of
from toolflow.recording import load_recording, open_journal, read_journal, replay

TOOLS = """\
import os, signal
from pathlib import Path
from toolflow import Context, Toolbox

toolbox = Toolbox()


@toolbox.tool(safe=True, idempotent=True)
async def look(path: str) -> str:
    with open("did.txt", "a") as did:
        print("look", path, file=did)
    if Path("large").exists():
        return path * 1000
    return f"content of {path}"


@toolbox.tool(safe=True)
async def send(to: str) -> str:
    with open("did.txt", "a") as did:
        print("send", to, file=did)
    if Path("die").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    if Path("fail").exists():
        raise ValueError("no post today")
    return f"sent to {to}"


@toolbox.tool(safe=True)
async def colour(ctx: Context) -> object:
    return ctx.interrupt("Which colour?")
"""
FLOW = """\
version: 1
name: post
policy: {version: 1, rules: [{tool: send, ask: "Send?"}, {tool: "*"}]}
tools: {python: ["%s:toolbox"]}
stages:
  - id: gather
    calls:
      - {id: a, tool: look, args: {path: a.txt}}
      - {id: b, tool: look, args: {path: b.txt}}
  - id: mail
    calls:
      - {id: m, tool: send, args: {to: "{{ results.gather.a }}"}}
  - id: choose
    calls:
      - {id: c, tool: colour}
  - id: last
    calls:
      - {id: z, tool: look, args: {path: "{{ results.choose.c }}"}}
"""
NAMES = iter(f"posttools{number}" for number in range(1000))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    name = next(NAMES)  # modules are loaded once a process
    Path(f"{name}.py").write_text(TOOLS)
    Path("flow.yaml").write_text(FLOW % name)
    Path("turn.yaml").write_text(
        "calls:\n  - {id: a, tool: look, args: {path: a.txt}}\n  - {id: b, tool: colour}\n"
    )
    Path("module").write_text(name)
    return tmp_path


def did() -> list[str]:
    return Path("did.txt").read_text().splitlines() if Path("did.txt").exists() else []


def listed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    capsys.readouterr()
    assert main(["runs", "-o", "json"]) == 0
    return json.loads(capsys.readouterr().out)["runs"]


def test_a_flow_that_paused_goes_on_and_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "flow.yaml", "-q"]) == 3
    err = capsys.readouterr().err
    assert "mail: m waits for an answer: Send?" in err
    assert f"go on with: toolflow resume {Path('.toolflow/post-1')} --answer m=yes" in err
    (row,) = listed(capsys)
    assert (row["name"], row["state"], row["turns"], row["calls"]) == ("post-1", "paused", 2, 3)
    assert main(["resume", "post-1", "-q", "--yes"]) == 3
    assert "choose: c waits for an answer: Which colour?" in capsys.readouterr().err
    words = ["resume", ".toolflow/post-1", "-q", "--answer", "choose/c=blue", "-o", "json"]
    assert main(words) == 0
    stages = json.loads(capsys.readouterr().out)["stages"]
    assert [stage["status"] for stage in stages] == ["done"] * 4
    assert stages[3]["calls"][0]["result"] == "content of blue"
    assert did() == ["look a.txt", "look b.txt", "send content of a.txt", "look blue"]
    assert [row["state"] for row in listed(capsys)] == ["done"]
    recording = load_recording(".toolflow/post-1/recording.yaml")
    assert [turn.turn.id for turn in recording.turns] == [
        "gather",
        "mail",
        "mail",
        "choose",
        "choose",
        "last",
    ]
    assert replay(recording).ok


def test_a_run_that_is_done_goes_nowhere_and_runs_nothing_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("module.txt").write_text("")
    assert main(["run", "turn.yaml", "--flow", "flow.yaml", "-q"]) == 3
    assert main(["resume", "turn-1", "-q", "--answer", 'b={"rgb": [1]}']) == 0
    out = capsys.readouterr().out
    for _ in range(2):
        assert main(["resume", "turn-1", "-q"]) == 0
        assert capsys.readouterr().out in out
    assert did() == ["look a.txt"]


def test_a_turn_and_a_plan_run_with_the_tools_that_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tools = f"{Path('module').read_text()}:toolbox"
    Path("policy.yaml").write_text("version: 1\nrules:\n  - {tool: colour, deny: No.}\n")
    words = ["--tools", tools, "-p", "policy.yaml", "-q"]
    assert main(["run", "turn.yaml", *words]) == 1
    assert "denied" in capsys.readouterr().out
    main(["plan", "turn.yaml", "-p", "policy.yaml", "-o", "yaml"])
    Path("plan.yaml").write_text(capsys.readouterr().out)
    assert main(["run", "plan.yaml", "--flow", "flow.yaml", "-q"]) == 1
    assert [row["name"] for row in listed(capsys)] == ["plan-1", "turn-1"]
    assert [row["state"] for row in listed(capsys)] == ["failed", "failed"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "turn.yaml"], "say which tools run it: --flow FLOW, or --tools"),
        (["run", "-"], "a later process could not read it again"),
        (["run", "flow.yaml", "--tools", "x:y"], "are for a turn or a plan"),
        (["run", "flow.yaml", "--out", "there"], "a run is there already"),
        (["resume", "nothing"], "there is no run with a journal. See `toolflow runs`"),
        (["resume", "there", "--answer", "m"], "Use CALL=VALUE, once for each call"),
        (["resume", "there", "--answer", "m=yes", "--answer", "m=no"], "once for each call"),
        (["resume", "there", "--answer", "x=yes"], "'x' waits for no answer. Waiting: mail/m"),
        (["resume", "there", "--answer", "m=perhaps"], "Use yes, no, or no: REASON"),
        (["resume", "own"], "this journal is not of `toolflow run`"),
        (["runs", "flow.yaml"], "this folder is a file"),
        (["runs", "nothing"], "this folder is not there"),
    ],
)
def test_wrong_words_are_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["run", "flow.yaml", "-q", "--out", "there"]) == 3
    Path("own").mkdir()
    open_journal("own/journal.jsonl").close()
    capsys.readouterr()
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_no_with_a_reason_declines_and_what_goes_on_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "flow.yaml", "-q"]) == 3
    words = ["resume", "post-1", "-q", "--answer", "m=no: not today"]
    assert main(words) == 3
    assert main(["resume", "post-1", "-q", "--answer", "c=red"]) == 1
    assert "Declined by the approver: not today" in capsys.readouterr().out
    assert [row["state"] for row in listed(capsys)] == ["failed"]


def test_a_run_that_another_process_writes_is_not_touched(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "flow.yaml", "-q"]) == 3
    with open_journal(".toolflow/post-1/journal.jsonl"):
        assert [row["state"] for row in listed(capsys)] == ["running"]
        assert main(["resume", "post-1", "-q"]) == 2
        assert "writes this journal" in capsys.readouterr().err
    assert [row["state"] for row in listed(capsys)] == ["paused"]


def test_large_results_stand_in_files_beside_the_recording() -> None:
    Path("large").touch()
    words = ["run", "turn.yaml", "--flow", "flow.yaml", "-q", "--results-above", "1000"]
    assert main(words) == 3
    (file,) = Path(".toolflow/turn-1/results").iterdir()
    assert file.read_text() == "a.txt" * 1000
    recording = load_recording(".toolflow/turn-1/recording.yaml")
    assert recording.turns[0].outcomes[0].value == "a.txt" * 1000


def test_no_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs"]) == 0
    assert capsys.readouterr().out == "there are no runs here\n"


def program(*words: str, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    code = f"import sys; {before or 'pass'}; from toolflow.cli import main; sys.exit(main())"
    places = [str(Path(toolflow.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    line = [sys.executable, "-c", code, *words]
    return subprocess.run(line, env=env, check=False, timeout=120, capture_output=True, text=True)


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no limits on files")
def test_a_journal_that_may_not_grow_stops_the_run_and_it_goes_on_later(
    capsys: pytest.CaptureFixture[str],
) -> None:
    size = 2600  # bytes that any file of the process may have: as little as a nearly full disk
    limit = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({size}, {size}))"
    ended = program("run", "flow.yaml", "-q", "--yes", before=limit)
    first, second = ended.stderr.splitlines()
    journal = Path(".toolflow/post-1/journal.jsonl")
    assert first == f"toolflow: {journal}: the journal cannot be written: file too large."
    assert second.startswith("stopped; once it can be written again: toolflow resume ")
    assert ended.returncode == 3
    assert journal.read_bytes().endswith(b"\n")
    before, code = did(), 3
    while code == 3:
        words = ["resume", "post-1", "-q", "--yes"]
        for _, question in past_of(read_journal(journal)).questions():
            answer = "no: it was sent" if question.kind == "repeat" else "blue"
            if question.kind != "approval":
                words += ["--answer", f"{question.call}={answer}"]
        code = main(words)
    assert len(did()) == len(set(did())) == 4
    assert did()[: len(before)] == before


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_a_flow_whose_process_was_killed_goes_on_in_another_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("die").touch()
    assert program("run", "flow.yaml", "-q", "--yes").returncode == -signal.SIGKILL
    Path("die").unlink()
    (row,) = listed(capsys)
    assert (row["state"], row["resume"]) == (
        "crashed",
        f"toolflow resume {Path('.toolflow/post-1')}",
    )
    assert main(["resume", "post-1", "-q", "--yes"]) == 3
    err = capsys.readouterr().err
    assert "had started when the process died, and may have taken effect; run it again?" in err
    assert did() == ["look a.txt", "look b.txt", "send content of a.txt"]
    assert main(["resume", "post-1", "-q", "--answer", "m=yes"]) == 3
    assert main(["resume", "post-1", "-q", "--answer", "c=blue"]) == 0
    assert did()[3:] == ["send content of a.txt", "look blue"]
