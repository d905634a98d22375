"""The workers of a run: a few tasks that take calls from a queue and outlive them (ADR 0005)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

import anyio

from toolflow.runtime.mishaps import lost

if TYPE_CHECKING:
    from toolflow.runtime.run import Run

_ROUNDS = 3  # turns of the event loop in which every woken or new task has run
YIELD_EVERY = 32  # calls that a worker may run without giving others a chance


class Worker:
    """One of the tasks. While its call waits for something, it is away from the queue.

    Args:
        workers: The workers that it is one of.

    Attributes:
        scope: What cancels the call that it has.
        away: Whether it is away.
    """

    __slots__ = ("_workers", "away", "scope")

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.away = False
        self.scope = anyio.CancelScope(shield=True)

    def leave(self) -> None:
        """Its call waits for the first time: queued calls need other workers."""
        if not self.away:
            self.away = True
            self._workers.left()

    def come_back(self) -> None:
        """Its call waits no more, and it will look at the queue again."""
        if self.away:
            self.away = False
            self._workers.came_back()


class Workers:
    """As many tasks as calls really wait at once, and never more than there are permits.

    One task runs queued calls one after the other as long as none of them waits for anything: a
    task for each would cost more than they do. As soon as one waits, every queued call gets a
    worker of its own, before that one goes on: the calls of a pool start together. On a loop that
    takes up tasks in any order this takes a worker for each from the beginning.

    Args:
        run: The run that they belong to.

    Attributes:
        eager: Whether every queued call gets a worker at once.
        departures: How often a body began to wait for something.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._queue: deque[int] = deque()
        self._count = 0
        self._looking = 0  # workers that will look at the queue before they wait for anything
        self._idle: list[anyio.Event] = []
        self._closed = False
        self.eager = False
        self.departures = 0

    @property
    def queued(self) -> Iterable[int]:
        """The calls that have a permit and that no worker has begun, in order."""
        return self._queue

    def add(self, index: int) -> None:
        """Queue a call that has a permit."""
        self._queue.append(index)
        if self.eager or not self._looking:
            self._call_one()

    def left(self) -> None:
        """A worker is away."""
        self.departures += 1
        self._looking -= 1
        while self._looking < len(self._queue) and self._call_one():
            pass

    def came_back(self) -> None:
        """A worker that was away looks at the queue again."""
        self._looking += 1

    def _call_one(self) -> bool:
        """Have one more worker look at the queue; whether there was one to be had."""
        if self._idle:
            self._idle.pop().set()
        elif self._count < self._run.plan.limits.pool:
            self._count += 1
            self._run.spawn(self._work)
        else:
            return False
        self._looking += 1
        return True

    def remove(self, index: int) -> bool:
        """Take a call that no worker has begun out of the queue.

        Returns:
            Whether it was there.
        """
        if index not in self._queue:
            return False
        self._queue.remove(index)
        return True

    async def all_begun(self, worker: Worker) -> None:
        """Let workers begin the calls that were given to them in this moment.

        Calls of a pool start together. So one that asks a person right away, without giving others
        a turn, must not keep those from starting that were to start beside it.

        Args:
            worker: The one whose call asks.
        """
        worker.leave()
        with anyio.CancelScope(shield=True):
            for _ in range(_ROUNDS):
                if not self._queue:
                    return
                await anyio.lowlevel.checkpoint()

    def close(self) -> None:
        """End the tasks; those with a body end with it."""
        self._closed = True
        for event in self._idle:
            event.set()

    async def _work(self) -> None:
        count, worker, run = 0, Worker(self), self._run.execution.run
        while not self._closed:
            with anyio.CancelScope(shield=True) as scope:
                worker.scope = scope
                while self._queue and not scope.cancel_called:
                    index = self._queue.popleft()
                    try:
                        await run(index, worker)
                    except BaseException as error:  # noqa: BLE001  # a bug of ours, told at the end
                        worker.come_back()
                        lost(self._run, index, error)
                    if worker.away:
                        worker.come_back()
                    count += 1
                    if count % YIELD_EVERY == 0 and not scope.cancel_called:
                        await anyio.lowlevel.checkpoint()
                if self._run.ended and not self._queue:
                    return  # nothing more will come
                if not scope.cancel_called and not self._closed:
                    event = anyio.Event()
                    self._idle.append(event)
                    self._looking -= 1
                    await event.wait()
