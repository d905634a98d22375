"""Running hooks: one at a time, in the order in which the scheduler asks for them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import anyio

from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.runtime.approvals import call_digest
from toolflow.runtime.bodies import stepped
from toolflow.runtime.hooks import Deny, HookContext
from toolflow.runtime.record import settled_outcome
from toolflow.runtime.results import failed_outcome

if TYPE_CHECKING:
    from toolflow.runtime.run import Run


class HookRunner:
    """Runs the before- and after-hooks of one run in a task of their own.

    Args:
        run: The run that it belongs to.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._queue: deque[tuple[str, int]] = deque()
        self._more: anyio.Event | None = None
        self._now: int | None = None
        self._scope: anyio.CancelScope | None = None
        self._closed = False
        self.first_error: BaseException | None = None

    def add(self, kind: str, index: int) -> None:
        """Queue a hook: ``prepare`` or ``after``."""
        self._queue.append((kind, index))
        if self._more is None:
            self._more = anyio.Event()
            self._run.spawn(self._loop)
        else:
            self._more.set()

    def cancel(self, index: int) -> None:
        """End the hook of a call that is queued or under way."""
        for kind, queued in self._queue:
            if queued == index:
                self._queue.remove((kind, queued))
                self._cut(kind, index)
                return
        if self._now == index and self._scope is not None:
            self._scope.cancel()

    def close(self) -> None:
        """End the task."""
        self._closed = True
        if self._more is not None:
            self._more.set()

    def context(self, index: int) -> HookContext:
        """The context that all hooks of a call share."""
        record = self._run.records[index]
        if record.hooks is None:
            options, plan = self._run.options, self._run.plan
            record.hooks = HookContext(options.run, plan.turn_id, options.source)
        return record.hooks

    async def _loop(self) -> None:
        with anyio.CancelScope(shield=True):
            while not self._closed:
                while self._queue:
                    kind, index = self._queue.popleft()
                    await self._hook(kind, index)
                if not self._closed:
                    self._more = anyio.Event()
                    await self._more.wait()

    async def _hook(self, kind: str, index: int) -> None:
        self._now = index
        done = False
        with anyio.CancelScope() as self._scope:
            try:
                await (self._before(index) if kind == "prepare" else self._after(index))
                done = True
            except KeyboardInterrupt as error:
                self._run.stopped_by(error, "by the keyboard")
            except Exception as error:  # noqa: BLE001  # a bug of ours; hooks' own are caught below
                self._run.broken(error)
        self._now = self._scope = None
        if not done:
            self._cut(kind, index)

    def _cut(self, kind: str, index: int) -> None:
        if kind == "prepare":
            self._run.live.prepared(index)
        else:
            self._run.scheduler.after_done(index)
            self._run.tell_settled(index)
        self._run.pump()

    async def _before(self, index: int) -> None:
        run = self._run
        call = run.scheduler.calls[index]
        if run.live.settled(index):
            return
        try:
            hooks = run.options.hooks.before(call, self.context(index))
            answer = await stepped(run.base.copy(), hooks)
        except BaseException as error:  # noqa: BLE001  # a hook that raises fails its call
            self._pass_on(error)
            run.refuse(index, _hook_failed("before", error), hooked=False)
            return
        if isinstance(answer, Deny):
            run.refuse(index, Outcome("denied", error=answer.reason), hooked=True)
        elif answer is call:
            run.live.prepared(index)
            run.pump()
        else:
            self._go_on_changed(call, answer)

    def _pass_on(self, error: BaseException) -> None:
        """Raise an error that is no failure of a hook: we cancelled it, or the keyboard did."""
        cut = self._scope is not None and self._scope.cancel_called
        if isinstance(error, KeyboardInterrupt) or (
            cut and isinstance(error, anyio.get_cancelled_exc_class())
        ):
            raise error

    def _go_on_changed(self, call: CallPlan, answer: CallPlan) -> None:
        run = self._run
        fresh = run.reclassified(run.scheduler.calls[call.index], answer.args)
        if fresh.verdict.kind == "settled":
            run.refuse(call.index, settled_outcome(fresh), hooked=True)
            return
        ask_again = fresh.ask is not None and call_digest(fresh) != call_digest(call)
        if ask_again:
            run.asking.withdraw(call.index)
        elif fresh.ask is None:
            run.asking.forget(call.index)
        if run.journal is not None:
            run.journal.prepared(fresh)
        run.live.prepared(call.index, fresh, ask_again=ask_again)
        run.pump()

    async def _after(self, index: int) -> None:
        run = self._run
        record = run.records[index]
        before = record.outcome
        assert before is not None
        try:
            call = run.scheduler.calls[index]
            hooks = run.options.hooks.after(call, before, self.context(index))
            record.outcome = await stepped(run.base.copy(), hooks)
        except BaseException as error:  # noqa: BLE001  # a hook that raises fails its call
            self._pass_on(error)
            record.outcome = _hook_failed("after", error)
            self.first_error = self.first_error or error
        record.hooked = True
        run.tell_settled(index)
        run.scheduler.after_done(index, failed=before.ok and not record.outcome.ok)
        run.pump()


def _hook_failed(which: str, error: BaseException) -> Outcome:
    failure = failed_outcome(error)
    return Outcome("failed", error=f"The {which}-hook failed: {failure.error}")
