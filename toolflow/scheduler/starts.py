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

    Attributes:
        permits: How many permits are left.
        queued: The calls that wait for one.
    """

    def __init__(self, calls: Sequence[CallPlan], limits: Limits) -> None:
        self._calls = calls
        self._pool = limits.pool
        self.permits = limits.pool
        self._free = dict(limits.resources)
        self.queued: set[int] = set()
        # Every queued call is in the heap. What is left there of calls that were taken out of
        # the queue is skipped when it comes up: searching the heap for it would be slow.
        self._heap: list[int] = []
        self._parked: dict[int, str] = {}  # calls by the resource that they lack
        self._taken: dict[int, Mapping[str, int]] = {}

    @property
    def idle(self) -> bool:
        """Whether no permit is out."""
        return self.permits == self._pool

    @property
    def waiting(self) -> bool:
        """Whether calls wait for a permit or for a share of resources."""
        return bool(self.queued or self._parked)

    def offer(self, index: int) -> None:
        """Queue a call that may start."""
        if index not in self.queued and index not in self._parked:
            self.queued.add(index)
            heappush(self._heap, index)

    def retract(self, index: int) -> None:
        """Take a call out of the queue, if it is in it."""
        self.queued.discard(index)
        self._parked.pop(index, None)

    def first(self) -> int:
        """The earliest call that could start now, or -1 where there is none or no permit."""
        heap = self._heap
        while heap and heap[0] not in self.queued:
            heappop(heap)
        return heap[0] if heap and self.permits else -1

    def take(self) -> bool:
        """Give the call that `first` told a permit and its share of resources.

        Returns:
            Whether it got them; if not, it is parked until some of what it needs comes back.
        """
        index = heappop(self._heap)
        self.queued.discard(index)
        uses = self._calls[index].terms.uses
        if uses:
            for name, units in uses.items():
                if self._free.get(name, units) < units:
                    self._parked[index] = name
                    return False
            for name, units in uses.items():
                if name in self._free:
                    self._free[name] -= units
            self._taken[index] = uses
        self.permits -= 1
        return True

    def give_back(self, index: int) -> None:
        """Take a call's permit and share of resources back."""
        self.permits += 1
        if not self._taken:
            return
        for name, units in self._taken.pop(index, {}).items():
            if name in self._free:
                self._free[name] += units
                for parked in [i for i, lacks in self._parked.items() if lacks == name]:
                    del self._parked[parked]
                    self.offer(parked)
