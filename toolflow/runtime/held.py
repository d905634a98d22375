"""What the calls of a run hold: leases on keys and resources, and how long (spec 6.3, 7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from toolflow.errors import LockCycleError, LockLostError, LockStoreError, UsageError
from toolflow.locks.protocol import Lease, LockRequest
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome, Status
from toolflow.runtime.record import CallRecord

if TYPE_CHECKING:
    from toolflow.runtime.run import Run
    from toolflow.runtime.workers import Worker

_REFUSED: dict[type[Exception], Status] = {LockCycleError: "lock_cycle", LockLostError: "held"}


class Held:
    """The leases of one run.

    Args:
        run: The run that they belong to.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._turn_leases: list[Lease] = []

    async def take(self, call: CallPlan, record: CallRecord, worker: Worker) -> bool:
        """Wait for everything that a call needs.

        Args:
            call: The call; it has a permit.
            record: What the run keeps of it.
            worker: Who waits.

        Returns:
            Whether it got all of it. If not, the scheduler has been told.
        """
        run = self._run
        request = LockRequest(
            owner=(run.options.run, call.index),
            reads=call.reads or (),
            writes=call.writes or (),
            ancestors=((run.options.run,), *run.surroundings.living(run.options.lineage)),
            uses=call.terms.uses,
            capacities=run.plan.limits.resources,
            label=call.name,
        )
        record.queued = run.now()
        try:
            record.lease = run.locks.acquire_nowait(request)
            if record.lease is None:
                worker.leave()
                record.lease = await run.locks.acquire(
                    request, on_wait=lambda what: run.note("call_queued", call.index, waits=what)
                )
                run.pump()  # the tools may have changed while it waited
        except anyio.get_cancelled_exc_class():
            run.live.gave_up(call.index)
        except (LockCycleError, LockLostError, LockStoreError, UsageError) as error:
            status = _REFUSED.get(type(error), "failed")
            run.refuse(call.index, Outcome(status, error=str(error)), hooked=True)
        else:
            worker.come_back()
            if not worker.scope.cancel_called:
                record.granted = run.now()
                return True
            self.not_entered(call.index, record)  # told to give up in this very moment
            return False
        run.pump()
        return False

    def not_entered(self, index: int, record: CallRecord) -> None:
        """A call that has all that it needs does not run after all; it gives everything back."""
        if record.lease is not None:
            self._pass_on(record)
        self._run.live.gave_up(index)
        self._run.pump()

    def _pass_on(self, record: CallRecord) -> None:
        assert record.lease is not None
        self._run.locks.release(record.lease)
        record.lease = None

    def give_back(self, call: CallPlan, record: CallRecord) -> None:
        """Give back what a call held, or keep it for as long as its rule says."""
        lease, hold = record.lease, call.terms.hold
        if lease is None:
            return
        if hold == "call":
            self._run.locks.release(lease)
        elif hold == "turn" or not self._keep(lease):
            self._run.locks.hand_over(lease, (self._run.options.run,))
            self._turn_leases.append(lease)

    def _keep(self, lease: Lease) -> bool:
        """Have a lease kept beyond the turn, where something around it goes on."""
        run = self._run
        keeper, around = run.surroundings.keeper, run.surroundings.living(run.options.lineage)
        if keeper.owner not in around and keeper.owner != (run.options.run,):
            return False  # what was around has ended
        return keeper.keep(run.locks, lease)

    def release_turn(self) -> None:
        """Give back the keys that calls of this turn held for the whole turn, or run."""
        while self._turn_leases:
            self._run.locks.release(self._turn_leases.pop())
        if self._run.surroundings.keeper.owner == (self._run.options.run,):
            self._run.surroundings.keeper.close()
