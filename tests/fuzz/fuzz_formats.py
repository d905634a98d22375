"""Spoiled files and messages: ``python tests/fuzz/fuzz_formats.py [--inputs N] [--seconds S]``.

Every input goes through all that reads other people's files: documents, messages, streams, logs,
imports; what is read is written again. Only errors of ours may come, in plain lines, and nothing
may take longer than ``--bound`` seconds of processor time. A fault is told with its number, and
``--only NUMBER`` runs it again. The short form is a test beside this file.
"""

from __future__ import annotations

import heapq
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from feeding import Fault, feed
from fuzzing import HangError, batches, bounded, hangs_found, options
from spoiling import Seed, corpus, seeds, spoiled

BOUND = 20.0


def run(sources: list[Seed], first: int, count: int, *, bound: float = BOUND) -> Result:
    """Feed inputs.

    Args:
        sources: What is spoiled.
        first: The number of the first input.
        count: How many inputs.
        bound: Seconds of processor time that one input may take.

    Returns:
        What came of them.
    """
    result = Result()

    with hangs_found(), tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        for number in range(first, first + count):
            given = spoiled(sources, number)
            begin = time.process_time()
            try:
                with bounded(bound):
                    result.told += feed(given, Path(folder), number)
            except HangError:
                result.faults.append(f"{number} ({given.how}): more than {bound:g} s")
            except Fault as fault:
                result.faults.append(f"{number} ({given.how}): {fault}")
            seconds = time.process_time() - begin
            result.took(seconds, f"input {number}, {len(given.data)} bytes, {given.how}")
    return result


class Result:
    """What came of many inputs.

    Attributes:
        inputs: How many there were.
        told: How often each way of reading read or refused.
        faults: What must not be, with numbers.
        slowest: The slowest inputs, as seconds and words.
    """

    def __init__(self) -> None:
        self.inputs = 0
        self.seconds = 0.0
        self.told = Counter[str]()
        self.faults: list[str] = []
        self.slowest: list[tuple[float, str]] = []

    def took(self, seconds: float, what: str) -> None:
        self.inputs += 1
        self.seconds += seconds
        keep = heapq.heappush if len(self.slowest) < 5 else heapq.heappushpop
        keep(self.slowest, (seconds, what))

    def add(self, other: Result) -> None:
        self.inputs += other.inputs
        self.seconds += other.seconds
        self.told += other.told
        self.faults += other.faults
        self.slowest = heapq.nlargest(5, [*self.slowest, *other.slowest])


def main() -> int:
    """Print what came of them; the exit code is 1 if there was a fault."""
    given = options(__doc__, bound=BOUND)
    sources = seeds(corpus())
    if given.only is not None:
        return _one(sources, given.only)
    total = Result()
    for first, count in batches(given, 1000):
        found = run(sources, first, count, bound=given.bound)
        total.add(found)
        for fault in found.faults:  # at once: all of it takes long
            print(f"FAULT {fault}", file=sys.stderr, flush=True)
        if sys.stderr.isatty() or total.inputs % 20_000 == 0:
            mark = "\r" if sys.stderr.isatty() else "\n"
            print(f"{total.inputs} inputs, {len(total.faults)} faults", end=mark, file=sys.stderr)
    _print(total, len(sources))
    return 1 if total.faults else 0


def _print(total: Result, sources: int) -> None:
    print(f"{total.inputs} inputs of {sources} files, {len(total.faults)} faults")
    mean = 1000 * total.seconds / max(1, total.inputs)
    print(f"{total.seconds:.0f} s of processor time, {mean:.2f} ms an input; the slowest:")
    for seconds, what in sorted(total.slowest, reverse=True):
        print(f"  {seconds:.3f} s  {what}")
    for way, count in sorted(total.told.items()):
        print(f"  {way}: {count}")
    for fault in total.faults[:50]:
        print(f"FAULT {fault}")


def _one(sources: list[Seed], number: int) -> int:
    one = spoiled(sources, number)
    print(f"input {number}: {one.how}, {len(one.data)} bytes, {one.suffix!r}")
    sys.stdout.write(one.data[:4000].decode("utf-8", "backslashreplace") + "\n")
    with tempfile.TemporaryDirectory(prefix="fuzz") as folder:
        try:
            print(dict(feed(one, Path(folder), number)))
        except Fault:
            traceback.print_exc()
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
