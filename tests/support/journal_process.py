"""A process that runs the turn of `journals` and ends at one write of its journal: see `main`."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

from journals import World, go_on, run_until_death

from toolflow.testing import DiskFaults, run_virtual


def exits() -> None:
    """End at once, without any clearing up."""
    os._exit(77)


def killed() -> None:
    """What ``kill -9`` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Run: the journal, the number of the write, before, during or after, exits or killed, stage.

    The first stage begins the run, the second goes on with one that paused.

    What bodies do is written, a line each, to the file beside the journal that ends in ``did``.
    """
    path, number, dies, how = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    faults = DiskFaults(dies_at=number, dies=dies, dying={"exits": exits, "killed": killed}[how])  # type: ignore[arg-type]  # one of the three
    world = World(faults=faults)
    with path.with_suffix(".did").open("a", buffering=1) as did:
        world.told = lambda name: print(name, file=did)
        if sys.argv[5] == "first":
            run_until_death(partial(run_virtual), world, path, "batch")
        else:
            go_on(partial(run_virtual), world, path, faults=faults)


if __name__ == "__main__":
    main()
