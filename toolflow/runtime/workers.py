"""The workers of a run: a few tasks that take calls from a queue and outlive them (ADR 0005)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from toolflow.runtime.run import Run

_ROUNDS = 3  # turns of the event loop in which every woken or new task has run
YIELD_EVERY = 32  # calls that a worker may run without giving others a chance


class Workers:
    """As many tasks as calls want to run at once, and never more than there are permits.

    Args:
        run: The run that they belong to.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._queue: deque[int] = deque()
        self._count = 0
        self._idle: list[anyio.Event] = []
        self._closed = False

    def add(self, index: int) -> None:
        """Queue a call that has a permit."""
        self._queue.append(index)
        if self._idle:
            self._idle.pop().set()
        elif self._count < self._run.plan.limits.pool:
            self._count += 1
            self._run.spawn(self._work)

    def remove(self, index: int) -> bool:
        """Take a call that no worker has begun out of the queue.

        Returns:
            Whether it was there.
        """
        if index not in self._queue:
            return False
        self._queue.remove(index)
        return True

    async def all_begun(self) -> None:
        """Let workers begin the calls that were given to them in this moment.

        Calls of a pool start together. So one that asks a person right away, without giving others
        a turn, must not keep those from starting that were to start beside it.
        """
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
        count = 0
        while not self._closed:
            with anyio.CancelScope(shield=True) as scope:
                while self._queue and not scope.cancel_called:
                    await self._call(self._queue.popleft(), scope)
                    count += 1
                    if count % YIELD_EVERY == 0 and not scope.cancel_called:
                        await anyio.lowlevel.checkpoint()
                if not scope.cancel_called and not self._closed:
                    event = anyio.Event()
                    self._idle.append(event)
                    await event.wait()

    async def _call(self, index: int, scope: anyio.CancelScope) -> None:
        run = self._run
        try:
            await run.execution.run(index, scope)
        except BaseException as error:  # noqa: BLE001  # a bug of ours, told when the run has ended
            run.lost(index, error)
