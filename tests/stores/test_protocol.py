"""What every lock store promises: waiting, giving up, threads and event loops."""

from __future__ import annotations

import asyncio
import threading

import anyio
import anyio.to_thread
import pytest
from lock_stores import holders, waiters, writes

from toolflow.errors import LockLostError
from toolflow.locks import LockRequest

pytestmark = pytest.mark.anyio


async def test_acquire_nowait_gives_nothing_and_queues_nothing_where_it_would_wait(store, other):
    holder = store.acquire_nowait(writes("h", "k"))
    assert other.acquire_nowait(writes("a", "k", "free")) is None
    assert list(store.statistics().keys) == ["k"]
    store.release(holder)
    assert other.acquire_nowait(writes("a", "k")) is not None


async def test_a_request_is_queued_on_the_first_step_of_acquire(store, other):
    holder = store.acquire_nowait(writes("h", "k"))
    coroutine = other.acquire(writes("a", "k"))
    assert not store.statistics().waits
    async with anyio.create_task_group() as tasks:

        async def run():
            other.release(await coroutine)

        tasks.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        assert waiters(store) == ["a"]
        store.release(holder)


async def test_a_free_key_is_taken_without_giving_others_a_turn(store):
    turns = []
    async with anyio.create_task_group() as tasks:

        async def counts():
            turns.append("turn")

        tasks.start_soon(counts)
        lease = await store.acquire(writes("a", "k"))
        assert turns == []
    store.release(lease)


async def test_on_wait_tells_once_what_is_in_the_way_and_not_at_all_if_nothing_is(calls):
    await calls.start(writes("h", "k"), writes("a", "k"))
    assert calls["h"].waited == []
    [[behind]] = calls["a"].waited
    assert behind.startswith("key 'k' held by 'h")
    await calls.end("h", "a")
    assert len(calls["a"].waited) == 1


async def test_an_on_wait_that_raises_frees_the_place(store, other):
    holder = store.acquire_nowait(writes("h", "k"))

    def raises(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await other.acquire(writes("a", "k"), on_wait=raises)
    assert not store.statistics().waits
    store.release(holder)
    assert not other.statistics().keys


async def test_a_grant_that_reaches_a_cancelled_waiter_is_passed_on(calls, store, other):
    await calls.start(writes("h", "k"))
    await calls.start(writes("a", "k"), at=1)
    await calls.start(writes("b", "k"))
    calls["a"].scope.cancel()
    holder = calls["h"]
    holder.store.release(holder.lease)  # grants it to the first, which has not heard yet
    await calls["b"].runs()
    assert calls["a"].lease is None
    assert holders(other, "k") == ["b"]


async def test_poison_fails_those_who_wait_and_release_mends_it(calls, store, other):
    holder = store.acquire_nowait(writes("h", "k"))
    await calls.start(writes("a", "k"), at=1)
    store.poison(holder)
    assert isinstance(await calls["a"].fails(), LockLostError)
    with pytest.raises(LockLostError):
        other.acquire_nowait(writes("b", "k"))
    assert not other.statistics().keys["k"].holders[0].stopped
    store.release(holder)
    assert other.acquire_nowait(writes("b", "k")) is not None


async def test_hand_over_wakes_a_waiting_call_of_the_new_owner(calls, store):
    lease = store.acquire_nowait(writes("a", "k", inside=("turn",)))
    await calls.start(writes("b", "k", inside=("turn",)))
    store.hand_over(lease, "turn")
    await calls["b"].runs()
    assert lease.owner == "turn"
    await calls.end("b")
    store.release(lease)
    store.hand_over(lease, "run")  # it is over: nothing happens
    store.poison(lease)
    assert lease.owner == "turn"


async def test_equal_owners_are_the_same_in_one_process_and_not_in_two(store, other):
    assert store.acquire_nowait(writes("a", "k")) is not None
    nested = other.acquire_nowait(writes("b", "k", inside=("a",)))
    assert (nested is not None) == (other is store)


async def test_since_grows_from_asking_to_the_grant(calls, store, other):
    await calls.start(writes("h", "k"), writes("a", "k"))
    state = other.statistics()
    assert 0 < state.keys["k"].holders[0].since <= state.waits[0].since
    await calls.end("h")
    await calls["a"].runs()
    assert store.statistics().keys["k"].holders[0].since >= state.waits[0].since


async def test_a_release_in_another_thread_wakes_the_waiter(calls, store):
    holder = store.acquire_nowait(writes("h", "k"))
    await calls.start(writes("a", "k"), at=1)
    await anyio.to_thread.run_sync(store.release, holder)
    await calls["a"].runs()


@pytest.mark.parametrize("backends", [("asyncio", "asyncio"), ("asyncio", "trio")])
def test_loops_in_several_threads_take_turns_on_one_key(stores, backends):
    total = 0

    async def count(store, name):
        nonlocal total
        for index in range(100):
            lease = await store.acquire(writes((name, index), "k"))
            seen = total
            if index % 10 == 0:
                await anyio.lowlevel.checkpoint()
            total = seen + 1
            store.release(lease)

    threads = [
        threading.Thread(
            target=anyio.run,
            args=(count, stores[number % len(stores)], number),
            kwargs={"backend": backend},
        )
        for number, backend in enumerate(backends)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert total == 200
    assert not stores[0].statistics().keys


def test_a_grant_for_a_loop_that_is_closed_is_passed_on(store, other):
    holder = store.acquire_nowait(writes("h", "k"))
    loop = asyncio.new_event_loop()
    task = loop.create_task(other.acquire(writes("dead", "k")))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()

    async def main():
        async with anyio.create_task_group() as tasks:

            async def take():
                store.release(await store.acquire(writes("alive", "k")))

            tasks.start_soon(take)
            await anyio.wait_all_tasks_blocked()
            store.release(holder)

    anyio.run(main)
    task._log_destroy_pending = False  # the loop was closed under it on purpose
    task.get_coro().close()
    assert not store.statistics().keys


def test_a_release_outside_of_any_loop_wakes_a_trio_task(store, other):
    holder = store.acquire_nowait(writes("h", "k"))
    ready = threading.Event()

    async def main():
        async with anyio.create_task_group() as tasks:

            async def take():
                other.release(await other.acquire(writes("a", "k")))

            tasks.start_soon(take)
            await anyio.wait_all_tasks_blocked()
            ready.set()

    def release():
        ready.wait(60)
        store.release(holder)

    thread = threading.Thread(target=release)
    thread.start()
    anyio.run(main, backend="trio")
    thread.join()
    assert not store.statistics().keys


async def test_a_lease_is_what_was_asked_for_with_a_fence_that_grows(stores):
    fences = []
    for round_ in range(3):
        for store in stores:
            lease = store.acquire_nowait(writes("h", f"k{round_}"))
            assert lease.request == writes("h", f"k{round_}")
            assert lease.owner == "h"
            fences.append(lease.fence)
            store.release(lease)
    assert fences == sorted(set(fences))
    assert fences[0] > 0


async def test_any_hashable_owner_and_any_text_as_key_will_do(store, other):
    class Owner:
        def __str__(self) -> str:
            return "odd \ud800 'owner'"

    request = LockRequest(Owner(), writes=("key \ud800\x00 \n 'x'", ""), reads=("ü",))
    lease = store.acquire_nowait(request)
    state = other.statistics()
    assert set(state.keys) == {"key \ud800\x00 \n 'x'", "", "ü"}
    assert state.keys[""].holders[0].name == "odd \ud800 'owner'"
    store.release(lease)
