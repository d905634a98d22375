"""``kill -9`` at every write of a journal: ``python tests/benchmarks/show_killed_runs.py``.

A run of twelve calls, with reads, writes, a question and an interrupt, is a process of its own,
which is killed before, in the middle of, or after one write of its journal; then this process opens
the journal and goes on to the end. No finished call may run again, none may be lost, and those of
which nobody knows how they ended must ask. Writes are counted, not timed. The short form is
``tests/functional/test_killed_processes.py``.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from killed_runs import Stage, killed_and_gone_on

from toolflow.testing import run_virtual

STAGES: tuple[Stage, ...] = ("first", "second")


def main() -> None:
    """Print a line for each stage and way."""
    begun, total = time.monotonic(), 0
    for stage in STAGES:
        for dies in ("before", "during", "after"):
            killed = 0
            for number in itertools.count(1):
                with tempfile.TemporaryDirectory() as folder:
                    run = partial(run_virtual)
                    if not killed_and_gone_on(run, Path(folder), number, dies, "killed", stage):
                        break
                killed += 1
            total += killed
            what = "begins" if stage == "first" else "goes on after the pause"
            print(f"the process that {what}, killed {dies} a write: each of {killed} writes")
    print(f"{total} kills, nothing lost, nothing run again; {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
