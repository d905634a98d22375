"""Keys for code outside tools: the same queues as the calls of a run, or private ones (spec 7.7).

Who holds keys is written down in a context variable, so that what is called inside the block takes
the same keys again without waiting, as nested calls do. Tasks that are started inside the block
inherit it; once the block is left, what they inherited counts no more.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol

import anyio

from toolflow.errors import UsageError
from toolflow.locks.memory import MemoryStore, default_store
from toolflow.locks.protocol import Lease, LockRequest, LockStore
from toolflow.model.turn import EMPTY

Lineage = tuple[Hashable, ...]


class Inside(Protocol):
    """What running code is inside of: the body of a call, or a block that holds keys."""

    @property
    def lineage(self) -> Lineage:
        """The owners around the code, nearest first: block, call, turn, run."""

    def living(self, owners: Lineage) -> Lineage:
        """Leave out of a lineage the calls that have ended.

        A task may outlive the call that started it, and then what that call's turn holds is no
        longer its own.
        """


inside: Final[ContextVar[Inside | None]] = ContextVar("toolflow_inside", default=None)
"""What the running code is inside of; one variable, since it is set for every call."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A block that holds keys.

    Attributes:
        lineage: Its owner and those around it.
        outer: What the block is inside of.
    """

    lineage: Lineage
    outer: Inside | None = None

    def living(self, owners: Lineage) -> Lineage:
        """See `Inside`."""
        return owners if self.outer is None else self.outer.living(owners)


def current_lineage() -> Lineage:
    """The owners inside which the running code was called and that have not ended."""
    here = inside.get()
    return () if here is None else here.living(here.lineage)


class Hold:
    """An asynchronous context manager that holds keys. Made by `acquire` and `KeyedLock.hold`.

    ``async with`` gives the `Lease`, whose ``fence`` grows with every lease.

    Raises:
        TimeoutError: If the keys were not granted within the given time.
        LockCycleError: If waiting would close a circle.
        LockLostError: If the keys are held by a body that never stopped.
    """

    __slots__ = ("_lease", "_request", "_store", "_timeout", "_token")

    def __init__(self, store: LockStore, request: LockRequest, timeout: float | None) -> None:
        self._store = store
        self._request = request
        self._timeout = timeout
        self._lease: Lease | None = None
        self._token: Token[Inside | None] | None = None

    async def __aenter__(self) -> Lease:
        around = current_lineage()
        owner = _Outside(self._request.label)
        request = self._request._replace(owner=owner, ancestors=around)
        if self._timeout is None:
            lease = await self._store.acquire(request)
        else:
            with anyio.fail_after(self._timeout):
                lease = await self._store.acquire(request)
        self._lease = lease
        self._token = inside.set(Holding((owner, *around), inside.get()))
        return lease

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            self._store.release(lease)
        if self._token is not None:
            try:
                inside.reset(self._token)
            except ValueError:  # left in another context than it was entered in: nothing to reset
                pass


class _Outside:
    """The owner of a lease that code outside tools holds: like nobody else."""

    __slots__ = ("_label",)

    def __init__(self, label: str) -> None:
        self._label = label

    def __str__(self) -> str:
        return self._label or "code outside tools"


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
    request = LockRequest(None, _keys(reads), _keys(writes), (), uses, capacities, label)
    return Hold(default_store() if store is None else store, request, timeout)


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


def _keys(keys: str | Iterable[str]) -> tuple[str, ...]:
    found = (keys,) if isinstance(keys, str) else tuple(keys)
    for key in found:
        if not isinstance(key, str):
            raise UsageError(f"keys: {key!r} is no key. Use text.")
    return found
