"""Leases that outlive the turn in which they were taken: ``hold: run`` (spec 7.5).

They go on under whatever stands around all turns that belong together: the outermost run, or a
flow around its stages. It has a `Keeper`, which owns them from then on and gives them back when it
is closed. Turns inside it, side by side or one after the other, take the keys again without
waiting, as nested calls do.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from toolflow.locks.blocks import Inside, Lineage, inside
from toolflow.locks.protocol import Lease, LockStore


class Keeper:
    """Keeps leases to the end of what it stands for.

    Args:
        owner: Who holds them; an ancestor of everybody who gives one to it.
        outer: What it is inside of, for `living`.

    Attributes:
        owner: See above.
        outer: See above.
    """

    __slots__ = ("_closed", "_leases", "_mutex", "outer", "owner")

    def __init__(self, owner: Hashable, outer: Inside | None = None) -> None:
        self.owner = owner
        self.outer = outer
        self._leases: list[tuple[LockStore, Lease]] = []
        self._mutex = threading.Lock()  # nested turns may run in other threads
        self._closed = False

    @property
    def lineage(self) -> Lineage:
        """See `Inside`."""
        return (self.owner, *(() if self.outer is None else self.outer.lineage))

    def living(self, owners: Lineage) -> Lineage:
        """See `Inside`."""
        return owners if self.outer is None else self.outer.living(owners)

    def keep(self, store: LockStore, lease: Lease) -> bool:
        """Take a lease over.

        Args:
            store: The store that it is of.
            lease: The lease of a call that has ended.

        Returns:
            Whether it did; once it is closed it takes nothing.
        """
        with self._mutex:
            if self._closed:
                return False
            self._leases.append((store, lease))
        store.hand_over(lease, self.owner)
        return True

    def close(self) -> None:
        """Give everything back, latest first; from then on nothing is taken over."""
        with self._mutex:
            self._closed = True
        while self._leases:
            store, lease = self._leases.pop()
            store.release(lease)


@contextmanager
def keeping(owner: Hashable) -> Iterator[Keeper]:
    """Keep the leases of ``hold: run`` to the end of a block around several turns.

    Args:
        owner: Who holds them meanwhile; its text is what people see.
    """
    keeper = Keeper(owner, inside.get())
    token = inside.set(keeper)
    try:
        yield keeper
    finally:
        inside.reset(token)
        keeper.close()
