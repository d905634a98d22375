"""Why a call is decided as it is: the rules tried, each expression with its value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolflow.cli import main
from toolflow.formats import read_turn
from toolflow.policy import load_policy
from toolflow.policy.explain import explain

POLICY = """\
version: 1
redact: [token]
rules:
  - tool: git
    when: "{{ args.command in ['status', 'diff'] }}"
    safe: true
  - tool: git
    when: "{{ args.depth > 3 }}"
    deny: true
  - {tool: git, writes: ["git:{{ cwd }}"], hold: turn}
  - {tool: send, ask: "Send with {{ args.token }}?", safe: "{{ args.token == 'x' }}"}
"""


def explained(*calls: dict[str, object]):
    turn = read_turn({"calls": list(calls)})
    return explain(load_policy(POLICY), turn, cwd="/repo")


def test_each_rule_that_was_tried_is_told_up_to_the_one_that_decides() -> None:
    (found,) = explained({"id": "a", "tool": "git", "args": {"command": "push", "depth": 1}})
    assert [(rule.number, rule.line, rule.match) for rule in found.rules] == [
        (1, 4, "does not match"),
        (2, 7, "does not match"),
        (3, 10, "matches"),
    ]
    assert [(value.field, value.value) for value in found.rules[0].values] == [("when", False)]
    assert [(value.field, value.value) for value in found.rules[2].values] == [
        ("writes[0]", "git:/repo")
    ]
    assert found.call.verdict.rule == 2
    assert found.others == 1


def test_a_condition_that_fails_is_told_with_its_error() -> None:
    (found,) = explained({"id": "a", "tool": "git", "args": {"command": "push"}})
    last = found.rules[-1]
    assert (last.number, last.match) == (2, "may match")
    assert last.values[0].error is not None
    assert "args.depth" in last.values[0].error
    assert found.call.verdict.status == "denied"


def test_calls_that_no_rule_decided_have_no_rules() -> None:
    other, settled = explained(
        {"id": "a", "tool": "other"}, {"id": "b", "tool": "git", "args": "{"}
    )
    assert (other.rules, other.others) == ((), 4)
    assert (settled.rules, settled.call.verdict.status) == ((), "invalid_arguments")


def test_secrets_are_not_shown() -> None:
    (found,) = explained({"id": "a", "tool": "send", "args": {"token": "hunter2"}})
    assert "hunter2" not in repr([rule.values for rule in found.rules])
    safe, ask = found.rules[0].values
    assert (safe.field, safe.value) == ("safe", False)
    assert (ask.field, ask.error) == ("ask", "it holds a secret, which is not shown")


class TestCommand:
    @pytest.fixture
    def files(self, tmp_path: Path) -> tuple[str, str]:
        policy, turn = tmp_path / "p.yaml", tmp_path / "t.yaml"
        policy.write_text(POLICY + '  - {tool: w, safe: true, writes: ["k:{{ args.k }}"]}\n')
        turn.write_text(
            "calls:\n"
            "- {id: a, tool: w, args: {k: one}}\n"
            "- {id: b, tool: w, args: {k: one}}\n"
            "- {id: c, tool: git, args: {command: diff}}\n"
        )
        return str(policy), str(turn)

    def test_it_tells_rule_values_keys_and_whom_a_call_meets(
        self, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        policy, turn = files
        assert main(["explain", turn, "b", "--policy", policy]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "turn-1 b: w(k='one')",
            "  safe: rule 5 (line 12) says safe",
            f"  rule 5 ({policy}:12) matches",
            "    safe: true",
            "    writes[0]: k:{{ args.k }}",
            "      = 'k:one'",
            "  reads: not declared",
            "  writes: k:one",
            "  meets a, which runs before it: key k:one write",
        ]

    def test_all_calls_as_json(
        self, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        policy, turn = files
        assert main(["explain", turn, "-p", policy, "--output", "json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert [each["call"] for each in data] == ["a", "b", "c"]
        assert data[0]["meets"] == [{"call": "b", "causes": ["key k:one write"]}]
        assert data[2]["rules"][0]["values"][0]["value"] is True

    def test_an_unknown_call_is_one_line(
        self, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        policy, turn = files
        assert main(["explain", turn, "zz", "-p", policy]) == 2
        assert "there is no call 'zz' in it" in capsys.readouterr().err
