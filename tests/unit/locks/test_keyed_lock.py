"""Keys for code outside tools."""

from __future__ import annotations

import anyio
import pytest
from locks import check_empty

from toolflow.errors import LockCycleError, UsageError
from toolflow.locks import KeyedLock, LockRequest, MemoryStore, acquire, default_store
from toolflow.locks.blocks import Holding, current_lineage, inside

pytestmark = pytest.mark.anyio


async def test_a_block_holds_its_key_until_it_is_left():
    lock = KeyedLock()
    order = []

    async def use(name, entered, leave):
        async with lock.hold("k"):
            order.append(f"{name} in")
            entered.set()
            await leave.wait()
            order.append(f"{name} out")

    async with anyio.create_task_group() as tasks:
        events = [anyio.Event() for _ in range(4)]
        tasks.start_soon(use, "a", events[0], events[1])
        await events[0].wait()
        tasks.start_soon(use, "b", events[2], events[3])
        await anyio.wait_all_tasks_blocked()
        assert order == ["a in"]
        events[1].set()
        events[3].set()
    assert order == ["a in", "a out", "b in", "b out"]
    check_empty(lock.store._table)


async def test_a_block_that_raises_gives_its_keys_back():
    lock = KeyedLock()
    with pytest.raises(ZeroDivisionError):
        async with lock.hold("k"):
            raise ZeroDivisionError
    check_empty(lock.store._table)


async def test_a_block_within_a_block_takes_the_same_key_again():
    lock = KeyedLock()
    with anyio.fail_after(5):
        async with lock.hold("k") as outer, lock.hold("k") as inner:
            assert inner.fence > outer.fence
    check_empty(lock.store._table)


async def test_a_task_that_outlives_the_block_in_which_it_began_waits_like_any_other():
    lock, entered = KeyedLock(), anyio.Event()

    async def leaked():
        await go.wait()
        async with lock.hold("k"):
            entered.set()

    go = anyio.Event()
    async with anyio.create_task_group() as tasks:
        async with lock.hold("k"):
            tasks.start_soon(leaked)
            await anyio.wait_all_tasks_blocked()

        async def holds():
            async with lock.hold("k"):
                go.set()
                await anyio.wait_all_tasks_blocked()
                assert not entered.is_set()

        tasks.start_soon(holds)
    assert entered.is_set()


async def test_readers_share():
    lock = KeyedLock()
    both = [anyio.Event(), anyio.Event()]

    async def read(mine, others):
        async with lock.hold(reads="k"):
            mine.set()
            await others.wait()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read, both[0], both[1])
            tasks.start_soon(read, both[1], both[0])


async def test_waiting_ends_at_the_timeout_and_frees_the_place():
    store = MemoryStore()
    holder = store.acquire_nowait(LockRequest("h", writes=("k",)))
    with pytest.raises(TimeoutError):
        async with acquire(writes="k", timeout=0, store=store):
            pytest.fail("the key was taken")
    assert not store.statistics().waits
    store.release(holder)
    check_empty(store._table)


async def test_the_lineage_holds_within_the_block_only():
    before = current_lineage()
    async with acquire(writes="lineage-test") as lease:
        assert current_lineage() == (lease.owner, *before)
    assert current_lineage() == before


async def test_a_block_inside_a_call_takes_the_calls_keys_again():
    store = MemoryStore()
    call = store.acquire_nowait(LockRequest("call", writes=("k",)))
    token = inside.set(Holding(("call",)))
    try:
        with anyio.fail_after(5):
            async with acquire(writes="k", store=store):
                pass
    finally:
        inside.reset(token)
    store.release(call)


async def test_two_tasks_that_take_keys_in_turn_close_a_circle_and_one_goes_on():
    lock, ended = KeyedLock(), []

    async def both(first, second, mine, other):
        try:
            async with lock.hold(first):
                mine.set()
                await other.wait()
                async with lock.hold(second):
                    ended.append("done")
        except LockCycleError:
            ended.append("circle")

    a, b = anyio.Event(), anyio.Event()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(both, "x", "y", a, b)
            tasks.start_soon(both, "y", "x", b, a)
    assert ended == ["circle", "done"]


async def test_labels_are_shown_to_those_who_wait():
    lock = KeyedLock()
    async with lock.hold("k", label="the janitor"):
        assert lock.store.statistics().keys["k"].holders[0].name == "the janitor"


async def test_a_block_can_be_entered_again_after_it_was_left():
    hold = KeyedLock().hold("k")
    for _ in range(2):
        async with hold:
            pass


@pytest.mark.parametrize("how", [lambda lock: lock.hold("k"), lambda lock: lock.hold(writes="k")])
async def test_a_block_is_for_one_task_at_a_time(how):
    hold = how(KeyedLock())
    with anyio.fail_after(5):
        for _ in range(2):
            async with hold:
                with pytest.raises(UsageError, match="twice at a time"):
                    async with hold:
                        pytest.fail("it was entered")
            async with hold:
                pass


@pytest.mark.parametrize("how", [lambda lock: lock.hold("k"), lambda lock: lock.hold(writes="k")])
async def test_what_a_block_left_running_is_not_inside_when_it_is_entered_again(how):
    lock, go, order = KeyedLock(), anyio.Event(), []
    hold = how(lock)

    async def leaked():
        await go.wait()
        async with lock.hold("k"):
            order.append("leaked")

    async with anyio.create_task_group() as tasks:
        async with hold:
            tasks.start_soon(leaked)
            await anyio.wait_all_tasks_blocked()

        async def again():
            async with hold:
                go.set()
                await anyio.wait_all_tasks_blocked()
                order.append("again")

        tasks.start_soon(again)
    assert order == ["again", "leaked"]


async def test_a_lone_key_tells_what_it_is_when_somebody_asks():
    lock = KeyedLock()
    async with lock.hold("outer", label="the outer"), lock.hold("k", label="the inner") as lease:
        assert lease.request.writes == ("k",)
        assert [str(owner) for owner in lease.request.ancestors] == ["the outer"]
        assert lease.request.owner is lease.owner
        assert str(lease.owner) == "the inner"
        assert lock.store.statistics().keys["k"].holders[0].since > 0


async def test_a_lone_key_waits_and_can_be_given_up_like_any_other():
    lock, entered = KeyedLock(), []

    async def take(name, scope):
        with scope:
            async with lock.hold("k"):
                entered.append(name)

    scopes = [anyio.CancelScope(), anyio.CancelScope()]
    holder = lock.store.acquire_nowait(LockRequest("h", writes=("k",)))
    async with anyio.create_task_group() as tasks:
        for name, scope in zip("ab", scopes, strict=True):
            tasks.start_soon(take, name, scope)
            await anyio.wait_all_tasks_blocked()
        scopes[0].cancel()
        await anyio.wait_all_tasks_blocked()
        assert entered == []
        lock.store.release(holder)
    assert entered == ["b"]
    check_empty(lock.store._table)


@pytest.mark.parametrize("keys", [[1], [None], [b"k"]])
async def test_a_key_that_is_no_text_is_refused(keys):
    with pytest.raises(UsageError, match="no key"):
        acquire(writes=keys)
    with pytest.raises(UsageError, match="no key"):
        KeyedLock().hold(*keys)


async def test_the_default_store_is_used_by_default():
    async with acquire(writes="default-store-test"):
        assert "default-store-test" in default_store().statistics().keys
    assert "default-store-test" not in default_store().statistics().keys
