"""Five agents that share one git repository: who commits what, under which policy."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from toolflow.engine import Engine
from toolflow.formats import read_turn
from toolflow.locks import LockStore, MemoryStore
from toolflow.model.event import Event
from toolflow.tools import workspace

AGENTS = 5
POLICY = """\
version: 1
rules:
  - {{tool: meet, safe: true, writes: []}}
  - tool: git
    writes: ["git:{{{{ cwd }}}}"]
    hold: {hold}
"""


class Meeting:
    """Lets turns go on once each of them either is here or waits for a key.

    So whoever can stand between the ``add`` and the ``commit`` of another one does, and nothing is
    left to luck. Who waits is told by the events of the runs.
    """

    def __init__(self) -> None:
        self.alive: set[str] = set()
        self.waiting: set[str] = set()
        self.here: dict[str, anyio.Event] = {}

    def seen(self, event: Event) -> None:
        """Take note of an event of a run."""
        if event.kind == "call_queued":
            self.waiting.add(event.turn)
        elif event.kind == "call_started":
            self.waiting.discard(event.turn)
        self._look()

    async def meet(self, turn: str) -> None:
        """Wait for the others."""
        event = self.here[turn] = anyio.Event()
        self._look()
        await event.wait()

    def gone(self, turn: str) -> None:
        """A turn is over."""
        self.alive.discard(turn)
        self._look()

    def _look(self) -> None:
        if self.here and self.here.keys() | self.waiting >= self.alive:
            for event in self.here.values():
                event.set()
            self.here.clear()


def repository(folder: Path) -> Path:
    """A new repository."""
    folder.mkdir()
    for words in (
        ["init", "-q"],
        ["config", "user.name", "Tester"],
        ["config", "user.email", "tester@example.com"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def engine_of(repo: Path, hold: str, meeting: Meeting, locks: LockStore) -> Engine:
    """An engine with the workspace tools, ``git`` as a tool, and ``meet``."""
    tools = workspace(repo, commands=False)

    @tools.tool
    async def git(words: list[str]) -> str:
        ended = await anyio.run_process(["git", *words], cwd=repo, check=False)
        if ended.returncode:
            raise RuntimeError((ended.stdout + ended.stderr).decode().strip())
        return ended.stdout.decode()

    @tools.tool
    async def meet(turn: str) -> None:
        await meeting.meet(turn)

    return Engine(tools, policy=POLICY.format(hold=hold), cwd=repo, locks=locks)


def message(name: str) -> dict[str, Any]:
    """A turn that writes a file, adds it and commits it."""
    calls = [
        ("write_file", {"path": name, "text": name}),
        ("git", {"words": ["add", name]}),
        ("meet", {"turn": name}),
        ("git", {"words": ["commit", "-q", "-m", name]}),
    ]
    return {"calls": [{"id": f"c{n}", "tool": t, "args": a} for n, (t, a) in enumerate(calls)]}


async def share_repository(repo: Path, hold: str, rounds: int) -> Counter[str]:
    """Have all agents commit a file of their own, so many times.

    Args:
        repo: The repository.
        hold: How long the key of the repository is held: ``call`` or ``turn``.
        rounds: How many turns each agent has.

    Returns:
        How many commits hold exactly their ``own`` file, how many hold others as well (or
        ``other``), and how many turns could not commit (``failed``).
    """
    meeting, locks = Meeting(), MemoryStore()
    failed = 0

    async def turn(agent: int, number: int) -> None:
        nonlocal failed
        name = f"agent-{agent}-{number}.txt"
        engine = engine_of(repo, hold, meeting, locks)
        planned = engine.plan(read_turn(message(name), turn_id=name))
        result = await engine.run(planned, on_event=meeting.seen)
        meeting.gone(name)
        failed += not result.ok

    for number in range(rounds):
        meeting.alive = {f"agent-{agent}-{number}.txt" for agent in range(AGENTS)}
        async with anyio.create_task_group() as tasks:
            for agent in range(AGENTS):
                tasks.start_soon(turn, agent, number)
    found = Counter("own" if files == [subject] else "other" for subject, files in commits(repo))
    found["failed"] = failed
    return found


def commits(repo: Path) -> Sequence[tuple[str, list[str]]]:
    """Every commit: its subject, and the files that it touches."""
    words = ["git", "log", "--name-only", "--format=%x00%s"]
    text = subprocess.run(words, cwd=repo, check=True, capture_output=True, text=True).stdout
    found = [part.split("\n") for part in text.split("\0")[1:]]
    return [(lines[0], [line for line in lines[1:] if line]) for lines in found]
