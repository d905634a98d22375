"""The lock store of one machine: ``python tests/benchmarks/bench_file_store.py [--quick]``.

What a lease costs where nobody else wants the key, how fast others are woken when it is given back
or its holder is killed, how fast a circle across two processes is found, what waiting costs, and
what eight processes get done that edit five files through the tools of the workspace; with
``--kill`` one of them is killed and started again every second. Times are wall clock times, since
waiting for other processes is what is measured; on a machine that has other things to do they grow.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from lock_processes import Child  # noqa: E402  # found by the line above

import toolflow  # noqa: E402  # as above
from toolflow.locks import FileStore, LockRequest, open_store  # noqa: E402  # as above

PROCESSES, FILES = 8, 5


def writes(owner: object, *keys: str, inside: tuple[str, ...] = ()) -> LockRequest:
    return LockRequest(owner, writes=keys, ancestors=inside)


def spread(name: str, seconds: list[float]) -> None:
    """Print the middle and the slow end of some times."""
    seconds.sort()
    middle, slow = statistics.median(seconds), seconds[len(seconds) * 99 // 100]
    print(f"{name:<52} median {middle * 1e3:8.3f} ms   99 % {slow * 1e3:8.3f} ms")


def uncontended(folder: Path, times: int) -> None:
    """Take and give back a key that nobody else wants."""
    with FileStore(folder / "one.db") as store:

        async def main() -> list[float]:
            found = []
            for _ in range(times):
                begin = time.perf_counter()
                store.release(await store.acquire(writes("a", "k")))
                found.append(time.perf_counter() - begin)
            return found

        cpu = time.process_time()
        spread("acquire and release, nobody else", asyncio.run(main()))
        cpu = (time.process_time() - cpu) / times
        print(f"{'  of it processor time':<52} mean   {cpu * 1e3:8.3f} ms")


def wake_up(folder: Path, times: int) -> None:
    """From the release in this process to the grant in another one."""
    where = folder / "wake.db"
    child = Child(str(where))
    found = []
    with FileStore(where) as store:
        for _ in range(times):
            lease = store.acquire_nowait(writes("h", "k"))
            assert child.takes("w", "k") == "waits"
            begin = time.monotonic()
            store.release(lease)
            child.runs("w")
            found.append(child.at - begin)
            child.ends("w")
    child.close()
    spread("from the release to the grant in another process", found)


def after_a_kill(folder: Path, times: int) -> None:
    """From the kill of a holder to the grant in another process."""
    where = folder / "kill.db"
    waiter, found = Child(str(where)), []
    for _ in range(times):
        holder = Child(str(where))
        assert holder.takes("h", "k") == "runs"
        assert waiter.takes("w", "k") == "waits"
        begin = time.monotonic()
        holder.process.kill()
        waiter.runs("w")
        found.append(waiter.at - begin)
        waiter.ends("w")
        holder.close()
    waiter.close()
    spread("from the kill of the holder to the grant", found)


def circles(folder: Path, times: int) -> None:
    """How long the closer of a circle waits for its error, with two and three parties."""
    where = folder / "circle.db"
    one, two = Child(str(where)), Child(str(where))
    found: dict[int, list[float]] = {2: [], 3: []}
    for _ in range(times):
        assert (one.takes("a", "x"), two.takes("b", "y")) == ("runs", "runs")
        assert one.takes("a/1", "y", inside=("a",)) == "waits"
        found[2].append(two.do("take", "b/1", ["x"], ["b"])[4])
        two.ends("b")
        one.runs("a/1")
        for name in ("a/1", "a"):
            one.ends(name)
        assert (one.takes("a", "x"), two.takes("b", "y")) == ("runs", "runs")
        assert one.takes("c", "z") == "runs"
        assert one.takes("a/1", "y", inside=("a",)) == "waits"
        assert two.takes("b/1", "z", inside=("b",)) == "waits"
        found[3].append(one.do("take", "c/1", ["x"], ["c"])[4])
        one.ends("c")
        two.runs("b/1")
        for name in ("b/1", "b"):
            two.ends(name)
        one.runs("a/1")
        for name in ("a/1", "a"):
            one.ends(name)
    one.close()
    two.close()
    for parties, seconds in found.items():
        spread(f"to the error of who closes a circle of {parties}", seconds)


def waiting(folder: Path, seconds: float) -> None:
    """Processor time of 100 waiting tasks, while nobody and while somebody uses other keys."""
    where = folder / "wait.db"
    with FileStore(where) as store:
        lease = store.acquire_nowait(writes("h", "k"))
        child = Child(str(where))
        for number in range(100):
            assert child.takes(f"w{number}", "k") == "waits"
        for what, use in (("nobody does anything", False), ("others use other keys", True)):
            [_, before] = child.do("cpu")
            begin, count = time.monotonic(), 0
            while time.monotonic() < begin + seconds:
                if use:
                    store.release(store.acquire_nowait(writes("o", f"other {count % 7}")))
                    count += 1
                else:
                    time.sleep(seconds)
            [_, after] = child.do("cpu")
            share = (after - before) / (time.monotonic() - begin)
            print(f"{f'100 waiting tasks, while {what}':<52} processor {share:8.3%}")
        store.release(lease)
        child.close()


def hammering(folder: Path, times: int) -> None:
    """Eight processes that take and give back one of five keys, in a row."""
    where = folder / "hammer.db"
    children = [Child(str(where)) for _ in range(PROCESSES)]
    begin = time.monotonic()
    for number, child in enumerate(children):
        child.tell("cross", f"k{number % FILES}", f"k{(number + 1) % FILES}", times)
    for child in children:
        assert child.hears() == ["crossed"]
    taken = time.monotonic() - begin
    for child in children:
        child.close()
    rate = PROCESSES * times / taken
    print(f"{'8 processes, two of five keys at once':<52} {rate:8.0f} leases a second")


# ---- editing files through the tools of the workspace ----

_POLICY = "version: 1\n"


async def edit(folder: Path, name: str, times: int) -> None:
    """Add lines to the files, one edit each, and tell of every edit that is done."""
    store = open_store(folder / "edit.db")
    tools = toolflow.workspace(folder / "files", commands=False)
    engine = toolflow.Engine(tools, policy=_POLICY, cwd=folder / "files", locks=store)
    for number in range(times):
        line = f"{name}.{number}"
        args = {"path": f"{number % FILES}.txt", "old": "END", "new": f"{line}\nEND"}
        result = await engine.run({"calls": [{"id": "c", "tool": "edit_file", "args": args}]})
        assert result.ok, result.outcomes
        sys.stdout.write(f"{number % FILES} {line}\n")
        sys.stdout.flush()


def editor(folder: Path, name: str, times: int, told: Path) -> subprocess.Popen[bytes]:
    with told.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, __file__, "--edit", str(folder), name, str(times)],
            stdout=file,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )


def editing(folder: Path, times: int, *, kill: bool) -> None:
    """Eight processes edit five files; tells whether any edit was lost."""
    (folder / "files").mkdir()
    for number in range(FILES):
        (folder / "files" / f"{number}.txt").write_text("END\n")
    told = [folder / f"told-{number}" for number in range(PROCESSES)]
    begin, kills = time.monotonic(), 0
    running: dict[int, Any] = {n: editor(folder, f"p{n}", times, told[n]) for n in range(PROCESSES)}
    while running:
        time.sleep(1.0 if kill else 0.05)
        for number, process in list(running.items()):
            if process.poll() is not None:
                assert process.returncode == 0, process.returncode
                del running[number]
        if kill and running and time.monotonic() - begin < 20:
            number = sorted(running)[kills % len(running)]
            running[number].kill()
            running[number].wait()
            kills += 1
            running[number] = editor(folder, f"p{number}.again{kills}", times, told[number])
    taken = time.monotonic() - begin
    lost, doubled, found = 0, 0, 0
    done = [line.split() for path in told for line in path.read_text().splitlines()]
    for number in range(FILES):
        lines = Counter((folder / "files" / f"{number}.txt").read_text().splitlines())
        assert lines["END"] == 1
        found += lines.total() - 1
        expected = {line for file, line in done if file == str(number)}
        lost += len(expected - lines.keys())
        doubled += sum(count > 1 for count in lines.values())
    name = f"8 processes edit 5 files{f', {kills} of them killed' if kill else ''}"
    print(
        f"{name:<52} {found} edits, {lost} lost, {doubled} doubled, "
        f"{found - len(done)} done but not told of, {found / taken:.0f} a second"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--kill", action="store_true", help="only the edits, with kills")
    parser.add_argument("--edit", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.edit:
        folder, name, times = options.edit
        asyncio.run(edit(Path(folder), name, int(times)))
        return
    few = 10 if options.quick else 1
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if not options.kill:
            uncontended(folder, 5_000 // few)
            wake_up(folder, 500 // few)
            after_a_kill(folder, 30 // few)
            circles(folder, 100 // few)
            waiting(folder, 5 / few)
            hammering(folder, 1_000 // few)
        editing(folder, 1_000 // few, kill=options.kill)


if __name__ == "__main__":
    main()
