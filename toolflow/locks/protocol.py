"""What a lock store is: the one protocol behind which keys are waited for (spec 7.6)."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol

from toolflow.scheduler.lock_statistics import LockStatistics
from toolflow.scheduler.lock_ticket import LockRequest

__all__ = ["Lease", "LockRequest", "LockStore", "OnWait"]

OnWait = Callable[[tuple[str, ...]], None]


class Lease(Protocol):
    """The hold of an owner on its keys and resources. Made by a store, and given back to it."""

    @property
    def request(self) -> LockRequest:
        """What was asked for."""

    @property
    def owner(self) -> Hashable:
        """Who holds it now."""

    @property
    def fence(self) -> int:
        """A number that is larger than that of every earlier lease: the fencing token."""


class LockStore(Protocol):
    """Where leases come from.

    A store queues all keys and resources of a request in one step, grants them first come, first
    served, and finds circles. `release`, `hand_over`, `poison` and `statistics` may be called from
    any thread.
    """

    def acquire_nowait(self, request: LockRequest) -> Lease | None:
        """Take a lease if nothing is in the way.

        Returns:
            The lease, or ``None`` where it would have to wait; then nothing stays queued.

        Raises:
            LockLostError: If it would wait for a holder that was given up.
        """

    async def acquire(self, request: LockRequest, *, on_wait: OnWait | None = None) -> Lease:
        """Wait for a lease. Its place in the queues is taken at once, before anything is awaited.

        Cancelling it frees the place.

        Args:
            request: What is asked for.
            on_wait: Called once if it has to wait, with phrases that say what it waits for.

        Raises:
            LockCycleError: If waiting would close a circle of calls.
            LockLostError: If it waits, or would wait, for a holder that was given up.
        """

    def release(self, lease: Lease) -> None:
        """Give a lease back; once is enough, more does no harm."""

    def hand_over(self, lease: Lease, owner: Hashable) -> None:
        """Let a lease go on under another owner, an ancestor of the present one."""

    def poison(self, lease: Lease) -> None:
        """Give a holder up that never stops: whoever waits for it, or would, fails."""

    def statistics(self) -> LockStatistics:
        """Who holds what, and who waits for whom, at this moment."""
