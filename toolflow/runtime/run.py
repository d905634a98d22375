"""One run: its state, what its parts ask of it, and how decisions are carried out.

Whatever happens becomes a fact for the scheduler, and `Run.pump` carries out the decisions that
follow. What happens while it does so is picked up by the same loop, so facts and decisions never
nest. `toolflow.runtime.executor` stands around it.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, get_args

from anyio.abc import TaskGroup

from toolflow.errors import JournalError
from toolflow.locks.protocol import LockStore
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome, Status
from toolflow.model.plan import PlanData
from toolflow.model.turn import EMPTY
from toolflow.runtime.asking import Asking
from toolflow.runtime.context import surroundings_of
from toolflow.runtime.events import EventLog
from toolflow.runtime.execution import Execution
from toolflow.runtime.hooking import HookRunner
from toolflow.runtime.live import LiveTools
from toolflow.runtime.loops import Caller, Mailbox
from toolflow.runtime.mishaps import drained
from toolflow.runtime.options import RunOptions, scheduler_of
from toolflow.runtime.record import CallRecord, Wording
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.watchdog import Watchdog
from toolflow.runtime.workers import Workers
from toolflow.scheduler import Decision
from toolflow.scheduler.decisions import ACQUIRING, DONE, HOOKING, PREPARING

MOMENT = 0.1  # seconds in which a cancelled body may end with words of its own

_SETTLED = {status: {"status": status} for status in get_args(Status)}


class Run:
    """The state of one run of one plan.

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
        self.scheduler = scheduler_of(plan, options)
        self.records = [CallRecord(unknown=call.index in options.unknown) for call in plan.calls]
        names = [call.name for call in plan.calls]
        if options.source != "main":
            names = [f"{options.source}/{name}" for name in names]
        head = (options.run, plan.turn_id, plan.message_id)
        self.names = names  # as events and approvers know the calls
        self.log = EventLog(head, options.source, names, options.sinks)
        self.journal = options.journal
        self.hooking = HookRunner(self)
        self.asking = Asking(self)
        self.execution = Execution(self)
        self.workers = Workers(self)
        self.live = LiveTools(self)
        self.surroundings = surroundings_of(plan, options, tools)
        self.base = contextvars.copy_context()
        self.clock: Callable[[], float] = float
        self.interrupts = dict(options.asking)
        self._pumping = False
        self.ended = ""  # how, once that is decided
        self._error: BaseException | None = None
        self.pending_error: BaseException | None = None
        self._tasks: TaskGroup
        self._watch: Watchdog
        self.mail = Mailbox(self._guarded)
        self._begun = 0.0
        self.call_back: Caller

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
        if self.abort_cause is not None or self.ended:
            return
        self.abort_cause = cause
        self.wording = replace(self.wording, abort=cause)
        self.asking.close()
        if self.journal is not None:
            self.journal.aborted(cause)
        self.scheduler.abort()
        self.pump()

    # ---- for the parts of the run ----

    def now(self) -> float:
        """Seconds since the run began."""
        return self.clock() - self._begun

    def at(self, when: float, callback: Callable[[], None]) -> None:
        """Call back at a time of the run, in seconds since it began."""
        self._watch.at(self._begun + when, partial(self._guarded, callback))

    def stopped_by(self, error: BaseException, cause: str) -> None:
        """Abort, and have the caller raise an error at the end; a keyboard interrupt outranks."""
        if not isinstance(self.pending_error, KeyboardInterrupt):
            self.pending_error = error
        self.abort(cause)

    def spawn(self, task: Callable[..., object], *args: object) -> None:
        """Start a task in the run's group."""
        # Whoever asks for it may be inside a body; the task belongs to the run.
        self.base.run(self._tasks.start_soon, task, *args)  # type: ignore[arg-type]  # async ones

    async def started(self, task: Callable[..., Coroutine[Any, Any, Any]], *args: object) -> None:
        """Start a task in the run's group, and go on once it says that it has started."""
        await self._tasks.start(task, *args)

    def settle(self, index: int, outcome: Outcome) -> None:
        """Note the outcome of a call that did not run, and tell it."""
        self.records[index].unrun(outcome)
        self.tell_settled(index)

    def tell_settled(self, index: int, at: float | None = None) -> None:
        """Send the one settled event of a call, with the time of the run if it is known."""
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
        self.asking.forget(index)
        self.records[index].unrun(outcome)
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

    def journal_failed(self, error: JournalError) -> None:
        """The journal cannot be written: start nothing more; what runs finishes (spec 10.1)."""
        if self.ended:
            return
        if self.pending_error is None:
            self.pending_error = error
        if self.options.pausable:
            self.halt()
        else:
            self.abort("since the journal cannot be written")

    def _guarded(self, callback: Callable[[], None]) -> None:
        try:
            callback()
        except BaseException as error:  # noqa: BLE001  # told when the run has ended
            self.broken(error)

    # ---- decisions ----

    def pump(self) -> None:
        """Carry out decisions until there are none; facts that come up meanwhile included."""
        if self._pumping:
            return
        self._pumping = True
        try:
            if self.tools.version != self.live.version:
                self.live.look()
            while self.scheduler.decided:
                for decision in self.scheduler.take():
                    if decision.kind == "start":
                        self.workers.add(decision.call)
                    else:
                        self._carry_out(decision)
        except BaseException as error:  # noqa: BLE001  # told when the run has ended
            self._pumping = False
            if self._error is not None:
                self._finish("finish")
                return
            self.broken(error)
        finally:
            self._pumping = False
        if self.journal is not None and not self.journal.scheduled:
            self.journal.noticed()
        if self._error is not None and drained(self):  # whatever the scheduler believes
            self._finish("finish")

    def _carry_out(self, decision: Decision) -> None:
        kind, index = decision.kind, decision.call
        if kind == "settle":
            cause = self.scheduler.calls[decision.cause] if decision.cause >= 0 else None
            self.asking.forget(index)
            self.settle(index, self._settled(index, decision.status, cause))
        elif kind in {"prepare", "after"}:
            self.hooking.add(kind, index)
        elif kind == "ask":
            self.asking.ask(index)
        elif kind == "cancel":
            self.cancel(index)
        else:
            self._finish(kind)

    def _settled(self, index: int, status: str, cause: CallPlan | None) -> Outcome:
        record = self.records[index]
        if status == "not_started" and (record.started is not None or index in self.interrupts):
            return self.wording.aborted(record.partial)  # its body ran, and asked a person
        return self.wording.settled(status, cause)

    def cancel(self, index: int) -> None:
        """End what is under way for a call: its hook, its wait, its body."""
        phase = self.scheduler.phase[index]
        record = self.records[index]
        if phase in {PREPARING, HOOKING}:
            self.hooking.cancel(index)
        elif self.workers.remove(index):
            self.live.gave_up(index)
        elif record.scope is not None:
            record.scope.cancel()
            if phase != ACQUIRING:
                moment = min(MOMENT, self.options.grace)
                self.at(self.now() + moment, partial(self.execution.overdue, index))

    def _finish(self, kind: str) -> None:
        if not self.ended:
            self.ended = kind
            self.asking.stop()
            self.mail.ring()

    # ---- the end of a body ----

    def body_stopped(self) -> None:
        """A body that had been reported has really ended."""
        self.mail.ring()
        self.pump()

    def grace_over(self, index: int) -> None:
        """A body did not stop in time: say so, and stop waiting for it."""
        record = self.records[index]
        if record.stopped is None and not record.graced:
            record.graced = True
            if record.lease is not None:
                self.locks.poison(record.lease)
            self.scheduler.grace_over(index)
            self.mail.ring()
            self.pump()

    def note(self, kind: str, index: int, **data: object) -> None:
        """Add a fact of a call to the log."""
        self.log.add(kind, self.now(), index, data or EMPTY)  # type: ignore[arg-type]
