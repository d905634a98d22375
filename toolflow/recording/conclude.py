"""From the report of a run to what a harness gets: messages, a committed turn, a checkpoint."""

from __future__ import annotations

from typing import Any

from toolflow.compiler import Plan
from toolflow.errors import CheckpointError, JournalError
from toolflow.formats import write_turn
from toolflow.model.outcome import Outcome
from toolflow.model.turn import Turn
from toolflow.recording.checkpoint import Checkpoint, checkpoint_of
from toolflow.recording.result import RunResult
from toolflow.runtime.executor import Executor
from toolflow.runtime.report import RunReport
from toolflow.runtime.transcript import Transcript

_UNKNOWN = Outcome("outcome_unknown")  # stands for results where only the message is wanted


def stage_turn(transcript: Transcript, turn: Turn) -> tuple[Any, ...]:
    """Stage a turn's assistant message before its run (spec 9.1).

    Returns:
        The snapshot that every call of the turn sees.
    """
    transcript.stage(write_turn(turn, [_UNKNOWN] * len(turn.calls))[0])
    return transcript.snapshot()


async def execute(executor: Executor, transcript: Transcript | None) -> RunReport:
    """Run what an executor has; where it fails itself, there are no results to commit.

    Returns:
        What became of every call.

    Raises:
        InternalError: If toolflow itself failed; the staged message is dropped.
    """
    try:
        return await executor.run()
    except BaseException:
        if transcript is not None:
            transcript.discard()
        raise


async def conclude(
    executor: Executor,
    plan: Plan,
    turn: Turn,
    report: RunReport,
    transcript: Transcript | None,
    *,
    since: Checkpoint | None = None,
) -> RunResult:
    """Write the results of a run, commit the turn, deliver steering messages after it.

    Args:
        executor: The executor that ran, which tells the commit.
        plan: What was run.
        turn: The turn that it was made of.
        report: What became of it.
        transcript: Where the turn is committed, if anywhere.
        since: Where the run went on from, if it had paused.

    Returns:
        The result; of a paused run with a checkpoint and without messages.

    Raises:
        Exception: What the transcript's store raised.
    """
    texts, steering = report.extra, tuple(executor.options.control.take_messages())
    if since is not None:
        texts, steering = since.extra + texts, since.steering + steering
    if report.status == "paused":
        if transcript is not None:
            transcript.discard()
        options = executor.options
        checkpoint = checkpoint_of(plan, report, options, extra=texts, steering=steering)
        return RunResult(plan, turn, report, checkpoint=checkpoint)
    if transcript is not None and not await _may_commit(executor):
        transcript.discard()
        transcript = None
    outcomes = [outcome for outcome in report.outcomes if outcome is not None]
    assistant, results = write_turn(turn, outcomes, texts=texts)
    if transcript is not None:
        transcript.stage(assistant)
        transcript.stage_results(results)
        await transcript.commit()
    executor.tell_committed((*assistant, *results) if transcript is None else transcript.messages)
    if transcript is not None and steering:
        await transcript.append(steering)
    return RunResult(
        plan,
        turn,
        report,
        assistant=tuple(assistant),
        results=tuple(results),
        steering=steering,
        texts=texts,
    )


async def _may_commit(executor: Executor) -> bool:
    """Whether every outcome is where its journal wants it before the turn is committed."""
    journal = executor.journal
    if journal is None:
        return True
    try:
        await journal.before_commit()
    except JournalError as error:
        executor.pending_error = executor.pending_error or error
    return not isinstance(executor.pending_error, JournalError)


def only_outcome(result: RunResult, tool: str) -> Outcome:
    """The outcome of the one call of a run.

    Raises:
        CheckpointError: If the run paused instead.
    """
    outcome = result.outcomes[0]
    if outcome is None:
        raise CheckpointError(f"The call of {tool!r} paused. Use `run` for calls that may ask.")
    return outcome
