"""``toolflow plan``: the plan of a turn, before anything runs."""

from __future__ import annotations

import typer

from toolflow.cli.console import Output, say, say_data, tell
from toolflow.cli.inputs import look_at, plans_of
from toolflow.compiler import Plan, plan_data
from toolflow.errors import UsageError


def plan(
    turn_file: str = typer.Argument(
        ..., metavar="TURN|FLOW", help="A message, calls, log, recording or flow."
    ),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="A policy file, or shipped:NAME."
    ),
    turn: str | None = typer.Option(None, "--turn", "-t", help="Only this turn: its id or number."),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    cwd: str | None = typer.Option(None, "--cwd", help="Where relative paths in keys start."),
    summary: bool = typer.Option(False, "--summary", help="Only one line about all turns."),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Show what will run beside what, what waits for what, and why."""
    given = look_at(turn_file, forced=form)
    if given.kind == "flow":
        if policy or turn or cwd or summary:
            raise UsageError(f"{turn_file}: this is a flow. Only --output goes with one.")
        from toolflow.cli.flows import show_flow  # noqa: PLC0415  # flows load much, turns do not

        return show_flow(given.path, output)
    plans = [found for _, found in plans_of(given, policy, form=form, turn=turn, cwd=cwd)]
    if summary:
        say(summary_line(plans))
    elif output == "text":
        say("\n\n".join(str(one).rstrip("\n") for one in plans) if plans else "no calls")
    else:
        data = [plan_data(one) for one in plans]
        say_data(data[0] if len(data) == 1 else {"plans": data}, output)
    if output == "text" and len(plans) > 1 and not summary:
        tell(summary_line(plans))
    return 0


def summary_line(plans: list[Plan]) -> str:
    """One line about many plans."""
    sizes = [len(one.calls) for one in plans]
    several = sum(size >= 2 for size in sizes)
    pools = sum(node.kind == "pool" for one in plans for node in one.nodes)
    barriers = sum(node.kind == "barrier" for one in plans for node in one.nodes)
    settled = sum(node.kind == "settled" for one in plans for node in one.nodes)
    return (
        f"{_many(len(plans), 'turn')}, {several} with two or more calls, "
        f"largest {max(sizes, default=0)}; {_many(sum(sizes), 'call')} "
        f"in {_many(pools, 'pool')}, {_many(barriers, 'barrier')}, {settled} settled"
    )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
