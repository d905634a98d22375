"""Every command with right and with wrong input: one line, exit code 2, nothing half done."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from toolflow.cli import main

TURN = """\
calls:
  - {id: a, tool: read, args: {path: a.txt}}
  - {id: b, tool: read, args: {path: b.txt}}
  - {id: c, tool: write, args: {path: a.txt}}
"""
POLICY = """\
version: 1
rules:
  - {tool: read, safe: true, reads: ["file:{{ args.path }}"]}
"""
ALL = ["plan", "run", "replay", "render", "import", "check", "test", "explain", "init"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("turn.yaml").write_text(TURN, "utf-8")
    Path("policy.yaml").write_text(POLICY, "utf-8")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """What a command writes to standard error, when it ends with a code and writes no data."""
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    return err


def test_plan_shows_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "turn.yaml", "-p", "policy.yaml"]) == 0
    out = capsys.readouterr().out
    assert "pool-1" in out
    assert "barrier-2" in out


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_a_plan_as_data_is_a_plan_file(capsys: pytest.CaptureFixture[str], output: str) -> None:
    assert main(["plan", "turn.yaml", "-p", "policy.yaml", "--output", output]) == 0
    Path(f"plan.{output}").write_text(capsys.readouterr().out, "utf-8")
    assert main(["check", f"plan.{output}"]) == 0
    assert capsys.readouterr().out == f"plan.{output}: a plan without problems\n"
    assert main(["plan", f"plan.{output}"]) == 0
    assert "barrier-2" in capsys.readouterr().out


def test_a_turn_comes_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(TURN))
    assert main(["plan", "-", "-p", "policy.yaml", "--summary"]) == 0
    assert capsys.readouterr().out.startswith("1 turn")


@pytest.mark.parametrize("command", ALL)
def test_a_missing_file_is_one_line(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code = 2
    assert said(capsys, command, "nothing.yaml", code=code).count("\n") == 1


@pytest.mark.parametrize("command", [name for name in ALL if name != "import"])
def test_a_folder_is_one_line(capsys: pytest.CaptureFixture[str], command: str) -> None:
    err = said(capsys, command, ".")
    assert err.count("\n") == 1
    assert "folder" in err


@pytest.mark.parametrize("command", ALL)
@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00bad",
        b"\x00",
        b"",
        b"calls: [",
        b"[" * 5000,
        b"a: &a [*a]",
        b"!!python/object:os.system {}",
        b"just words",
        b"{",
        b"- 1\n- 2\n",
        b"stages: 7",
        b"rules: 7",
        b"nodes: {}",
        b"turns: 1",
        b"calls: 3",
    ],
)
def test_a_bad_file_is_told_without_a_traceback(
    capsys: pytest.CaptureFixture[str], command: str, content: bytes
) -> None:
    Path("bad.yaml").write_bytes(content)
    before = sorted(Path.cwd().rglob("*"))
    code = main([command, "bad.yaml"])
    out, err = capsys.readouterr()
    assert code in {1, 2}
    assert out == "" or command == "check"
    assert "Traceback" not in err + out
    assert all(line.startswith("toolflow: ") for line in err.splitlines())
    assert err.splitlines()
    assert sorted(Path.cwd().rglob("*")) == before


def test_wrong_policies_tell_all_problems_with_their_places(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("policy.yaml").write_text(
        "version: 1\nlimits: {pool: 0}\nrules:\n  - {tool: read, safe: yess}\n", "utf-8"
    )
    err = said(capsys, "plan", "turn.yaml", "-p", "policy.yaml")
    assert "policy.yaml:2:16: limits.pool is 0. Use an integer of at least 1." in err
    assert "policy.yaml:4:24: rules[0].safe is 'yess'. Use" in err
    assert err.count("\n") == 2


def test_check_ends_with_1_and_lists_problems_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    Path("policy.yaml").write_text("version: 1\nrulez: []\n", "utf-8")
    Path("flow.yaml").write_text("version: 1\nname: x\nstages: []\n", "utf-8")
    assert main(["check", "flow.yaml", "--output", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [(p["line"], p["column"]) for p in data["problems"]] == [(3, 9)]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("plan", "turn.yaml", "--turn", "9"), "--turn is '9'. Use an id, or a number from 1 to 1"),
        (("plan", "turn.yaml", "--format", "morse"), "morse"),
        (("plan", "turn.yaml", "--output", "xml"), "xml"),
        (("run", "turn.yaml"), "say which tools run it"),
        (("replay", "turn.yaml"), "not a recording"),
        (("render", "turn.yaml", "--to", "x.gif"), "gif"),
        (("render", "turn.yaml", "--timeline"), "no times"),
        (("plan",), "TURN"),
        (("fly",), "fly"),
        (("plan", "turn.yaml", "--no-such-option"), "--no-such-option"),
    ],
)
def test_wrong_usage_is_one_line(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], part: str
) -> None:
    err = said(capsys, *words)
    assert err.count("\n") == 1
    assert part in err


def test_arguments_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("turn.json").write_text(
        json.dumps(
            {"calls": [{"id": "a", "tool": "x\u001b[2J", "args": {"p": "\u001b]0;t\u0007"}}]}
        ),
        "utf-8",
    )
    assert main(["plan", "turn.json"]) == 0
    assert "\u001b" not in capsys.readouterr().out


def test_the_program_starts_without_what_it_does_not_need() -> None:
    code = "import sys, toolflow; print(sorted(m for m in sys.modules if m.split('.')[0] in HEAVY))"
    heavy = {"pydantic", "jinja2", "networkx", "graphviz", "typer", "rich", "yaml", "anyio"}
    ran = subprocess.run(
        [sys.executable, "-c", code.replace("HEAVY", repr(heavy))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == "[]"


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "replay" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("toolflow ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plna"], "No such command 'plna'. Did you mean 'plan'"),
        (["schema", "policy", "--output", "x"], "No such option: --output. See '"),
        (["plan", "t.yaml", "--output", "xml"], "'--output' / '-o': 'xml' is not one of 'text'"),
        (["replay", "t.yaml"], "t.yaml: this is a file of turns, not a recording."),
    ],
)
def test_what_is_said_of_wrong_words_is_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.yaml").write_text("calls: [{tool: a}]\n")
    assert main(words) == 2
    found = capsys.readouterr().err
    assert said in found
    assert found.count("\n") == 1
    assert "?." not in found
    assert "Value error" not in found


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        (
            ["--help"],
            ["toolflow.cli.planning", "toolflow.policy", "jinja2", "pydantic", "networkx"],
        ),
        (["plan", "t.yaml"], ["toolflow.flow", "toolflow.cli.running", "toolflow.tools.mcp"]),
        (["run", "f.yaml"], ["toolflow.cli.auditing", "toolflow.tools.mcp.servers", "mcp"]),
    ],
)
def test_a_command_loads_no_other_one(tmp_path: Path, words: list[str], absent: list[str]) -> None:
    (tmp_path / "t.yaml").write_text("calls: [{tool: a}]\n")
    code = (
        f"import sys; from toolflow.cli import main; main({words}); "
        f"print([name for name in {absent} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(  # this Python
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"
