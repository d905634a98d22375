"""The executor: carries out what the scheduler decides, with real tools in real time (anyio).

A run has a few long-lived workers that take calls from a queue, as many as there are permits and
never more than are needed. Whatever happens becomes a fact for the scheduler, and `Run.pump`
carries out the decisions that follow. Bodies never raise into the task group, hooks and approvers
do not either; what does raise is a bug of ours, stops new starts and is raised when all bodies
have ended (spec 6.12).

Every scope here is shielded: when the task that runs the turn is cancelled, the run is aborted,
every call gets its outcome, and only then does the cancellation go on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import anyio

from toolflow.model.event import Event
from toolflow.runtime.loops import in_order, loop_caller, loop_clock
from toolflow.runtime.record import settled_outcome
from toolflow.runtime.report import RunReport, report_of
from toolflow.runtime.run import Run
from toolflow.runtime.watchdog import Watchdog


class Executor(Run):
    """One run of one plan.

    Args:
        plan: What to run.
        tools: The bodies.
        locks: Where keys and resources are taken.
        options: How to run it.
    """

    async def run(self) -> RunReport:
        """Run the plan to its end, to a pause, or to an abort.

        Returns:
            What became of every call. Where the task was cancelled meanwhile, or a body raised
            `KeyboardInterrupt`, the run is aborted and `pending_error` is what the caller has to
            raise, once it has kept what it wants to keep.

        Raises:
            InternalError: If toolflow itself failed; every body has ended by then.
        """
        self.clock = loop_clock()
        self.workers.eager = not in_order()
        self._begun = self.clock()
        self.log.clock = self.clock
        self.log.pressed = partial(self.stopped_by, cause="by the keyboard")
        self.call_back = loop_caller(self.mail.deliver)
        if self.log.watched:
            self.surroundings.relay = self._relay()
        try:
            async with anyio.create_task_group() as self._tasks:
                self._watch = Watchdog(self._tasks, self.clock)
                self._begin()
                try:
                    await self._until_end()
                finally:
                    self._close()
        except BaseException as error:  # noqa: BLE001  # a cancellation; the caller raises it
            self.stopped_by(error, "by cancellation")
        if self._error is not None:
            raise self._error
        self._tell_the_rest()
        return report_of(self, self.ended)

    def _relay(self) -> Callable[[Event], None]:
        """What shows events of nested turns, which may run in other threads, to the observers."""
        call = loop_caller()
        return lambda event: call(partial(self.log.show, event))

    def _begin(self) -> None:
        if self.records:  # an empty turn is over before it has begun, and says nothing
            self.log.add("run_started", 0.0, data={"calls": len(self.records)})
        for call, record in zip(self.plan.calls, self.records, strict=True):
            if call.index in self.options.outcomes:
                record.outcome, record.hooked = self.options.outcomes[call.index]
                record.told = record.hooked
            elif call.verdict.kind == "settled":
                self.settle(call.index, settled_outcome(call))
        if self.options.total is not None:
            limit = self.options.total
            self.at(limit, lambda: self.abort(f"after its total limit of {limit:g} s"))
        try:
            self.options.control.attach(self)
            if not self.scheduler.ended:
                self.scheduler.begin()
        except BaseException as error:  # noqa: BLE001  # told when the run has ended
            self.broken(error)
        self.pump()

    async def _until_end(self) -> None:
        """Wait for the end, and for bodies that were reported, each for its grace at the most."""
        try:
            await self.mail.until(self._over)
        except BaseException as error:
            pressed = isinstance(error, KeyboardInterrupt)
            self.stopped_by(error, "by the keyboard" if pressed else "by cancellation")
            with anyio.CancelScope(shield=True):
                await self.mail.until(self._over)
            raise

    def _over(self) -> bool:
        return bool(self.ended) and all(
            self.records[index].graced for index in self.scheduler.lingering
        )

    def _close(self) -> None:
        self.options.control.detach()
        self.mail.close()
        self._watch.close()
        self.hooking.close()
        self.asking.close()
        self.workers.close()
        if self.journal is not None:
            self.journal.close()

    def _tell_the_rest(self) -> None:
        """Tell what no hook will see any more."""
        if self.ended == "finish":
            for index, record in enumerate(self.records):
                if not record.told:
                    self.tell_settled(index)

    def tell_committed(self, messages: Sequence[Any]) -> None:
        """Tell that the turn is committed.

        Args:
            messages: The snapshot that is the truth: all of the transcript, or without one the
                turn's own messages.
        """
        if self.records:
            self.log.add("turn_committed", self.now(), data={"messages": tuple(messages)})

    def tell_end(self) -> None:
        """Tell how the run ended; its last event."""
        if not self.records:
            return
        if self.ended == "pause":
            self.log.add("run_paused", self.now(), data={"status": "paused"})
        else:
            broken = self._error is not None
            status = "failed" if broken else "done" if self.abort_cause is None else "aborted"
            self.log.add("run_finished", self.now(), data={"status": status})

    def release_leases(self) -> None:
        """Give back the keys that were held for the turn; called once it is committed."""
        self.execution.release_turn()
