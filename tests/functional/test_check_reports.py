"""``toolflow check``: warnings, exit codes, and findings as SARIF and as GitHub's commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import ran
from jsonschema import Draft202012Validator

from toolflow.cli.reports import Finding, github, sarif

POLICY = "version: 1\nrules:\n  - {tool: a}\n  - {tool: a}\n"
BAD = "version: 1\nids: odd\nrules: [{}]\n"
FLOW = """\
version: 1
name: f
policy: {version: 1, rules: [{tool: raed_file, safe: true}]}
tools: {workspace: {root: .}}
stages: [{id: one, calls: [{tool: read_file, args: {path: a}}]}]
"""
TALK = (
    '[{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "x"}}]}, '
    '{"role": "user"}]'
)

# What of SARIF 2.1.0 (sections 3.13 to 3.30) the readers of code scanning need.
SARIF: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "shortDescription": {"required": ["text"]},
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message", "ruleId", "ruleIndex", "level", "locations"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {"required": ["text"]},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "locations": {
                                    "type": "array",
                                    "items": {
                                        "type": "object",
                                        "required": ["physicalLocation"],
                                        "properties": {
                                            "physicalLocation": {
                                                "type": "object",
                                                "required": ["artifactLocation"],
                                                "properties": {
                                                    "artifactLocation": {
                                                        "required": ["uri"],
                                                        "properties": {
                                                            "uri": {"pattern": "^[^\\s\\\\]+$"}
                                                        },
                                                    },
                                                    "region": {
                                                        "required": ["startLine"],
                                                        "additionalProperties": False,
                                                        "properties": {
                                                            "startLine": {"minimum": 1},
                                                            "startColumn": {"minimum": 1},
                                                        },
                                                    },
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "policy.yaml": POLICY,
        "bad, file.yaml": BAD,
        "flow.yaml": FLOW,
        "talk.json": TALK,
        "good.yaml": "version: 1\nrules: [{tool: a}]\n",
        "tools.json": '{"tools": [{"name": "b", "inputSchema": {"type": "object"}}]}',
    }.items():
        Path(name).write_text(text, "utf-8")
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return ran(capsys, "check", *words)


def test_a_warning_is_told_and_fails_only_strictly(capsys: pytest.CaptureFixture[str]) -> None:
    told = (
        "policy.yaml:4:5: warning: rules[1] can never match: rules[0] (line 3), without a when, "
        "comes first for all its calls. Put it before, or leave it out. [unreachable_rule]\n"
    )
    assert check(capsys, "policy.yaml") == (0, told, "policy.yaml: a policy with 1 warning\n")
    assert check(capsys, "policy.yaml", "--strict")[0] == 1
    assert check(capsys, "good.yaml", "--strict") == (
        0,
        "good.yaml: a policy without problems\n",
        "",
    )


def test_a_fault_is_told_with_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = check(capsys, "bad, file.yaml")
    assert (code, out) == (1, "")
    assert err.splitlines()[0] == (
        "toolflow: bad, file.yaml:2:6: ids is 'odd'. Use 'strict' or 'renumber'. [invalid]"
    )


def test_known_tools_are_read_from_lists_and_flows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = check(capsys, "good.yaml", "--tools", "tools.json")
    assert code == 0
    assert "No known tool is named 'a'. There are b. [unknown_tool]" in out
    assert "There are " in check(capsys, "good.yaml", "--tools", "flow.yaml")[1]
    code, out, err = check(capsys, "good.yaml", "--tools", "good.yaml")
    assert (code, out) == (2, "")
    assert err.startswith("toolflow: --tools good.yaml: there are no tools in it.")
    assert check(capsys, "good.yaml", "--tools", "no.json")[0] == 2


def test_a_flow_is_held_against_its_own_tools(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = check(capsys, "flow.yaml")
    assert code == 0
    assert out == (
        "flow.yaml:3:9: warning: No known tool is named 'raed_file'. Did you mean 'read_file'? "
        "[unknown_tool]\n"
    )
    assert err == "flow.yaml: a flow with 1 warning\n"


@pytest.mark.parametrize(
    ("file", "codes"),
    [
        ("policy.yaml", ["unreachable_rule"]),
        ("bad, file.yaml", ["invalid", "invalid"]),
        ("flow.yaml", ["unknown_tool"]),
        ("talk.json", ["no_result"]),
        ("good.yaml", []),
    ],
)
def test_sarif_holds_every_finding(
    capsys: pytest.CaptureFixture[str], file: str, codes: list[str]
) -> None:
    _, out, err = check(capsys, file, "--output", "sarif")
    log = json.loads(out)
    Draft202012Validator(SARIF).validate(log)
    (run,) = log["runs"]
    assert [result["ruleId"] for result in run["results"]] == codes
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        (place,) = result["locations"]
        uri = place["physicalLocation"]["artifactLocation"]["uri"]
        assert uri == file.replace(" ", "%20").replace(",", "%2C")
    assert err == ""


def test_github_gets_a_command_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = check(capsys, "bad, file.yaml", "--output", "github")
    assert (code, err) == (1, "")
    assert out.splitlines()[0] == (
        "::error file=bad%2C file.yaml,line=2,col=6,title=invalid::"
        "ids is 'odd'. Use 'strict' or 'renumber'."
    )
    assert check(capsys, "policy.yaml", "-o", "github")[1].startswith(
        "::warning file=policy.yaml,line=4,col=5,title=unreachable_rule::rules[1] can never match"
    )
    assert check(capsys, "good.yaml", "-o", "github") == (0, "", "")


def test_what_could_end_a_command_is_escaped() -> None:
    finding = Finding("error", "x:y", "100%\r\n::error::more", "a,b:c%.yaml", 1)
    assert list(github([finding])) == [
        "::error file=a%2Cb%3Ac%25.yaml,line=1,title=x%3Ay::100%25%0D%0A::error::more"
    ]


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("a b/ü#.yaml", "a%20b/%C3%BC%23.yaml"),
        ("shipped:git", "shipped:git"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_names_of_files_are_uris(file: str, uri: str) -> None:
    log = sarif([Finding("warning", "c", "m", file)], "1")
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": uri}}
    absolute = sarif([Finding("warning", "c", "m", str(Path("a b").absolute()))], "1")
    text = json.dumps(absolute)
    assert "file:///" in text
    assert "a%20b" in text


def test_data_tells_the_severity(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = check(capsys, "policy.yaml", "-o", "json")
    (problem,) = json.loads(out)["problems"]
    assert (problem["code"], problem["severity"], problem["line"]) == (
        "unreachable_rule",
        "warning",
        4,
    )


def test_calls_of_tools_that_a_flow_does_not_have_are_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("ws").mkdir()
    tools = "{workspace: {root: ws}, shell: {count: {argv: [wc]}}}"
    policy = "{version: 1, rules: [{tool: read_file, aliases: [Read]}]}"
    stages = """\
  - {id: a, calls: [{tool: raed_file, args: {path: x}}, {tool: Read, args: {path: x}}]}
  - {id: b, message: {calls: [{id: x, tool: nope, args: {}}]}}
"""
    text = f"version: 1\nname: x\ntools: {tools}\npolicy: {policy}\nstages:\n{stages}"
    Path("wrong.yaml").write_text(text)
    code, _, said = check(capsys, "wrong.yaml")
    assert code == 1
    assert said.count("[unknown_tool]") == 2
    assert "wrong.yaml:6:28: There is no tool named 'raed_file'. Did you mean 'read_file'" in said
    assert "wrong.yaml:7:22: There is no tool named 'nope'." in said
    Path("open.yaml").write_text(text.replace("tools: {", 'tools: {python: ["some:tools"], '))
    code, _, said = check(capsys, "open.yaml")  # which tools there are is not known
    assert "[unknown_tool]" not in said
