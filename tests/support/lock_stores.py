"""The lock stores that the shared tests run over: one line here for each kind.

Another kind of store is tested by everything in ``tests/stores`` once it stands in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.abc

from toolflow.errors import LockCycleError, LockLostError
from toolflow.locks import FileStore, LockRequest, LockStore, MemoryStore

_PATIENCE = 60  # seconds; only a test that fails waits so long


@dataclass(frozen=True)
class Kind:
    """A kind of lock store.

    Attributes:
        open: Opens the store that belongs to a folder once more.
        several: Whether what it opens then behaves like the store of another process.
        where: What real processes give to `open_store` for it; ``None``: they are not tried.
    """

    open: Callable[[Path], Any]
    several: bool = False
    where: Callable[[Path], str] | None = None


_memory: dict[Path, MemoryStore] = {}

KINDS: dict[str, Kind] = {
    "memory": Kind(lambda folder: _memory.setdefault(folder, MemoryStore())),
    "file": Kind(
        lambda folder: FileStore(folder / "locks.db"),
        several=True,
        where=lambda folder: str(folder / "locks.db"),
    ),
    # The state takes the place of the log all the time: every process reads it anew all the time.
    "short file": Kind(lambda folder: FileStore(folder / "locks.db", lines=2), several=True),
}
SHARED = [name for name, kind in KINDS.items() if kind.where is not None]
SETTINGS = [*((n, 1) for n in KINDS), *((n, 2) for n, kind in KINDS.items() if kind.several)]
"""Kinds of stores, and as how many processes the tests of one process use them."""


@contextmanager
def opened(kind: str, count: int, folder: Path) -> Iterator[list[LockStore]]:
    """Open the store of a folder several times."""
    stores: list[Any] = []
    try:
        for _ in range(count):
            stores.append(KINDS[kind].open(folder))
        yield stores
    finally:
        for store in stores:
            getattr(store, "close", lambda: None)()
        _memory.pop(folder, None)


def writes(owner: Any, *keys: str, inside: tuple[Any, ...] = ()) -> LockRequest:
    return LockRequest(owner, writes=keys, ancestors=inside)


def reads(owner: Any, *keys: str) -> LockRequest:
    return LockRequest(owner, reads=keys)


def holders(store: LockStore, key: str) -> list[str]:
    """The names of those who hold a key, as a store tells."""
    queue = store.statistics().keys.get(key)
    return [] if queue is None else [one.name for one in queue.holders]


def waiters(store: LockStore) -> list[str]:
    """The names of those who wait for anything, as a store tells."""
    return [one.name for one in store.statistics().waits]


class Call:
    """A call as a run makes it: it takes its keys, and holds them until it is told to end."""

    def __init__(self, store: LockStore, request: LockRequest) -> None:
        self.store = store
        self.request = request._replace(label=request.label or str(request.owner))
        self.scope = anyio.CancelScope()
        self.error: Exception | None = None
        self.lease: Any = None
        self.waited: list[tuple[str, ...]] = []
        self.settled = anyio.Event()
        self.over = anyio.Event()
        self._end = anyio.Event()

    async def run(self, task_status: anyio.abc.TaskStatus[None]) -> None:
        def on_wait(what: tuple[str, ...]) -> None:
            self.waited.append(what)
            task_status.started()

        with self.scope:
            try:
                self.lease = await self.store.acquire(self.request, on_wait=on_wait)
            except (LockCycleError, LockLostError) as error:
                self.error = error
        if not self.waited:
            task_status.started()
        self.settled.set()
        try:
            if self.lease is not None:
                await self._end.wait()
        finally:
            if self.lease is not None:
                self.store.release(self.lease)
            self.over.set()

    async def runs(self) -> None:
        """Wait until it has its keys."""
        with anyio.fail_after(_PATIENCE):
            await self.settled.wait()
        assert self.lease is not None, self.error

    async def fails(self) -> Exception:
        """Wait until it has failed."""
        with anyio.fail_after(_PATIENCE):
            await self.settled.wait()
        assert self.error is not None
        return self.error

    async def end(self) -> None:
        """Let it end, once it has its keys."""
        await self.runs()
        self._end.set()
        await self.over.wait()


class Calls:
    """Calls that run in one or several processes, by name."""

    def __init__(self, stores: Sequence[LockStore], tasks: anyio.abc.TaskGroup) -> None:
        self._stores = stores
        self._tasks = tasks
        self._calls: dict[str, Call] = {}

    async def start(self, *requests: LockRequest, at: int = 0) -> None:
        """Start calls, each once the one before has got as far as it can.

        Args:
            requests: What they ask for.
            at: In which process the first one is; each is in another one than the one before.
        """
        for place, request in enumerate(requests):
            store = self._stores[(at + place) % len(self._stores)]
            call = self._calls[str(request.owner)] = Call(store, request)
            await self._tasks.start(call.run)

    def __getitem__(self, name: str) -> Call:
        return self._calls[name]

    async def end(self, *names: str) -> None:
        """Let calls end one after the other, each once it has its keys."""
        for name in names:
            await self._calls[name].end()
