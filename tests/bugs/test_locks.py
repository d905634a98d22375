"""Faults of lock keys that real users met (kind D, and 47)."""

from __future__ import annotations

import anyio
import pytest

from toolflow.errors import LockLostError
from toolflow.locks import LockRequest, MemoryStore

pytestmark = pytest.mark.anyio


async def test_b025_moves_between_two_places_in_both_directions_both_finish():
    store, order = MemoryStore(), []
    start = store.acquire_nowait(LockRequest("before", writes=("a",)))

    async def move(source, target):
        lease = await store.acquire(LockRequest((source, target), writes=(source, target)))
        order.append(f"{source}->{target}")
        await anyio.lowlevel.checkpoint()
        store.release(lease)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for places in (("a", "b"), ("b", "a")):
                tasks.start_soon(move, *places)
                await anyio.wait_all_tasks_blocked()
            store.release(start)
    assert order == ["a->b", "b->a"]


async def test_b027_a_constant_key_lets_the_second_call_see_what_the_first_did():
    store, goals = MemoryStore(), []

    async def create(name, results):
        lease = await store.acquire(LockRequest(name, writes=("session-goal",)))
        try:
            active = list(goals)
            await anyio.lowlevel.checkpoint()
            if active:
                results.append(f"{name}: there is a goal already")
            else:
                goals.append(name)
                results.append(f"{name}: created")
        finally:
            store.release(lease)

    results: list[str] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(create, "A", results)
        tasks.start_soon(create, "B", results)
    assert len(goals) == 1
    assert sorted(result.split(": ")[1] for result in results) == [
        "created",
        "there is a goal already",
    ]


async def test_b047_a_holder_that_never_stops_blocks_nobody_without_end():
    store, outcomes = MemoryStore(), {}

    async def call(name, key):
        try:
            lease = await store.acquire(LockRequest(name, writes=(key,)))
        except LockLostError as error:
            outcomes[name] = str(error)
        else:
            outcomes[name] = "done"
            store.release(lease)

    hangs = store.acquire_nowait(LockRequest("w1", writes=("K",)))
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, "w2", "K")
            tasks.start_soon(call, "w3", "L")
            await anyio.wait_all_tasks_blocked()
            assert outcomes == {"w3": "done"}
            store.poison(hangs)  # its timeout was reported, and the grace time is over
        await call("w4", "K")
    assert "key 'K' is held by 'w1'" in outcomes["w2"]
    assert outcomes["w4"] == outcomes["w2"]
    store.release(hangs)  # it stopped after all
    await call("w5", "K")
    assert outcomes["w5"] == "done"
