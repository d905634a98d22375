"""The long form of what locks must stand: ``python tests/benchmarks/show_locks.py [WHAT ...]``.

``git``: five agents commit to one repository, 50 times, with and without a lease of the turn.
``orders``: keys in opposite orders, 10,000 times. ``circles``: nested calls in circles of two and
three, and how long until the closer fails; ``processes``: the same across processes.
``counters``: 8 processes, 1,000 increments each on 5 shared files through the workspace tools;
``killed``: the same while one of them is killed every second. The short forms are tests.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio

sys.path.append(str(Path(__file__).parents[1] / "support"))

from circle_process import circle_of_processes  # what the tests share
from counting import count_together  # what the tests share
from git_turns import AGENTS, repository, share_repository
from lock_shows import Circle, opposite_orders


def git() -> None:
    """Five agents, ten turns each, per way to hold the key."""
    for hold in ("turn", "call"):
        with tempfile.TemporaryDirectory() as folder:
            repo = repository(Path(folder) / "repo")
            found = anyio.run(partial(share_repository, repo, hold, 10))
        print(
            f"git, hold: {hold}: {found['own']} of {10 * AGENTS} commits hold exactly their own "
            f"file, {found['other']} hold others, {found['failed']} turns could not commit"
        )


def orders() -> None:
    """Two tasks, the keys (a, b) and (b, a)."""
    begun = time.perf_counter()
    held = anyio.run(opposite_orders, 10_000)
    assert held == sorted(held)
    print(f"orders: {len(held)} leases without a deadlock, {time.perf_counter() - begun:.2f} s")


def circles() -> None:
    """Circles of nested calls in one process."""
    for parties in (2, 3):
        spent: list[float] = []

        async def main(parties: int = parties, spent: list[float] = spent) -> None:
            circle = Circle(parties)
            statuses = await circle.run()
            assert sorted(statuses) == ["lock_cycle", *["ok"] * (parties - 1)]
            spent += circle.failed_after

        for _ in range(200):
            anyio.run(main)
        print(
            f"circle of {parties}, 200 times: the closer fails after "
            f"{statistics.median(spent) * 1e3:.2f} ms, at most {max(spent) * 1e3:.2f} ms"
        )


def processes() -> None:
    """Circles of nested calls, each call in a process of its own."""
    for parties in (2, 3):
        spent: list[float] = []
        for _ in range(10):
            with tempfile.TemporaryDirectory() as folder:
                answers = circle_of_processes(Path(folder) / "locks.db", parties)
            statuses = sorted(answer["status"] for answer in answers)
            assert statuses == ["lock_cycle", *["ok"] * (parties - 1)]
            spent.append(max(answer["failed_after"] for answer in answers))
        print(
            f"circle of {parties} processes, {len(spent)} times: the closer fails after "
            f"{statistics.median(spent) * 1e3:.1f} ms, at most {max(spent) * 1e3:.1f} ms"
        )


def counters(kill_every: float | None = None) -> None:
    """Eight processes and five files."""
    with tempfile.TemporaryDirectory() as folder:
        found = count_together(Path(folder), processes=8, times=1_000, kill_every=kill_every)
    print(
        f"counters: {found.done} increments reported, {found.counters} in the files, "
        f"{found.killed} processes killed, {found.swapped} of {found.leases} grants out of the "
        f"order of asking, {found.seconds:.0f} s"
    )
    assert found.done <= found.counters <= found.done + found.killed


def main() -> None:
    """Show what was asked for, by default all of it."""
    shows: dict[str, Callable[[], None]] = {
        "git": git,
        "orders": orders,
        "circles": circles,
        "processes": processes,
        "counters": counters,
        "killed": partial(counters, 1.0),
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", metavar="WHAT", help=", ".join(shows))
    for name in parser.parse_args().what or shows:
        shows[name]()


if __name__ == "__main__":
    main()
