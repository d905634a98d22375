"""Lock stores: where the keys and resources of calls are waited for (spec 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolflow.errors import LockStoreError
from toolflow.locks.blocks import Hold, current_lineage
from toolflow.locks.keeper import Keeper, keeping
from toolflow.locks.keyed_lock import KeyedLock, acquire
from toolflow.locks.memory import MemoryStore, default_store
from toolflow.locks.places import machine_path, open_store
from toolflow.locks.protocol import Lease, LockRequest, LockStore, OnWait
from toolflow.scheduler.lock_statistics import LockStatistics

if TYPE_CHECKING:
    from toolflow.locks.file_store import FileStore as FileStore

__all__ = [
    "FileStore",
    "Hold",
    "Keeper",
    "KeyedLock",
    "Lease",
    "LockRequest",
    "LockStatistics",
    "LockStore",
    "LockStoreError",
    "MemoryStore",
    "OnWait",
    "acquire",
    "current_lineage",
    "default_store",
    "keeping",
    "machine_path",
    "open_store",
]


def __getattr__(name: str) -> Any:
    if name == "FileStore":  # loads SQLite, and not on every system
        from toolflow.locks.file_store import FileStore  # noqa: PLC0415  # see above

        return FileStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
