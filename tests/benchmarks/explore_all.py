"""The long form of the model check: every order of facts of every small turn.

    python tests/benchmarks/explore_all.py --calls 4                # all turns of core kinds
    python tests/benchmarks/explore_all.py --calls 6 --sample --seconds 600
    python tests/benchmarks/explore_all.py --calls 2 --kinds all --rough
    python tests/benchmarks/explore_all.py --calls 2 --resumed

Without ``--sample`` it goes through all turns of 1 up to ``--calls`` calls with pools of 1, 2 and
3, with and without hooks, with and without an approver; ``--rough`` lets each run be interrupted
and aborted at any moment, lets hooks deny and fail, and keys be granted late; ``--resumed`` lets
the process die, and runs go on with other hooks, approver, pool and stop points. ``--sample``
draws turns of exactly ``--calls`` calls, all kinds mixed, until the time is over. It prints how
many turns, states and facts it saw, and stops at the first rule that does not hold.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product
from multiprocessing import Pool
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from small_turns import CORE, KINDS, sampled_options, small_turn, turns_of

from toolflow.recording.explore import explore

RESUMED = {"halts": 1, "crashes": 1, "otherwise": True}
ROUGH = {"halts": 1, "aborts": 1, "denials": True, "refusals": True, "late_grants": True}
Counts = dict[int, list[int]]
Job = tuple[tuple[str, ...], dict[str, Any], int]


def all_jobs(
    calls: int, kinds: tuple[str, ...], *, more: dict[str, Any], limit: int
) -> Iterator[Job]:
    options = {"late_grants": False, **more}
    for length in range(1, calls + 1):
        for turn in turns_of(kinds, length):
            for pool, hooks, approver in product((1, 2, 3), (False, True), (False, True)):
                if pool <= max(length, 1):  # a wider pool makes no difference
                    here = {"pool": pool, "hooks": hooks, "approver": approver, **options}
                    yield turn, here, limit


def sampled_jobs(calls: int, kinds: tuple[str, ...], *, seed: int, limit: int) -> Iterator[Job]:
    chance = random.Random(seed)
    while True:
        turn = tuple(chance.choices(kinds, k=calls))
        yield turn, sampled_options(chance, calls), limit


def run(job: Job) -> tuple[int, int, int, bool, str]:
    kinds, options, limit = job
    plan, possible = small_turn(kinds, **options)
    found = explore(plan, possible=possible, limit=limit)
    wrong = f"{kinds} {options}\n  {found.violation}" if found.violation else ""
    return len(kinds), found.states, found.transitions, not found.complete, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=4)
    parser.add_argument("--kinds", choices=("core", "all"), default=None)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--rough", action="store_true")
    parser.add_argument("--resumed", action="store_true")
    parser.add_argument("--seconds", type=float, default=None, help="stop after this time")
    parser.add_argument("--limit", type=int, default=200_000, help="states of one turn at the most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    kinds = tuple(KINDS) if (given.kinds or ("all" if given.sample else "core")) == "all" else CORE
    end = None if given.seconds is None else time.monotonic() + given.seconds
    if given.sample:
        jobs = partial(sampled_jobs, given.calls, kinds, seed=given.seed, limit=given.limit)
    else:
        more = {**(ROUGH if given.rough else {}), **(RESUMED if given.resumed else {})}
        jobs = partial(all_jobs, given.calls, kinds, more=more, limit=given.limit)
    share = partial(work, jobs, given.jobs, end)
    begun = time.monotonic()
    with Pool(given.jobs) as pool:
        return tell(pool.map(share, range(given.jobs)), time.monotonic() - begun)


def work(
    jobs: Callable[[], Iterator[Job]], processes: int, end: float | None, number: int
) -> tuple[Counts, str]:
    """One process's share of the jobs."""
    counts: Counts = {}
    for job in islice(jobs(), number, None, processes):
        if end is not None and time.monotonic() > end:
            break
        length, *values, problem = run(job)
        count = counts.setdefault(length, [0, 0, 0, 0])
        for place, value in enumerate((1, *values)):
            count[place] += int(value)
        if problem:
            return counts, problem
    return counts, ""


def tell(shares: list[tuple[Counts, str]], seconds: float) -> int:
    counts: Counts = {}
    for share, _ in shares:
        for length, values in share.items():
            before = counts.get(length, [0] * len(values))
            counts[length] = [a + b for a, b in zip(before, values, strict=True)]
    counts_all = [sum(column) for column in zip(*counts.values(), strict=True)]
    print(f"{'calls':>5} {'runs':>10} {'states':>13} {'facts':>13} {'cut short':>10}")
    for name, count in [*sorted(counts.items()), ("all", counts_all)]:
        runs, states, facts, short = count
        print(f"{name:>5} {runs:>10,} {states:>13,} {facts:>13,} {short:>10,}")
    print(f"{seconds:.0f} s")
    wrong = [problem for _, problem in shares if problem]
    print("\n".join(wrong) if wrong else "Every rule holds in every state.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
