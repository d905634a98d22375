"""The thread of a process that waits to be woken by other processes, and watches for their end.

It sleeps in the system until one of its pipes becomes readable. Waiting tasks may belong to several
event loops of several kinds, or to none that lasts; one thread serves them all in the same way.
"""

from __future__ import annotations

import os
import selectors
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from toolflow.errors import LockStoreError
from toolflow.locks.life import Life, watch_member
from toolflow.locks.operations import Member


class Orders(NamedTuple):
    """What the thread is to do next.

    Attributes:
        watch: The processes to watch, by number.
        retry: After how many seconds to call anyway; ``None``: not before something happens.
    """

    watch: Mapping[int, Member]
    retry: float | None = None


class Ear:
    """The thread.

    Args:
        folder: Where the pipes are.
        life: Those of this process.
        hear: Called in the thread at its begin and whenever somebody woke it, with the processes
            that have ended, and with the reason why one cannot be watched. ``None`` as orders: it
            is over.

    Attributes:
        life: See above.
        covers: The processes that are watched.
    """

    def __init__(
        self,
        folder: Path,
        life: Life,
        hear: Callable[[Ear, list[int], LockStoreError | None], Orders | None],
    ) -> None:
        self.life = life
        self.covers: frozenset[int] = frozenset()
        self._folder = folder
        self._hear = hear
        self._fd = os.dup(life.wake_fd)  # its own: the pipes may be closed while it sleeps
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._fd, selectors.EVENT_READ, 0)
        self._watched: dict[int, int] = {}  # open life files by process
        self._open = threading.Lock()  # around what uses or closes its pipe from outside
        self._thread = threading.Thread(target=self._run, name="toolflow-locks", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def poke(self) -> None:
        """Wake it from within this process."""
        with self._open:
            try:
                if self._fd >= 0:
                    os.write(self._fd, b"!")
            except BlockingIOError:
                pass  # full: there is more than enough to wake it already

    def join(self) -> None:
        """Wake it and wait until it is over; its next orders have to be that."""
        self.poke()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def abandon(self) -> None:
        """In a child process, which has no such thread: let go of what is its parent's."""
        self._open = threading.Lock()
        self._close()

    def _run(self) -> None:
        ended: list[int] = []
        trouble: LockStoreError | None = None
        try:
            while (orders := self._hear(self, ended, trouble)) is not None:
                ended, trouble = self._follow(orders)
                if not ended and trouble is None:
                    ended = self._listen(orders.retry)
        finally:
            self._close()

    def _close(self) -> None:
        with self._open:
            self._selector.close()
            for fd in (self._fd, *self._watched.values()):
                os.close(fd)
            self._fd = -1

    def _listen(self, retry: float | None) -> list[int]:
        ended = []
        for key, _ in self._selector.select(retry):
            if key.data:
                ended.append(key.data)
                self._forget(key.data)
            else:
                self._drain()
        return sorted(ended)

    def _drain(self) -> None:
        try:
            os.read(self._fd, 65536)  # all that a pipe holds
        except BlockingIOError:
            pass

    def _follow(self, orders: Orders) -> tuple[list[int], LockStoreError | None]:
        """Watch whom the orders name; tells who of them has ended already."""
        ended: list[int] = []
        trouble: LockStoreError | None = None
        for number in self._watched.keys() - orders.watch.keys():
            self._forget(number)
        for number in sorted(orders.watch.keys() - self._watched.keys()):
            try:
                fd = watch_member(self._folder, orders.watch[number])
            except LockStoreError as error:
                trouble = error
                continue
            if fd is None:
                ended.append(number)
            else:
                self._watched[number] = fd
                self._selector.register(fd, selectors.EVENT_READ, number)
        self.covers = frozenset(self._watched)
        return ended, trouble

    def _forget(self, number: int) -> None:
        fd = self._watched.pop(number)
        self._selector.unregister(fd)
        os.close(fd)
        self.covers = frozenset(self._watched)
