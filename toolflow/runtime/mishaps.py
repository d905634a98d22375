"""When something of ours fails in the middle of a run: what runs finishes, nothing is made up."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from toolflow.scheduler.decisions import ACQUIRING, RUNNING

if TYPE_CHECKING:
    from toolflow.runtime.run import Run


def lost(run: Run, index: int, error: BaseException) -> None:
    """Something of ours failed in the middle of a call; nothing is made up of the call.

    Args:
        run: The run.
        index: The call.
        error: What failed.
    """
    run.broken(error)
    phase, record = run.scheduler.phase[index], run.records[index]
    if record.lease is not None:
        with suppress(BaseException):  # the store may be what failed
            run.locks.release(record.lease)
    if phase == ACQUIRING:
        run.scheduler.gave_up(index)
    elif phase == RUNNING or index in run.scheduler.lingering:
        run.scheduler.stopped(index, failed=True)
    run.mail.ring()
    run.pump()


def drained(run: Run) -> bool:
    """Whether no body runs any more; calls that wait for keys are told to give up."""
    if any(r.started is not None and r.stopped is None and not r.reported for r in run.records):
        return False
    for record in run.records:
        if record.started is None and record.scope is not None:
            record.scope.cancel()  # it waits for keys
    return True
