"""From a permit to the end of a body: the body itself, its timeout, its outcome."""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.runtime.bodies import ThreadBody, first_step, go_on, own_copy, run_inside
from toolflow.runtime.context import Context, Interrupted, enter_context
from toolflow.runtime.failure import first_of
from toolflow.runtime.held import Held
from toolflow.runtime.journaling import end_on_disk, start_on_disk, start_written
from toolflow.runtime.mishaps import lost
from toolflow.runtime.record import CallRecord, timed_out, with_late_end
from toolflow.runtime.results import failed_outcome, outcome_of
from toolflow.runtime.tool import Tool

if TYPE_CHECKING:
    from toolflow.runtime.run import Run
    from toolflow.runtime.workers import Worker


class Execution:
    """Runs the bodies of one run.

    Args:
        run: The run that it belongs to.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._held = Held(run)
        self._hooked, self._around = bool(run.options.hooks), run.options.hooks.around
        self._attempts = run.options.attempts
        self._journal = run.journal
        self._strict = run.journal is not None and run.journal.strict
        self.release_turn = self._held.release_turn

    async def run(self, index: int, worker: Worker) -> None:
        """Run a call that has a permit.

        Args:
            index: The call.
            worker: Who runs it; its scope cancels the call's wait and body.
        """
        run, scope = self._run, worker.scope
        call, record = run.scheduler.calls[index], run.records[index]
        record.scope = scope
        if run.live.any_doomed and run.live.settled(index):
            return
        if call.reads or call.writes or call.terms.uses:
            granted = await self._held.take(call, record, worker)
            if not granted:
                return
        if self._journal is not None and (self._strict or not self._journal.ahead[index]):
            written = start_written(run, index)
            if not written or (self._strict and not await start_on_disk(run, worker)):
                self._held.not_entered(index, record)
                return
        self._enter(call, record)
        try:
            outcome = outcome_of(await self._value(call, record, worker))
        except anyio.get_cancelled_exc_class() as error:
            outcome = self._cut_off(record, error, scope)
        except BaseException as error:  # noqa: BLE001  # whatever a tool raises is its failure
            if (asked := first_of(error, Interrupted)) is not None:
                await run.workers.all_begun(worker)
                worker.come_back()
                self._interrupted(index, asked)
                return
            outcome = self._raised(record, error)
        if self._strict and not (record.reported or record.in_thread):
            await end_on_disk(run, index, outcome, worker)
        if worker.away:
            worker.come_back()
        if record.in_thread:  # given up, whatever an around-hook made of that; it tells its end
            self.report(index, outcome)
        else:
            self.ended(index, outcome)

    # ---- before the body ----

    def _enter(self, call: CallPlan, record: CallRecord) -> None:
        run, index = self._run, call.index
        run.scheduler.started(index)
        record.started = now = run.now()
        run.log.add("call_started", now, index)
        if call.terms.timeout is not None:
            ends = partial(self._timed_out, call, record, run.log.blocked)
            run.at(run.now() + call.terms.timeout, ends)
        fence = None if record.lease is None else record.lease.fence
        attempt = self._attempts.get(index, 0) + 1 if self._attempts else 1
        record.context = Context(call, run.surroundings, fence, attempt)

    # ---- the body ----

    async def _value(self, call: CallPlan, record: CallRecord, worker: Worker) -> Any:
        """Run the body, with its hooks around it, and give what it returns."""
        run, context = self._run, record.context
        assert context is not None
        tool = run.tools.get(call.tool)
        if tool is None:
            raise LookupError(f"There is no tool {call.tool!r} to run.")
        variables = run.base.copy()
        if self._around:
            return await run_inside(variables, self._wrapped(call, record, tool), worker.leave)
        args = self._args(call, tool)
        if not tool.is_async:
            variables.run(enter_context, context)
            body = partial(tool.call, args, context)
            return await self._thread_body(call, record, body, variables, worker.leave)
        try:  # `run_inside`, written out: many bodies end with their first step
            begun, waited_for = variables.run(first_step, _enter_body, tool, args, context)
        except StopIteration as end:
            return end.value
        worker.leave()
        return await go_on(variables, begun, waited_for)

    def _wrapped(
        self, call: CallPlan, record: CallRecord, tool: Tool
    ) -> Callable[[], Awaitable[Any]]:
        run, context = self._run, record.context
        assert context is not None

        async def proceed() -> Any:  # what an around-hook sets, the body sees
            inner = contextvars.copy_context()
            body = partial(tool.call, self._args(call, tool), context)
            if tool.is_async:
                return await run_inside(inner, body)
            return await self._thread_body(call, record, body, inner)

        body = run.options.hooks.wrap(call, run.hooking.context(call.index), proceed)

        def enter() -> Awaitable[Any]:
            enter_context(context)
            return body()

        return enter

    async def _thread_body(
        self,
        call: CallPlan,
        record: CallRecord,
        body: Callable[[], Any],
        variables: contextvars.Context,
        on_wait: Callable[[], None] | None = None,
    ) -> Any:
        thread = ThreadBody(body, partial(self._stopped_late, call.index))
        try:
            # It runs in a copy of the context.
            value = await run_inside(variables, thread.run, on_wait)
        except anyio.get_cancelled_exc_class():
            record.in_thread = thread.give_up()
            if not thread.ended or record.in_thread:
                raise
            value = thread.result()  # it had ended before it was cut off
        if inspect.isawaitable(value):  # a plain function that hands a coroutine on
            return await run_inside(variables, lambda: value)
        return value

    def _args(self, call: CallPlan, tool: Tool) -> Any:
        """The arguments as the body takes them: parsed, and nobody else's."""
        args = call.parsed
        if args is None:
            args = tool.spec.parse(call.args) if tool.spec.parse else call.args
        return own_copy(args) if args else {}

    # ---- the end ----

    def ended(self, index: int, outcome: Outcome) -> None:
        """A body has really ended; it may have been reported before."""
        run = self._run
        record = run.records[index]
        record.stopped = now = run.now()
        self._leave(record)
        if record.reported:
            record.outcome = with_late_end(record.outcome, outcome, record.partial)
            self._held.give_back(run.scheduler.calls[index], record)
            run.log.add("call_stopped", now, index)
            run.scheduler.stopped(index, failed=True)
            run.body_stopped()
            return
        if run.abort_cause is not None and outcome.status != "aborted":
            outcome = run.wording.after_abort(outcome, record.partial)
        record.outcome = outcome
        record.settled = now
        if record.lease is not None:
            self._held.give_back(run.scheduler.calls[index], record)
        if self._hooked:  # the settled event comes later: its after-hook sees it first
            run.log.add("call_stopped", now, index)
        run.scheduler.stopped(index, failed=outcome.status != "ok")
        run.known(index, now)
        run.pump()

    def report(self, index: int, outcome: Outcome) -> None:
        """Report an outcome while the body goes on; its permit and keys stay out (spec 6.7)."""
        run = self._run
        record = run.records[index]
        if record.reported or record.ending or record.stopped is not None:
            return
        record.reported = True
        record.outcome = outcome
        record.settled = run.now()
        run.scheduler.reported(index)
        run.known(index)
        run.at(record.settled + run.options.grace, partial(run.grace_over, index))
        run.pump()

    def overdue(self, index: int) -> None:
        """A body was cancelled by an abort and has not stopped: report it without waiting on."""
        self.report(index, self._run.wording.aborted(self._run.records[index].partial))

    def _timed_out(self, call: CallPlan, record: CallRecord, blocked: float) -> None:
        run = self._run
        if record.stopped is not None or record.reported or record.ending or record.scope is None:
            return
        if run.log.blocked > blocked:  # observers took a part of its time: it is given back
            ends = partial(self._timed_out, call, record, run.log.blocked)
            run.at(run.now() + run.log.blocked - blocked, ends)
        else:
            self.report(call.index, timed_out(call, record.partial))
            record.scope.cancel()

    def _cut_off(
        self, record: CallRecord, error: BaseException, scope: anyio.CancelScope
    ) -> Outcome:
        if scope.cancel_called:
            return self._run.wording.aborted(record.partial)
        return failed_outcome(RuntimeError(f"The tool was cancelled from within: {error!r}"))

    def _raised(self, record: CallRecord, error: BaseException) -> Outcome:
        if (pressed := first_of(error, KeyboardInterrupt)) is None:
            return failed_outcome(error)
        self._run.stopped_by(pressed, "by the keyboard")
        return self._run.wording.aborted(record.partial)

    def _interrupted(self, index: int, asked: Interrupted) -> None:
        run = self._run
        record = run.records[index]
        if record.reported or run.abort_cause is not None:
            self.ended(index, run.wording.aborted(record.partial))
            return
        record.stopped = run.now()
        self._leave(record)
        self._held.give_back(run.scheduler.calls[index], record)
        run.interrupts[index] = asked.question
        run.note("question_asked", index, question=asked.question)
        run.scheduler.interrupted(index)
        run.pump()

    def _stopped_late(self, index: int, value: Any, error: BaseException | None) -> None:
        """Runs in the thread of a body that was given up, when it ends at last."""
        run = self._run
        record = run.records[index]
        try:
            if record.lease is not None:
                run.locks.release(record.lease)
        except BaseException as failure:  # noqa: BLE001  # of the store; this thread is no place
            run.call_back(partial(run.broken, failure))
        outcome = outcome_of(value) if error is None else failed_outcome(error)
        run.call_back(partial(self._ended_late, index, outcome))

    def _ended_late(self, index: int, outcome: Outcome) -> None:
        try:
            self.ended(index, outcome)
        except BaseException as error:  # noqa: BLE001  # told when the run has ended
            lost(self._run, index, error)

    def _leave(self, record: CallRecord) -> None:
        if record.context is not None:
            record.context.alive = False


def _enter_body(tool: Tool, args: Any, context: Context) -> Any:
    """Runs in the body's own copy of the variables, as its first step."""
    enter_context(context)
    return tool.call(args, context)
