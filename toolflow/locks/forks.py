"""What becomes of lock stores with files when the process makes a copy of itself, or ends.

A child process holds none of its parent's leases. It must not use, and not even close, what it has
inherited while its parent is in the middle of using it; so no copy is made in the middle.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """A store with files."""

    @property
    def mutex(self) -> threading.Lock:
        """Held while the store is in the middle of something."""

    def after_fork(self) -> None:
        """Begin anew, in a child process."""

    def close(self) -> None:
        """Give everything back."""


_stores: WeakSet[Forkable] = WeakSet()
_held: list[Forkable] = []


def look_after(store: Forkable) -> None:
    """Look after a store from now on."""
    _stores.add(store)


def _before() -> None:
    for store in list(_stores):
        store.mutex.acquire()
        _held.append(store)


def _in_parent() -> None:
    while _held:
        _held.pop().mutex.release()


def _in_child() -> None:
    for store in _held:
        store.after_fork()
    _in_parent()


def _at_exit() -> None:
    for store in list(_stores):
        store.close()


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
