"""``toolflow test``: the cases of a policy."""

from __future__ import annotations

from pathlib import Path

import typer

from toolflow.cli.console import Output, say, say_data
from toolflow.errors import UsageError
from toolflow.policy import load_policy
from toolflow.policy.cases import CaseResult, CasesReport, run_cases
from toolflow.policy.shelf import is_shipped


def try_(
    policy: str = typer.Argument(
        ..., metavar="POLICY", help="A policy with cases, or shipped:NAME."
    ),
    coverage: bool = typer.Option(
        False, "--coverage", help="Name the rules that decide no call of any case."
    ),
    fail_under: float = typer.Option(
        0.0,
        "--fail-under",
        min=0.0,
        max=100.0,
        help="End with 1 if fewer percent of the rules decide a call of some case.",
    ),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Try the cases of a policy. Ends with 1 if one of them does not hold."""
    if not Path(policy).is_file() and not is_shipped(policy):
        what = "a folder" if Path(policy).is_dir() else "not there"
        raise UsageError(f"{policy}: this file is {what}. Name a policy.")
    report = run_cases(load_policy(Path(policy)))
    enough = 100 * report.covered >= fail_under
    if output == "text":
        _tell(policy, report, coverage=coverage or not enough)
        if not enough:
            say(f"{100 * report.covered:.0f} % of the rules, and {fail_under:g} % are asked for")
    else:
        say_data(_data(report), output)
    return 0 if report.ok and enough else 1


def _tell(policy: str, report: CasesReport, *, coverage: bool) -> None:
    for result in report.results:
        if result.ok:
            continue
        say(f"{_place(policy, result.line)}: {result.name}")
        if result.error is not None:
            say(f"  {result.error}")
        for difference in result.differences:
            say(f"  {difference}")
    failed = sum(not result.ok for result in report.results)
    held = len(report.results) - failed
    say(f"{policy}: {_many(held, 'case')} held" + (f", {failed} did not" if failed else ""))
    if coverage:
        used = report.rules - len(report.unused)
        say(f"{used} of {_many(report.rules, 'rule')} decide a call of some case")
        for number, line in report.unused:
            say(f"  {_place(policy, line)}: rule {number} decides none")
        for base in report.bases:
            say(f"  of its base {base.name}: {base.used} of {_many(base.rules, 'rule')}")


def _place(policy: str, line: int | None) -> str:
    return policy if line is None else f"{policy}:{line}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _data(report: CasesReport) -> dict[str, object]:
    return {
        "ok": report.ok,
        "cases": [_case(result) for result in report.results],
        "coverage": {
            "rules": report.rules,
            "percent": round(100 * report.covered, 1),
            "unused": [{"rule": number, "line": line} for number, line in report.unused],
            "bases": [
                {"base": base.name, "rules": base.rules, "used": base.used} for base in report.bases
            ],
        },
    }


def _case(result: CaseResult) -> dict[str, object]:
    return {
        "name": result.name,
        "line": result.line,
        "ok": result.ok,
        "error": result.error,
        "differences": [
            {
                "call": each.call,
                "tool": each.tool,
                "field": each.field,
                "expected": each.expected,
                "found": list(each.found) if isinstance(each.found, tuple) else each.found,
                "reason": each.reason,
            }
            for each in result.differences
        ],
    }
