"""Lock stores: where the keys and resources of calls are waited for (spec 7)."""

from toolflow.locks.blocks import Hold, current_lineage
from toolflow.locks.keeper import Keeper, keeping
from toolflow.locks.keyed_lock import KeyedLock, acquire
from toolflow.locks.memory import MemoryStore, default_store
from toolflow.locks.protocol import Lease, LockRequest, LockStore, OnWait
from toolflow.locks.where import open_store
from toolflow.scheduler.lock_statistics import LockStatistics

__all__ = [
    "Hold",
    "Keeper",
    "KeyedLock",
    "Lease",
    "LockRequest",
    "LockStatistics",
    "LockStore",
    "MemoryStore",
    "OnWait",
    "acquire",
    "current_lineage",
    "default_store",
    "keeping",
    "open_store",
]
