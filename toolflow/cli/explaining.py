"""``toolflow explain``: why a call is what it is, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from toolflow.cli.console import Output, say, say_data
from toolflow.cli.inputs import chosen, each_turn, folder_of, look_at, plan_of, rules_of
from toolflow.compiler import Plan
from toolflow.errors import UsageError
from toolflow.model.batch import CallPlan, Verdict
from toolflow.model.recording import RecordedTurn
from toolflow.policy import Policy
from toolflow.policy.explain import Explanation, TriedRule, Value, explain
from toolflow.policy.rules import rule_name

_SHOWN = 200


def explain_(
    turn: str = typer.Argument(..., metavar="TURN", help="A file with turns."),
    call: str | None = typer.Argument(None, metavar="[CALL]", help="A call; all by default."),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="A policy file, or shipped:NAME."
    ),
    which: str | None = typer.Option(None, "--turn", help="A turn's id or number."),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    cwd: str | None = typer.Option(None, "--cwd", help="Where relative paths start."),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Say why calls are decided as they are: rule, line, each expression with its value, keys."""
    given = look_at(turn, forced=form)
    rules, cwd = rules_of(given, policy), cwd or folder_of(given)
    found = []
    for recorded in chosen(each_turn(given, form), which):
        plan = plan_of(recorded.turn, rules, cwd)
        found += [
            (recorded, plan, explained)
            for explained in explain(rules, recorded.turn, cwd=cwd)
            if call is None or call == explained.call.name
        ]
    if not found:
        raise UsageError(f"{turn}: there is no call {call!r} in it. Name one of its calls.")
    if output != "text":
        say_data([_data(*each) for each in found], output)
        return 0
    for number, each in enumerate(found):
        if number:
            say()
        for line in _lines(rules, *each):
            say(line)
    return 0


def _lines(
    policy: Policy, recorded: RecordedTurn, plan: Plan, explained: Explanation
) -> Iterator[str]:
    call = explained.call
    yield f"{recorded.turn.id} {call.name}: {call.label}"
    yield f"  {call.verdict.kind}: {call.verdict.reason}"
    ran = _when_it_ran(recorded, call)
    if ran is not None and (ran.kind, ran.reason) != (call.verdict.kind, call.verdict.reason):
        yield f"  when it ran, with its tools at hand: {ran.kind}: {ran.reason}"
    for tried in explained.rules:
        yield f"  {_place(policy, tried)} {tried.match}"
        for value in tried.values:
            yield f"    {value.field}: {value.text}"
            if not isinstance(value.value, bool) or value.text not in {"true", "false"}:
                yield f"      {_outcome(value)}"
    if not explained.rules and call.verdict.kind != "settled":
        yield "  no rule is about its tool"
    for name, keys in (("reads", call.reads), ("writes", call.writes)):
        yield f"  {name}: {'not declared' if keys is None else ', '.join(keys) or 'no keys'}"
    for line in _terms(explained):
        yield f"  {line}"
    for other, causes in _meets(plan, call.name):
        yield f"  {other}: {'; '.join(causes)}"


def _place(policy: Policy, tried: TriedRule) -> str:
    where = "" if tried.line is None else f" ({policy.place_of(tried.base, tried.line)})"
    return f"{rule_name(tried.number - 1, tried.base)}{where}"


def _outcome(value: Value) -> str:
    if value.error is not None:
        return f"({value.error})"
    shown = repr(value.value)
    return f"= {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}"


def _terms(explained: Explanation) -> Iterator[str]:
    call = explained.call
    if call.ask is not None:
        yield f"asks: {call.ask}"
    if call.terms.timeout is not None:
        yield f"timeout: {call.terms.timeout:g} s"
    if call.terms.uses:
        yield "uses: " + ", ".join(f"{name} {units}" for name, units in call.terms.uses.items())
    if call.terms.hold != "call":
        yield f"hold: {call.terms.hold}"
    if call.terms.on_error == "stop":
        yield "on_error: stop"


def _meets(plan: Plan, name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The calls that this one waits for or that wait for it because of keys, and why."""
    for other in plan.calls:
        if other.name == name:
            continue
        for before, after in ((name, other.name), (other.name, name)):
            causes = [
                cause
                for edge in plan.why(before, after)
                if edge.kind == "key"
                for cause in edge.causes
            ]
            if causes:
                where = "before" if after == name else "after"
                yield f"meets {other.name}, which runs {where} it", tuple(dict.fromkeys(causes))


def _when_it_ran(recorded: RecordedTurn, call: CallPlan) -> Verdict | None:
    """The verdict that the recording holds; that of a turn that did not run is ``None``."""
    return None if recorded.plan is None else recorded.plan.calls[call.index].verdict


def _data(recorded: RecordedTurn, plan: Plan, explained: Explanation) -> dict[str, Any]:
    call = explained.call
    ran = _when_it_ran(recorded, call)
    return {
        "turn": recorded.turn.id,
        "call": call.name,
        "tool": call.tool,
        "verdict": call.verdict.kind,
        "reason": call.verdict.reason,
        "when_it_ran": None if ran is None else {"verdict": ran.kind, "reason": ran.reason},
        "rules": [
            {
                "rule": tried.number,
                "line": tried.line,
                "base": tried.base,
                "match": tried.match,
                "values": [_value_data(value) for value in tried.values],
            }
            for tried in explained.rules
        ],
        "reads": None if call.reads is None else list(call.reads),
        "writes": None if call.writes is None else list(call.writes),
        "meets": [
            {"call": said.split()[1].rstrip(","), "causes": list(causes)}
            for said, causes in _meets(plan, call.name)
        ],
    }


def _value_data(value: Value) -> dict[str, Any]:
    shown = value.value
    plain = isinstance(shown, str | bool | int | float | list | dict | None)
    return {
        "field": value.field,
        "text": value.text,
        "value": shown if plain else repr(shown),
        "error": value.error,
    }
