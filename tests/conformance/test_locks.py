"""Section K of the conformance list, as far as the lock table and its store decide it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import anyio.to_thread
import pytest
from locks import check_empty

from toolflow.errors import LockCycleError, UsageError
from toolflow.locks import KeyedLock, LockRequest, MemoryStore, acquire, default_store
from toolflow.locks.blocks import Holding, current_lineage, inside
from toolflow.scheduler.lock_table import LockTable

pytestmark = pytest.mark.anyio


class Calls:
    """Calls as a run makes them: each takes its keys and holds them until it is told to end."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.running: list[str] = []
        self.log: list[str] = []
        self.failed: dict[str, Exception] = {}
        self.scopes: dict[str, anyio.CancelScope] = {}
        self._end: dict[str, anyio.Event] = {}

    def end(self, *names: str) -> None:
        for name in names:
            self._end[name].set()

    async def call(
        self,
        name: str,
        request: LockRequest,
        body: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._end[name] = anyio.Event()
        with anyio.CancelScope() as self.scopes[name]:
            try:
                lease = await self.store.acquire(request._replace(label=name))
            except LockCycleError as error:
                self.failed[name] = error
                return
            try:
                self.running.append(name)
                self.log.append(name)
                await (body() if body is not None else self._end[name].wait())
            finally:
                self.running.remove(name)
                self.store.release(lease)


@pytest.fixture
def calls() -> Calls:
    return Calls()


def writes(owner: str, *keys: str, inside: tuple[str, ...] = ()) -> LockRequest:
    return LockRequest(owner, writes=keys, ancestors=inside)


def reads(owner: str, *keys: str) -> LockRequest:
    return LockRequest(owner, reads=keys)


async def start(tasks, calls: Calls, *requests: LockRequest) -> None:
    """Start calls, each after the one before has got as far as it can."""
    for request in requests:
        tasks.start_soon(calls.call, request.owner, request)
        await anyio.wait_all_tasks_blocked()


async def test_c117_calls_on_one_key_never_overlap_and_on_different_keys_do(calls):
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, writes("a", "x"), writes("b", "x"), writes("c", "y"))
        assert calls.running == ["a", "c"]
        calls.end("a")
        await anyio.wait_all_tasks_blocked()
        assert calls.running == ["c", "b"]
        calls.end("b", "c")


async def test_c118_a_key_goes_round_in_order_of_asking_also_across_runs(calls):
    requests = [
        LockRequest(f"{run}/{index}", writes=("x",), ancestors=(run,))
        for index in range(3)
        for run in ("run-1", "run-2")
    ]
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, *requests)
        for request in requests:
            assert calls.running == [request.owner]
            calls.end(request.owner)
            await anyio.wait_all_tasks_blocked()
    assert calls.log == [request.owner for request in requests]


async def test_c119_two_keys_asked_for_in_opposite_orders_never_deadlock(calls):
    async with anyio.create_task_group() as tasks:
        await start(
            tasks, calls, writes("z", "a"), writes("one", "a", "b"), writes("two", "b", "a")
        )
        calls.end("z")
        await anyio.wait_all_tasks_blocked()
        assert calls.running == ["one"]
        calls.end("one")
        await anyio.wait_all_tasks_blocked()
        assert calls.running == ["two"]
        calls.end("two")


async def test_c120_doubled_keys_count_once_and_no_keys_are_no_wait():
    store = MemoryStore()
    lease = store.acquire_nowait(LockRequest("a", ("x", "x"), ("x", "x")))
    assert lease is not None
    assert len(store.statistics().keys["x"].holders) == 1
    nothing = store.acquire_nowait(LockRequest("b"))
    assert nothing is not None
    assert list(store.statistics().keys) == ["x"]
    store.release(nothing)
    store.release(lease)
    check_empty(store._table)


async def test_c124_a_waiter_that_is_aborted_frees_its_place_for_the_next(calls):
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, writes("a", "x"), writes("b", "x", "y"), writes("c", "y"))
        assert calls.running == ["a"]
        calls.scopes["b"].cancel()
        await anyio.wait_all_tasks_blocked()
        assert calls.running == ["a", "c"]
        calls.end("a", "c")
    assert calls.log == ["a", "c"]
    check_empty(calls.store._table)


async def test_c127_nested_calls_take_keys_again_and_what_was_left_running_waits(calls):
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, writes("outer", "x"), writes("other", "x"))
        await start(tasks, calls, writes("outer/in", "x", inside=("outer",)))
        assert calls.running == ["outer", "outer/in"]
        calls.end("outer/in")
        await anyio.wait_all_tasks_blocked()
        calls.end("outer")
        await anyio.wait_all_tasks_blocked()
        await start(tasks, calls, writes("outer/left", "x", inside=("outer",)))
        assert calls.running == ["other"]
        calls.end("other")
        await anyio.wait_all_tasks_blocked()
        assert calls.running == ["outer/left"]
        calls.end("outer/left")


async def test_c128_nested_siblings_on_one_key_go_in_order_of_asking(calls):
    siblings = [writes(f"outer/{index}", "x", inside=("outer",)) for index in range(3)]
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, writes("outer", "x"), *siblings)
        for sibling in siblings:
            assert calls.running == ["outer", sibling.owner]
            calls.end(sibling.owner)
            await anyio.wait_all_tasks_blocked()
        calls.end("outer")


async def ring(calls: Calls, requests: list[tuple[LockRequest, LockRequest]]) -> None:
    """Calls that all hold something, and then each want something from inside."""
    hold = {first.owner: anyio.Event() for first, _ in requests}

    async def body(first: LockRequest, second: LockRequest) -> None:
        await hold[first.owner].wait()
        await calls.call(second.owner, second._replace(ancestors=(first.owner,)))

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for first, second in requests:
                tasks.start_soon(
                    calls.call, first.owner, first, lambda f=first, s=second: body(f, s)
                )
                await anyio.wait_all_tasks_blocked()
            for event in hold.values():
                event.set()
                await anyio.wait_all_tasks_blocked()
            for _, second in reversed(requests):
                calls.end(second.owner)
                await anyio.wait_all_tasks_blocked()


async def test_c129_the_call_that_closes_a_circle_of_two_fails_and_the_other_finishes(calls):
    await ring(
        calls,
        [(writes("a", "x"), writes("a/1", "y")), (writes("b", "y"), writes("b/1", "x"))],
    )
    assert list(calls.failed) == ["b/1"]
    assert "'b/1'" in str(calls.failed["b/1"])
    assert "key 'x'" in str(calls.failed["b/1"])
    assert calls.log == ["a", "b", "a/1"]
    check_empty(calls.store._table)


async def test_c130_a_circle_of_three_is_found(calls):
    await ring(
        calls,
        [
            (writes("a", "x"), writes("a/1", "y")),
            (writes("b", "y"), writes("b/1", "z")),
            (writes("c", "z"), writes("c/1", "x")),
        ],
    )
    assert list(calls.failed) == ["c/1"]
    assert calls.log == ["a", "b", "c", "b/1", "a/1"]


async def test_c130_a_circle_through_calls_with_several_keys_is_found(calls):
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, writes("a", "x"), writes("b", "x", "y"))
        # b holds nothing, but it stands before a/1 in the queue of y, and behind a in that of x.
        await start(tasks, calls, writes("a/1", "y", inside=("a",)))
        assert list(calls.failed) == ["a/1"]
        calls.end("a")
        await anyio.wait_all_tasks_blocked()
        assert calls.running == ["b"]
        calls.end("b")


async def test_c131_keys_are_released_on_an_exception_and_twice_does_no_harm():
    store = MemoryStore()
    with pytest.raises(ZeroDivisionError):
        async with acquire(writes=["x"], store=store):
            raise ZeroDivisionError
    check_empty(store._table)
    first = store.acquire_nowait(writes("a", "x"))
    store.release(first)
    second = store.acquire_nowait(writes("b", "x"))
    store.release(first)
    assert [one.owner for one in store.statistics().keys["x"].holders] == ["b"]
    store.release(second)


async def test_c132_unused_keys_leave_the_table_and_contended_ones_stay(calls):
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, writes("a", "x", "y"), writes("b", "x"))
        assert list(calls.store.statistics().keys) == ["x", "y"]
        calls.end("a")
        await anyio.wait_all_tasks_blocked()
        assert list(calls.store.statistics().keys) == ["x"]
        calls.end("b")
    check_empty(calls.store._table)


async def test_c135_code_outside_a_run_waits_in_the_same_queues():
    store, order = default_store(), []
    lease = store.acquire_nowait(writes("call", "c135"))

    async def outside():
        async with acquire(writes=["c135"]):
            order.append("outside")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outside)
        await anyio.wait_all_tasks_blocked()
        assert order == []
        store.release(lease)
    assert order == ["outside"]


async def test_c136_a_private_table_does_not_meet_the_shared_one():
    lease = default_store().acquire_nowait(writes("call", "c136"))
    with anyio.fail_after(5):
        async with KeyedLock().hold("c136"), acquire(writes="c136", store=MemoryStore()):
            assert "c136" in default_store().statistics().keys
    default_store().release(lease)


async def test_c138_a_wait_shows_holder_key_and_since_when(calls):
    waits: list[tuple[str, ...]] = []
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, writes("a", "x"))

        async def waiter():
            lease = await calls.store.acquire(writes("b", "x"), on_wait=waits.append)
            calls.store.release(lease)

        tasks.start_soon(waiter)
        await anyio.wait_all_tasks_blocked()
        state = calls.store.statistics()
        assert waits == [("key 'x' held by 'a'",)]
        assert [(wait.owner, wait.behind) for wait in state.waits] == [("b", waits[0])]
        assert 0 < state.keys["x"].holders[0].since <= state.waits[0].since
        calls.end("a")


async def test_c144_a_tree_key_meets_what_lies_under_it_and_nothing_else(calls):
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, writes("tree", "src/**"))
        await start(tasks, calls, writes("under", "src/a/b.c"), writes("beside", "src2/a"))
        assert calls.running == ["tree", "beside"]
        calls.end("tree", "beside")
        await anyio.wait_all_tasks_blocked()
        await start(tasks, calls, writes("again", "src/**"))
        assert calls.running == ["under"]
        calls.end("under")
        await anyio.wait_all_tasks_blocked()
        calls.end("again")
    assert calls.log == ["tree", "beside", "under", "again"]


async def test_c145_readers_share_and_a_writer_excludes_in_order(calls):
    waves = [["r1", "r2"], ["w"], ["r3"]]
    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, reads("r1", "x"), reads("r2", "x"))
        await start(tasks, calls, writes("w", "x"), reads("r3", "x"))
        for wave in waves:
            assert calls.running == wave
            calls.end(*wave)
            await anyio.wait_all_tasks_blocked()


async def test_c146_units_in_use_never_exceed_the_capacity(calls):
    def using(owner: str, units: int) -> LockRequest:
        return LockRequest(owner, uses={"gpu": units}, capacities={"gpu": 3})

    async with anyio.create_task_group() as tasks:
        await start(tasks, calls, using("a", 2), using("b", 1), using("c", 2), using("d", 1))
        assert calls.running == ["a", "b"]
        calls.end("b")
        await anyio.wait_all_tasks_blocked()
        assert calls.running == ["a"]
        calls.end("a")
        await anyio.wait_all_tasks_blocked()
        assert sorted(calls.running) == ["c", "d"]
        calls.end("c", "d")
    with pytest.raises(UsageError, match="gpu is 4, but there are 3"):
        calls.store.acquire_nowait(using("e", 4))


async def test_c147_who_waits_for_a_resource_holds_back_nobody_who_does_not_need_it(calls):
    one = {"uses": {"gpu": 1}, "capacities": {"gpu": 1}}
    async with anyio.create_task_group() as tasks:
        await start(
            tasks,
            calls,
            LockRequest("a", **one),
            LockRequest("b", **one),
            LockRequest("c", writes=("x",)),
            LockRequest("d", uses={"cpu": 1}, capacities={"cpu": 1}),
        )
        assert calls.running == ["a", "c", "d"]
        calls.end("a", "c", "d")
        await anyio.wait_all_tasks_blocked()
        assert calls.running == ["b"]
        calls.end("b")


def test_c128_the_order_of_nested_siblings_is_decided_without_a_loop():
    table = LockTable()
    table.request("outer", writes=["x"])
    tickets = [table.request(f"outer/{n}", writes=["x"], ancestors=["outer"]) for n in range(3)]
    assert [ticket.granted for ticket in tickets] == [True, False, False]
    assert table.release(tickets[0]) == [tickets[1]]


async def test_c127_the_lineage_of_a_thread_is_that_of_its_call():
    # Which thread runs a body does not matter; the context does, and it is handed to the thread.
    token = inside.set(Holding(("call",)))
    try:
        assert await anyio.to_thread.run_sync(current_lineage) == ("call",)
    finally:
        inside.reset(token)
