"""The lock store of one process: a lock table, and tasks that wait for its tickets.

The table is guarded by a mutex that is held for the length of one operation, never while anything
waits or is called back. Waiting tasks may belong to several event loops in several threads.

On the paths that every lease takes the mutex is entered and left by hand: in ``with`` it costs as
much again as a whole uncontended request. It is entered inside of ``try``, since an interrupt from
the keyboard may be raised in the very moment after; and it is one that only its holder can leave,
so that an interrupt before that moment does no harm either.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import replace
from time import monotonic
from typing import cast

from toolflow.locks.protocol import Lease, OnWait
from toolflow.locks.wakeup import Waiter
from toolflow.scheduler.lock_statistics import LockStatistics
from toolflow.scheduler.lock_table import LockTable
from toolflow.scheduler.lock_ticket import Asker, LockRequest, Ticket


class MemoryStore:
    """Keeps leases in this process. See `toolflow.locks.protocol.LockStore`.

    Its clock, for ``since`` in the statistics, is `time.monotonic`.
    """

    def __init__(self) -> None:
        self._table = LockTable()
        self._mutex = threading.RLock()
        self._enter, self._leave = self._mutex.acquire, self._mutex.release

    def acquire_nowait(self, request: LockRequest) -> Lease | None:
        """Take a lease if nothing is in the way.

        Args:
            request: What is asked for.

        Returns:
            The lease, or ``None`` where it would have to wait; then nothing stays queued.

        Raises:
            LockLostError: If it would wait for a holder that was given up.
        """
        owner, reads, writes, _, uses, _, _ = request
        ticket = None
        if len(writes) == 1 and not reads and not uses:
            try:
                self._enter()
                ticket = self._table.take(owner, request, writes[0])
            finally:
                self._leave()
        if ticket is None:
            ticket = self._ask(request)
            if not ticket.granted:
                return None
        ticket.since = monotonic()
        return ticket

    def _ask(self, request: LockRequest) -> Ticket:
        table = self._table
        with self._mutex:
            ticket = table.ask(request, wait=False)
            late = table.late and table.take_late()
        if late:
            self._wake(late)
        return ticket

    def take(self, asker: Asker, key: str) -> Lease | None:
        """Take one key exclusively if nobody else has anything to do with it (`LockTable.take`).

        Args:
            asker: The owner, which says what else there is to it when somebody wants to see that.
            key: The key.

        Returns:
            The lease; ``None`` where `acquire` has to be asked instead.
        """
        try:
            self._enter()
            ticket = self._table.take(asker, asker, key)
        finally:
            self._leave()
        if ticket is not None:
            ticket.since = monotonic()
        return ticket

    async def acquire(self, request: LockRequest, *, on_wait: OnWait | None = None) -> Lease:
        """Wait for a lease; it is queued at once, before anything is awaited.

        Where nothing is in the way it comes back without giving other tasks a turn.

        Args:
            request: What is asked for.
            on_wait: Called once if it has to wait, with phrases that say what it waits for.

        Raises:
            LockCycleError: If waiting would close a circle of calls.
            LockLostError: If it waits, or would wait, for a holder that was given up.
        """
        table = self._table
        waiter: Waiter | None = None
        behind: tuple[str, ...] = ()
        try:
            self._enter()
            ticket = table.ask(request)
            ticket.since = monotonic()
            if not ticket.granted:
                waiter = ticket.waiter = Waiter()
                behind = table.obstacles(ticket) if on_wait is not None else ()
            late = table.take_late() if table.late else ()
        finally:
            self._leave()
        if late:
            self._wake(late)
        if waiter is not None:
            await self._wait(ticket, waiter, behind, on_wait)
        return ticket

    def release(self, lease: Lease) -> None:
        """Give a lease back, from any thread; once is enough, more does no harm."""
        try:
            self._enter()
            changed = self._table.release(lease)  # type: ignore[arg-type]  # our leases are tickets
        finally:
            self._leave()
        if changed:
            self._wake(changed)

    def hand_over(self, lease: Lease, owner: Hashable) -> None:
        """Let a lease go on under another owner, an ancestor of the present one."""
        with self._mutex:
            changed = self._table.hand_over(lease, owner)  # type: ignore[arg-type]  # as above
        self._wake(changed)

    def poison(self, lease: Lease) -> None:
        """Give a holder up that never stops: whoever waits for it, or would, fails."""
        with self._mutex:
            changed = self._table.poison(lease)  # type: ignore[arg-type]  # as above
        self._wake(changed)

    def statistics(self) -> LockStatistics:
        """Who holds what, and who waits for whom, at this moment."""
        with self._mutex:
            return replace(self._table.statistics(), at=monotonic())

    async def _wait(
        self, ticket: Ticket, waiter: Waiter, behind: tuple[str, ...], on_wait: OnWait | None
    ) -> None:
        try:
            if on_wait is not None:
                on_wait(behind)
            await waiter.wait()
        except BaseException:
            self._give_up(ticket)
            raise
        if ticket.error is not None:
            raise ticket.error

    def _give_up(self, ticket: Ticket) -> None:
        with self._mutex:
            # It may have been granted while it was being cancelled: then the grant is passed on.
            changed = self._table.cancel(ticket) or self._table.release(ticket)
        self._wake(changed)

    def _wake(self, changed: Iterable[Ticket]) -> None:
        todo = deque(changed)
        while todo:
            ticket = todo.popleft()
            ticket.since = monotonic()
            if not cast("Waiter", ticket.waiter).wake():
                # Its event loop is closed, nobody will ever use the grant: it is passed on.
                with self._mutex:
                    todo += self._table.release(ticket)


_default = MemoryStore()


def default_store() -> MemoryStore:
    """The store of this process: what runs and `toolflow.locks.acquire` use by default."""
    return _default


def _after_fork() -> None:
    # A child process holds none of its parent's leases, and could never give them back.
    _default.__init__()  # type: ignore[misc]  # in place: others may have kept the object


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_after_fork)
