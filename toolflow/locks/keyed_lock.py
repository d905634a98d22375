"""Keys for code outside tools: the queues of the calls of runs, or private ones (spec 7.7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeGuard

from toolflow.errors import UsageError
from toolflow.locks.blocks import Hold, KeyHold
from toolflow.locks.memory import MemoryStore, default_store
from toolflow.locks.protocol import LockRequest, LockStore
from toolflow.model.turn import EMPTY


def acquire(
    *,
    reads: str | Iterable[str] = (),
    writes: str | Iterable[str] = (),
    uses: Mapping[str, int] = EMPTY,
    capacities: Mapping[str, int] = EMPTY,
    timeout: float | None = None,
    store: LockStore | None = None,
    label: str = "",
) -> Hold:
    """Hold keys in the same queues as the calls of runs (spec 7.7).

        async with toolflow.locks.acquire(writes=[f"file:{file_key('a.txt')}"], timeout=5):
            ...

    Args:
        reads: Keys taken shared: one, or several.
        writes: Keys taken exclusively: one, or several.
        uses: Units of scarce resources, by name.
        capacities: How many units of these there are.
        timeout: Seconds to wait for the keys; ``None`` for as long as it takes.
        store: The lock store; by default that of this process.
        label: The name that people see for the holder.

    Returns:
        A context manager for ``async with``, for one block at a time; each makes its own lease.
    """
    store = default_store() if store is None else store
    written = _keys(writes)
    if len(written) == 1 and timeout is None and not reads and not uses and _is_plain(store):
        return KeyHold(store, written[0], label)
    request = LockRequest(None, _keys(reads), written, (), uses, capacities, label)
    return Hold(store, request, timeout)


class KeyedLock:
    """Locks by key, in queues of their own: they never meet those of runs.

        lock = KeyedLock()
        async with lock.hold("a"): ...
        async with lock.hold(reads=["b"], writes=["c", "d"]): ...

    First come, first served per key; readers share; several keys are taken in one step. It may be
    used from several event loops in several threads. A block inside a block of the same task takes
    the keys of the outer one again without waiting.
    """

    def __init__(self) -> None:
        self._store = MemoryStore()

    def hold(
        self,
        *keys: str,
        reads: str | Iterable[str] = (),
        writes: str | Iterable[str] = (),
        timeout: float | None = None,
        label: str = "",
    ) -> Hold:
        """Hold keys for the length of an ``async with`` block.

        Args:
            keys: Keys taken exclusively.
            reads: Keys taken shared: one, or several.
            writes: More keys taken exclusively: one, or several.
            timeout: Seconds to wait for the keys; ``None`` for as long as it takes.
            label: The name that people see for the holder.
        """
        if len(keys) == 1 and timeout is None and not reads and not writes:
            key = keys[0]
            if type(key) is str:
                return KeyHold(self._store, key, label)
        return acquire(
            reads=reads,
            writes=(*keys, *_keys(writes)),
            timeout=timeout,
            store=self._store,
            label=label,
        )

    @property
    def store(self) -> MemoryStore:
        """The store behind it, for its statistics."""
        return self._store


def _is_plain(store: LockStore) -> TypeGuard[MemoryStore]:
    return type(store) is MemoryStore  # a class made from it may do more on its way


def _keys(keys: str | Iterable[str]) -> tuple[str, ...]:
    found = (keys,) if isinstance(keys, str) else tuple(keys)
    for key in found:
        if not isinstance(key, str):
            raise UsageError(f"keys: {key!r} is no key. Use text.")
    return found
