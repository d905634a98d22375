"""Section K of the conformance list, over every kind of lock store."""

from __future__ import annotations

import anyio
import pytest
from lock_stores import holders, reads, waiters, writes

from toolflow.errors import LockCycleError, UsageError
from toolflow.locks import KeyedLock, LockRequest, acquire

pytestmark = pytest.mark.anyio


async def test_c117_calls_on_one_key_never_overlap_and_on_different_keys_do(calls, store):
    await calls.start(writes("a", "x"), writes("b", "x"), writes("c", "y"))
    await calls["a"].runs()
    await calls["c"].runs()
    assert holders(store, "x") == ["a"]
    await calls.end("a")
    await calls["b"].runs()
    assert holders(store, "x") == ["b"]


async def test_c118_a_key_goes_round_in_order_of_asking_also_across_runs(calls, store):
    names = [f"{run}/{index}" for index in range(3) for run in ("run-1", "run-2")]
    await calls.start(*(LockRequest(name, writes=("x",), ancestors=(name[:5],)) for name in names))
    fences = []
    for name in names:
        await calls[name].runs()
        assert holders(store, "x") == [name]
        fences.append(calls[name].lease.fence)
        await calls.end(name)
    assert fences == sorted(set(fences))


async def test_c119_two_keys_asked_for_in_opposite_orders_never_deadlock(calls, store):
    await calls.start(writes("z", "a"), writes("one", "a", "b"), writes("two", "b", "a"))
    await calls.end("z")
    await calls["one"].runs()
    assert waiters(store) == ["two"]
    await calls.end("one", "two")


async def test_c120_doubled_keys_count_once_and_no_keys_are_no_wait(store, other):
    lease = store.acquire_nowait(LockRequest("a", ("x", "x"), ("x", "x")))
    assert len(other.statistics().keys["x"].holders) == 1
    nothing = other.acquire_nowait(LockRequest("b"))
    assert nothing is not None
    assert list(store.statistics().keys) == ["x"]
    other.release(nothing)
    store.release(lease)
    assert not other.statistics().keys


async def test_c124_a_waiter_that_is_aborted_frees_its_place_for_the_next(calls, store):
    await calls.start(writes("a", "x"), writes("b", "x", "y"), writes("c", "y"))
    assert waiters(store) == ["b", "c"]
    calls["b"].scope.cancel()
    await calls["c"].runs()
    assert waiters(store) == []
    await calls.end("a", "c")


async def test_c127_nested_calls_take_keys_again_and_what_was_left_running_waits(calls, store):
    await calls.start(writes("outer", "x"), writes("other", "x"))
    await calls.start(writes("outer/in", "x", inside=("outer",)))
    await calls.end("outer/in", "outer")
    await calls["other"].runs()
    await calls.start(writes("outer/left", "x", inside=("outer",)))
    assert waiters(store) == ["outer/left"]
    await calls.end("other", "outer/left")


async def test_c128_nested_siblings_on_one_key_go_in_order_of_asking(calls, store):
    await calls.start(writes("outer", "x"))
    names = [f"outer/{index}" for index in range(3)]
    for name in names:
        await calls.start(writes(name, "x", inside=("outer",)))
    for name in names:
        await calls[name].runs()
        assert holders(store, "x") == ["outer", name]
        await calls.end(name)
    await calls.end("outer")


async def test_c129_the_call_that_closes_a_circle_of_two_fails_and_the_other_finishes(calls):
    await calls.start(writes("a", "x"), writes("b", "y"))
    await calls.start(writes("a/1", "y", inside=("a",)), writes("b/1", "x", inside=("b",)))
    error = await calls["b/1"].fails()
    assert isinstance(error, LockCycleError)
    assert "'b/1'" in str(error)
    assert "key 'x'" in str(error)
    await calls.end("b", "a/1", "a")


async def test_c130_a_circle_of_three_is_found(calls):
    await calls.start(writes("a", "x"), writes("b", "y"))
    await calls.start(writes("c", "z"))
    await calls.start(writes("a/1", "y", inside=("a",)), writes("b/1", "z", inside=("b",)))
    await calls.start(writes("c/1", "x", inside=("c",)))
    assert isinstance(await calls["c/1"].fails(), LockCycleError)
    await calls.end("c", "b/1", "b", "a/1", "a")


async def test_c130_a_circle_through_calls_with_several_keys_is_found(calls):
    await calls.start(writes("a", "x"), writes("b", "x", "y"))
    # b holds nothing, but it stands before a/1 in the queue of y, and behind a in that of x.
    await calls.start(writes("a/1", "y", inside=("a",)))
    assert isinstance(await calls["a/1"].fails(), LockCycleError)
    await calls.end("a", "b")


async def test_c130_a_longer_lease_that_closes_a_circle_fails_the_latest_call(calls, store, other):
    # Each turn keeps what its first call held; then each waits for what the other one keeps.
    first = store.acquire_nowait(writes("t1/1", "x", inside=("t1",)))
    second = other.acquire_nowait(writes("t2/1", "y", inside=("t2",)))
    store.hand_over(first, "t1")
    await calls.start(writes("t1/2", "y", inside=("t1",)))
    await calls.start(writes("t2/2", "x", inside=("t2",)), at=1)
    other.hand_over(second, "t2")
    assert isinstance(await calls["t2/2"].fails(), LockCycleError)
    other.release(second)
    await calls.end("t1/2")
    store.release(first)


async def test_c131_keys_are_released_on_an_exception_and_twice_does_no_harm(store, other):
    with pytest.raises(ZeroDivisionError):
        async with acquire(writes=["x"], store=store):
            raise ZeroDivisionError
    first = store.acquire_nowait(writes("a", "x"))
    store.release(first)
    second = other.acquire_nowait(writes("b", "x"))
    store.release(first)
    assert holders(store, "x") == ["b"]
    other.release(second)


async def test_c132_unused_keys_leave_the_table_and_contended_ones_stay(calls, store, other):
    await calls.start(writes("a", "x", "y"), writes("b", "x"))
    assert list(store.statistics().keys) == ["x", "y"]
    await calls.end("a")
    await calls["b"].runs()
    assert list(other.statistics().keys) == ["x"]
    await calls.end("b")
    assert not store.statistics().keys


async def test_c135_code_outside_a_run_waits_in_the_same_queues(calls, store, other):
    order = []
    await calls.start(writes("call", "x"))

    async def outside(task_status=anyio.TASK_STATUS_IGNORED):
        task_status.started()
        async with acquire(writes=["x"], store=other, label="outside"):
            order.append("outside")

    async with anyio.create_task_group() as tasks:
        await tasks.start(outside)
        await anyio.wait_all_tasks_blocked()
        assert waiters(store) == ["outside"]
        assert order == []
        await calls.end("call")
    assert order == ["outside"]


async def test_c136_a_private_table_does_not_meet_the_shared_one(store, other):
    lease = store.acquire_nowait(writes("call", "x"))
    with anyio.fail_after(60):
        async with KeyedLock().hold("x"):
            assert holders(other, "x") == ["call"]
    store.release(lease)


async def test_c138_a_wait_shows_holder_key_and_since_when(calls, store, other):
    await calls.start(writes("a", "x"), writes("b", "x"))
    [[behind]] = calls["b"].waited
    assert behind.startswith("key 'x' held by 'a")
    for one in (store, other):
        state = one.statistics()
        [wait] = state.waits
        assert wait.name == "b"
        assert wait.behind[0].startswith("key 'x' held by 'a")
        assert 0 < state.keys["x"].holders[0].since <= wait.since
    await calls.end("a", "b")


async def test_c144_a_tree_key_meets_what_lies_under_it_and_nothing_else(calls, store):
    await calls.start(
        writes("tree", "src/**"), writes("under", "src/a/b.c"), writes("beside", "src2/a")
    )
    await calls["beside"].runs()
    assert waiters(store) == ["under"]
    await calls.end("tree")
    await calls["under"].runs()
    await calls.start(writes("again", "src/**"))
    assert waiters(store) == ["again"]
    await calls.end("under", "again", "beside")


async def test_c145_readers_share_and_a_writer_excludes_in_order(calls, store):
    await calls.start(reads("r1", "x"), reads("r2", "x"), writes("w", "x"), reads("r3", "x"))
    assert holders(store, "x") == ["r1", "r2"]
    await calls.end("r1", "r2")
    await calls["w"].runs()
    assert holders(store, "x") == ["w"]
    await calls.end("w")
    await calls["r3"].runs()
    assert holders(store, "x") == ["r3"]


async def test_c146_units_in_use_never_exceed_the_capacity(calls, store):
    def using(owner: str, units: int) -> LockRequest:
        return LockRequest(owner, uses={"gpu": units}, capacities={"gpu": 3})

    await calls.start(using("a", 2), using("b", 1), using("c", 2), using("d", 1))
    await calls.end("b")
    assert waiters(store) == ["c", "d"]
    await calls.end("a")
    await calls["c"].runs()
    await calls["d"].runs()
    state = store.statistics().resources["gpu"]
    assert sum(one.units for one in state.holders) == 3
    with pytest.raises(UsageError, match="gpu is 4, but there are 3"):
        store.acquire_nowait(using("e", 4))


async def test_c147_who_waits_for_a_resource_holds_back_nobody_who_does_not_need_it(calls, store):
    one = {"uses": {"gpu": 1}, "capacities": {"gpu": 1}}
    await calls.start(LockRequest("a", **one), LockRequest("b", **one))
    await calls.start(
        LockRequest("c", writes=("x",)), LockRequest("d", uses={"cpu": 1}, capacities={"cpu": 1})
    )
    await calls["c"].runs()
    await calls["d"].runs()
    assert waiters(store) == ["b"]
    await calls.end("a", "b")
