"""Several engines on one lock store, turns inside turns, longer leases and resources, at random.

Every body checks, as it begins, that nobody is where it may not be; that is the whole point of
locks, looked at from where it matters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio
from hypothesis import example, given, settings
from hypothesis import strategies as st
from locks import check_empty, check_whole

from toolflow.engine import Engine
from toolflow.locks import MemoryStore
from toolflow.model.keys import keys_meet
from toolflow.model.turn import Call, Turn
from toolflow.policy import load_policy
from toolflow.runtime.toolbox import Toolbox
from toolflow.testing import run_virtual

CAPACITY = 3
HOLDS = ("call", "turn", "run")
POLICY = load_policy(
    {
        "version": 1,
        "limits": {"pool": 4, "resources": {"gpu": CAPACITY}},
        "rules": [
            {"tool": f"use_{units}_{hold}", "safe": True, "hold": hold}
            | ({"uses": {"gpu": units}} if units else {})
            for units in range(CAPACITY + 1)
            for hold in HOLDS
        ],
    }
)


@dataclass
class Work:
    """A call as a program says it: what it touches, and the turns that it runs inside."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    units: int = 0
    hold: str = "call"
    seconds: int = 0
    turns: list[list[Work]] = field(default_factory=list)


KEYS = st.frozensets(st.sampled_from(["a", "b", "d/x", "d/y", "d/**"]), max_size=2)


def works(turns: Any, holds: tuple[str, ...], *, units: int = CAPACITY) -> Any:
    return st.builds(
        Work,
        KEYS,
        KEYS,
        st.integers(0, units),
        st.sampled_from(holds),
        st.integers(0, 3),
        turns,
    )


def turns_of(depth: int, holds: tuple[str, ...]) -> Any:
    turns = st.lists(turns_of(depth - 1, holds), max_size=2) if depth else st.just([])
    return st.lists(works(turns, holds), min_size=1, max_size=3)


class World:
    """Engines that share a store, and what their bodies see of each other.

    A call is known by its path: ``0`` is a run, ``0/c1`` a call of it, ``0/c1/0`` a run inside.
    """

    def __init__(self, engines: int) -> None:
        self.store = MemoryStore()
        self.works: dict[str, Work] = {}
        self.active: set[str] = set()
        self.kept: dict[str, list[str]] = {}  # calls that have ended, by the run that keeps on
        self.statuses: list[str] = []
        self.engines = [
            Engine(self._tools(number), policy=POLICY, locks=self.store)
            for number in range(engines)
        ]

    def _tools(self, number: int) -> Toolbox:
        async def body(path: str) -> None:
            await self._body(self.engines[number], path)

        tools = Toolbox()
        for units in range(CAPACITY + 1):
            for hold in HOLDS:
                tools.tool(
                    name=f"use_{units}_{hold}",
                    reads=lambda path: sorted(self.works[path].reads),
                    writes=lambda path: sorted(self.works[path].writes),
                )(body)
        return tools

    async def run(self, engine: Engine, path: str, works: list[Work]) -> None:
        self.works |= {f"{path}/c{n}": work for n, work in enumerate(works)}
        calls = tuple(
            Call(n, f"c{n}", f"use_{work.units}_{work.hold}", {"path": f"{path}/c{n}"})
            for n, work in enumerate(works)
        )
        result = await engine.run(Turn(path, calls))
        self.kept.pop(path, None)
        for outcome in result.outcomes:
            assert outcome is not None
            self.statuses.append(
                outcome.status if outcome.status != "failed" else str(outcome.error)
            )

    async def _body(self, engine: Engine, path: str) -> None:
        work = self.works[path]
        self._look(path)
        self.active.add(path)
        try:
            for number, works in enumerate(work.turns):
                await self.run(engine, f"{path}/{number}", works)
            await anyio.sleep(work.seconds)
            self._look(path)
        finally:
            self.active.remove(path)
        if work.hold != "call":
            keeps = path.rpartition("/")[0] if work.hold == "turn" else path.partition("/")[0]
            self.kept.setdefault(keeps, []).append(path)

    def _look(self, path: str) -> None:
        mine = self.works[path]
        for other in self.active:
            if other != path and not _inside(path, other) and not _inside(other, path):
                assert not _meet(mine, self.works[other]), f"{path} beside {other}"
        for run, calls in self.kept.items():
            for other in calls:
                if not _inside(path, run):
                    assert not _meet(mine, self.works[other]), f"{path} beside kept {other}"
        leaves = [one for one in self.active if not self.works[one].turns]
        assert sum(self.works[one].units for one in leaves) <= CAPACITY
        node = self.store._table._root.resources.get("gpu")
        assert node is None or node.in_use <= CAPACITY
        check_whole(self.store._table, self.store._table._live())


def _inside(path: str, outer: str) -> bool:
    return path.startswith(f"{outer}/")


def _meet(one: Work, other: Work) -> bool:
    return any(
        keys_meet(mine, theirs)
        for mine in one.reads | one.writes
        for theirs in other.reads | other.writes
        if mine in one.writes or theirs in other.writes
    )


def play(programs: list[list[list[Work]]], backend: Any) -> list[str]:
    """Run programs side by side: each an engine with its turns, one after the other."""
    world = World(len(programs))

    async def one(number: int, turns: list[list[Work]]) -> None:
        for place, works in enumerate(turns):
            await world.run(world.engines[number], f"{number}.{place}", works)

    async def main() -> None:
        with anyio.fail_after(10_000):
            async with anyio.create_task_group() as tasks:
                for number, turns in enumerate(programs):
                    tasks.start_soon(one, number, turns)

    run_virtual(main, backend=backend)
    check_empty(world.store._table)
    return world.statuses


BACKENDS = st.sampled_from(["asyncio", "trio"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(turns_of(0, ("call",)), max_size=2), min_size=2, max_size=3), BACKENDS)
def test_flat_turns_of_several_engines_never_meet_and_all_of_them_end_well(programs, backend):
    assert set(play(programs, backend)) <= {"ok"}


def does(
    *writes: str, units: int = 0, hold: str = "call", turns: tuple[list[Work], ...] = ()
) -> Work:
    return Work(frozenset(), frozenset(writes), units, hold, 0, list(turns))


# Two holders of units wait for each other's, and each of them alone would be no hindrance.
UNITS = [
    [[does(turns=([does(units=1, turns=([does("b")],)), does("b", units=1)],))]],
    [[does(units=3), does("b", turns=([does(units=2)],))]],
]
# A lease that is kept for the run comes to be in the way only when the call around it has ended.
KEPT = [
    [[does("d/**", turns=([does(turns=([does("d/x", hold="run")],))],)), does(units=1)]],
    [[does("d/**", units=3)]],
]


@example(UNITS, "asyncio")
@example(KEPT, "asyncio")
@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(turns_of(2, HOLDS), max_size=2), min_size=2, max_size=3), BACKENDS)
def test_nested_turns_and_longer_leases_never_meet_and_nobody_waits_for_ever(programs, backend):
    assert set(play(programs, backend)) <= {"ok", "lock_cycle"}
