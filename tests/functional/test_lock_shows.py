"""What the issue of lock keys asks to be shown, in the short form; the long one is a benchmark."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest
from counting import add_up, count, counters
from lock_shows import Circle, opposite_orders

from toolflow.locks import MemoryStore


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_keys_taken_in_opposite_orders_never_lock_each_other_out(backend: str) -> None:
    store = MemoryStore()
    held = anyio.run(partial(opposite_orders, 2_000, store), backend=backend)
    assert len(held) == 4_000
    assert held == sorted(set(held))
    assert not store.statistics().keys


@pytest.mark.parametrize("parties", [2, 3, 5])
def test_who_closes_a_circle_of_nested_calls_fails_and_the_others_go_on(run, parties: int) -> None:
    async def main() -> None:
        circle = Circle(parties)
        statuses = await circle.run()
        assert sorted(statuses) == ["lock_cycle", *["ok"] * (parties - 1)]
        assert len(circle.failed_after) == 1
        assert not circle.store.statistics().keys

    for _ in range(20):
        run(main)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_read_and_write_under_a_lease_of_the_turn_lose_no_update(
    backend: str, tmp_path: Path
) -> None:
    root, agents, times = counters(tmp_path), 8, 25
    logs = [tmp_path / f"log-{number}" for number in range(agents)]

    async def main() -> None:
        store = MemoryStore()
        async with anyio.create_task_group() as tasks:
            for number, log in enumerate(logs):
                tasks.start_soon(count, store, root, log, number, times)
        assert not store.statistics().keys

    anyio.run(main, backend=backend)
    found = add_up(root, logs)
    assert (found.counters, found.done, found.leases) == (agents * times,) * 3
    assert found.swapped == 0
