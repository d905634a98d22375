"""Processes that add to counters in shared files, through the workspace tools.

One turn reads a file and writes it again, under a lease of the turn; a hook works out what is
written from what was read, as a model would. `count_together` starts processes, kills some of them
if it is told to, and adds up. They are forked from a process that has loaded all they need, so that
one that was killed is back at once.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import anyio

from toolflow.engine import Engine
from toolflow.locks import Lease, LockRequest, LockStatistics, LockStore, open_store
from toolflow.locks.protocol import OnWait
from toolflow.runtime.hooks import Hooks
from toolflow.tools import workspace

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["counting"])

FILES = 5
POLICY = """\
version: 1
rules:
  - tool: read_file
    writes: ["file:{{ args.path | file_key }}"]
    hold: turn
  - tool: write_file
    safe: false   # so that what it writes is worked out after the file was read
    writes: ["file:{{ args.path | file_key }}"]
    hold: turn
"""


class AddsOne(Hooks):
    """Has ``write_file`` write one more than ``read_file`` has read."""

    def __init__(self) -> None:
        self.read = 0

    def after_call(self, call: Any, outcome: Any, context: Any) -> None:
        if call.tool == "read_file" and outcome.ok:
            self.read = int(outcome.value)

    def before_call(self, call: Any, context: Any) -> Any:
        if call.tool == "write_file":
            return {**call.args, "text": f"{self.read + 1}\n"}
        return None


class Noting:
    """A lock store that notes the numbers of the first lease of each turn as it is granted.

    The second one is taken inside the first, before all who wait.
    """

    def __init__(self, store: LockStore, note: Callable[..., None]) -> None:
        self.store = store
        self.note = note

    def _noted(self, lease: Lease | None) -> Lease | None:
        if lease is not None and lease.request.label == "c0":
            self.note("lease", asked=lease.number, fence=lease.fence, key=lease.request.writes[0])  # type: ignore[attr-defined]  # all our leases are tickets
        return lease

    def acquire_nowait(self, request: LockRequest) -> Lease | None:
        return self._noted(self.store.acquire_nowait(request))

    async def acquire(self, request: LockRequest, *, on_wait: OnWait | None = None) -> Lease:
        lease = self._noted(await self.store.acquire(request, on_wait=on_wait))
        assert lease is not None
        return lease

    def release(self, lease: Lease) -> None:
        self.store.release(lease)

    def hand_over(self, lease: Lease, owner: Hashable) -> None:
        self.store.hand_over(lease, owner)

    def poison(self, lease: Lease) -> None:
        self.store.poison(lease)

    def statistics(self) -> LockStatistics:
        return self.store.statistics()


async def count(store: LockStore, root: Path, log: Path, seed: int, times: int) -> None:
    """Add one to a file drawn by lot, so many times; a line in the log for each that is done."""
    chance = random.Random(seed)
    with log.open("a", encoding="utf-8", buffering=1) as lines:

        def note(kind: str, **facts: Any) -> None:
            lines.write(json.dumps({"kind": kind, **facts}) + "\n")

        noting = Noting(store, note)
        engine = Engine(workspace(root), policy=POLICY, cwd=root, locks=noting, hooks=AddsOne())
        for _ in range(times):
            path = f"counter-{chance.randrange(FILES)}"
            calls = [("read_file", {"path": path}), ("write_file", {"path": path, "text": "?"})]
            message = {
                "calls": [
                    {"id": f"c{number}", "tool": tool, "args": args}
                    for number, (tool, args) in enumerate(calls)
                ]
            }
            result = await engine.run(message)
            assert result.ok, [str(outcome) for outcome in result.outcomes]
            note("done", path=path)


@dataclass
class Counted:
    """What came of it.

    Attributes:
        counters: What stands in the files in the end, added up.
        done: How many increments were reported as done.
        killed: How many processes were killed.
        swapped: Neighbours in the order of grants of a key that asked in the other order.
        leases: How many leases there were.
        seconds: How long all of it took.
    """

    counters: int = 0
    done: int = 0
    killed: int = 0
    swapped: int = 0
    leases: int = 0
    seconds: float = 0.0
    fences: set[int] = field(default_factory=set)


def count_together(
    folder: Path,
    *,
    processes: int,
    times: int,
    kill_every: float | None = None,
    most: int = 10**6,
    seed: int = 0,
) -> Counted:
    """Have processes count side by side, each so many times.

    Args:
        folder: An empty folder.
        processes: How many.
        times: How many increments each makes.
        kill_every: Seconds between two kills, or ``None``; a killed one is started again for what
            it has not reported as done.
        most: How many are killed at most.
        seed: For what is drawn by lot.
    """
    root = counters(folder)
    chance, begun = random.Random(seed), time.monotonic()
    logs = [folder / f"log-{number}" for number in range(processes)]
    sizes: dict[int, int] = {}

    def start(number: int) -> BaseProcess:
        sizes[number] = _size(logs[number])
        left = times - sum(line["kind"] == "done" for line in _lines(logs[number]))
        words = (folder / "locks.db", root, logs[number], chance.randrange(10**9), left)
        process = _FORKS.Process(target=_work, args=words)
        process.start()
        return process

    found = Counted()
    running = dict(enumerate(map(start, range(processes))))
    while running:
        victim = _wait(running, kill_every if found.killed < most else None)
        if victim is None or not running:
            continue
        # One that is still starting up is left alone: else none would ever get anywhere.
        working = [number for number in sorted(running) if _size(logs[number]) > sizes[number]]
        if not working:
            continue
        number = chance.choice(working)
        running[number].kill()
        running[number].join()
        found.killed += 1
        running[number] = start(number)
    found.seconds = time.monotonic() - begun
    return add_up(root, logs, found)


def _work(store: Path, root: Path, log: Path, seed: int, times: int) -> None:
    anyio.run(count, open_store(store), root, log, seed, times)


def _wait(running: dict[int, BaseProcess], limit: float | None) -> bool | None:
    """Wait for the next to end, or for the time to kill one (``True``)."""
    until = None if limit is None else time.monotonic() + limit
    while True:
        for number, process in list(running.items()):
            if process.exitcode is not None:
                assert process.exitcode == 0
                del running[number]
                return None
        if until is not None and time.monotonic() >= until:
            return True
        time.sleep(0.01)


def counters(folder: Path) -> Path:
    """Make the folder of the shared files, each with a 0 in it."""
    root = folder / "root"
    root.mkdir()
    for number in range(FILES):
        (root / f"counter-{number}").write_text("0\n")
    return root


def add_up(root: Path, logs: list[Path], found: Counted | None = None) -> Counted:
    """Add up what stands in the files and in the logs."""
    found = found or Counted()
    # A writer killed between writing and renaming leaves its own file behind, beside the counters.
    found.counters = sum(int(path.read_text()) for path in root.glob("counter-*"))
    lines = [line for log in logs for line in _lines(log)]
    found.done = Counter(line["kind"] for line in lines)["done"]
    by_key: dict[str, list[tuple[int, int]]] = {}
    for line in lines:
        if line["kind"] == "lease":
            by_key.setdefault(line["key"], []).append((line["fence"], line["asked"]))
    for grants in by_key.values():
        asked = [number for _, number in sorted(grants)]
        found.swapped += sum(a > b for a, b in pairwise(asked))
        found.leases += len(grants)
        found.fences |= {fence for fence, _ in grants}
    return found


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    if log.exists():
        for line in log.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:  # it was killed in the middle of a line
                continue
