"""``toolflow check``: is this file right? All problems at once."""

from __future__ import annotations

from pathlib import Path

import typer

from toolflow.cli.console import Output, complain, say, say_data
from toolflow.cli.inputs import look_at, turns_of
from toolflow.compiler import load_plan
from toolflow.errors import DocumentError, PolicyError, Problem
from toolflow.flow import load_flow
from toolflow.policy import load_policy
from toolflow.policy.extras import missing_extras
from toolflow.recording import load_recording


def check(
    file: str = typer.Argument(
        ..., metavar="FILE", help="A policy, flow, plan, turn or recording."
    ),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Check a file and tell every problem with its place. Ends with 1 if there are any."""
    kind = "file"
    problems: tuple[Problem, ...] = ()
    try:
        kind = _check(file, form)
    except DocumentError as error:
        problems = error.problems
    if output != "text":
        say_data({"file": file, "kind": kind, "problems": [_data(p) for p in problems]}, output)
    elif problems:
        complain("\n".join(str(problem) for problem in problems))
    else:
        say(f"{file}: a {kind} without problems")
    return 1 if problems else 0


def _check(file: str, form: str | None) -> str:
    given = look_at(file, forced=form)
    if given.kind == "policy":
        if missing := missing_extras(load_policy(Path(file))):
            raise PolicyError(missing)
    elif given.kind == "flow":
        load_flow(file)
    elif given.kind == "plan":
        load_plan(Path(file))
    elif given.kind == "recording":
        load_recording(file, strict=True)
    else:
        turns_of(given, form)
    return {"turns": "message file", "log": "session log"}.get(given.kind, given.kind)


def _data(problem: Problem) -> dict[str, object]:
    return {
        "line": problem.line,
        "column": problem.column,
        "code": problem.code,
        "message": problem.message,
    }
