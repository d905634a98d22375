"""Deadlines of a run: one task that sleeps until the next of them, and only if there are any.

A cancel scope with a deadline for every call costs more than the rest of a short call; a heap entry
costs next to nothing, and is simply not looked at again when its call has ended in time.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

import anyio
from anyio.abc import TaskGroup


class Watchdog:
    """Calls back when times have come.

    Args:
        tasks: The task group in which it sleeps; cancelled from outside when the run ends.
        clock: The event loop's time in seconds.
    """

    def __init__(self, tasks: TaskGroup, clock: Callable[[], float]) -> None:
        self._tasks = tasks
        self._clock = clock
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self._sleeps_until = float("inf")
        self._earlier: anyio.Event | None = None
        self._scope: anyio.CancelScope | None = None

    def at(self, when: float, callback: Callable[[], None]) -> None:
        """Call back at a time of the event loop's clock.

        Args:
            when: The time in seconds.
            callback: What to call; it must not raise, and must cope with coming too late.
        """
        self._count += 1
        heappush(self._heap, (when, self._count, callback))
        if self._earlier is None:
            self._earlier = anyio.Event()
            self._scope = anyio.CancelScope(shield=True)
            self._sleeps_until = when
            self._tasks.start_soon(self._sleep, self._scope)
        elif when < self._sleeps_until:
            self._earlier.set()

    def close(self) -> None:
        """Forget everything and end."""
        self._heap.clear()
        if self._scope is not None:
            self._scope.cancel()

    async def _sleep(self, scope: anyio.CancelScope) -> None:
        with scope:
            while True:
                while self._heap and self._heap[0][0] <= self._clock():
                    heappop(self._heap)[2]()
                self._sleeps_until = self._heap[0][0] if self._heap else float("inf")
                self._earlier = anyio.Event()
                with anyio.move_on_after(self._sleeps_until - self._clock()):
                    await self._earlier.wait()
