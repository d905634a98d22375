"""The store of one process: what it has beside what ``tests/stores`` asks of every store.

That is above all its table, which must be empty when nobody holds or waits any more.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading

import anyio
import pytest
from locks import check_empty

from toolflow.locks import LockRequest, MemoryStore, default_store
from toolflow.scheduler.lock_ticket import Ticket

pytestmark = pytest.mark.anyio


def writes(owner: object, *keys: str) -> LockRequest:
    return LockRequest(owner, writes=keys)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


class Taker:
    """A task that acquires once, and tells what came of it."""

    def __init__(self, store: MemoryStore, request: LockRequest) -> None:
        self.store = store
        self.request = request
        self.lease = None
        self.waited: list[tuple[str, ...]] = []
        self.scope = anyio.CancelScope()

    async def run(self) -> None:
        with self.scope:
            self.lease = await self.store.acquire(self.request, on_wait=self.waited.append)


async def test_waiters_are_woken_in_order_of_asking(store):
    holder = store.acquire_nowait(writes("h", "k"))
    order = []

    async def take(owner):
        lease = await store.acquire(writes(owner, "k"))
        order.append(owner)
        store.release(lease)

    async with anyio.create_task_group() as tasks:
        for owner in range(5):
            tasks.start_soon(take, owner)
            await anyio.wait_all_tasks_blocked()
        assert order == []
        store.release(holder)
    assert order == [0, 1, 2, 3, 4]
    check_empty(store._table)


async def test_on_wait_tells_once_what_is_in_the_way_and_not_at_all_if_nothing_is(store):
    calls: list[tuple[str, ...]] = []
    holder = await store.acquire(writes("h", "k"), on_wait=calls.append)
    assert calls == []
    async with anyio.create_task_group() as tasks:
        taker = Taker(store, writes("a", "k"))
        tasks.start_soon(taker.run)
        await anyio.wait_all_tasks_blocked()
        assert taker.waited == [("key 'k' held by 'h'",)]
        store.release(holder)
    assert len(taker.waited) == 1


async def test_an_on_wait_that_raises_frees_the_place(store):
    holder = store.acquire_nowait(writes("h", "k"))

    def raises(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.acquire(writes("a", "k"), on_wait=raises)
    assert not store.statistics().waits
    store.release(holder)
    check_empty(store._table)


async def test_a_grant_that_reaches_a_cancelled_waiter_is_passed_on(store):
    holder = store.acquire_nowait(writes("h", "k"))
    async with anyio.create_task_group() as tasks:
        first, second = Taker(store, writes("a", "k")), Taker(store, writes("b", "k"))
        for taker in (first, second):
            tasks.start_soon(taker.run)
            await anyio.wait_all_tasks_blocked()
        first.scope.cancel()
        store.release(holder)  # grants it to the first, which has not heard yet
        assert [one.owner for one in store.statistics().keys["k"].holders] == ["a"]
    assert first.lease is None
    assert second.lease is not None
    store.release(second.lease)
    check_empty(store._table)


@pytest.mark.parametrize("backends", [("asyncio", "asyncio"), ("asyncio", "trio")])
def test_two_loops_in_two_threads_take_turns_on_one_key(backends):
    store, total = MemoryStore(), 0

    async def count(name):
        nonlocal total
        for index in range(1_000):
            lease = await store.acquire(writes((name, index), "k"))
            seen = total
            if index % 10 == 0:
                await anyio.lowlevel.checkpoint()
            total = seen + 1
            store.release(lease)

    threads = [
        threading.Thread(target=anyio.run, args=(count, number), kwargs={"backend": backend})
        for number, backend in enumerate(backends)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert total == 2_000
    check_empty(store._table)


def test_a_grant_for_a_loop_that_is_closed_is_passed_on(store):
    holder = store.acquire_nowait(writes("h", "k"))
    loop = asyncio.new_event_loop()
    task = loop.create_task(store.acquire(writes("dead", "k")))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    taken = []

    async def main():
        async with anyio.create_task_group() as tasks:
            taker = Taker(store, writes("alive", "k"))
            taken.append(taker)
            tasks.start_soon(taker.run)
            await anyio.wait_all_tasks_blocked()
            store.release(holder)

    anyio.run(main)
    assert taken[0].lease is not None
    task._log_destroy_pending = False  # the loop was closed under it on purpose
    task.get_coro().close()
    store.release(taken[0].lease)
    check_empty(store._table)


def test_there_is_one_default_store():
    assert default_store() is default_store()


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # that is what is tested
def test_a_forked_child_does_not_wait_for_its_parents_leases():
    lease = default_store().acquire_nowait(writes("h", "forked"))
    try:
        child = os.fork()
        if child == 0:
            free = default_store().acquire_nowait(writes("c", "forked")) is not None
            os._exit(0 if free else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        default_store().release(lease)


async def test_a_lease_is_what_was_asked_for_with_a_fence(store):
    lease = store.acquire_nowait(writes("h", "k"))
    assert isinstance(lease, Ticket)
    assert lease.request == writes("h", "k")
    assert lease.fence == 1
