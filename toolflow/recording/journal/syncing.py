"""Having lines on the disk itself: many wait for one effort, and nobody waits where none must.

There is no thread and no timer while nothing is to be done.
"""

from __future__ import annotations

import anyio

from toolflow.errors import JournalError
from toolflow.recording.journal.journal import Journal
from toolflow.runtime.run import Run

DELAY = 0.05  # seconds in which lines gather before they are put on the disk behind a run


class Syncing:
    """Puts on the disk what one run has written.

    Args:
        journal: The journal.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._syncing: anyio.Event | None = None
        self._limiter: anyio.CapacityLimiter | None = None
        self._scope: anyio.CancelScope | None = None

    @property
    def goes_on(self) -> bool:
        """Whether what is written now will be put on the disk behind the run's back."""
        return self._scope is not None

    async def on_disk(self) -> None:
        """Wait until all that was written so far is on the disk itself.

        Raises:
            JournalError: If it cannot be.
        """
        target = self._journal.written
        while self._journal.synced < target:
            if self._syncing is None:
                await self._sync()
            else:
                await self._syncing.wait()

    async def _sync(self) -> None:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(1)  # bodies in threads must not keep it waiting
        self._syncing = event = anyio.Event()
        try:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._journal.sync, limiter=self._limiter)
        finally:
            self._syncing = None
            event.set()

    def behind(self, run: Run) -> None:
        """Have it there a little later, behind a run's back, unless that is under way."""
        if self._scope is None:
            self._scope = anyio.CancelScope(shield=True)
            run.spawn(self._behind, run, self._scope)

    async def _behind(self, run: Run, scope: anyio.CancelScope) -> None:
        with scope:
            while self._journal.behind:
                await anyio.sleep(DELAY)
                try:
                    await self._sync()
                except JournalError as error:
                    run.journal_failed(error)
                    break
        self._scope = None

    def close(self) -> None:
        """The run ends: nothing happens behind its back any more."""
        if self._scope is not None:
            self._scope.cancel()
