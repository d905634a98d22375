"""The cases of a policy are its own tests."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from toolflow.cli import main
from toolflow.policy import load_policy
from toolflow.policy.cases import run_cases

POLICY = dedent(
    """\
    version: 1
    limits: {resources: {subprocess: 2}}
    rules:
      - tool: git
        when: "{{ args.command in ['status', 'diff'] }}"
        safe: true
      - {tool: git, writes: ["git:{{ cwd }}"], hold: turn}
      - {tool: grep, safe: true, uses: {subprocess: 1}, timeout: 30s}
      - {tool: deploy, ask: "Deploy {{ args.service }}?"}
      - {tool: drop, deny: "By hand."}
      - {server: files, safe: true, reads: []}
    """
)


def report(cases: str, policy: str = POLICY):
    return run_cases(load_policy(policy + dedent(cases)))


def test_cases_hold_where_the_policy_says_so() -> None:
    found = report(
        """\
        cases:
          - cwd: /r
            turn:
              - {tool: git, args: {command: status}}
              - {tool: git, args: {command: checkout}}
              - {tool: grep}
              - {tool: deploy, args: {service: web}}
              - {tool: drop}
              - {tool: stat, server: files}
              - {tool: other}
            expect:
              - {verdict: safe, rule: 1}
              - {verdict: exclusive, rule: 2, writes: ["git:/r"], hold: turn}
              - {verdict: safe, uses: {subprocess: 1}, timeout: 30}
              - {ask: "Deploy web?"}
              - {verdict: settled, status: denied}
              - {verdict: safe, rule: 6, reads: []}
              - {verdict: exclusive, rule: null, reads: null, writes: null}
        """
    )
    assert found.ok
    assert found.unused == ()
    assert found.covered == 1


def test_each_difference_is_told_with_its_reason() -> None:
    found = report(
        """\
        cases:
          - {turn: [{tool: grep}], expect: [{verdict: safe}]}
          - name: git is safe
            turn: [{tool: git, args: {command: push}}]
            expect: [{verdict: safe, writes: [], reads: null}]
        """
    )
    first, second = found.results
    assert (first.name, first.ok, first.line) == ("case 1", True, 13)
    assert (second.name, second.ok, second.line) == ("git is safe", False, 14)
    told = sorted(map(str, second.differences))
    assert told[0].startswith("call 1 (git): verdict is exclusive, expected safe (rule 2 (line 7)")
    assert "writes is git:" in told[1]
    assert "expected no keys" in told[1]
    assert len(told) == 2


def test_rules_that_decide_nothing_are_named() -> None:
    found = report("cases:\n- {turn: [{tool: grep}], expect: [{}]}\n")
    assert [number for number, _ in found.unused] == [1, 2, 4, 5, 6]
    assert found.covered == pytest.approx(1 / 6)


def test_hints_of_a_case_count_for_trusted_servers_only() -> None:
    policy = "version: 1\ntrust: {annotations: [docs]}\n"
    call = "{tool: look, server: %s, annotations: {readOnlyHint: true}}"
    cases = "cases:\n- {turn: [%s], expect: [{verdict: %s}]}\n"
    assert report(cases % (call % "docs", "safe"), policy).ok
    assert report(cases % (call % "web", "exclusive"), policy).ok


class TestCommand:
    def test_it_ends_with_zero_where_all_hold(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "p.yaml"
        path.write_text(f"{POLICY}cases:\n- {{turn: [{{tool: grep}}], expect: [{{rule: 3}}]}}\n")
        assert main(["test", str(path)]) == 0
        assert capsys.readouterr().out == f"{path}: 1 case held\n"

    def test_it_tells_what_differs_and_ends_with_one(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "p.yaml"
        path.write_text(f"{POLICY}cases:\n- {{turn: [{{tool: grep}}], expect: [{{rule: 1}}]}}\n")
        assert main(["test", str(path), "--coverage"]) == 1
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == f"{path}:13: case 1"
        assert lines[1] == "  call 1 (grep): rule is 3, expected 1 (rule 3 (line 8) says safe)"
        assert lines[2] == f"{path}: 0 cases held, 1 did not"
        assert lines[3] == "1 of 6 rules decide a call of some case"
        assert lines[4] == f"  {path}:4: rule 1 decides none"

    def test_coverage_can_be_asked_for(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = tmp_path / "p.yaml"
        path.write_text(POLICY)
        assert main(["test", str(path), "--fail-under", "50"]) == 1
        assert capsys.readouterr().out.endswith("0 % of the rules, and 50 % are asked for\n")

    def test_a_missing_policy_is_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["test", "nowhere.yaml"]) == 2
        said = "toolflow: nowhere.yaml: this file is not there. Name a policy.\n"
        assert capsys.readouterr().err == said
