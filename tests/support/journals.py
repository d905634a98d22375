"""Processes that die while they write a journal, and those that take over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from toolflow import Context, Engine, Toolbox
from toolflow.errors import InternalError, JournalError
from toolflow.locks import MemoryStore
from toolflow.policy import load_policy
from toolflow.recording.journal import Durability, open_journal, read_journal
from toolflow.recording.result import RunResult
from toolflow.runtime.transcript import Transcript
from toolflow.testing import DiskFaults, ProcessDied

Runner = Callable[..., Any]
TEXT = """\
version: 1
limits: {pool: 3}
rules:
  - {tool: read, safe: true, idempotent: true, reads: ["file:{{ args.path }}"]}
  - {tool: look, safe: true, idempotent: true}
  - {tool: write, safe: true, writes: ["file:{{ args.path }}"]}
  - {tool: mail, safe: true}
  - {tool: post, safe: true}
  - {tool: publish, ask: "Publish?", safe: true}
  - {tool: colour, safe: true, idempotent: true}
"""
POLICY = load_policy(TEXT)
CALLS = (
    ("read", "a.txt"),
    ("look", "b.txt"),
    ("write", "a.txt"),
    ("read", "a.txt"),
    ("mail", "ann"),
    ("build", "all"),
    ("look", "c.txt"),
    ("publish", "site"),
    ("colour", "sky"),
    ("mail", "bob"),
    ("build", "docs"),
    ("read", "z.txt"),
)
IDEMPOTENT = frozenset({"read", "look", "colour"})
MESSAGE = {
    "role": "assistant",
    "content": [
        {"type": "tool_use", "id": f"c{number:02}", "name": tool, "input": {"path": path}}
        for number, (tool, path) in enumerate(CALLS, start=1)
    ],
}
# Most of its calls end with their first step; others wait in between.
BURST = {
    "calls": [
        {"id": f"c{n:03}", "tool": "mail" if n % 40 > 36 else "post", "args": {"path": f"p{n}"}}
        for n in range(1, 80)
    ]
}
TOOL_OF = {f"c{number:02}": tool for number, (tool, _) in enumerate(CALLS, start=1)}


@dataclass
class World:
    """What the bodies did, in all processes.

    Attributes:
        did: Which calls took effect, in order.
        faults: The disk of the process that runs now; once it is dead, bodies do nothing.
        told: Called with every call that takes effect.
        message: The turn that it runs.
    """

    did: list[str] = field(default_factory=list)
    faults: DiskFaults = field(default_factory=DiskFaults)
    told: Callable[[str], object] = str
    message: Mapping[str, Any] = field(default_factory=lambda: MESSAGE)

    def engine(self, **options: Any) -> Engine:
        """A process's engine: tools that note their calls, and locks of its own."""
        tools = Toolbox()
        for name in ("read", "look", "write", "mail", "publish", "build"):

            async def body(path: str, ctx: Context) -> str:
                self.take_effect(ctx.name)
                await anyio.sleep(int(ctx.name[1:]) % 4)
                return f"{ctx.tool} {path}"

            tools.tool(body, name=name)

        @tools.tool
        async def post(path: str, ctx: Context) -> str:
            self.take_effect(ctx.name)
            return f"posted {path}"

        @tools.tool
        async def colour(path: str, ctx: Context) -> str:
            self.take_effect(ctx.name)
            return f"{path} is {ctx.interrupt('Which colour?')}"

        return Engine(
            tools, **{"policy": POLICY, "locks": MemoryStore(), "cwd": "/repo", **options}
        )

    def take_effect(self, name: str) -> None:
        """A body does what it is for."""
        if self.faults.dead:
            raise ProcessDied
        self.did.append(name)
        self.told(name)

    @property
    def counts(self) -> Counter[str]:
        """How often each call took effect."""
        return Counter(self.did)


def run_until_death(
    run: Runner, world: World, path: Path, durability: Durability = "none"
) -> RunResult | None:
    """Run the turn with a journal, to its pause or to its process's death.

    Returns:
        The result; ``None`` where the process died.
    """
    try:
        journal = open_journal(path, durability=durability, make_disk=world.faults.open)
    except ProcessDied:
        return None
    try:
        return run(partial(world.engine().run, world.message, journal=journal))
    except (ProcessDied, InternalError, BaseExceptionGroup):
        assert world.faults.dead
        return None
    finally:
        journal.abandon()


def go_on(
    run: Runner,
    world: World,
    path: Path,
    *,
    repeat: bool = True,
    faults: DiskFaults | None = None,
    transcript: Transcript | None = None,
) -> RunResult | None:
    """Go on in one process after the other, until the turn is done, or one dies."""
    for _ in range(10):
        world.faults = faults if faults is not None else DiskFaults()
        turns = read_journal(path).turns if path.exists() else ()
        waiting = [turn for turn in turns if turn.unfinished]
        engine = world.engine()
        try:
            journal = open_journal(path, make_disk=world.faults.open)
        except ProcessDied:
            return None
        try:
            if not waiting:
                go = partial(engine.run, world.message)
            else:
                point = waiting[-1].repair().checkpoint
                answers = {q.call: answer_to(q.kind, repeat=repeat) for q in point.questions}
                go = partial(engine.resume, point, answers)
            result = run(partial(go, journal=journal, transcript=transcript))
        except (ProcessDied, InternalError, BaseExceptionGroup):
            assert world.faults.dead
            return None
        finally:
            journal.abandon()
        if result.status != "paused":
            return result
    raise AssertionError("it never ends")


def answer_to(kind: str, *, repeat: bool) -> Any:
    """What the person says to a question."""
    return {"interrupt": "blue", "approval": True, "repeat": repeat}[kind]


def written(path: Path) -> Mapping[str, str]:
    """The status of every call whose outcome is in the journal, by name."""
    if not path.exists():
        return {}
    try:
        turns = read_journal(path).turns
    except JournalError:
        return {}
    return {
        call.name: outcome.status
        for turn in turns
        for call, outcome in zip(turn.plan.calls, turn.outcomes, strict=True)
        if outcome is not None
    }


def entered(path: Path) -> set[str]:
    """Calls that the journal says may have been entered, and of which it tells no end."""
    turns = [turn for turn in read_journal(path).turns if turn.unfinished] if path.exists() else []
    return {name for turn in turns for name in turn.repair().unknown}
