"""What a run tells its journal, and what it waits for (spec 10.1).

The journal itself lives in `toolflow.recording.journal`; a run knows no more of it than stands
here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import anyio

from toolflow.errors import JournalError
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome

if TYPE_CHECKING:
    from toolflow.runtime.run import Run
    from toolflow.runtime.workers import Worker


class RunJournal(Protocol):
    """The journal of one run. What it cannot write it raises as `JournalError`."""

    strict: bool
    ahead: bytearray
    scheduled: bool

    def nested(self) -> RunJournal:
        """The journal of a turn inside a body of this run."""

    def begin(self, run: Run) -> None:
        """Write the plan, before anything runs."""

    def starting(self, index: int) -> None:
        """Write that a body is about to be entered."""

    def flush(self) -> None:
        """Write what happened so far."""

    def noticed(self) -> None:
        """Something happened, and is to be written soon."""

    def outcome(self, index: int, outcome: Outcome) -> None:
        """Write how a body ended, before that counts."""

    def prepared(self, call: CallPlan) -> None:
        """Write that a before-hook changed a call; raises nothing."""

    def aborted(self, cause: str) -> None:
        """Write that the run is aborted; raises nothing."""

    async def on_disk(self) -> None:
        """Wait until what was written is on the disk itself."""

    async def before_commit(self) -> None:
        """Have every outcome where it is to be before the turn is committed."""

    async def end(self, result: Any) -> None:
        """Write how the run ended: with a `RunResult`, or with ``None``, where we failed."""

    def close(self) -> None:
        """The tasks of the run end."""


def start_written(run: Run, index: int) -> bool:
    """Write that a body is about to be entered.

    Args:
        run: The run; it has a journal.
        index: The call.

    Returns:
        Whether it was written. If not, the run stops, and the body must not be entered.
    """
    assert run.journal is not None
    try:
        run.journal.starting(index)
    except JournalError as error:
        run.journal_failed(error)
        return False
    return True


async def start_on_disk(run: Run, worker: Worker) -> bool:
    """Have the start of a body on the disk itself before it is entered.

    Args:
        run: The run; it has a journal.
        worker: Who runs the call.

    Returns:
        Whether it is there, and the body may still be entered.
    """
    assert run.journal is not None
    worker.leave()
    try:
        await run.journal.on_disk()
    except JournalError as error:
        run.journal_failed(error)
        return False
    except anyio.get_cancelled_exc_class():
        return False
    finally:
        worker.come_back()
    return not worker.scope.cancel_called


async def end_on_disk(run: Run, index: int, outcome: Outcome, worker: Worker) -> None:
    """Have the outcome of a body on the disk itself before it counts.

    Where that cannot be done, the run stops, and the outcome counts all the same.

    Args:
        run: The run; it has a journal.
        index: The call.
        outcome: How its body ended.
        worker: Who ran it.
    """
    assert run.journal is not None
    run.records[index].ending = True  # it cannot time out any more
    worker.leave()
    try:
        with anyio.CancelScope(shield=True):
            run.journal.outcome(index, outcome)
            await run.journal.on_disk()
    except JournalError as error:
        run.journal_failed(error)
    finally:
        worker.come_back()
