"""A lease of the lock store in a file, as its holder sees it."""

from __future__ import annotations

from collections.abc import Hashable

from toolflow.errors import RunError
from toolflow.locks.wakeup import Waiter
from toolflow.scheduler.lock_ticket import LockRequest


class FileLease:
    """A request of this process, and after the grant its lease. Only its store changes it.

    Attributes:
        request: What was asked for.
        owner: Who holds it now.
        number: The number of its ticket.
        fence: See `toolflow.locks.protocol.Lease`; 0 before the grant.
        names: The owners that are referred to by number for its sake.
        waiter: The task that waited for it, or ``None``.
        error: Why it failed while it waited, or ``None``.
    """

    __slots__ = ("error", "fence", "names", "number", "owner", "request", "waiter")

    def __init__(
        self, request: LockRequest, number: int, names: list[Hashable], waiter: Waiter | None
    ) -> None:
        self.request = request
        self.owner = request.owner
        self.number = number
        self.fence = 0
        self.names = names
        self.waiter = waiter
        self.error: RunError | None = None

    @property
    def waits(self) -> bool:
        """Whether nothing has come of it yet."""
        return not self.fence and self.error is None

    def check(self) -> None:
        """Raise the error, if it failed."""
        if self.error is not None:
            raise self.error

    def fail(self, error: RunError) -> None:
        """Let the task that waits for it fail."""
        self.error = error
        if self.waiter is not None:
            self.waiter.wake()
