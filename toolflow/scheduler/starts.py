"""The start queue: prepared calls, permits, and the run's own share of scarce resources.

The process-wide bound of a resource is kept by the lock store. The bound here, inside the run,
comes first: a call that its own siblings keep waiting takes no permit, so it never holds back
calls that do not need the resource (spec 6.3, conformance 147).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

from toolflow.model.batch import CallPlan, Limits


class StartQueue:
    """Decides which of the calls that may start goes next.

    Args:
        calls: The calls of the plan; the list is shared, so changed calls are seen.
        limits: The bounds of the run.
    """

    def __init__(self, calls: Sequence[CallPlan], limits: Limits) -> None:
        self._calls = calls
        self._pool = limits.pool
        self._permits = limits.pool
        self._free = dict(limits.resources)
        self._heap: list[int] = []
        self._queued: set[int] = set()
        self._parked: dict[str, list[int]] = {}
        self._taken: dict[int, Mapping[str, int]] = {}

    @property
    def idle(self) -> bool:
        """Whether no permit is out."""
        return self._permits == self._pool

    @property
    def room(self) -> bool:
        """Whether there are more permits than calls that could use one."""
        return self._permits > len(self._heap)

    def offer(self, index: int) -> None:
        """Queue a call that may start."""
        if index not in self._queued:
            self._queued.add(index)
            heappush(self._heap, index)

    def retract(self, index: int) -> None:
        """Take a call out of the queue, if it is in it."""
        self._queued.discard(index)
        if index in self._heap:
            self._heap.remove(index)
            self._heap.sort()

    def first(self) -> int:
        """The earliest call that could start now, or -1 where there is none or no permit."""
        return self._heap[0] if self._heap and self._permits else -1

    def take(self) -> bool:
        """Give the earliest call a permit and its share of resources.

        Returns:
            Whether it got them; if not, it is parked until some of what it needs comes back.
        """
        index = heappop(self._heap)
        uses = self._calls[index].terms.uses
        if uses:
            for name, units in uses.items():
                if self._free.get(name, units) < units:
                    self._parked.setdefault(name, []).append(index)
                    return False
            for name, units in uses.items():
                if name in self._free:
                    self._free[name] -= units
            self._taken[index] = uses
        self._queued.discard(index)
        self._permits -= 1
        return True

    def give_back(self, index: int) -> None:
        """Take a call's permit and share of resources back."""
        self._permits += 1
        for name, units in self._taken.pop(index, {}).items():
            if name in self._free:
                self._free[name] += units
                for parked in self._parked.pop(name, ()):
                    if parked in self._queued:
                        heappush(self._heap, parked)
