"""The lock store of one machine: several processes that share a file, and no server.

Every process keeps the lock table of all of them in memory, and they agree on the order of what is
asked for and given back by writing it to one log in an SQLite file (state-machine replication, ADR
0008). So everything that the lock table decides is decided as in one process. Whoever writes a line
sees in its own table which tickets of others were granted by it, and wakes their processes.

The mutex is held for the length of one transaction (and while other processes are in one), never
while anything waits for a key.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from pathlib import Path
from types import TracebackType
from typing import Self

from toolflow.locks.counter import Counter
from toolflow.locks.file_lease import FileLease
from toolflow.locks.forks import look_after
from toolflow.locks.overview import overview
from toolflow.locks.protocol import Lease, OnWait
from toolflow.locks.wakeup import Waiter
from toolflow.scheduler.lock_statistics import LockStatistics
from toolflow.scheduler.lock_ticket import LockRequest


class FileStore:
    """Keeps leases in a file. See `toolflow.locks.protocol.LockStore`.

    The leases of a process end with it, however it ends. A process should have one store for a
    file (`toolflow.locks.open_store` sees to that): two are to each other like two processes.

    Its clock, for ``since`` in the statistics, is `time.monotonic`.

    Args:
        path: The file, on a local disk; it is made if it is not there. Beside it stands a folder
            with the same name and ``-live``.
        patience: Seconds to wait while other processes write, before that is an error.
        lines: How many lines the log has at least before the state takes their place. More make
            the file larger, and what a new process has to read; fewer make more work.

    Raises:
        LockStoreError: If the file cannot be used.
    """

    def __init__(self, path: str | Path, *, patience: float = 5.0, lines: int = 512) -> None:
        self.path = Path(path).absolute()
        self.mutex = threading.Lock()
        self._counter = Counter(self.path, patience, lines, self.mutex)
        look_after(self)

    def acquire_nowait(self, request: LockRequest) -> Lease | None:
        """Take a lease if nothing is in the way.

        Args:
            request: What is asked for.

        Returns:
            The lease, or ``None`` where it would have to wait; then nothing stays queued.

        Raises:
            LockLostError: If it would wait for a holder that was given up.
            LockStoreError: If the file cannot be used.
        """
        with self.mutex:
            lease = self._counter.ask(request, None)
            if lease is None and self._counter.open().find_dead():
                lease = self._counter.ask(request, None)
            return lease

    async def acquire(self, request: LockRequest, *, on_wait: OnWait | None = None) -> Lease:
        """Wait for a lease; it is queued at once, before anything is awaited.

        Where nothing is in the way it comes back without giving other tasks a turn.

        Args:
            request: What is asked for.
            on_wait: Called once if it has to wait, with phrases that say what it waits for.

        Raises:
            LockCycleError: If waiting would close a circle of calls.
            LockLostError: If it waits, or would wait, for a holder that was given up.
            LockStoreError: If the file cannot be used.
        """
        behind: tuple[str, ...] = ()
        waiter = Waiter()
        with self.mutex:
            lease = self._counter.ask(request, waiter)
            assert lease is not None  # it may wait
            waits = not lease.fence
            if waits:
                behind = self._counter.obstacles(lease)
                self._counter.listen()
        if waits:
            await self._wait(lease, waiter, behind, on_wait)
        return lease

    def release(self, lease: Lease) -> None:
        """Give a lease back, from any thread; once is enough, more does no harm.

        It does not fail: what cannot be written now is written as soon as that is possible.
        """
        with self.mutex:
            self._counter.give_back(_ours(lease))

    def hand_over(self, lease: Lease, owner: Hashable) -> None:
        """Let a lease go on under another owner, an ancestor of the present one."""
        with self.mutex:
            self._counter.hand_over(_ours(lease), owner)

    def poison(self, lease: Lease) -> None:
        """Give a holder up that never stops: whoever waits for it, or would, fails."""
        with self.mutex:
            self._counter.poison(_ours(lease))

    def statistics(self) -> LockStatistics:
        """Who holds what, and who waits for whom, at this moment, in all processes.

        Raises:
            LockStoreError: If the file cannot be read.
        """
        with self.mutex:
            self._counter.look()
            return overview(self._counter.open().replica, self._counter.owners)

    def close(self) -> None:
        """Give everything back, and take part no longer; once is enough, more does no harm.

        Tasks that wait fail with a `LockStoreError`.
        """
        with self.mutex:
            participant, ear = self._counter.close()
        if ear is not None:
            ear.join()
        if participant is not None:
            participant.leave()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._counter.closed

    def after_fork(self) -> None:
        """Begin anew in a child process, which holds none of its parent's leases."""
        self._counter.after_fork()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def _wait(
        self, lease: FileLease, waiter: Waiter, behind: tuple[str, ...], on_wait: OnWait | None
    ) -> None:
        try:
            if on_wait is not None:
                on_wait(behind)
            await waiter.wait()
            lease.check()
        except BaseException:
            # It may have been granted while it was being cancelled: then the grant is passed on.
            with self.mutex:
                self._counter.give_back(lease)
            raise


def _ours(lease: Lease) -> FileLease:
    assert isinstance(lease, FileLease)  # a lease goes back to the store that gave it
    return lease
