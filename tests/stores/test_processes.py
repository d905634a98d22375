"""Real processes that share a lock store, for every kind that serves several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from lock_processes import Child
from lock_stores import KINDS, SHARED, holders, waiters, writes

from toolflow.locks import LockStore, open_store

Start = Callable[[], Child]


@pytest.fixture(params=SHARED)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return KINDS[request.param].where(tmp_path)


@pytest.fixture
def store(where: str) -> Iterator[LockStore]:
    """The store of the process that the test runs in."""
    with open_store(where) as store:
        yield store


@pytest.fixture
def start(where: str, store: LockStore) -> Iterator[Start]:
    """Starts another process."""
    children: list[Child] = []

    def start() -> Child:
        children.append(Child(where))
        return children[-1]

    yield start
    for child in children:
        child.close()


def test_c118_keys_go_round_in_order_of_asking_across_processes(store, start):
    children = [start() for _ in range(3)]
    holder = store.acquire_nowait(writes("h", "k"))
    names = []
    for round_ in range(3):
        for number, child in enumerate(children):
            names.append((child, f"{number}.{round_}"))
            assert child.takes(names[-1][1], "k") == "waits"
    assert waiters(store) == [name for _, name in names]
    store.release(holder)
    fences = [holder.fence]
    for child, name in names:
        fences.append(child.runs(name))
        assert holders(store, "k") == [name]
        child.ends(name)
    assert fences == sorted(set(fences))


def test_statistics_tell_the_process_of_holders_and_waiters(store, start):
    one, two = start(), start()
    one.takes("h", "k")
    two.takes("w", "k")
    state = store.statistics()
    [holder], [wait] = state.keys["k"].holders, state.waits
    assert (holder.pid, holder.process) == (one.pid, "lock_child.py")
    assert (wait.pid, wait.process) == (two.pid, "lock_child.py")
    assert wait.behind == (f"key 'k' held by 'h of process {one.pid} (lock_child.py)'",)


def test_a_killed_holder_frees_its_keys_for_those_who_wait(store, start):
    holder, waiter, later = start(), start(), start()
    assert holder.takes("h", "k", "l") == "runs"
    assert waiter.takes("w", "k") == "waits"
    assert later.takes("l", "k") == "waits"
    holder.kill()
    waiter.runs("w")
    assert waiters(store) == ["l"]
    waiter.ends("w")
    later.runs("l")


def test_a_killed_holder_frees_its_keys_for_who_comes_later(store, start):
    holder = start()
    assert holder.takes("h", "k") == "runs"
    holder.kill()
    assert store.acquire_nowait(writes("a", "k")) is not None


def test_a_killed_holder_is_in_the_statistics_no_more(store, start):
    holder = start()
    assert holder.takes("h", "k") == "runs"
    assert holders(store, "k") == ["h"]
    holder.kill()
    assert holders(store, "k") == []


def test_a_killed_waiter_frees_its_place(store, start):
    waiter, later = start(), start()
    holder = store.acquire_nowait(writes("h", "k"))
    assert waiter.takes("w", "k", "other") == "waits"
    assert later.takes("l", "other") == "waits"
    waiter.kill()
    later.runs("l")
    store.release(holder)


def test_the_whole_tree_of_calls_of_a_killed_process_goes(store, start):
    child, waiter = start(), start()
    assert child.takes("outer", "k") == "runs"
    assert child.takes("inner", "k", inside=("outer",)) == "runs"
    assert child.takes("second", "k", inside=("outer",)) == "waits"
    assert waiter.takes("w", "k") == "waits"
    child.kill()
    waiter.runs("w")
    assert holders(store, "k") == ["w"]


@pytest.mark.parametrize("when", ["die before", "die after"])
@pytest.mark.parametrize("method", ["begin", "append", "commit"])
def test_a_process_that_dies_while_it_gives_back_leaves_the_key_free(store, start, when, method):
    holder, waiter = start(), start()
    assert holder.takes("h", "k") == "runs"
    assert waiter.takes("w", "k") == "waits"
    assert holder.do(when, method) == ["warned"]
    holder.tell("end", "h")
    holder.is_killed()
    waiter.runs("w")
    waiter.ends("w")
    assert not store.statistics().keys


@pytest.mark.parametrize("when", ["die before", "die after"])
@pytest.mark.parametrize("method", ["begin", "append", "commit"])
def test_a_process_that_dies_while_it_asks_is_in_nobodys_way(store, start, when, method):
    dying = start()
    assert dying.takes("first", "other") == "runs"
    assert dying.do(when, method) == ["warned"]
    dying.tell("take", "h", ["k"], [])
    dying.is_killed()
    lease = store.acquire_nowait(writes("a", "k", "other"))
    assert lease is not None
    store.release(lease)


def test_a_stopped_process_keeps_its_keys_and_its_place(store, start):
    holder, waiter, later = start(), start(), start()
    assert holder.takes("h", "k") == "runs"
    assert waiter.takes("w", "k") == "waits"
    assert later.takes("l", "k") == "waits"
    holder.stop()
    waiter.stop()
    assert store.acquire_nowait(writes("a", "k")) is None
    assert holders(store, "k") == ["h"]
    holder.go_on()
    holder.ends("h")
    assert holders(store, "k") == ["w"]
    assert waiters(store) == ["l"]
    waiter.go_on()
    waiter.runs("w")
    waiter.ends("w")
    later.runs("l")


def test_c129_a_circle_of_two_across_processes_fails_its_closer_only(store, start):
    one, two = start(), start()
    assert one.takes("a", "x") == "runs"
    assert two.takes("b", "y") == "runs"
    assert one.takes("a/1", "y", inside=("a",)) == "waits"
    what, name, error, message, _ = two.do("take", "b/1", ["x"], ["b"])
    assert (what, name, error) == ("fails", "b/1", "LockCycleError")
    assert "key 'x'" in message
    assert str(one.pid) in message
    two.ends("b")
    one.runs("a/1")


def test_c130_a_circle_of_three_across_two_processes_fails_its_closer_only(store, start):
    one, two = start(), start()
    assert one.takes("a", "x") == "runs"
    assert two.takes("b", "y") == "runs"
    assert one.takes("c", "z") == "runs"
    assert one.takes("a/1", "y", inside=("a",)) == "waits"
    assert two.takes("b/1", "z", inside=("b",)) == "waits"
    assert one.takes("c/1", "x", inside=("c",)) == "fails"
    one.ends("c")
    two.runs("b/1")
    two.ends("b/1")
    two.ends("b")
    one.runs("a/1")


def test_c119_opposite_orders_of_two_keys_never_deadlock_across_processes(store, start):
    children = [start() for _ in range(4)]
    for number, child in enumerate(children):
        child.tell("cross", *(("x", "y") if number % 2 else ("y", "x")), 250)
    for child in children:
        assert child.hears() == ["crossed"]
    assert not store.statistics().keys


def test_no_addition_of_eight_processes_is_lost(store, start, tmp_path):
    files = [tmp_path / f"number-{number}" for number in range(2)]
    for file in files:
        file.write_text("0")
    children = [start() for _ in range(8)]
    for child in children:
        for file in files:
            child.tell("add", str(file), 25)
    for child in children:
        for _ in files:
            assert child.hears() == ["added"]
    assert [file.read_text() for file in files] == ["200", "200"]
    assert not store.statistics().keys


def test_no_addition_is_lost_though_processes_are_killed_all_the_time(store, start, tmp_path):
    file = tmp_path / "number"
    file.write_text("0")
    steady = [start() for _ in range(2)]
    for child in steady:
        child.tell("add", str(file), 100)
    for _ in range(8):
        victim = start()
        victim.tell("take", "v", [f"file:{file}"], [])
        while victim.hears()[0] == "waits":
            pass
        victim.kill()  # in the middle of holding the key
    for child in steady:
        assert child.hears() == ["added"]
    assert file.read_text() == "200"
    assert not store.statistics().keys


@pytest.mark.anyio
async def test_a_task_here_is_woken_by_another_process(store, start):
    child = start()
    assert child.takes("h", "k") == "runs"
    granted = anyio.Event()

    async def take():
        lease = await store.acquire(writes("here", "k"))
        granted.set()
        store.release(lease)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        assert waiters(store) == ["here"]
        assert not granted.is_set()
        child.ends("h")
        with anyio.fail_after(60):
            await granted.wait()


def test_a_cancelled_waiter_of_another_process_lets_the_next_one_go_on(store, start):
    one, two = start(), start()
    holder = store.acquire_nowait(writes("h", "k"))
    assert one.takes("w", "k", "other") == "waits"
    assert two.takes("l", "other") == "waits"
    assert one.do("cancel", "w") == ["cancelled", "w"]
    two.runs("l")
    store.release(holder)
