"""``toolflow why``: what makes one call wait for another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from toolflow.cli.console import Output, say, say_data
from toolflow.cli.inputs import look_at, plans_of
from toolflow.compiler import Plan
from toolflow.errors import UsageError
from toolflow.model.plan import Edge


def why(
    turn_file: str = typer.Argument(..., metavar="TURN", help="A turn, a plan or a recording."),
    one: str = typer.Argument(..., metavar="A", help="A call."),
    other: str = typer.Argument(..., metavar="B", help="Another call of the same turn."),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="A policy file, or shipped:NAME."
    ),
    turn: str | None = typer.Option(None, "--turn", "-t", help="The turn's id or number."),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    cwd: str | None = typer.Option(None, "--cwd", help="Where relative paths in keys start."),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Say why one of two calls waits for the other one, or that neither does."""
    if one == other:
        raise UsageError(f"A and B are both {one!r}. Name two calls.")
    given = look_at(turn_file, forced=form)
    plans = [p for _, p in plans_of(given, policy, form=form, turn=turn, cwd=cwd)]
    having = [p for p in plans if {one, other} <= {call.name for call in p.calls}]
    if not having:
        raise UsageError(f"{turn_file}: no turn has both {one!r} and {other!r}. {_names(plans)}")
    turns = dict.fromkeys(plan.turn_id for plan in having)
    if len(turns) > 1:
        named = ", ".join(turns)
        raise UsageError(f"{turn_file}: these turns have both: {named}. Choose one with --turn.")
    plan = having[-1]  # a turn that paused and went on has one plan
    before, after, chain = _chain(plan, one, other)
    if output == "text":
        say("\n".join(_lines(plan, before, after, chain)))
    else:
        say_data(_data(plan, before, after, chain), output)
    return 0


def _names(plans: list[Plan]) -> str:
    if len(plans) != 1:
        return "Name two calls of one turn."
    return f"Its calls are {', '.join(call.name for call in plans[0].calls) or 'none'}."


def _chain(plan: Plan, one: str, other: str) -> tuple[str, str, tuple[Edge, ...]]:
    """The earlier call, the later one, and what leads from the one to the other."""
    place = {call.name: call.index for call in plan.calls}
    before, after = sorted((one, other), key=place.__getitem__)
    return before, after, plan.why(before, after)


def _lines(plan: Plan, before: str, after: str, chain: tuple[Edge, ...]) -> Iterator[str]:
    if chain:
        yield f"{after} waits for {before}:"
        for edge in chain:
            yield f"  {edge.before} → {edge.after}: {'; '.join(edge.causes)}"
    elif after in plan.beside(before):
        yield f"Nothing makes {after} wait for {before}: they may run at the same time."
    else:
        yield f"Nothing makes {after} wait for {before}."


def _data(plan: Plan, before: str, after: str, chain: tuple[Edge, ...]) -> dict[str, Any]:
    edges = [
        {"before": e.before, "after": e.after, "kind": e.kind, "causes": list(e.causes)}
        for e in chain
    ]
    beside = after in plan.beside(before)
    return {"turn": plan.turn_id, "before": before, "after": after, "why": edges, "beside": beside}
