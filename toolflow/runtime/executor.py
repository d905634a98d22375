"""The executor: carries out what the scheduler decides, with real tools in real time (anyio).

A run has a few long-lived workers that take calls from a queue, as many as there are permits and
never more than are needed. Whatever happens becomes a fact for the scheduler, and `_pump` carries
out the decisions that follow. Bodies never raise into the task group, hooks and approvers do not
either; what does raise is a bug of ours, stops new starts and is raised when all bodies have ended
(spec 6.12).

Every scope here is shielded: when the task that runs the turn is cancelled, the run is aborted,
every call gets its outcome, and only then does the cancellation go on its way.
"""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

import anyio
from anyio.abc import TaskGroup

from toolflow.errors import InternalError
from toolflow.locks.protocol import LockStore
from toolflow.model.batch import CallPlan
from toolflow.model.event import EventKind
from toolflow.model.outcome import Outcome, Status
from toolflow.model.plan import PlanData
from toolflow.model.turn import EMPTY
from toolflow.runtime.asking import Asking
from toolflow.runtime.context import Surroundings
from toolflow.runtime.events import EventLog
from toolflow.runtime.execution import Execution
from toolflow.runtime.hooking import HookRunner
from toolflow.runtime.loops import loop_caller, loop_clock
from toolflow.runtime.options import RunOptions
from toolflow.runtime.record import CallRecord, Wording, settled_outcome
from toolflow.runtime.report import RunReport
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.watchdog import Watchdog
from toolflow.scheduler import Decision, Scheduler
from toolflow.scheduler.decisions import ACQUIRING, DONE, HOOKING, PREPARING, READY, WAITING

_SETTLED = {status: {"status": status} for status in get_args(Status)}
YIELD_EVERY = 32  # calls that a worker may run without giving others a chance


class Executor:
    """One run of one plan.

    Args:
        plan: What to run.
        tools: The bodies.
        locks: Where keys and resources are taken.
        options: How to run it.
    """

    def __init__(
        self, plan: PlanData, tools: Toolbox, locks: LockStore, options: RunOptions
    ) -> None:
        self.plan = plan
        self.tools = tools
        self.locks = locks
        self.options = options
        self.wording = Wording()
        self.abort_cause: str | None = None
        self.scheduler = Scheduler(
            plan,
            hooks=bool(options.hooks),
            approver=options.approver is not None,
            pausable=options.pausable,
            stops=options.stops,
            passed=options.passed,
            approved=options.approved,
            settled={index: hooked for index, (_, hooked) in options.outcomes.items()},
        )
        self.records = [CallRecord() for _ in plan.calls]
        names = [call.name for call in plan.calls]
        if options.source != "main":
            names = [f"{options.source}/{name}" for name in names]
        head = (options.run, plan.turn_id, plan.message_id)
        self.log = EventLog(head, options.source, names, options.sinks)
        self.hooking = HookRunner(self)
        self.asking = Asking(self)
        self.execution = Execution(self)
        self.surroundings = Surroundings(
            turn=plan.turn_id,
            run=options.run,
            source=options.source,
            messages=options.messages,
            lineage=options.lineage,
            answers=options.answers,
            pausable=options.pausable,
        )
        self.base = contextvars.copy_context()
        self.clock: Callable[[], float] = float
        self.interrupts: dict[int, object] = {}
        self._catalog = tools.version
        self._queue: deque[int] = deque()
        self._workers = 0
        self._idle: list[anyio.Event] = []
        self._pumping = False
        self._ended = ""
        self._closed = False
        self._error: BaseException | None = None
        self.pending_error: BaseException | None = None
        self._tasks: TaskGroup
        self._watch: Watchdog
        self._end: anyio.Event
        self._quiet: anyio.Event
        self._begun = 0.0

    # ---- the whole run ----

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
        self._begun = self.clock()
        self._end, self._quiet = anyio.Event(), anyio.Event()
        self.call_back = loop_caller()
        try:
            async with anyio.create_task_group() as self._tasks:
                self._watch = Watchdog(self._tasks, self.clock)
                self._begin()
                try:
                    await self._until_end()
                finally:
                    self._close()
        except BaseException as error:  # noqa: BLE001  # a cancellation; the caller raises it
            self.pending_error = error
        if self._error is not None:
            raise self._error
        return self._report()

    def _begin(self) -> None:
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
        try:
            await self._end.wait()
        except BaseException:
            self.abort("by cancellation")
            with anyio.CancelScope(shield=True):
                await self._end.wait()
                await self._until_quiet()
            raise
        await self._until_quiet()

    async def _until_quiet(self) -> None:
        """Wait for bodies that were reported, each for its grace time at the most."""
        while any(not self.records[index].graced for index in self.scheduler.lingering):
            await self._quiet.wait()
            self._quiet = anyio.Event()

    def _close(self) -> None:
        self._closed = True
        self.options.control.detach()
        self._watch.close()
        self.hooking.close()
        self.asking.close()
        for event in self._idle:
            event.set()

    def _report(self) -> RunReport:
        if self._ended == "finish":  # what no hook will see any more is final now
            for index, record in enumerate(self.records):
                if not record.told:
                    self.tell_settled(index)
        paused = self._ended == "pause"
        status: Literal["done", "paused", "aborted"] = (
            "paused" if paused else "done" if self.abort_cause is None else "aborted"
        )
        kind: EventKind = "run_paused" if paused else "run_finished"
        self.log.add(kind, self.now(), data={"status": status})
        scheduler = self.scheduler
        return RunReport(
            status=status,
            calls=tuple(scheduler.calls),
            outcomes=tuple([record.outcome for record in self.records]),
            hooked=tuple([phase == DONE for phase in scheduler.phase]),
            records=self.records,
            log=self.log.snapshot(),
            questions=self.asking.open_questions() if paused else (),
            stop_point=scheduler.stop_point,
            approved=self.asking.approved,
            extra=tuple([text for r in self.records if r.hooks for text in r.hooks.extra]),
            lingering=tuple(scheduler.calls[index].name for index in scheduler.lingering),
            hook_error=self.hooking.first_error,
            observer_errors=self.log.observer_errors,
            abort_cause=self.abort_cause,
        )

    # ---- from outside ----

    def halt(self) -> None:
        """Let running calls finish, start none, pause (where the run may pause; else abort)."""
        if not self.options.pausable:
            self.abort("by an interrupt")
            return
        self.scheduler.halt()
        self.pump()

    def abort(self, cause: str) -> None:
        """Stop now. The first cause counts."""
        if self.abort_cause is not None or self._ended:
            return
        self.abort_cause = cause
        self.wording = replace(self.wording, abort=cause)
        self.asking.close()
        self.scheduler.abort()
        self.pump()

    def release_leases(self) -> None:
        """Give back the keys that were held for the turn; called once it is committed."""
        self.execution.release_turn()

    # ---- for the parts of the run ----

    def now(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self._begun

    def at(self, when: float, callback: Callable[[], None]) -> None:
        """Call back at a time of the run, in seconds since it began."""
        self._watch.at(self._begun + when, callback)

    def spawn(self, task: Callable[..., object], *args: object) -> None:
        """Start a task in the run's group."""
        self._tasks.start_soon(task, *args)  # type: ignore[arg-type]  # async functions only

    def settle(self, index: int, outcome: Outcome) -> None:
        """Note the outcome of a call that did not run, and tell it."""
        record = self.records[index]
        record.outcome = outcome
        self.tell_settled(index)

    def tell_settled(self, index: int, at: float | None = None) -> None:
        """Send the one settled event of a call.

        Args:
            index: The call.
            at: The time of the run, where the caller knows it.
        """
        record = self.records[index]
        if record.told or record.outcome is None:
            return
        record.told = True
        if at is None:
            at = self.now()
        if record.settled is None:
            record.settled = at
        self.log.add("call_settled", at, index, _SETTLED[record.outcome.status])

    def known(self, index: int, at: float | None = None) -> None:
        """Tell a call's outcome, unless its after-hook is still to see it."""
        if self.scheduler.phase[index] == DONE:
            self.tell_settled(index, at)

    def refuse(self, index: int, outcome: Outcome, *, hooked: bool) -> None:
        """A call gets its outcome before it started."""
        self.records[index].outcome = outcome
        self.scheduler.refused(index, hooked=hooked)
        self.known(index)
        self.pump()

    def reclassified(self, call: CallPlan, args: object = None) -> CallPlan:
        """A call as the policy sees it now."""
        reclassify = self.options.reclassify
        fresh = call if args is None else replace(call, args=args)  # type: ignore[arg-type]
        return fresh if reclassify is None else reclassify(call, fresh.args)

    def broken(self, error: BaseException) -> None:
        """Something of ours failed: stop starts, drain, raise the first error at the end."""
        if self._error is None:
            self._error = error
            try:
                self.scheduler.fail()
            except BaseException:  # noqa: BLE001  # the first error is the one that is told
                self._finish("finish")
        self.pump()

    # ---- decisions ----

    def pump(self) -> None:
        """Carry out decisions until there are none; facts that come up meanwhile included."""
        if self._pumping:
            return
        self._pumping = True
        try:
            if self.tools.version != self._catalog:
                self._tools_changed()
            while decisions := self.scheduler.take():
                for decision in decisions:
                    self._carry_out(decision)
        except BaseException as error:  # noqa: BLE001  # told when the run has ended
            self._pumping = False
            if self._error is not None:
                self._finish("finish")
                return
            self.broken(error)
        finally:
            self._pumping = False

    def _carry_out(self, decision: Decision) -> None:
        kind, index = decision.kind, decision.call
        if kind == "start":
            self._queue.append(index)
            self._wake()
        elif kind == "settle":
            cause = self.scheduler.calls[decision.cause] if decision.cause >= 0 else None
            self.asking.forget(index)
            self.settle(index, self.wording.settled(decision.status, cause))
        elif kind in {"prepare", "after"}:
            self.hooking.add(kind, index)
        elif kind == "ask":
            self.asking.ask(index)
        elif kind == "cancel":
            self._cancel(index)
        else:
            self._finish(kind)

    def _cancel(self, index: int) -> None:
        phase = self.scheduler.phase[index]
        record = self.records[index]
        if phase in {PREPARING, HOOKING}:
            self.hooking.cancel(index)
        elif index in self._queue:
            self._queue.remove(index)
            self.scheduler.gave_up(index)
        elif record.scope is not None:
            record.scope.cancel()
            if phase != ACQUIRING:
                self.at(self.now() + self.options.grace, partial(self.execution.overdue, index))

    def _finish(self, kind: str) -> None:
        if not self._ended:
            self._ended = kind
            self.asking.stop()
            self._end.set()

    def _tools_changed(self) -> None:
        self._catalog = self.tools.version
        for index, phase in enumerate(self.scheduler.phase):
            if phase in {WAITING, READY, ACQUIRING}:
                call = self.scheduler.calls[index]
                fresh = self.reclassified(call)
                if fresh.verdict.kind == "settled" and phase != ACQUIRING:
                    self.refuse(index, settled_outcome(fresh), hooked=False)
                elif fresh != call:
                    self.scheduler.changed(index, fresh)

    # ---- workers ----

    def _wake(self) -> None:
        if self._idle:
            self._idle.pop().set()
        elif self._workers < self.plan.limits.pool:
            self._workers += 1
            self._tasks.start_soon(self._work)

    async def _work(self) -> None:
        count = 0
        while not self._closed:
            with anyio.CancelScope(shield=True) as scope:
                while self._queue and not scope.cancel_called:
                    index = self._queue.popleft()
                    try:
                        await self.execution.run(index, scope)
                    except BaseException as error:  # noqa: BLE001  # told when the run has ended
                        self._lost(index, error)
                    count += 1
                    if count % YIELD_EVERY == 0 and not scope.cancel_called:
                        await anyio.lowlevel.checkpoint()
                if not scope.cancel_called and not self._closed:
                    event = anyio.Event()
                    self._idle.append(event)
                    await event.wait()

    def _lost(self, index: int, error: BaseException) -> None:
        """A worker failed, which is a bug of ours: the call ends, the run is broken."""
        self.broken(InternalError(f"Call {index} was lost: {error!r}.").with_traceback(None))
        if self.records[index].stopped is None:
            self.execution.ended(index, Outcome("outcome_unknown", error="Lost by toolflow."))

    # ---- the end of a body ----

    def body_stopped(self) -> None:
        """A body that had been reported has really ended."""
        self._quiet.set()
        self.pump()

    def grace_over(self, index: int) -> None:
        """A body did not stop in time: say so, and stop waiting for it."""
        record = self.records[index]
        if record.stopped is None and not record.graced:
            record.graced = True
            if record.lease is not None:
                self.locks.poison(record.lease)
            self.scheduler.grace_over(index)
            self._quiet.set()
            self.pump()

    def note(self, kind: str, index: int, **data: object) -> None:
        """Add a fact of a call to the log."""
        self.log.add(kind, self.now(), index, data or EMPTY)  # type: ignore[arg-type]
