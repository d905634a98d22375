"""``toolflow fork``: a new run from the middle of a recorded one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import typer

from toolflow.cli.approving import TerminalApprover
from toolflow.cli.console import Output, is_live, say, say_data, tell
from toolflow.cli.inputs import look_at
from toolflow.cli.progress import Progress
from toolflow.cli.reliving import flow_of
from toolflow.errors import UsageError
from toolflow.flow.load import Flow
from toolflow.flow.opening import open_engine
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.model.recording import Recording
from toolflow.recording import save_recording
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.forking import fork_at
from toolflow.recording.result import RunResult

_SHOWN = 70


def fork(
    recording: str = typer.Argument(..., metavar="RECORDING", help="A recording."),
    at: str = typer.Option(
        ..., "--at", metavar="CALL", help="Where it goes another way: CALL or TURN/CALL."
    ),
    flow: str | None = typer.Option(None, "--flow", help="The flow with the tools and the policy."),
    answer: list[str] = typer.Option(
        [], "--answer", metavar="CALL=VALUE", help="Answer a question: yes, no, or any JSON value."
    ),
    args: list[str] = typer.Option(
        [], "--args", metavar="CALL=JSON", help="Other arguments for a call, as a JSON object."
    ),
    to: str | None = typer.Option(
        None, "--to", help="The new recording; by default NAME-fork.yaml beside the old one."
    ),
    yes: bool = typer.Option(False, "--yes", help="Approve every call that asks."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Show no progress."),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Run a recorded turn again from a call on, with other answers or arguments.

    What had settled when the call started keeps its recorded outcome; all else runs again.
    """
    given = look_at(recording)
    if given.kind != "recording":
        raise UsageError(f"{recording}: this is {given.what}, not a recording.")
    old = given.recording().recording()
    target = Path(to) if to is not None else Path(given.path).with_name(_name(given.path))
    if target.exists() and to is None:
        raise UsageError(f"{target}: this file is there already. Name another one with --to.")
    changed = {name: _object(name, text) for name, text in _pairs("--args", args)}
    answers = {name: _value(text) for name, text in _pairs("--answer", answer)}
    progress = Progress(quiet=quiet)
    approver = None if not (yes or is_live()) else TerminalApprover(progress, yes=yes)
    loaded = flow_of(flow)
    make = partial(fork_at, old, at, args=changed, answers=answers)
    make(policy=loaded.policy)  # what is wrong is told before anything is opened or copied
    with progress:
        kept, result, cwd = anyio.run(
            partial(_fork, loaded, make, target.with_suffix(""), approver, progress)
        )
    source = {**old.source, "cwd": str(Path(cwd).resolve()), "fork": {"at": at}}
    policy = loaded.policy
    save_recording(Recording((result.recorded(),), source, policy.text, policy.digest), target)
    if output == "text":
        say("\n".join(_lines(result, kept)))
    else:
        say_data(_data(result, kept, str(target)), output)
    tell(f"written: {target}")
    for question in result.questions:
        tell(f"{question.call} waits for an answer: {question.text}")
    if result.status == "paused":
        tell("paused; fork again with --answer CALL=yes, at a terminal, or with --yes")
    return {"paused": 3, "aborted": 130}.get(result.status, 0 if result.ok else 1)


async def _fork(
    flow: Flow,
    make: Callable[..., Checkpoint],
    out: Path,
    approver: TerminalApprover | None,
    progress: Progress,
) -> tuple[frozenset[int], RunResult, str]:
    """Run what the fork is; gives the calls that keep their outcomes, the result, the folder."""
    async with open_engine(flow, out=out) as engine:
        checkpoint = make(policy=engine.policy, tools=engine.tools, cwd=engine.cwd)
        result = await engine.resume(checkpoint, approver=approver, on_event=progress.event)
    return frozenset(checkpoint.outcomes), result, engine.cwd or "."


def _name(recording: str) -> str:
    path = Path(recording)
    return f"{path.stem}-fork{path.suffix or '.yaml'}"


def _pairs(option: str, given: Sequence[str]) -> Iterator[tuple[str, str]]:
    seen = set()
    for word in given:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} is {word!r}. Use CALL=..., with the name of a call.")
        if name in seen:
            raise UsageError(f"{option} names {name!r} twice. Name each call once.")
        seen.add(name)
        yield name, text


def _object(name: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise UsageError(
            f"--args of {name!r} is {text[:60]!r}. Use a JSON object, such as "
            f'{name}=\'{{"path": "a.txt"}}\'.'
        )
    return value


def _value(text: str) -> Any:
    """An answer: yes and no, a JSON value, or the text itself."""
    if (word := text.strip().lower()) in {"yes", "y", "no", "n"}:
        return word.startswith("y")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _lines(result: RunResult, kept: frozenset[int]) -> Iterator[str]:
    yield f"{result.plan.turn_id}: {result.status}"
    width = max((len(call.name) for call in result.report.calls), default=0)
    for call, outcome in _shown(result):
        status = "-" if outcome is None else outcome.status
        text = "" if outcome is None else " ".join(outcome.text.split())
        shown = f"{text[:_SHOWN]}{'…' if len(text) > _SHOWN else ''}"
        how = "kept" if call.index in kept else "ran" if _ran(result, call.index) else "-"
        yield f"  {call.name:<{width}}  {how:<4}  {status:<9}  {shown}".rstrip()


def _shown(result: RunResult) -> Iterator[tuple[CallPlan, Outcome | None]]:
    """The calls with their outcomes, without the secrets that the policy names."""
    return zip(result.report.calls, result.recorded().outcomes, strict=True)


def _ran(result: RunResult, index: int) -> bool:
    return result.times[index].started is not None


def _data(result: RunResult, kept: frozenset[int], written: str) -> dict[str, Any]:
    calls = [
        {
            "call": call.name,
            "kept": call.index in kept,
            "ran": _ran(result, call.index),
            "status": None if outcome is None else outcome.status,
            "result": None if outcome is None else outcome.text,
        }
        for call, outcome in _shown(result)
    ]
    return {
        "turn": result.plan.turn_id,
        "status": result.status,
        "calls": calls,
        "written": written,
    }
