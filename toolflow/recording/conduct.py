"""One run from its first line in the journal to its last: staged, run, committed, told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from toolflow.compiler import Plan
from toolflow.errors import JournalError
from toolflow.model.turn import Turn
from toolflow.recording.checkpoint import Checkpoint, Given
from toolflow.recording.conclude import conclude, execute
from toolflow.recording.result import RunResult
from toolflow.runtime.context import current_context
from toolflow.runtime.executor import Executor
from toolflow.runtime.journaling import RunJournal
from toolflow.runtime.transcript import Transcript

if TYPE_CHECKING:
    from toolflow.policy import Policy
    from toolflow.recording.journal.journal import Journal


@contextmanager
def journal_for(
    journal: Journal | str | Path | None,
    policy: Policy,
    since: tuple[Checkpoint, Given] | None,
) -> Iterator[RunJournal | None]:
    """The journal of a run: the one that was named, else that of the run that it is nested in.

    Args:
        journal: An open journal, or the path of one, which is open for this run alone.
        policy: The policy in force.
        since: What the run goes on from, without and with the answers that it was given.

    Yields:
        What the run writes to, or ``None``.

    Raises:
        JournalError: If it cannot be opened.
    """
    if journal is None:
        parent = current_context()
        around = parent.surroundings.journal if parent is not None else None
        yield around.nested() if around is not None else None
        return
    from toolflow.recording.journal import Journal, open_journal  # noqa: PLC0415  # not every run
    from toolflow.recording.journal.run_writer import RunWriter  # noqa: PLC0415  # has one

    base = None if since is None else since[0].with_given(since[1])
    if isinstance(journal, Journal):
        yield RunWriter(journal, policy=policy, base=base)
        return
    with open_journal(journal, redactor=policy.redactor) as opened:
        yield RunWriter(opened, policy=policy, base=base)


async def conduct(
    executor: Executor,
    plan: Plan,
    turn: Turn,
    transcript: Transcript | None,
    *,
    since: Checkpoint | None = None,
) -> RunResult:
    """Run what an executor has, commit the turn, and tell the end.

    Args:
        executor: The executor.
        plan: What it runs.
        turn: The turn that it was made of; its message is staged.
        transcript: Where the turn is committed, if anywhere.
        since: Where the run goes on from, if it had paused.

    Returns:
        What became of it.

    Raises:
        JournalError: If its journal could not be written; what became of the run all the same is
            its ``result``.
        InternalError: If toolflow itself failed.
    """
    journal = executor.journal
    if journal is not None:
        _begin(journal, executor, transcript)
    result = None
    try:
        report = await execute(executor, transcript)
        with anyio.CancelScope(shield=True):  # what ran is kept, even if we are cancelled
            result = await conclude(executor, plan, turn, report, transcript, since=since)
    finally:
        executor.tell_end()
        executor.release_leases()
        if journal is not None:
            with anyio.CancelScope(shield=True):
                await _end(journal, executor, result)
    error = executor.pending_error
    if isinstance(error, JournalError):
        error.result = result
    if error is not None:
        raise error
    assert result is not None
    return result


def _begin(journal: RunJournal, executor: Executor, transcript: Transcript | None) -> None:
    try:
        journal.begin(executor)
    except BaseException:
        if transcript is not None:
            transcript.discard()
        raise


async def _end(journal: RunJournal, executor: Executor, result: RunResult | None) -> None:
    """Write the end; where that cannot be done, the caller hears of it with the result."""
    try:
        await journal.end(result)
    except JournalError as error:
        if executor.pending_error is None:
            executor.pending_error = error
