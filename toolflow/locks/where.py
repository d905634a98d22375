"""Lock stores by name, as flows and the command line give them."""

from __future__ import annotations

from toolflow.errors import UsageError
from toolflow.locks.memory import default_store
from toolflow.locks.protocol import LockStore


def open_store(where: str) -> LockStore:
    """The lock store that a word or a path names.

    Args:
        where: ``memory``.

    Raises:
        UsageError: If there is no such store.
    """
    if where == "memory":
        return default_store()
    raise UsageError(f"locks is {where!r}. Use memory.")
