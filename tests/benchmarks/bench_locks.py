"""What locks cost: ``python tests/benchmarks/bench_locks.py [--quick] [--json]``.

Every way to hold a key that nobody else wants is measured against ``async with asyncio.Lock()``, in
the same process and in rounds of a few hundred microseconds, one after the other. The best round of
each counts: others on the machine then disturb neither, and the ratio hardly depends on it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from toolflow.locks import FileStore, KeyedLock, LockRequest, MemoryStore, acquire

ROUND = 300
KEY = "file:/repo/a.py"


class Owner:
    """Who asks; its lease is its only one."""


async def asyncio_lock() -> None:
    """The measure of all things."""
    lock = asyncio.Lock()
    for _ in range(ROUND):
        async with lock:
            pass


def store_operations(store: MemoryStore) -> dict[str, Callable[[], Awaitable[None]]]:
    """The store's own operations on one key."""
    made = LockRequest(Owner(), (), (KEY,), ("turn",))

    async def made_before() -> None:
        take, give = store.acquire_nowait, store.release
        for _ in range(ROUND):
            give(take(made))  # type: ignore[arg-type]  # nobody else is there

    async def made_each_time() -> None:
        take, give, owner = store.acquire_nowait, store.release, Owner()
        for _ in range(ROUND):
            give(take(LockRequest(owner, (), (KEY,), ("turn",))))  # type: ignore[arg-type]

    async def awaited() -> None:
        for _ in range(ROUND):
            store.release(await store.acquire(made))

    return {
        "store: acquire_nowait + release": made_before,
        "the same, with a new request": made_each_time,
        "store: await acquire + release": awaited,
    }


def blocks(store: MemoryStore) -> dict[str, Callable[[], Awaitable[None]]]:
    """The ways for code outside tools."""
    lock = KeyedLock()

    async def keyed() -> None:
        for _ in range(ROUND):
            async with lock.hold(KEY):
                pass

    async def outside() -> None:
        for _ in range(ROUND):
            async with acquire(writes=KEY, store=store):
                pass

    return {"async with KeyedLock().hold(key)": keyed, "async with acquire(writes=key)": outside}


async def uncontended(rounds: int) -> dict[str, float]:
    """The best time of each way, in microseconds for acquire and release together."""
    store = MemoryStore()
    ways = {"async with asyncio.Lock()": asyncio_lock, **store_operations(store), **blocks(store)}
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            begin = time.perf_counter()
            await way()
            best[name] = min(best[name], time.perf_counter() - begin)
    return {name: seconds / ROUND * 1e6 for name, seconds in best.items()}


async def contended(count: int) -> float:
    """Microseconds a grant where so many tasks wait in line for one key."""
    store = MemoryStore()
    first = store.acquire_nowait(LockRequest("first", writes=(KEY,)))
    assert first is not None

    async def waiter(number: int) -> None:
        store.release(await store.acquire(LockRequest(number, writes=(KEY,))))

    tasks = [asyncio.create_task(waiter(number)) for number in range(count)]
    await asyncio.sleep(0)
    begin = time.perf_counter()
    store.release(first)
    await asyncio.gather(*tasks)
    return (time.perf_counter() - begin) / count * 1e6


def machine_wide(rounds: int) -> dict[str, float]:
    """Milliseconds for acquire and release together in a lock file that nobody else uses."""
    with tempfile.TemporaryDirectory() as folder:
        store = FileStore(Path(folder) / "locks.db")
        made = LockRequest(Owner(), (), (KEY,), ("turn",))
        spent = []
        for _ in range(rounds):
            begin = time.perf_counter()
            store.release(store.acquire_nowait(made))  # type: ignore[arg-type]  # nobody is there
            spent.append((time.perf_counter() - begin) * 1e3)
        store.close()
    return {"best": round(min(spent), 3), "median": round(statistics.median(spent), 3)}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    times = asyncio.run(uncontended(200 if options.quick else 2_000))
    base = times["async with asyncio.Lock()"]
    rows: list[dict[str, Any]] = [
        {"what": name, "us": round(cost, 2), "ratio": round(cost / base, 2)}
        for name, cost in times.items()
    ]
    waits = {
        str(count): round(min(asyncio.run(contended(count)) for _ in range(3)), 1)
        for count in (1_000, 10_000)
    }
    shared = machine_wide(200 if options.quick else 2_000)
    if options.json:
        print(json.dumps({"uncontended": rows, "contended_us": waits, "machine_wide_ms": shared}))
        return
    for row in rows:
        print(f"{row['what']:<36} {row['us']:>7.2f} us  {row['ratio']:>6.2f} x")
    for count, cost in waits.items():
        print(f"{count} tasks in line for one key: {cost} us a grant")
    print(f"machine-wide: {shared['best']} ms at best, {shared['median']} ms in the median")


if __name__ == "__main__":
    main()
