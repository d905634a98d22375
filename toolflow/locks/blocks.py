"""What running code is inside of, and the blocks that hold keys (spec 6.11, 7.7).

Who holds keys is written down in a context variable, so that what is called inside a block takes
the same keys again without waiting, as nested calls do. Tasks that are started inside the block
inherit it; once the block is left, what they inherited counts no more.

While it holds keys, a block is three things in one: the context manager, the owner of the lease,
and what the code is inside of. Making objects is most of what an uncontended key costs, and one
object for each of the three made a block twice as slow.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol, cast

import anyio

from toolflow.errors import UsageError
from toolflow.locks.memory import MemoryStore
from toolflow.locks.protocol import Lease, LockRequest, LockStore

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
    """Something that holds keys under one owner, around the code that runs.

    Attributes:
        lineage: Its owner and those around it.
        outer: What it is inside of itself.
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
        UsageError: If it is entered again before it was left.
    """

    __slots__ = ("_asked", "_lease", "_store", "_timeout", "_token", "_twin", "outer")

    _token: Token[Inside | None]
    _twin: Hold
    outer: Inside | None

    def __init__(self, store: LockStore, asked: LockRequest, timeout: float | None) -> None:
        self._store = store
        self._asked = asked
        self._timeout = timeout
        self._lease: Lease | None = None

    @property
    def request(self) -> LockRequest:
        """What is asked for, by this block and from where it was entered."""
        return self._asked._replace(owner=self, ancestors=self._around())

    @property
    def owner(self) -> Hashable:
        """Itself; see `toolflow.scheduler.lock_ticket.Asker`."""
        return self

    @property
    def lineage(self) -> Lineage:
        """See `Inside`."""
        return (self, *self._around())

    def living(self, owners: Lineage) -> Lineage:
        """See `Inside`."""
        return owners if self.outer is None else self.outer.living(owners)

    @property
    def entered(self) -> bool:
        """Whether it holds its keys, or waits for them."""
        return self._lease is not None and self._lease is not _LEFT

    async def __aenter__(self) -> Lease:
        if self._lease is not None:
            return await self._again()
        self.outer = inside.get()
        lease = self._lease = await self._wait()
        self._token = inside.set(self)
        return lease

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        lease = self._lease
        if lease is _LEFT:
            await self._twin.__aexit__(exc_type, exc, traceback)
            return
        self._lease = _LEFT
        self._store.release(lease)  # type: ignore[arg-type]  # it was entered, so there is one
        try:
            inside.reset(self._token)
        except ValueError:  # left in another context than it was entered in: nothing to reset
            pass
        del self._token  # which would keep the task's variables alive

    def _around(self) -> Lineage:
        here = self.outer
        return () if here is None else here.living(here.lineage)

    async def _wait(self) -> Lease:
        self._lease, lease = _WAITS, _LEFT
        try:
            if self._timeout is None:
                lease = await self._store.acquire(self.request)
            else:
                with anyio.fail_after(self._timeout):
                    lease = await self._store.acquire(self.request)
        finally:
            self._lease = lease
        return lease

    async def _again(self) -> Lease:
        """Enter a block that was left before.

        Each time is another owner, for what the time before has left running is not inside of it.
        """
        if self.entered or (hasattr(self, "_twin") and self._twin.entered):
            raise UsageError("This block is entered twice at a time. Make a hold for each block.")
        self._twin = self._copy()
        return await self._twin.__aenter__()

    def _copy(self) -> Hold:
        return Hold(self._store, self._asked, self._timeout)

    def __str__(self) -> str:
        return self._asked.label or "code outside tools"


class KeyHold(Hold):
    """The short way for one key of a `MemoryStore`, taken exclusively and for as long as it takes.

    What it asks for is put into words only if somebody wants to see that.
    """

    __slots__ = ("_key", "_label")

    _store: MemoryStore

    def __init__(self, store: MemoryStore, key: str, label: str) -> None:
        self._store = store
        self._key = key
        self._label = label
        self._lease = None

    @property
    def request(self) -> LockRequest:
        """What is asked for, by this block and from where it was entered."""
        return LockRequest(self, (), (self._key,), self._around(), label=self._label)

    async def __aenter__(self) -> Lease:
        if self._lease is not None:
            return await self._again()
        self.outer = inside.get()
        lease = self._store.take(self, self._key)
        if lease is None:
            lease = await self._wait()
        self._lease = lease
        self._token = inside.set(self)
        return lease

    async def _wait(self) -> Lease:
        self._timeout = None
        return await super()._wait()

    def _copy(self) -> Hold:
        return KeyHold(self._store, self._key, self._label)

    def __str__(self) -> str:
        return self._label or "code outside tools"


_WAITS: Final = cast("Lease", object())
_LEFT: Final = cast("Lease", object())
