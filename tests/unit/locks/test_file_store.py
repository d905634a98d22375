"""The lock store in a file: what happens when something is wrong with the file or a process."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from lock_processes import Child
from lock_stores import Calls, holders, writes

import toolflow
from toolflow.errors import LockLostError, LockStoreError, RunError
from toolflow.locks import FileStore, LockRequest
from toolflow.locks.database import Database
from toolflow.locks.life import names

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks.db"


@pytest.fixture
def store(path: Path) -> Iterator[FileStore]:
    with FileStore(path) as store:
        yield store


@pytest.fixture
def other(path: Path, store: FileStore) -> Iterator[FileStore]:
    with FileStore(path) as other:
        yield other


@contextmanager
def no_room() -> Iterator[None]:
    """No file of this process can grow, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def is_one_line(error: Exception, path: Path) -> bool:
    return (
        isinstance(error, RunError) and str(error).startswith(str(path)) and "\n" not in str(error)
    )


# ---- a disk that is full, a file that may not be written to ----


def test_where_nothing_can_be_written_no_key_is_taken(store, other, path):
    assert store.acquire_nowait(writes("a", "k"))
    with no_room(), pytest.raises(LockStoreError) as caught:
        store.acquire_nowait(writes("b", "l"))
    assert is_one_line(caught.value, path)
    assert list(other.statistics().keys) == ["k"]
    assert other.acquire_nowait(writes("c", "l"))
    assert store.acquire_nowait(writes("d", "m"))


async def test_what_could_not_be_given_back_is_given_back_once_there_is_room(store, other):
    holder = store.acquire_nowait(writes("h", "k"))
    async with anyio.create_task_group() as tasks:
        calls = Calls([other], tasks)
        await calls.start(writes("w", "k"))
        with no_room():
            store.release(holder)
            assert holders(other, "k") == ["h"]
        await calls["w"].runs()  # nobody else does anything
        assert holders(store, "k") == ["w"]
        await calls.end("w")


def test_what_is_owed_goes_with_the_next_request(store, other):
    holder = store.acquire_nowait(writes("h", "k"))
    with no_room():
        store.release(holder)
        store.release(holder)
    assert store.acquire_nowait(writes("a", "k"))
    assert holders(other, "k") == ["a"]


def test_a_full_database_is_an_error_in_one_line(store, path):
    database = store._counter.open().database
    database._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(LockStoreError, match="no room is left to write to it") as caught:
        store.acquire_nowait(writes("a", "k" * 100_000))
    assert is_one_line(caught.value, path)


def test_a_file_that_may_not_be_written_to_can_be_read(store, other, path):
    assert store.acquire_nowait(writes("a", "k"))
    other._counter.open().database._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(LockStoreError, match="may not be written to") as caught:
        other.acquire_nowait(writes("b", "l"))
    assert is_one_line(caught.value, path)
    assert holders(other, "k") == ["a"]


def test_a_database_that_is_locked_is_an_error_after_a_while(path):
    with FileStore(path, patience=0.01) as store:
        busy = sqlite3.connect(path, isolation_level=None)
        busy.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockStoreError, match=r"another process has been writing for 0\.01 s"):
            store.acquire_nowait(writes("a", "k"))
        busy.execute("ROLLBACK")
        busy.close()
        assert store.acquire_nowait(writes("a", "k"))


# ---- a file that was removed, replaced or spoilt ----


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    path.with_name("copy").replace(path)


def remove_log(path: Path) -> None:
    path.with_name(path.name + "-wal").unlink()


def remove_all(path: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink()


@pytest.mark.parametrize("harm", [remove, replace, remove_log, remove_all])
async def test_a_file_that_is_another_one_is_never_used_by_two_at_once(store, other, path, harm):
    holder = store.acquire_nowait(writes("h", "k"))
    failed = []

    async def take():
        try:
            await other.acquire(writes("w", "k"))
        except LockStoreError as error:
            failed.append(error)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        harm(path)
        store.release(holder)  # sees it, and wakes everybody
    with pytest.raises(LockStoreError) as caught:
        store.acquire_nowait(writes("a", "l"))
    for error in (caught.value, *failed):
        assert is_one_line(error, path)
        assert "was removed or replaced" in str(error)
    assert failed
    with pytest.raises(LockStoreError, match="a process still uses"):
        FileStore(path).acquire_nowait(writes("b", "k"))
    store.close()
    other.close()
    with FileStore(path) as new:
        assert new.acquire_nowait(writes("b", "k")).fence > holder.fence


@pytest.mark.parametrize(
    "row",
    [
        (1, 0, 0.0, "nonsense", "1"),
        (1, 0, 0.0, "ask", "{"),
        (1, 0, 0.0, "ask", "[1]"),
        (1, 0, 0.0, "join", '["pid", "", "", "", 0]'),
        (1, 0, 0.0, "state", '{"fence": 0, "members": [], "tickets": []}'),
        (3, 0, 0.0, "end", "1"),
        (1, 0, "when", "end", "1"),
        (1, "who", 0.0, "end", "1"),
    ],
    ids=str,
)
def test_a_line_that_is_none_is_an_error_in_one_line(store, path, row):
    with sqlite3.connect(path) as spoils:
        spoils.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?)", row)
    spoils.close()
    with pytest.raises(LockStoreError, match="no usable lock store") as caught:
        store.acquire_nowait(writes("a", "k"))
    assert is_one_line(caught.value, path)
    with pytest.raises(LockStoreError, match="no usable lock store"):
        store.statistics()


ASKED = '[1, [], [], ["k"], {}, {}, "a", true]'


def with_ticket(members: str, under: int) -> str:
    ticket = f'[1, 1, {ASKED}, 1, 1, false, 0, null, [[[{under}, "k", false]], [], []]]'
    return f'{{"fence": 1, "members": {members}, "tickets": [{ticket}]}}'


@pytest.mark.parametrize(
    "state",
    [
        "[]",
        "{}",
        '{"fence": 1, "members": []}',
        '{"fence": -1, "members": [], "tickets": []}',
        '{"fence": 1, "members": [[1]], "tickets": []}',
        with_ticket("[]", 0),
        with_ticket('[[1, 1, "", "", ""]]', 7),
    ],
)
def test_a_state_that_is_none_is_an_error_in_one_line(store, path, state):
    with sqlite3.connect(path) as spoils:
        spoils.execute("UPDATE log SET body = ? WHERE seq = 0", (state,))
    spoils.close()
    with pytest.raises(LockStoreError, match="no usable lock store") as caught:
        store.statistics()
    assert is_one_line(caught.value, path)


def test_what_is_no_database_is_an_error_in_one_line(path):
    path.write_bytes(b"not a database, but long enough to be taken for one" * 100)
    with pytest.raises(LockStoreError, match="not a database") as caught:
        FileStore(path)
    assert is_one_line(caught.value, path)
    assert path.read_bytes().startswith(b"not a database")


def test_a_database_of_something_else_is_left_alone(path):
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE theirs (x)")
    theirs.close()
    with pytest.raises(LockStoreError, match="a database of something else"):
        FileStore(path)


def test_a_file_of_another_format_is_refused(path):
    FileStore(path).close()
    with sqlite3.connect(path) as later:
        later.execute("PRAGMA user_version = 7")
    later.close()
    with pytest.raises(LockStoreError, match="has format 7"):
        FileStore(path)


@pytest.mark.parametrize("where", ["missing/locks.db", "."])
def test_where_no_file_can_be_is_an_error(tmp_path, where):
    with pytest.raises(LockStoreError):
        FileStore(tmp_path / where)


def test_the_file_is_for_its_owner_only(store, path):
    assert store.acquire_nowait(writes("a", "k"))
    assert path.stat().st_mode & 0o777 == 0o600
    folder = path.with_name("locks.db-live")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(pipe.stat().st_mode & 0o777 == 0o600 for pipe in folder.iterdir())


async def test_a_run_ends_with_every_call_answered_though_its_lock_file_is_gone(store, path):
    tools = toolflow.Toolbox()
    ran = []

    @tools.tool(safe=True, writes=lambda key: [key])
    async def touch(key: str) -> None:
        ran.append(key)
        if key == "a":
            remove(path)

    engine = toolflow.Engine(tools, locks=store, pool=1)
    calls = [{"id": key, "tool": "touch", "args": {"key": key}} for key in ("a", "b", "c")]
    result = await engine.run({"calls": calls})
    assert ran == ["a"]
    assert [outcome.status for outcome in result.outcomes] == ["ok", "failed", "failed"]
    assert "was removed or replaced" in result.outcomes[1].error


# ---- processes that end, or seem to ----


def test_nothing_but_the_file_is_left_of_a_store_that_was_closed(path):
    with FileStore(path) as store:
        assert store.acquire_nowait(writes("a", "k"))
    assert names(path.with_name("locks.db-live")) == set()
    assert {one.name for one in path.parent.iterdir()} == {"locks.db", "locks.db-live"}


def test_a_process_with_the_number_of_one_that_ended_is_not_taken_for_it(store, other):
    # Both have the number of this process; only one of them has ended.
    assert store.acquire_nowait(writes("a", "k"))
    store._counter.open().life.abandon()
    assert other.acquire_nowait(writes("b", "k"))


async def test_a_process_that_was_taken_for_dead_learns_that_it_lost_its_keys(store, other):
    held = store.acquire_nowait(writes("a", "k"))
    async with anyio.create_task_group() as tasks:
        blocker = other.acquire_nowait(writes("b", "l"))
        calls = Calls([store], tasks)
        await calls.start(writes("w", "l"))
        other._counter.open().write(("gone", store._counter.open().me))
        assert holders(other, "k") == []
        assert store.statistics()
        assert isinstance(await calls["w"].fails(), LockLostError)
        store.release(held)
        assert store.acquire_nowait(writes("c", "k"))  # takes part again, under another number
        assert holders(other, "k") == ["c"]
        other.release(blocker)


async def test_a_life_file_that_was_removed_makes_nobody_dead(store, other, path):
    lease = store.acquire_nowait(writes("h", "k"))
    for pipe in path.with_name("locks.db-live").glob("*.life"):
        pipe.unlink()
    with pytest.raises(LockStoreError, match="End that process"):
        other.acquire_nowait(writes("a", "k"))
    with pytest.raises(LockStoreError, match="End that process"):
        await other.acquire(writes("w", "k"))
    assert holders(store, "k") == ["h"]
    store.release(lease)
    assert other.acquire_nowait(writes("a", "k"))


def test_a_removed_life_file_of_a_process_that_has_ended_is_in_nobodys_way(store, path):
    child = Child(str(path))
    assert child.takes("h", "k") == "runs"
    child.kill()
    for pipe in path.with_name("locks.db-live").glob("*.life"):
        pipe.unlink()
    assert store.acquire_nowait(writes("a", "k"))
    child.close()


def test_an_interrupt_just_after_a_line_was_written_leaves_nothing_behind(
    store, other, monkeypatch
):
    commit = Database.commit

    def interrupted(database: Database) -> None:
        commit(database)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(Database, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.acquire_nowait(writes("first", "j"))  # when it joins, too
    assert store.acquire_nowait(writes("a", "j"))
    monkeypatch.setattr(Database, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.acquire_nowait(writes("b", "k"))
    lease = store.acquire_nowait(writes("c", "l"))
    assert list(other.statistics().keys) == ["j", "l"]
    monkeypatch.setattr(Database, "commit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.release(lease)
    assert list(other.statistics().keys) == ["j"]
    assert list(store.statistics().keys) == ["j"]


@pytest.mark.skipif(sys.platform == "darwin", reason="system libraries there do not survive fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # that is what is tested
def test_a_forked_child_holds_nothing_of_its_parents_and_takes_part_itself(store, path):
    lease = store.acquire_nowait(writes("h", "k"))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            store.release(lease)
            held = store.acquire_nowait(writes("c", "k")) is None
            free = store.acquire_nowait(writes("c", "l"))
            code = 0 if held and free.fence > lease.fence else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert holders(store, "k") == ["h"]
    assert store.acquire_nowait(writes("a", "l"))  # the child has ended with its key
    with sqlite3.connect(path) as reads:
        kinds = [kind for (kind,) in reads.execute("SELECT kind FROM log ORDER BY seq")]
    reads.close()
    assert kinds.count("join") == 2


@pytest.mark.skipif(sys.platform == "darwin", reason="system libraries there do not survive fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # that is what is tested
def test_a_killed_parent_is_dead_though_a_forked_child_lives_on(path, store):
    ready, go = os.pipe(), os.pipe()
    parent = os.fork()
    if parent == 0:
        with FileStore(path) as own:
            own.acquire_nowait(writes("h", "k"))
            if os.fork() == 0:
                os.write(ready[1], b"!")
                os.read(go[0], 1)
                os._exit(0)
            os.read(go[0], 1)
    try:
        os.read(ready[0], 1)
        assert holders(store, "k") == ["h"]
        os.kill(parent, 9)
        os.waitpid(parent, 0)
        assert store.acquire_nowait(writes("a", "k"))
    finally:
        os.write(go[1], b"!!")
        for fd in (*ready, *go):
            os.close(fd)


# ---- closing ----


async def test_closing_gives_everything_back_and_fails_who_waits(store, other):
    held = store.acquire_nowait(writes("a", "k"))
    blocker = other.acquire_nowait(writes("b", "l"))
    failed = []

    async def take():
        try:
            await store.acquire(writes("w", "l"))
        except LockStoreError as error:
            failed.append(str(error))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take)
        await anyio.wait_all_tasks_blocked()
        store.close()
    assert failed == [f"{store.path}: the lock store was closed."]
    assert other.acquire_nowait(writes("c", "k"))
    store.release(held)
    store.hand_over(held, "turn")
    store.poison(held)
    store.close()
    assert holders(other, "k") == ["c"]
    with pytest.raises(LockStoreError, match="was closed"):
        store.acquire_nowait(writes("a", "k"))
    with pytest.raises(LockStoreError, match="was closed"):
        store.statistics()
    other.release(blocker)


# ---- the log ----


def lines(path: Path) -> int:
    with sqlite3.connect(path) as reads:
        [count] = reads.execute("SELECT count(*) FROM log").fetchone()
    reads.close()
    return count


def test_the_log_stays_short_and_leases_live_through_its_shortening(path):
    with FileStore(path, lines=20) as store, FileStore(path, lines=20) as other:
        kept = store.acquire_nowait(writes("kept", "x"))
        behind = other.acquire_nowait(writes("a", "y"))
        for _ in range(100):
            other.release(other.acquire_nowait(writes("b", "k")))
        assert lines(path) < 30
        assert holders(store, "x") == ["kept"]
        assert other.acquire_nowait(writes("c", "x")) is None
        store.release(kept)
        assert other.acquire_nowait(writes("c", "x"))
        other.release(behind)


def test_a_new_process_reads_a_log_of_any_age(path):
    with FileStore(path, lines=10) as store:
        leases = [store.acquire_nowait(writes(n, f"k{n}")) for n in range(50)]
        for lease in leases[::2]:
            store.release(lease)
        with FileStore(path) as late:
            assert late.statistics().keys.keys() == {f"k{n}" for n in range(1, 50, 2)}


def test_leases_grow_on_though_the_file_is_removed(path):
    with FileStore(path) as store:
        before = store.acquire_nowait(writes("a", "k")).fence
    path.unlink()
    with FileStore(path) as store:
        assert store.acquire_nowait(writes("a", "k")).fence > before


def test_a_key_that_is_no_text_is_refused(store):
    with pytest.raises(Exception, match="5 is no key"):
        store.acquire_nowait(LockRequest("a", writes=(5,)))
    assert not store.statistics().keys


def test_the_log_holds_keys_as_they_are_asked_for(store, path):
    store.acquire_nowait(writes("a", "file:/x"))
    with sqlite3.connect(path) as reads:
        [body] = reads.execute("SELECT body FROM log WHERE kind = 'ask'").fetchone()
    reads.close()
    assert json.loads(body)[3] == ["file:/x"]
