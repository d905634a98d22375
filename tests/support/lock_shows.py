"""What locks must stand: opposite orders, and circles through nested calls."""

from __future__ import annotations

import time
from typing import Any

import anyio
import anyio.lowlevel

from toolflow.engine import Engine
from toolflow.locks import LockStore, MemoryStore, acquire
from toolflow.model.turn import Call, Turn
from toolflow.runtime.toolbox import Toolbox


async def opposite_orders(times: int, store: LockStore | None = None) -> list[int]:
    """Have two tasks take the keys (a, b) and (b, a) over and over.

    Args:
        times: How often each of them does.
        store: The lock store; a new one in memory by default.

    Returns:
        The fences of all leases, in the order in which they were held.
    """
    store = store or MemoryStore()
    held: list[int] = []

    async def mover(*keys: str) -> None:
        for _ in range(times):
            async with acquire(writes=keys, store=store) as lease:
                held.append(lease.fence)
                await anyio.lowlevel.checkpoint()
                assert held[-1] == lease.fence

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(mover, "a", "b")
        tasks.start_soon(mover, "b", "a")
    return held


class Circle:
    """Calls that hold a key each, and then call a tool that wants the key of the next one.

    Args:
        parties: How many there are.
        store: The lock store.
    """

    def __init__(self, parties: int, store: LockStore | None = None) -> None:
        self.parties = parties
        self.store = store or MemoryStore()
        self.failed_after: list[float] = []
        self._inside = 0
        self._all_inside = anyio.Event()

    async def run(self) -> list[str]:
        """Run all parties side by side, each a run of an engine of its own.

        Returns:
            The status of each party's inner call.
        """
        found: dict[int, str] = {}

        async def one(party: int) -> None:
            found[party] = await self.party(party)

        async with anyio.create_task_group() as tasks:
            for party in range(self.parties):
                tasks.start_soon(one, party)
        return [found[party] for party in range(self.parties)]

    async def party(self, number: int) -> str:
        """Run one party.

        Args:
            number: Its place in the circle, from 0.

        Returns:
            The status of its inner call.
        """
        tools = Toolbox()
        engine = Engine(tools, locks=self.store)

        @tools.tool(safe=True, writes=[f"circle:{number}"])
        async def outer() -> str:
            await self.meet()
            asked = time.perf_counter()
            outcome = await engine.call("inner")
            if outcome.status == "lock_cycle":
                self.failed_after.append(time.perf_counter() - asked)
            return outcome.status

        @tools.tool(safe=True, writes=[f"circle:{(number + 1) % self.parties}"])
        async def inner() -> None:
            await anyio.lowlevel.checkpoint()

        result: Any = await engine.run(Turn(f"party-{number}", (Call(0, "outer", "outer"),)))
        outcome = result.outcomes[0]
        return str(outcome.value if outcome.ok else outcome.status)

    async def meet(self) -> None:
        """Wait until every party holds its key."""
        self._inside += 1
        if self._inside == self.parties:
            self._all_inside.set()
        await self._all_inside.wait()
