"""What ``run`` and ``resume`` have in common: the run itself, what is written, what is said."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from toolflow.cli.approving import TerminalApprover
from toolflow.cli.console import Output, complain, is_live, say, say_data, tell
from toolflow.cli.locking import opened
from toolflow.cli.naming import RECORDING, file_names
from toolflow.cli.progress import Progress
from toolflow.errors import JournalError, RecordingError, RenderError
from toolflow.flow import Flow, FlowResult, Past, Stage, run_flow
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.model.plan import PlanData
from toolflow.recording import save_recording
from toolflow.recording.journal import Journal, read_journal
from toolflow.recording.result import RunResult
from toolflow.render.program import LARGEST
from toolflow.render.save import save
from toolflow.runtime.control import Control

_CODES = {"paused": 3, "aborted": 130}


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a person wants a run.

    Attributes:
        yes: Whether every call that asks may run.
        quiet: Whether to show neither plans nor progress.
        output: How to write the results.
        pool: Calls that run at once.
        locks: Where keys are taken.
        aside: Bytes above which a result goes into a file beside the recording.
    """

    yes: bool
    quiet: bool
    output: Output
    pool: int | None
    locks: str | None
    aside: int


def go(flow: Flow, journal: Journal, past: Past, wishes: Wishes) -> int:
    """Run a flow, or go on with it; write its recording and pictures; say what came of it.

    Args:
        flow: The flow.
        journal: Its journal, in the folder of the run.
        past: What earlier processes made of it.
        wishes: How it is wanted.

    Returns:
        The exit code.
    """
    folder = journal.path.parent
    try:
        result = _run(flow, journal, past, wishes)
        state = "failed" if result.status == "done" and not result.ok else result.status
        journal.over(state)
    except JournalError as error:
        journal.abandon()  # what it could not write it would complain about again
        complain(str(error))
        if error.result is not None:  # outcomes of which the journal may know nothing
            say("\n".join(error.result.call_lines()))
        tell(f"stopped; once it can be written again: toolflow resume {folder}")
        return 3
    except BaseException:
        with suppress(JournalError):
            journal.over("failed")
        raise
    written: list[str] = []
    failed: RecordingError | None = None
    try:
        written.append(_write(result, journal.path, wishes.aside))
    except RecordingError as error:  # what came of the run is said all the same
        failed = error
    written += _draw(result, folder)
    if wishes.output == "text":
        say(str(result))
    else:
        say_data(_result_data(result, written), wishes.output)
    for path in written:
        tell(f"written: {path}")
    if result.status == "paused":
        _tell_pause(result, folder)
    if failed is not None:
        raise failed
    return _CODES.get(result.status, 0 if result.ok else 1)


def _run(flow: Flow, journal: Journal, past: Past, wishes: Wishes) -> FlowResult:
    progress, control = Progress(quiet=wishes.quiet), Control()
    yes = wishes.yes
    approver = None if not (yes or is_live()) else TerminalApprover(progress, yes=yes)

    def planned(stage: Stage, plan: PlanData) -> None:
        progress.plan(stage.id, str(plan), {call.name: call.label for call in plan.calls})

    where = wishes.locks or flow.locks or "memory"
    with opened(where) as store, _ctrl_c(control), progress:
        return anyio.run(
            partial(
                run_flow,
                flow,
                out=journal.path.parent,
                on_event=progress.event,
                on_plan=planned,
                approver=approver,
                control=control,
                pool=wishes.pool,
                locks=store,
                journal=journal,
                past=past,
            )
        )


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


def _write(result: FlowResult, journal: Path, aside: int) -> str:
    """Write the recording, from the journal."""
    about = result.recording
    made = read_journal(journal).recording(source=about.source)
    made = replace(made, policy=about.policy, policy_digest=about.policy_digest)
    recording = journal.parent / RECORDING
    save_recording(made, recording, aside=aside)
    return str(recording)


def _draw(result: FlowResult, folder: Path) -> Iterator[str]:
    """Draw a picture of every stage; those that cannot be drawn are told."""
    ids = [stage.id for stage in result.flow.stages]
    names = dict(zip(ids, file_names(ids), strict=True))
    for stage in result.stages:
        if stage.run is None:
            continue
        run, picture = stage.run, folder / f"{names[stage.stage]}.svg"
        if len(run.plan.calls) > LARGEST:
            tell(f"{stage.stage}: no picture unasked of more than {LARGEST} calls")
            continue
        try:
            title = f"{result.flow.name}: {stage.stage}"
            save(run.plan, picture, outcomes=run.outcomes, times=run.times, title=title)
        except RenderError as error:
            tell(f"{stage.stage}: {error}")
        else:
            yield str(picture)


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


def _tell_pause(result: FlowResult, folder: Path) -> None:
    answer = ""
    for stage in result.stages:
        if stage.run is not None and stage.status == "paused":
            for question in stage.run.questions:
                tell(f"{stage.stage}: {question.call} waits for an answer: {question.text}")
                value = "TEXT" if question.kind == "interrupt" else "yes"
                answer = answer or f" --answer {question.call}={value}"
    tell(f"paused; go on with: toolflow resume {folder}{answer}")
