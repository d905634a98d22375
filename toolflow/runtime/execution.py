"""From a permit to the end of a body: keys, the body itself, its timeout, its outcome."""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from toolflow.errors import LockCycleError, LockLostError
from toolflow.locks.protocol import Lease, LockRequest
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.runtime.bodies import ThreadBody, own_copy, run_inside
from toolflow.runtime.context import Context, Interrupted, enter_context
from toolflow.runtime.record import CallRecord, timed_out
from toolflow.runtime.results import failed_outcome, outcome_of
from toolflow.runtime.tool import Tool

if TYPE_CHECKING:
    from toolflow.runtime.run import Run


class Execution:
    """Runs the bodies of one run.

    Args:
        run: The run that it belongs to.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._turn_leases: list[Lease] = []
        self._cancelled: type[BaseException] | None = None

    async def run(self, index: int, scope: anyio.CancelScope) -> None:
        """Run a call that has a permit.

        Args:
            index: The call.
            scope: What cancels its wait and its body.
        """
        if self._cancelled is None:
            self._cancelled = anyio.get_cancelled_exc_class()
        run = self._run
        call, record = run.scheduler.calls[index], run.records[index]
        record.scope = scope
        if run.live.settled(index):
            return
        if (call.reads or call.writes or call.terms.uses) and not await self._acquire(call, record):
            return
        self._enter(call, record)
        try:
            outcome = outcome_of(await self._body(call, record))
        except Interrupted as asked:
            self._interrupted(index, asked)
            return
        except self._cancelled as error:
            outcome = self._cut_off(record, error, scope)
        except KeyboardInterrupt as error:
            run.pending_error = error
            outcome = run.wording.aborted(record.partial)
            run.abort("by the keyboard")
        except BaseException as error:  # noqa: BLE001  # whatever a tool raises is its failure
            outcome = failed_outcome(error)
        if record.in_thread:  # given up, whatever an around-hook made of that; it tells its end
            self.report(index, outcome)
        else:
            self.ended(index, outcome)

    # ---- before the body ----

    async def _acquire(self, call: CallPlan, record: CallRecord) -> bool:
        run = self._run
        request = LockRequest(
            owner=self._owner(call.index),
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
                record.lease = await run.locks.acquire(
                    request, on_wait=lambda what: run.note("call_queued", call.index, waits=what)
                )
        except self._cancelled_class():
            run.live.gave_up(call.index)
        except (LockCycleError, LockLostError) as error:
            status = "lock_cycle" if isinstance(error, LockCycleError) else "held"
            run.refuse(call.index, Outcome(status, error=str(error)), hooked=True)  # type: ignore[arg-type]
        else:
            if not run.live.doomed(call.index):
                record.granted = run.now()
                return True
            run.locks.release(record.lease)
            run.live.settled(call.index)
        run.pump()
        return False

    def _enter(self, call: CallPlan, record: CallRecord) -> None:
        run = self._run
        run.scheduler.started(call.index)
        record.started = run.now()
        run.log.add("call_started", record.started, call.index)
        if call.terms.timeout is not None:
            ends = partial(self._timed_out, call, record, run.log.blocked)
            run.at(run.now() + call.terms.timeout, ends)
        lease = record.lease
        record.context = Context(
            call,
            run.surroundings,
            lease.fence if lease is not None else None,
            run.options.attempts.get(call.index, 0) + 1,
        )

    def _owner(self, index: int) -> Hashable:
        return (self._run.options.run, index)

    # ---- the body ----

    def _body(self, call: CallPlan, record: CallRecord) -> Awaitable[Any]:
        """The body with its hooks around it, to be awaited; the short way for most calls."""
        run, context = self._run, record.context
        assert context is not None
        tool = run.tools.get(call.tool)
        if tool is None:
            raise LookupError(f"There is no tool {call.tool!r} to run.")
        variables = run.base.copy()
        if run.options.hooks.around:
            return self._wrapped_body(call, record, tool, variables)
        args = self._args(call, tool)
        if tool.is_async:
            return run_inside(variables, partial(_enter_body, tool, args, context))
        variables.run(enter_context, context)
        return self._thread_body(call, record, partial(tool.call, args, context), variables)

    async def _wrapped_body(
        self, call: CallPlan, record: CallRecord, tool: Tool, variables: contextvars.Context
    ) -> Any:
        run, context = self._run, record.context
        assert context is not None
        variables.run(enter_context, context)

        async def proceed() -> Any:  # what an around-hook sets, the body sees
            inner = contextvars.copy_context()
            body = partial(tool.call, self._args(call, tool), context)
            if tool.is_async:
                return await run_inside(inner, body)
            return await self._thread_body(call, record, body, inner)

        hooks, hook_context = run.options.hooks, run.hooking.context(call.index)
        return await run_inside(variables, hooks.wrap(call, hook_context, proceed))

    async def _thread_body(
        self,
        call: CallPlan,
        record: CallRecord,
        body: Callable[[], Any],
        variables: contextvars.Context,
    ) -> Any:
        thread = ThreadBody(body, partial(self._stopped_late, call.index))
        try:
            value = await run_inside(variables, thread.run)  # it runs in a copy of the context
        except self._cancelled_class():
            record.in_thread = thread.give_up()
            raise
        if inspect.isawaitable(value):  # a plain function that hands a coroutine on
            return await run_inside(variables, lambda: value)
        return value

    def _args(self, call: CallPlan, tool: Tool) -> Any:
        """The arguments as the body takes them: parsed, and nobody else's."""
        args = call.parsed
        if args is None:
            args = tool.spec.parse(call.args) if tool.spec.parse else call.args
        return own_copy(args)

    # ---- the end ----

    def ended(self, index: int, outcome: Outcome) -> None:
        """A body has really ended; it may have been reported before."""
        run = self._run
        record = run.records[index]
        record.stopped = run.now()
        self._leave(record)
        if record.reported:
            record.outcome = _with_late_end(record, outcome)
            self._give_back(run.scheduler.calls[index], record)
            run.log.add("call_stopped", record.stopped, index)
            run.scheduler.stopped(index, failed=True)
            run.body_stopped()
            return
        if run.abort_cause is not None and outcome.status != "aborted":
            outcome = run.wording.after_abort(outcome)
        record.outcome = outcome
        record.settled = record.stopped
        if record.lease is not None:
            self._give_back(run.scheduler.calls[index], record)
        if run.options.hooks:  # the settled event comes later: its after-hook sees it first
            run.log.add("call_stopped", record.stopped, index)
        run.scheduler.stopped(index, failed=outcome.status != "ok")
        run.known(index, record.stopped)
        run.pump()

    def report(self, index: int, outcome: Outcome) -> None:
        """Report an outcome while the body goes on; its permit and keys stay out (spec 6.7)."""
        run = self._run
        record = run.records[index]
        if record.reported or record.stopped is not None:
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

    def release_turn(self) -> None:
        """Give back the keys that calls of this turn held for the whole turn."""
        while self._turn_leases:
            self._run.locks.release(self._turn_leases.pop())

    def _timed_out(self, call: CallPlan, record: CallRecord, blocked: float) -> None:
        run = self._run
        if record.stopped is not None or record.reported or record.scope is None:
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

    def _interrupted(self, index: int, asked: Interrupted) -> None:
        run = self._run
        record = run.records[index]
        if record.reported or run.abort_cause is not None:
            self.ended(index, run.wording.aborted(record.partial))
            return
        record.stopped = run.now()
        self._leave(record)
        self._give_back(run.scheduler.calls[index], record)
        run.interrupts[index] = asked.question
        run.note("question_asked", index, question=asked.question)
        run.scheduler.interrupted(index)
        run.pump()

    def _stopped_late(self, index: int, value: Any, error: BaseException | None) -> None:
        """Runs in the thread of a body that was given up, when it ends at last."""
        run = self._run
        record = run.records[index]
        if record.lease is not None:
            run.locks.release(record.lease)
        outcome = outcome_of(value) if error is None else failed_outcome(error)
        run.call_back(partial(self.ended, index, outcome))

    def _leave(self, record: CallRecord) -> None:
        if record.context is not None:
            record.context.alive = False

    def _give_back(self, call: CallPlan, record: CallRecord) -> None:
        lease = record.lease
        if lease is None:
            return
        if call.terms.hold == "call":
            self._run.locks.release(lease)
        else:
            self._run.locks.hand_over(lease, (self._run.options.run,))
            self._turn_leases.append(lease)

    def _cancelled_class(self) -> type[BaseException]:
        assert self._cancelled is not None
        return self._cancelled


def _enter_body(tool: Tool, args: Any, context: Context) -> Any:
    """Runs in the body's own copy of the variables, as its first step."""
    enter_context(context)
    return tool.call(args, context)


def _with_late_end(record: CallRecord, late: Outcome) -> Outcome:
    assert record.outcome is not None
    if not late.ok:
        return record.outcome
    return replace(record.outcome, note=f"It ended later, with: {late.text[:500]}")
