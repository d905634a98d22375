"""The scheduler as one function, for whoever has calls and no use for the rest (spec 14).

It drives the same scheduler as a run does, so pools, barriers and the order of starts are the
same. A call is asked whether it is safe just before it could start, not at the beginning: what ran
before it may have changed the answer. (The alternative, to ask for all of them first, is what a
plan is for.) As everywhere, only exactly ``True`` counts.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from toolflow.errors import UsageError
from toolflow.model.batch import CallPlan, Limits, Verdict
from toolflow.model.plan import PlanData
from toolflow.model.turn import EMPTY
from toolflow.scheduler import Scheduler

T = TypeVar("T")
_SAFE = Verdict("safe", "")
_EXCLUSIVE = Verdict("exclusive", "")


async def schedule(
    *,
    count: int,
    safe: Callable[[int], object],
    run: Callable[[int], Awaitable[T]],
    max_parallel: int = 10,
    stops: Callable[[int], object] | None = None,
) -> list[T]:
    """Run calls in order: safe ones side by side, all others alone.

    Calls start in order, each as soon as it may; a call that is not safe starts when all before it
    have ended, and holds back all behind it. Where one raises, nothing more starts, those that run
    end, and the first error is raised as it is (conformance 85).

    Args:
        count: How many calls there are.
        safe: Says of the call with this index whether it may run beside others. Only exactly
            ``True`` counts; one that raises says no.
        run: Runs the call with this index.
        max_parallel: How many run at once; an integer of at least 1.
        stops: Asked of each call that has ended whether that ends the whole: where the answer is
            true, nothing more starts, and those that run end. ``None``: no call does.

    Returns:
        What the calls gave that were started, in order; all of them, unless one stopped the rest.

    Raises:
        UsageError: If ``count`` or ``max_parallel`` is not allowed; nothing runs.
        BaseException: What the first call raised that did.
    """
    _check("count", count, least=0)
    _check("max_parallel", max_parallel, least=1)
    driver = _Driver(count, safe, run, max_parallel, stops)
    await driver.drive()
    return [driver.values[index] for index in range(driver.begun)]


class _Driver(Generic[T]):
    """Carries out what the scheduler decides; everything happens in the caller's task but `run`."""

    def __init__(
        self,
        count: int,
        safe: Callable[[int], object],
        run: Callable[[int], Awaitable[T]],
        max_parallel: int,
        stops: Callable[[int], object] | None,
    ) -> None:
        calls = tuple(
            CallPlan(index, str(index), str(index), "", EMPTY, _SAFE) for index in range(count)
        )
        plan = PlanData("schedule", None, "main", calls, (), (), (), Limits(max_parallel))
        self._scheduler = Scheduler(plan, hooks=True, pausable=True)
        self._safe, self._run, self._stops = safe, run, stops
        self._ready: deque[int] = deque()
        self._ended: list[int] = []
        self._more = anyio.Event()
        self._error: BaseException | None = None
        self.values: dict[int, T] = {}
        self.begun = 0

    async def drive(self) -> None:
        async with anyio.create_task_group() as tasks:
            self._scheduler.begin()
            self._carry_out(tasks)
            while not self._scheduler.ended:
                await self._more.wait()
                self._more = anyio.Event()
                self._take_ends()
                self._carry_out(tasks)
        if self._error is not None:
            raise self._error

    def _take_ends(self) -> None:
        ended, self._ended = self._ended, []
        answers = [self._ends_all(index) for index in ended]
        if any(answers):
            self._scheduler.halt()  # before it hears of an end, which would start the next call
        for index in ended:
            self._scheduler.stopped(index, failed=index not in self.values)

    def _ends_all(self, index: int) -> bool:
        if self._error is not None or self._stops is None:
            return self._error is not None
        try:
            return bool(self._stops(index))
        except BaseException as error:  # noqa: BLE001  # raised when those that run have ended
            self._error = error
            return True

    def _carry_out(self, tasks: TaskGroup) -> None:
        while decisions := self._scheduler.take():
            for kind, index, _, _ in decisions:
                if kind == "prepare":
                    self._scheduler.prepared(index, self._asked(index))
                elif kind == "after":
                    self._scheduler.after_done(index)
                elif kind == "start":
                    self.begun = max(self.begun, index + 1)
                    self._scheduler.started(index)
                    self._ready.append(index)
                    tasks.start_soon(self._call)

    def _asked(self, index: int) -> CallPlan | None:
        """The call as it is to run, where that is not as a safe one."""
        answer: object = False
        with suppress(Exception):  # who cannot say, does not say that it is safe
            answer = self._safe(index)
        if answer is True:
            return None
        if inspect.iscoroutine(answer):
            answer.close()
        return replace(self._scheduler.calls[index], verdict=_EXCLUSIVE)

    async def _call(self) -> None:
        index = self._ready.popleft()  # tasks that start together run in any order on trio
        try:
            self.values[index] = await self._run(index)
        except BaseException as error:  # noqa: BLE001  # raised when those that run have ended
            self._error = self._error or error
        self._ended.append(index)
        self._more.set()


def _check(name: str, value: object, *, least: int) -> None:
    if type(value) is not int or value < least:
        raise UsageError(f"schedule: {name} is {value!r}. Use an integer of at least {least}.")
