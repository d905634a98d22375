"""Spec 7.5 in runs: how long leases last, for nested turns and for engines that share a store.

And conformance 127, 129, 146 and 147 where whole runs take part.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from turns import scripted, spans, starts, statuses, turn

import toolflow.locks
from toolflow.engine import Engine
from toolflow.flow import load_flow, run_flow
from toolflow.locks import LockRequest, MemoryStore
from toolflow.runtime.toolbox import Toolbox
from toolflow.testing import ScriptedTools


def rules(**holds: str) -> dict[str, Any]:
    return {
        "version": 1,
        "limits": {"resources": {"gpu": 2}},
        "rules": [
            {"tool": tool, "safe": True, "hold": hold, "writes": ["key:{{ args.key }}"]}
            for tool, hold in holds.items()
        ],
    }


HOLDS = rules(by_call="call", by_turn="turn", by_run="run")


class House:
    """Engines on one store. ``spawn`` runs the turns it is told to, one after the other."""

    def __init__(self, policy: Any = HOLDS) -> None:
        self.store = MemoryStore()
        self.policy = policy
        self.turns: dict[str, list[Any]] = {}
        self.nested: list[Any] = []

    def engine(self, **options: Any) -> tuple[Engine, ScriptedTools]:
        tools = scripted()
        for name in ("by_call", "by_turn", "by_run"):
            tools.add(name)
        options.setdefault("policy", self.policy)
        engine = Engine(tools.toolbox, locks=self.store, **options)

        @tools.toolbox.tool(safe=True)
        async def spawn(name: str) -> list[list[str | None]]:
            found = []
            for calls in self.turns[name]:
                self.nested.append(await engine.run(turn(*calls, ids="uvwxyz")))
                found.append(statuses(self.nested[-1]))
            return found

        return engine, tools

    async def free_at(self, key: str, *, after: float = 0.5) -> float:
        """When somebody who asks after a while gets a key."""
        await anyio.sleep(after)
        async with toolflow.locks.acquire(writes=f"key:{key}", store=self.store):
            return anyio.current_time()


def when_free(run: Any, house: House, start: Any, *keys: str) -> list[float]:
    """Run something, and tell when keys that it takes at once are free for others."""
    found: dict[str, float] = {}

    async def main() -> None:
        begun = anyio.current_time()

        async def ask(key: str) -> None:
            found[key] = await house.free_at(key) - begun

        async with anyio.create_task_group() as tasks:
            for key in keys:
                tasks.start_soon(ask, key)
            await start()

    run(main)
    assert not house.store.statistics().keys
    return [found[key] for key in keys]


def test_a_lease_lasts_as_long_as_its_rule_says(run):
    house = House()
    engine, _ = house.engine()
    message = turn(("by_call", 1, "c"), ("by_turn", 1, "t"), ("by_run", 1, "r"), ("read", 4))
    assert when_free(run, house, partial(engine.run, message), "c", "t", "r") == [1, 4, 4]


def test_in_a_nested_turn_turn_means_that_turn_and_run_means_the_outermost(run):
    house = House()
    house.turns["a"] = [[("by_call", 1, "c"), ("by_turn", 1, "t"), ("by_run", 1, "r"), ("read", 3)]]
    engine, _ = house.engine()
    message = turn("spawn", ("read", 9))
    assert when_free(run, house, partial(engine.run, message), "c", "t", "r") == [1, 3, 9]


def test_what_is_held_for_the_run_is_taken_again_by_all_that_is_inside_of_it(run):
    house = House()
    house.turns["a"] = [[("by_run", 1, "r")], [("by_call", 1, "r"), ("by_turn", 1, "r")]]
    house.turns["b"] = [[("read", 4), "read"], [("by_call", 1, "r")]]
    engine, _ = house.engine()
    message = turn("spawn", "spawn", ("read", 9))
    assert when_free(run, house, partial(engine.run, message), "r") == [9]
    assert [spans(one) for one in house.nested] == [
        [(0, 1)],
        [(0, 1), (1, 2)],
        [(0, 4), (0, 0)],
        [(0, 1)],
    ]


def test_what_a_nested_turn_holds_for_itself_excludes_its_cousins(run):
    house = House()
    house.turns["a"] = [[("by_turn", 1, "k"), ("read", 3)]]
    house.turns["b"] = [[("read", 0.5)], [("by_call", 1, "k")]]
    engine, _ = house.engine()
    result = run(partial(engine.run, turn("spawn", "spawn")))
    assert [spans(one) for one in house.nested] == [[(0, 0.5)], [(0, 1), (0, 3)], [(2.5, 3.5)]]
    assert statuses(result) == ["ok", "ok"]


def test_a_parent_that_holds_a_key_hands_it_on_when_a_child_keeps_it_for_the_run(run):
    house = House(
        rules(by_call="call", by_run="run")
        | {
            "rules": [
                {"tool": "spawn", "safe": True, "writes": ["key:k"]},
                *rules(by_call="call", by_run="run")["rules"],
            ]
        }
    )
    house.turns["a"] = [[("by_run", 1, "k")]]
    engine, _ = house.engine()
    message = turn("spawn", ("read", 9), ("by_call", 1, "k"))
    assert when_free(run, house, partial(engine.run, message), "k") == [9]


def test_of_two_keys_that_are_kept_for_the_run_one_may_be_inside_a_parent_and_one_not(run):
    both = ["key:k", "key:{{ args.key }}"]
    house = House(
        {
            "version": 1,
            "rules": [
                {"tool": "spawn", "safe": True, "writes": ["key:k"]},
                {"tool": "by_run", "safe": True, "writes": both, "hold": "run"},
                {"tool": "by_call", "safe": True, "writes": ["key:{{ args.key }}"]},
            ],
        }
    )
    house.turns["a"] = [[("by_run", 1, "l")], [("read", 4)]]
    house.turns["b"] = [[("read", 2)], [("by_call", 1, "l"), ("by_call", 1, "k")]]
    engine, tools = house.engine()
    tools.toolbox.tool(tools.toolbox.get("spawn").body, name="around", safe=True, writes=[])
    result = run(partial(engine.run, turn("spawn", "around")))
    assert statuses(result) == ["ok", "ok"]
    assert [outcome.value for outcome in result.outcomes] == [[["ok"]] * 2, [["ok"], ["ok"] * 2]]
    # The other parent's key is free for its cousins at once, the one that it holds at its end.
    assert spans(house.nested[-1]) == [(0, 1), (3, 4)]


def test_a_task_that_outlives_the_run_around_it_keeps_nothing_for_it(run):
    house = House()
    engine, tools = house.engine()

    async def main() -> None:
        async with anyio.create_task_group() as tasks:

            async def late() -> None:
                await anyio.sleep(3)
                assert (await engine.run(turn(("by_run", 1, "k")))).ok

            @tools.toolbox.tool(safe=True)
            async def leaves(name: str) -> None:
                tasks.start_soon(late)

            await engine.run(turn("leaves"))
        assert not house.store.statistics().keys

    run(main)


def test_engines_that_share_a_store_keep_out_of_each_others_leases(run):
    house = House()

    async def main() -> None:
        results: dict[str, Any] = {}

        async def one(name: str, *calls: Any) -> None:
            engine, _ = house.engine()
            results[name] = await engine.run(turn(*calls))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "holds", ("by_turn", 1, "k"), ("read", 5))
            await anyio.sleep(0.5)
            tasks.start_soon(one, "waits", ("by_call", 1, "k"), ("by_call", 1, "free"))
            tasks.start_soon(one, "holds too", ("by_run", 1, "other"), ("read", 2))
        assert spans(results["holds"]) == [(0, 1), (0, 5)]
        assert spans(results["waits"]) == [(4.5, 5.5), (0, 1)]
        assert spans(results["holds too"]) == [(0, 1), (0, 2)]
        assert not house.store.statistics().keys

    run(main)


@pytest.mark.parametrize("hold", ["by_turn", "by_run"])
def test_c129_two_runs_that_hold_keys_and_want_each_others_end_the_closer_fails(run, hold):
    house = House()

    async def main() -> None:
        results: dict[str, Any] = {}

        async def one(name: str, delay: float, first: str, second: str) -> None:
            await anyio.sleep(delay)
            engine, _ = house.engine()
            calls = [(hold, 1, first), ("write", 1), ("by_call", 1, second)]
            results[name] = await engine.run(turn(*calls))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "first", 0, "x", "y")
            tasks.start_soon(one, "closer", 0.5, "y", "x")
        assert statuses(results["first"]) == ["ok", "ok", "ok"]
        assert statuses(results["closer"]) == ["ok", "ok", "lock_cycle"]
        assert "key 'key:x'" in str(results["closer"].outcomes[2].error)
        assert spans(results["first"])[2] == (2.5, 3.5)
        assert not house.store.statistics().keys

    run(main)


def test_a_paused_run_gives_back_what_it_holds_for_the_run(run):
    house = House()
    engine, tools = house.engine()

    @tools.toolbox.tool(safe=True)
    async def asks(name: str, ctx: Any) -> Any:
        return ctx.interrupt("which?")

    message = turn(("by_run", 1, "k"), "write", "asks")
    result = run(partial(engine.run, message))
    assert result.status == "paused"
    assert not house.store.statistics().keys


def test_b047_a_lease_of_a_turn_whose_holder_never_stops_fails_others_and_mends(run):
    house = House()

    async def main() -> None:
        engine, tools = house.engine(
            policy={
                "version": 1,
                "rules": [
                    {
                        "tool": "hangs",
                        "safe": True,
                        "writes": ["key:k"],
                        "timeout": 1,
                        "hold": "run",
                    },
                    *HOLDS["rules"],
                ],
            },
            grace=2.0,
        )
        other, _ = house.engine()

        @tools.toolbox.tool()
        async def hangs(name: str) -> None:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(10)

        results: dict[str, Any] = {}

        async def later(at: float, name: str) -> None:
            await anyio.sleep(at)
            results[name] = await other.run(turn(("by_call", 1, "k"), ("by_call", 1, "l")))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later, 0.5, "waited")
            tasks.start_soon(later, 5, "came later")
            tasks.start_soon(later, 12, "after its end")
            results["hangs"] = await engine.run(turn("hangs"))
        assert statuses(results["hangs"]) == ["timed_out"]
        for name in ("waited", "came later"):
            assert statuses(results[name]) == ["held", "ok"]
            assert "never stopped" in str(results[name].outcomes[0].error)
        assert results["waited"].times[0].settled == 2.5
        assert statuses(results["after its end"]) == ["ok", "ok"]

    run(main)


GPU = {
    "version": 1,
    "limits": {"pool": 8, "resources": {"gpu": 3}},
    "rules": [
        {"tool": "one", "safe": True, "uses": {"gpu": 1}},
        {"tool": "two", "safe": True, "uses": {"gpu": 2}},
        {"tool": "three", "safe": True, "uses": {"gpu": 3}},
        {"tool": "parent", "safe": True, "uses": {"gpu": 2}},
    ],
}


def gpu_engine(store: MemoryStore, used: list[int], children: list[Any]) -> Engine:
    tools = Toolbox()
    now = [0]
    engine = Engine(tools, policy=GPU, locks=store)

    def unit(count: int) -> Any:
        async def body(name: str, seconds: float = 1) -> None:
            now[0] += count
            used.append(now[0])
            await anyio.sleep(seconds)
            now[0] -= count

        return body

    async def parent(name: str) -> list[Any]:
        result = await engine.run(turn(*children, ids="uvwxyz"))
        return [starts(result), statuses(result)]

    tools.tool(unit(1), name="one")
    tools.tool(unit(2), name="two")
    tools.tool(unit(3), name="three")
    tools.tool(parent)
    tools.tool(unit(0), name="free", safe=True)
    return engine


def test_c146_nested_calls_share_out_what_their_parent_holds_and_take_the_rest_outside(run):
    used: list[int] = []
    engine = gpu_engine(MemoryStore(), used, ["one", "one", "one", "three"])
    result = run(partial(engine.run, turn("parent", ("one", 1))))
    # The parent's two units go round; the last one takes both of them, and one from outside.
    assert result.outcomes[0].value == [[0, 0, 1, 2], ["ok"] * 4]
    assert max(used) == 3


def test_c146_parents_that_use_up_a_resource_do_not_keep_their_children_from_it(run):
    store, used = MemoryStore(), []
    engine = gpu_engine(store, used, ["two", "one"])
    result = run(partial(engine.run, turn("parent", "one", "parent")))
    assert statuses(result) == ["ok", "ok", "ok"]
    assert [outcome.value[1] for outcome in result.outcomes if outcome.value] == [["ok", "ok"]] * 2
    assert max(used) <= 3
    assert not store.statistics().resources


def test_c147_who_waits_for_units_holds_back_nobody_who_needs_none_in_any_engine(run):
    store, used = MemoryStore(), []

    async def main() -> None:
        engines = [gpu_engine(store, used, []) for _ in range(2)]
        holder = store.acquire_nowait(LockRequest("h", uses={"gpu": 3}, capacities={"gpu": 3}))
        results: list[Any] = []

        async def one(engine: Engine) -> None:
            results.append(await engine.run(turn("two", "free", "one", "free")))

        async with anyio.create_task_group() as tasks:
            for engine in engines:
                tasks.start_soon(one, engine)
            await anyio.sleep(5)
            store.release(holder)
        for result in results:
            assert starts(result)[1::2] == [0, 0]
            assert min(starts(result)[::2]) >= 5

    run(main)


FLOW = """\
version: 1
name: lease
policy:
  version: 1
  rules:
    - {tool: take, safe: true, writes: ["key:k"], hold: run}
    - {tool: rest, safe: true}
tools: {python: ["lease_tools:tools"]}
stages:
  - id: one
    calls: [{tool: take, args: {name: a}}]
  - id: two
    calls: [{tool: take, args: {name: b}}, {tool: rest}]
"""
TOOLS = """\
import anyio, toolflow
tools = toolflow.Toolbox()
log = []

@tools.tool
async def take(name: str) -> None:
    log.append(name)

@tools.tool
async def rest() -> None:
    await anyio.sleep(3)
"""


def test_a_flow_keeps_what_its_stages_hold_for_the_run_to_its_end(run, tmp_path: Path):
    (tmp_path / "lease_tools.py").write_text(TOOLS)
    (tmp_path / "flow.yaml").write_text(FLOW)
    flow, house = load_flow(tmp_path / "flow.yaml"), House()
    results: list[Any] = []

    async def start() -> None:
        results.append(await run_flow(flow, out=tmp_path, locks=house.store))

    async def asks_early() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start)

    assert when_free(run, house, asks_early, "k") == [3]
    assert results[0].ok
