"""``toolflow replay``: run a recording again in virtual time; say where it leaves its path."""

from __future__ import annotations

from dataclasses import replace

import typer

from toolflow.cli.asking import Asked, answer, answer_sweep, capacities
from toolflow.cli.console import Output, tell
from toolflow.cli.inputs import chosen, look_at, policy_of
from toolflow.cli.reliving import relive
from toolflow.cli.replay_output import ReplayOutput
from toolflow.cli.walking import until, walk_through
from toolflow.errors import UsageError
from toolflow.formats.session import read_session
from toolflow.model.recording import Recording
from toolflow.recording import replay_turns
from toolflow.recording.asking import Missing
from toolflow.recording.leniency import IGNORABLE
from toolflow.recording.turn_reader import TurnSource, head_of, turns_of
from toolflow.render.what_if_picture import Shows


def replay(
    recording: str = typer.Argument(
        ..., metavar="RECORDING", help="A recording, journal or session log."
    ),
    policy: str | None = typer.Option(
        None, "--policy", "-p", help="What if this policy had been in force?"
    ),
    pool: int | None = typer.Option(
        None, "--pool", min=1, help="What if so many calls of a turn had run at once?"
    ),
    resources: list[str] = typer.Option(  # a list is what typer makes several options of
        [], "--resources", metavar="NAME=N", help="What if there had been so much of a resource?"
    ),
    sweep: str | None = typer.Option(
        None, "--sweep", metavar="SIZES", help="A table over pool sizes: 1,2,4,8 or 1..16."
    ),
    picture: str | None = typer.Option(
        None, "--picture", metavar="FILE", help="The answer as a picture: .svg, .png or .dot."
    ),
    shows: Shows | None = typer.Option(
        None, "--shows", help="What the picture shows; by default timelines in SVG, else plans."
    ),
    missing: Missing = typer.Option(
        "zero", "--missing", help="What counts for calls without a recorded time."
    ),
    strict: bool = typer.Option(
        False, "--strict", help="With --policy, --pool, --resources: what changes is a divergence."
    ),
    ignore: list[str] = typer.Option(
        [], "--ignore", metavar="KIND", help=f"Pass over {', '.join(IGNORABLE)}."
    ),
    until_call: str | None = typer.Option(
        None, "--until", metavar="CALL", help="Stop where this call would start: CALL or TURN/CALL."
    ),
    step: bool = typer.Option(False, "--step", help="Walk through the run, fact by fact."),
    live: bool = typer.Option(
        False, "--live", help="Run the tools again, and compare what they give."
    ),
    flow: str | None = typer.Option(None, "--flow", help="With --live: the flow with the tools."),
    writes: bool = typer.Option(
        False, "--writes", help="With --live: calls that are exclusive or write run again, too."
    ),
    turn: str | None = typer.Option(None, "--turn", "-t", help="Only this turn: its id or number."),
    cwd: str | None = typer.Option(None, "--cwd", help="Where relative paths in keys start."),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Compile every turn again and drive the scheduler with what was recorded.

    Ends with 0 if plan, order and transcript are exactly the same, else with 1 and the first
    difference. With --policy, --pool, --resources or --sweep it is a question: it shows how plans,
    order, waiting and times would change, and ends with 0.
    """
    loaded = _loaded(recording, turn)
    limits = capacities(resources)
    kinds = [word.strip() for given in ignore for word in given.split(",")]
    rules = policy_of(policy) if policy is not None else None
    asked = Asked(rules, pool, limits, cwd, missing, output)
    other = policy is not None or pool is not None or bool(limits)
    walks = step or until_call is not None
    _refuse(other=other or sweep is not None, live=live, walks=walks, tools=bool(flow) or writes)
    if kinds and (live or walks or sweep is not None):
        raise UsageError("--ignore belongs to a replay that compares. Leave it out.")
    if picture is not None and (strict or kinds or not other or sweep is not None):
        raise UsageError("--picture draws an answer. Ask with --policy, --pool or --resources.")
    if live or (other and sweep is None and not (strict or kinds)):
        whole = _whole(loaded)
        _tell_notices(whole)
        if live:
            return relive(whole, flow, output, writes=writes)
        return answer(whole, asked, picture=picture, shows=shows)
    if not walks and sweep is None:
        code = _replay(loaded, asked, kinds)
    elif sweep is not None:
        code = answer_sweep(loaded, asked, sweep)
    elif step:
        code = walk_through(loaded, until_call)
    else:
        code = until(loaded, str(until_call), output)
    _tell_notices(loaded)
    return code


def _refuse(*, other: bool, live: bool, walks: bool, tools: bool) -> None:
    """Refuse options that do not go together.

    Raises:
        UsageError: If there are such.
    """
    if live and (other or walks):
        raise UsageError("--live runs what was recorded. Leave rules, --until and --step out.")
    if tools and not live:
        raise UsageError("--flow and --writes belong to --live.")
    if walks and other:
        raise UsageError("--until and --step walk through what was recorded. Leave rules out.")


def _replay(loaded: Recording | TurnSource, asked: Asked, kinds: list[str]) -> int:
    """Compare with what was recorded, turn by turn."""
    turns = replay_turns(
        loaded,
        policy=asked.policy,
        cwd=asked.cwd,
        pool=asked.pool,
        resources=asked.resources,
        ignore=kinds,
    )
    with ReplayOutput(asked.output) as output:
        for replayed in turns:
            output.turn(replayed)
        ok = all(notice.code != "corrupt_turn" for notice in loaded.notices)
        output.end(ok=ok, notices=[notice.message for notice in loaded.notices])
    return 0 if ok else 1


def _tell_notices(loaded: Recording | TurnSource) -> None:
    for notice in loaded.notices:
        tell(f"notice: {notice.message}")


def _whole(loaded: Recording | TurnSource) -> Recording:
    return loaded if isinstance(loaded, Recording) else loaded.recording()


def _loaded(path: str, turn: str | None) -> Recording | TurnSource:
    """The recording, or the part of it that the user chose; a session log is read as one."""
    given = look_at(path)
    if given.kind not in {"recording", "log"}:
        raise UsageError(f"{path}: this is {given.what}, not a recording.")
    loaded = given.recording() if given.kind == "recording" else read_session(path)
    if turn is None:
        return loaded
    turns = tuple(chosen(turns_of(loaded), turn, parts=True))
    return replace(head_of(loaded), turns=turns, notices=loaded.notices)
