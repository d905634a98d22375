"""``toolflow run``: run a flow, a turn or a plan; show the plan, the progress and the results."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import typer

from toolflow.cli.console import Output
from toolflow.cli.going import Wishes, go
from toolflow.cli.inputs import Input, chosen, each_turn, look_at, policy_of
from toolflow.cli.naming import JOURNAL, RUNS, file_name
from toolflow.compiler import Plan, load_plan
from toolflow.errors import UsageError
from toolflow.flow import Flow, Past, flow_of_turns, load_flow
from toolflow.model.turn import Turn
from toolflow.policy.shelf import is_shipped
from toolflow.recording.journal import Durability, open_journal
from toolflow.recording.side_files import LARGE


@dataclass(frozen=True, slots=True)
class Source:
    """What is run, as words of the command line that a later process can use as well.

    Attributes:
        what: The file that was named.
        flow: The flow whose tools and policy a turn or a plan is run with.
        tools: Python tools instead, each as ``module:name``.
        policy: The policy file, instead of the flow's.
        turn: Which turn of the file.
        format: The wire or log format.
        folder: The folder in which all that was said.
    """

    what: str
    flow: str | None = None
    tools: tuple[str, ...] = ()
    policy: str | None = None
    turn: str | None = None
    format: str | None = None
    folder: str = ""


def run(
    what: str = typer.Argument(..., metavar="FLOW|TURN|PLAN", help="What to run."),
    like: str | None = typer.Option(
        None, "--flow", metavar="FLOW", help="For a turn or plan: a flow with its tools and policy."
    ),
    tools: list[str] = typer.Option(
        [], "--tools", metavar="MODULE:NAME", help="For a turn or plan: Python tools."
    ),
    policy: str | None = typer.Option(None, "--policy", "-p", help="Another policy file."),
    turn: str | None = typer.Option(None, "--turn", "-t", help="Which turn: its id or number."),
    form: str | None = typer.Option(None, "--format", help="The wire or log format."),
    out: str | None = typer.Option(
        None, "--out", help="The folder for what is written; .toolflow/NAME-N by default."
    ),
    pool: int | None = typer.Option(None, "--pool", min=1, help="Calls that run at once."),
    locks: str | None = typer.Option(
        None,
        "--locks",
        metavar="memory|machine|PATH",
        help="Where keys are taken: by this process alone, by all of this machine, or by all that "
        "name the same lock file. By default what the flow says, else memory.",
    ),
    durability: Durability = typer.Option(
        "batch", "--durability", help="When the journal is on the disk itself."
    ),
    aside: int = typer.Option(
        LARGE, "--results-above", min=0, metavar="BYTES", help="Results that go into own files."
    ),
    yes: bool = typer.Option(False, "--yes", help="Approve every call that asks."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Show neither plans nor progress."),
    output: Output = typer.Option("text", "--output", "-o", help="How to write the results."),
) -> int:
    """Run a flow, a turn or a plan: its calls as safely and as fast as they may.

    The run is written to a journal as it goes; `toolflow resume` goes on after a pause or a crash.
    """
    source = Source(what, like, tuple(tools), policy, turn, form, str(Path.cwd()))
    flow = flow_of(source)
    folder = _folder(flow.name, out)
    about = _about(flow, source)
    wishes = Wishes(yes, quiet, output, pool, locks, aside)
    with open_journal(folder / JOURNAL, durability=durability, about=about) as journal:
        return go(flow, journal, Past(), wishes)


def flow_of(source: Source) -> Flow:
    """What a source says is to be run, as a flow.

    Args:
        source: What was named.

    Raises:
        DocumentError: If a file cannot be used.
        UsageError: If nothing says which tools a turn or a plan is run with.
    """
    if source.what == "-":
        raise UsageError("-: a later process could not read it again to go on. Name a file.")
    given = look_at(_path(source, source.what), forced=source.format)
    policy = None if source.policy is None else policy_of(_path(source, source.policy))
    if given.kind == "flow":
        if source.flow or source.tools or source.policy:
            raise UsageError("--flow, --tools and --policy are for a turn or a plan.")
        return load_flow(given.path)
    if given.kind not in {"turns", "plan", "recording", "log"}:
        raise UsageError(f"{source.what}: this is {given.what}. Name a flow, a turn or a plan.")
    if (source.flow is None) == (not source.tools):
        raise UsageError(f"{source.what}: say which tools run it: --flow FLOW, or --tools.")
    like = None if source.flow is None else load_flow(_path(source, source.flow))
    return flow_of_turns(
        Path(source.what).stem,
        _turns(given, source),
        like=like,
        tools=source.tools,
        policy=policy,
        folder=Path(source.folder),
    )


def _path(source: Source, path: str) -> str:
    return path if is_shipped(path) else str(Path(source.folder) / path)


def _turns(given: Input, source: Source) -> list[Turn | Plan]:
    if given.kind == "plan":
        return [load_plan(Path(given.path))]
    turns = [each.turn for each in chosen(each_turn(given, source.format), source.turn)]
    if len({turn.id for turn in turns}) < len(turns) or not turns:
        raise UsageError(f"{source.what} has {len(turns)} turns. Choose one with --turn.")
    return list(turns)


def _about(flow: Flow, source: Source) -> dict[str, Any]:
    """What the journal's header says of the run: all that a later process needs to go on."""
    fields = {name: getattr(source, name) for name in Source.__slots__}
    words = {name: value for name, value in fields.items() if value}
    if "tools" in words:
        words["tools"] = list(words["tools"])
    return {"name": flow.name, "run": words}


def _folder(name: str, out: str | None) -> Path:
    """The folder of a run: the one that was named, or the next free one."""
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / JOURNAL).exists():
            raise UsageError(
                f"{out}: a run is there already. Go on with it (toolflow resume {out}), or name "
                "another folder."
            )
        return folder
    for number in count(1):
        folder = RUNS / f"{file_name(name) or 'run'}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise AssertionError("counting never ends")
