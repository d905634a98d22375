"""``toolflow run``: run a flow, a turn or a plan; show the plan, the progress and the results."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import typer

from toolflow.cli.approving import TerminalApprover
from toolflow.cli.console import Output, is_live, say, say_data, tell
from toolflow.cli.inputs import look_at
from toolflow.cli.locking import opened
from toolflow.cli.progress import Progress
from toolflow.errors import UsageError
from toolflow.flow import FlowResult, Stage, load_flow, run_flow
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.model.plan import PlanData
from toolflow.recording import save_recording
from toolflow.recording.result import RunResult
from toolflow.render.save import save
from toolflow.runtime.control import Control


def run(
    what: str = typer.Argument(..., metavar="FLOW", help="A flow file."),
    out: str | None = typer.Option(
        None, "--out", help="The folder for recording and pictures; .toolflow/NAME-N by default."
    ),
    pool: int | None = typer.Option(None, "--pool", min=1, help="Calls that run at once."),
    locks: str | None = typer.Option(
        None,
        "--locks",
        metavar="memory|machine|PATH",
        help="Where keys are taken: by this process alone, by all of this machine, or by all that "
        "name the same lock file. By default what the flow says, else memory.",
    ),
    yes: bool = typer.Option(False, "--yes", help="Approve every call that asks."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Show neither plans nor progress."),
    output: Output = typer.Option("text", "--output", "-o", help="How to write the results."),
) -> int:
    """Run a flow: its stages in order, the calls of a stage as safely and as fast as they may."""
    if look_at(what).kind != "flow":
        raise UsageError(f"{what}: this is no flow. Name a file with `stages:`.")
    flow = load_flow(what)
    folder = _folder(flow.name, out)
    progress = Progress(quiet=quiet)
    approver = None if not (yes or is_live()) else TerminalApprover(progress, yes=yes)
    control = Control()

    def planned(stage: Stage, plan: PlanData) -> None:
        progress.plan(stage.id, str(plan), {call.name: call.label for call in plan.calls})

    with opened(locks or flow.locks or "memory") as store, _ctrl_c(control), progress:
        result = anyio.run(
            partial(
                run_flow,
                flow,
                out=folder,
                on_event=progress.event,
                on_plan=planned,
                approver=approver,
                control=control,
                pool=pool,
                locks=store,
            )
        )
    written = _write(result, folder)
    if output == "text":
        say("\n".join(_result_lines(result)))
    else:
        say_data(_result_data(result, written), output)
    for path in written:
        tell(f"written: {path}")
    if result.status == "paused":
        _tell_pause(result)
    return {"paused": 3, "aborted": 130}.get(result.status, 0 if result.ok else 1)


def _folder(name: str, out: str | None) -> Path:
    """The folder of a run: the one that was named, or the next free one."""
    if out is not None:
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    for number in count(1):
        folder = Path(".toolflow") / f"{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise AssertionError("counting never ends")


@contextmanager
def _ctrl_c(control: Control) -> Iterator[None]:
    """Ctrl-C once: stop at the next stop point. Twice: abort."""
    pressed = 0

    def on_signal(_signal: int, _frame: Any) -> None:
        nonlocal pressed
        pressed += 1
        if pressed == 1:
            tell("stopping at the next possible place; press Ctrl-C again to abort")
            control.interrupt()
        else:
            control.abort("by the user")

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _write(result: FlowResult, folder: Path) -> list[str]:
    recording = folder / "recording.yaml"
    save_recording(result.recording, recording)
    written = [str(recording)]
    for stage in result.stages:
        if stage.run is not None:
            picture = folder / f"{stage.stage}.svg"
            title = f"{result.flow.name}: {stage.stage}"
            run = stage.run
            save(run.plan, picture, outcomes=run.outcomes, times=run.times, title=title)
            written.append(str(picture))
    return written


def _result_lines(result: FlowResult) -> Iterator[str]:
    for stage in result.stages:
        if stage.run is None:
            yield f"{stage.stage}: {stage.status}, {stage.reason}"
            continue
        yield f"{stage.stage}: {stage.status}"
        width = max((len(call.name) for call in stage.run.report.calls), default=0)
        for call, outcome in _shown(stage.run):
            status = "-" if outcome is None else outcome.status
            text = "" if outcome is None else " ".join(outcome.text.split())
            yield f"  {call.name:<{width}}  {status:<9}  {text[:70]}{'…' if len(text) > 70 else ''}"


def _result_data(result: FlowResult, written: list[str]) -> dict[str, Any]:
    stages = [
        {
            "stage": stage.stage,
            "status": stage.status,
            "reason": stage.reason,
            "calls": [] if stage.run is None else [*_calls_data(stage.run)],
        }
        for stage in result.stages
    ]
    return {"flow": result.flow.name, "status": result.status, "stages": stages, "written": written}


def _shown(run: RunResult) -> Iterator[tuple[CallPlan, Outcome | None]]:
    """The calls with their outcomes, without the secrets that the policy names."""
    return zip(run.report.calls, run.recorded().outcomes, strict=True)


def _calls_data(run: RunResult) -> Iterator[dict[str, Any]]:
    for call, outcome in _shown(run):
        status, text = (None, None) if outcome is None else (outcome.status, outcome.text)
        yield {"id": call.name, "status": status, "result": text}


def _tell_pause(result: FlowResult) -> None:
    for stage in result.stages:
        if stage.run is not None and stage.status == "paused":
            for question in stage.run.questions:
                tell(f"{stage.stage}: {question.call} waits for an answer: {question.text}")
    tell("paused; run it again at a terminal to answer, or with --yes to approve")
