"""``toolflow init``: what it writes loads, is without problems, and its cases hold."""

from __future__ import annotations

import io
import json
import sys

import pytest
from corpus import corpus_dir

from toolflow.cli import main
from toolflow.policy import load_policy
from toolflow.policy.cases import run_cases

TOOLS = [
    {
        "name": "get_note",
        "description": "Read a note.",
        "inputSchema": {
            "type": "object",
            "properties": {"note": {"type": "string"}},
            "required": ["note"],
        },
    },
    {"name": "delete_note", "inputSchema": {"type": "object"}},
]


def write(path, value):
    path.write_text(json.dumps(value), "utf-8")
    return str(path)


def is_sound(path):
    """Whether a policy is without problems, its cases hold and cover its rules."""
    assert main(["check", str(path)]) == 0
    policy = load_policy(path)
    report = run_cases(policy)
    own = [rule for rule in policy.settings.book.rules if rule.base is None]
    return report.ok and all(rule.safe is None for rule in own)


def test_a_policy_is_written_to_standard_output_or_to_a_file(tmp_path, capsys):
    source = write(tmp_path / "tools.json", {"server": "notes", "tools": TOOLS})
    assert main(["init", source]) == 0
    text = capsys.readouterr().out
    assert main(["init", source, "--to", str(tmp_path / "policy.yaml")]) == 0
    assert (tmp_path / "policy.yaml").read_text("utf-8") == text
    assert "written: " in capsys.readouterr().err
    assert is_sound(tmp_path / "policy.yaml")
    assert "server: notes" in text


def test_a_file_that_is_there_is_replaced_only_where_that_is_asked_for(tmp_path, capsys):
    source = write(tmp_path / "tools.json", TOOLS)
    target = tmp_path / "policy.yaml"
    target.write_text("mine", "utf-8")
    assert main(["init", source, "--to", str(target)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said == [
        f"toolflow: {target}: this file is there already. Name another one, or use --force."
    ]
    assert target.read_text("utf-8") == "mine"
    assert main(["init", source, "--to", str(target), "--force"]) == 0
    assert is_sound(target)


def test_the_name_of_the_server_can_be_given(tmp_path, capsys):
    source = write(tmp_path / "tools.json", {"server": "notes", "tools": TOOLS})
    assert main(["init", source, "--server", "mine"]) == 0
    assert "server: mine" in capsys.readouterr().out
    assert main(["init", source, "--server", "not a name"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("policy.yaml", "version: 1\nrules: []\n"),
        ("empty.json", "{}"),
        ("empty.yaml", ""),
        ("list.json", "[]"),
        ("torn.json", '{"tools": ['),
        ("text.txt", "hello"),
        ("turn.yaml", "calls: []\n"),
        ("log.jsonl", "not json\nnot json\n"),
        ("binary.json", "\x00\x01"),
    ],
)
def test_wrong_input_is_told_in_one_line(name, text, tmp_path, capsys):
    (tmp_path / name).write_text(text, "utf-8")
    assert main(["init", str(tmp_path / name)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1, told.err
    assert main(["init", str(tmp_path / "nothing.json")]) == 2
    assert main(["init", str(tmp_path)]) == 2
    assert main(["init", str(tmp_path / name), "--server", "x"]) == 2


def test_standard_input_is_a_source(tmp_path, capsys, monkeypatch):
    turn = {"calls": [{"id": "a", "tool": "read_it", "args": {"path": "x"}}]}
    for value, rule in ((TOOLS, "tool: get_note"), (turn, "tool: read_it")):
        monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(value)))
        assert main(["init", "-"]) == 0
        assert rule in capsys.readouterr().out
    for text in ("{}", "hello: [", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        assert main(["init", "-"]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_turn_is_enough(tmp_path, capsys):
    turn = {"calls": [{"id": "a", "tool": "read_it", "args": {"path": "x"}}]}
    assert (
        main(["init", write(tmp_path / "turn.json", turn), "--to", str(tmp_path / "p.yaml")]) == 0
    )
    assert is_sound(tmp_path / "p.yaml")
    assert "file:/project/x" in (tmp_path / "p.yaml").read_text("utf-8")


def test_a_flow_tells_its_tools(tmp_path, capsys):
    flow = tmp_path / "flow.yaml"
    flow.write_text(
        "version: 1\nname: f\ntools:\n  workspace: {root: .}\n"
        "  shell: {run_tests: {argv: [make, test]}}\n"
        "stages:\n  - {id: s, calls: [{tool: run_tests}]}\n",
        "utf-8",
    )
    assert main(["init", str(flow), "--to", str(tmp_path / "p.yaml")]) == 0
    assert is_sound(tmp_path / "p.yaml")
    text = (tmp_path / "p.yaml").read_text("utf-8")
    assert "extends: [shipped:workspace]" in text
    assert "run_tests" in text


SERVER = """
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("notes")


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def read(note: str) -> str:
    "Read a note."
    return note


if __name__ == "__main__":
    server.run()
"""


def test_the_servers_of_a_flow_are_started_and_asked(tmp_path, capsys):
    pytest.importorskip("mcp", reason="the extra mcp is not here")
    (tmp_path / "server.py").write_text(SERVER, "utf-8")
    servers = {"notes": {"command": sys.executable, "args": ["server.py"]}}
    stages = [{"id": "s", "calls": [{"tool": "notes__read", "args": {"note": "x"}}]}]
    flow = {"version": 1, "name": "f", "tools": {"mcp": servers}, "stages": stages}
    source = write(tmp_path / "flow.yaml", flow)
    assert main(["init", source, "--to", str(tmp_path / "p.yaml")]) == 0
    assert is_sound(tmp_path / "p.yaml")
    text = (tmp_path / "p.yaml").read_text("utf-8")
    assert "  # Read a note.\n  - tool: read\n    server: notes\n" in text
    assert 'reads: ["note:{{ args.note }}"]' in text


# --- what other people recorded ------------------------------------------------------------------

LISTS = [
    *[
        f"mcp-tools-list/{name}.json"
        for name in (
            "everything",
            "fetch",
            "filesystem",
            "git",
            "memory",
            "playwright",
            "sequential-thinking",
            "sqlite",
            "time",
        )
    ],
    "mcp/github-mcp-server.tools-list.json",
    "bfcl/func-doc-gorilla_file_system.jsonl",
    "bfcl/BFCL_v4_parallel.jsonl",
]
LOGS = [
    "claude-code/mclaude-3cfce0ff.jsonl",
    "claude-code/agentsessions-claude-small.jsonl",
    "gemini-cli/parallel-tools.responses",
    "other-agents/codex-small.jsonl",
    "other-agents/copilot-small.jsonl",
    "other-agents/hermes-atif-real-redacted.json",
    "pi/large-session.jsonl",
    "trajectories/tau-gpt-4o-airline-top25.json",
    "trajectories/inspect-browser.json",
    "trajectories/openhands-sdk-litellm-log.json",
    "cassettes/pydantic-test_multiple_parallel_tool_calls.yaml",
    "vercel/google-stream-no-args-tool-call.chunks.txt",
]


@pytest.mark.parametrize("name", [*LISTS, *LOGS])
def test_a_recorded_list_or_log_gives_a_policy(name, tmp_path, capsys):
    source = corpus_dir(*name.split("/"))
    assert main(["init", str(source), "--to", str(tmp_path / "p.yaml")]) == 0
    assert is_sound(tmp_path / "p.yaml")


@pytest.mark.parametrize("name", LISTS[:10])
def test_the_official_servers_are_known(name, tmp_path, capsys):
    source = corpus_dir(*name.split("/"))
    assert main(["init", str(source)]) == 0
    server = "github" if "github" in name else source.stem
    assert f"extends: [shipped:{server}]" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "harness"), [(LOGS[0], "claude-code"), (LOGS[3], "codex")])
def test_a_log_tells_its_harness(name, harness, capsys):
    assert main(["init", str(corpus_dir(*name.split("/")))]) == 0
    assert f"extends: [shipped:{harness}]" in capsys.readouterr().out


@pytest.mark.parametrize("server", ["filesystem", "github", "sqlite"])
def test_a_known_list_under_another_name_is_written_out(server, tmp_path, capsys):
    name = next(each for each in LISTS if server in each)
    source = corpus_dir(*name.split("/"))
    target = tmp_path / "p.yaml"
    assert main(["init", str(source), "--server", "other", "--to", str(target)]) == 0
    assert is_sound(target)
    text = target.read_text("utf-8")
    assert f"shipped:{server}` decides" in text
    assert text.count("    server: other\n") >= 6
