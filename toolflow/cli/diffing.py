"""``toolflow diff``: what of two plans, turns or recordings is not the same."""

from __future__ import annotations

from pathlib import Path

import typer

from toolflow.cli.console import Output, say, say_data
from toolflow.cli.inputs import chosen, each_turn, look_at, plan_of, policy_of
from toolflow.compiler import load_plan
from toolflow.compiler.masking import masked_plan
from toolflow.errors import UsageError
from toolflow.policy import Policy
from toolflow.recording.differing import PlannedTurn, diff_turns


def diff(
    a: str = typer.Argument(..., metavar="A", help="A plan, turn, log or recording."),
    b: str = typer.Argument(..., metavar="B", help="Another one."),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="The policy for turns; plans and recordings have their plans."
    ),
    policy_b: str | None = typer.Option(
        None, "--policy-b", help="The policy for the turns of B, where it is another one."
    ),
    turn: str | None = typer.Option(None, "--turn", "-t", help="Only this turn: its id or number."),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    cwd: str | None = typer.Option(None, "--cwd", help="Where relative paths in keys start."),
    words: bool = typer.Option(
        False, "--words", help="Reasons, rules, labels and causes too, which decide nothing."
    ),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Tell what of two plans, turns or recordings is not the same.

    + only B has it, - only A has it, ~ both have it, and it is not the same. Of two runs, outcomes
    and the order of starts are compared too. Ends with 0 if nothing is different, with 1 if
    something is.
    """
    if a == b == "-":
        raise UsageError("A and B are both standard input. Name a file for one of them.")
    first = policy_of(policy)
    second = first if policy_b is None else policy_of(policy_b)
    found = diff_turns(
        _turns(a, first, form, turn, cwd), _turns(b, second, form, turn, cwd), words=words
    )
    if output == "text":
        say(str(found))
    else:
        say_data(found.data(), output)
    return 0 if found.same else 1


def _turns(
    path: str, policy: Policy, form: str | None, turn: str | None, cwd: str | None
) -> list[PlannedTurn]:
    given = look_at(path, forced=form)
    if given.kind == "plan":
        return [PlannedTurn(load_plan(Path(given.path)))]
    found = []
    for recorded in chosen(each_turn(given, form), turn):
        plan = recorded.plan
        if plan is None:  # what is shown of a turn holds no secrets that its policy names
            plan = masked_plan(plan_of(recorded.turn, policy, cwd))
        ran = any(outcome is not None for outcome in recorded.outcomes)
        found.append(PlannedTurn(plan, recorded if ran else None))
    return found
