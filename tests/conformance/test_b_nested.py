"""Conformance B 27: a nested turn has a pool of its own; and what it takes over (spec 6.11)."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest
from turns import scripted, spans, starts, statuses, turn

import toolflow.locks
from toolflow.engine import Engine
from toolflow.locks import MemoryStore
from toolflow.model.turn import Turn
from toolflow.testing import EventRecorder, ScriptedTools


class Nest:
    """An engine with ``spawn``, a safe tool that runs children of its own in a nested turn."""

    def __init__(self, **options: Any) -> None:
        self.tools: ScriptedTools = scripted()
        self.results: dict[str, Any] = {}
        self.children: dict[str, tuple[Any, ...]] = {}
        self.inner_options: dict[str, Any] = {}
        self.tools.toolbox.tool(name="spawn", safe=True)(self.spawn)
        self.tools.toolbox.tool(name="spawn_alone")(self.spawn)
        self.tools.toolbox.tool(name="spawn_keyed", safe=True, writes=lambda key: [f"key:{key}"])(
            self.spawn_keyed
        )
        options.setdefault("locks", MemoryStore())
        self.engine = Engine(self.tools.toolbox, **options)

    async def spawn(self, name: str) -> list[str]:
        ids = [f"{name}{n}" for n in range(1, 1 + len(self.children[name]))]
        inner = turn(*self.children[name], ids=ids)
        self.results[name] = await self.engine.run(inner, **self.inner_options)
        return [outcome.status for outcome in self.results[name].outcomes]

    async def spawn_keyed(self, name: str, key: str) -> list[str]:
        return await self.spawn(name)


@pytest.mark.parametrize("pool", [1, 2, 3])
def test_c027_calls_that_wait_for_nested_calls_never_use_up_the_slots(run, pool):
    nest = Nest(pool=pool)
    nest.children = dict.fromkeys("abc", (("read", 1), ("read", 1)))
    result = run(partial(nest.engine.run, turn("spawn", "spawn", "spawn")))
    assert [outcome.value for outcome in result.outcomes] == [["ok", "ok"]] * 3


def test_c027_the_bound_holds_for_each_run_by_itself(run):
    nest = Nest(pool=2)
    nest.children = {"a": (("read", 3),) * 4, "b": (("read", 3),) * 4, "c": (("read", 3),) * 4}
    result = run(partial(nest.engine.run, turn("spawn", "spawn", "spawn")))
    assert starts(result) == [0, 0, 6]
    for nested in nest.results.values():
        assert starts(nested) == [0, 0, 3, 3]
    assert nest.tools.most == 4


def test_c027_a_parent_keeps_its_slot_while_its_children_run(run):
    nest = Nest(pool=1)
    nest.children = {"a": (("read", 2), ("read", 2))}
    result = run(partial(nest.engine.run, turn("spawn", ("read", 1))))
    assert spans(result) == [(0, 4), (4, 5)]


def test_c027_three_levels_deep_with_one_slot_each(run):
    nest = Nest(pool=1)
    nest.children = {"a": ("spawn",), "a1": ("spawn",), "a11": (("read", 1), ("read", 1))}
    recorder = EventRecorder()
    result = run(partial(nest.engine.run, turn("spawn"), on_event=recorder))
    assert statuses(result) == ["ok"]
    assert spans(result) == [(0, 2)]
    started = [(e.source, e.call) for e in recorder.events if e.kind == "call_started"]
    assert started == [
        ("main", "a"),
        ("a", "a/a1"),
        ("a/a1", "a/a1/a11"),
        ("a/a1/a11", "a/a1/a11/a111"),
        ("a/a1/a11", "a/a1/a11/a112"),
    ]


def test_c027_an_exclusive_parent_may_run_children(run):
    nest = Nest()
    nest.children = {"b": (("read", 1), ("write", 1), ("read", 1))}
    result = run(partial(nest.engine.run, turn(("read", 1), "spawn_alone", ("read", 1))))
    assert spans(result) == [(0, 1), (1, 4), (4, 5)]
    assert starts(nest.results["b"]) == [0, 1, 2]


def test_c027_an_exclusive_child_is_alone_in_its_own_turn_only(run):
    nest = Nest()
    nest.children = {"a": (("write", 2),), "b": (("write", 2),)}
    result = run(partial(nest.engine.run, turn("spawn", "spawn", ("read", 2))))
    assert spans(result) == [(0, 2), (0, 2), (0, 2)]


@pytest.mark.parametrize("deep", [False, True])
def test_c027_a_nested_call_takes_the_key_of_its_ancestor_again(run, deep):
    nest = Nest()
    nest.children = {"a": ("spawn",) if deep else (("edit", 1, "k"), ("edit", 1, "k"))}
    nest.children["a1"] = (("edit", 1, "k"), ("edit", 1, "k"))
    result = run(partial(nest.engine.run, turn(("spawn_keyed", "k"), ("edit", 1, "k"))))
    assert statuses(result) == ["ok", "ok"]
    assert spans(result) == [(0, 2), (2, 3)]  # the sibling waits for the parent
    inner = nest.results["a1" if deep else "a"]
    assert spans(inner) == [(0, 1), (1, 2)]  # nested siblings exclude each other all the same


def test_c027_code_in_a_tool_takes_the_key_of_its_call_again(run):
    tools, store = scripted(), MemoryStore()

    @tools.toolbox.tool(safe=True, writes=["key:k"])
    async def careful(name: str) -> str:
        async with toolflow.locks.acquire(writes=["key:k"], store=store, timeout=5):
            await anyio.sleep(1)
        return "done"

    engine = Engine(tools.toolbox, locks=store)
    result = run(partial(engine.run, turn("careful", ("edit", 1, "k"))))
    assert statuses(result) == ["ok", "ok"]
    assert spans(result) == [(0, 1), (1, 2)]


def test_c027_a_run_inside_a_hold_takes_its_keys_again(run):
    async def main():
        store = MemoryStore()
        engine = Engine(scripted().toolbox, locks=store)
        async with toolflow.locks.acquire(writes=["key:k"], store=store):
            result = await engine.run(turn(("edit", 1, "k"), ("edit", 1, "k")), timeout=9)
        assert spans(result) == [(0, 1), (1, 2)]

    run(main)


def test_c027_a_task_that_outlives_its_call_waits_like_any_other(run):
    """Its nested call meets the key that its former parent's sibling holds by now."""

    async def main():
        tools, store = scripted(), MemoryStore()
        async with anyio.create_task_group() as tasks:

            @tools.toolbox.tool(safe=True, writes=["key:k"])
            async def leaves_a_task(name: str) -> None:
                tasks.start_soon(later)
                await anyio.sleep(1)

            late: list[Any] = []

            async def later() -> None:
                await anyio.sleep(2)
                late.append(await engine.run(turn(("edit", 1, "k"), ids="z"), on_event=recorder))

            recorder = EventRecorder()
            engine = Engine(tools.toolbox, locks=store)
            result = await engine.run(turn("leaves_a_task", ("edit", 4, "k")))
        assert spans(result) == [(0, 1), (1, 5)]
        assert spans(late[0]) == [(3, 4)]  # it asked at 2 and got the key at 5
        assert {event.source for event in recorder.events} == {"main"}

    run(main)


def test_c027_a_task_that_outlives_its_call_does_not_share_what_is_held_for_the_turn(run):
    rules = {
        "version": 1,
        "rules": [{"tool": "leaves_a_task", "safe": True, "writes": ["key:k"], "hold": "turn"}],
    }

    async def main():
        tools, store = scripted(), MemoryStore()
        late: list[float] = []
        begun = anyio.current_time()
        async with anyio.create_task_group() as tasks:

            @tools.toolbox.tool
            async def leaves_a_task(name: str) -> None:
                tasks.start_soon(later)
                tasks.start_soon(later_by_itself)

            async def later() -> None:
                await anyio.sleep(1)
                await engine.run(turn(("edit", "k"), ids="z"))
                late.append(anyio.current_time() - begun)

            async def later_by_itself() -> None:
                await anyio.sleep(1)
                async with toolflow.locks.acquire(writes=["key:k"], store=store):
                    late.append(anyio.current_time() - begun)

            engine = Engine(tools.toolbox, locks=store, policy=rules)
            await engine.run(turn("leaves_a_task", ("read", 5)))
        assert late == [5, 5]

    run(main)


def test_c027_observers_of_the_run_see_the_events_of_nested_turns_with_their_source(run):
    nest = Nest()
    nest.children = {"a": (("read", 1), ("read", 2))}
    outer, inner = EventRecorder(), EventRecorder()
    nest.inner_options = {"on_event": inner}
    run(partial(nest.engine.run, turn("spawn", ("read", 1)), on_event=outer))
    nested = [event for event in outer.events if event.source == "a"]
    assert nested == inner.events
    assert [event.seq for event in nested] == list(range(len(nested)))
    assert {event.call for event in nested} == {None, "a/a1", "a/a2"}
    own = [event for event in outer.events if event.source == "main"]
    assert [event.seq for event in own] == list(range(len(own)))
    assert {event.run for event in nested} != {event.run for event in own}


def test_c027_a_function_in_a_thread_may_run_a_nested_turn(run):
    tools = scripted()

    @tools.toolbox.tool(safe=True, writes=["key:k"])
    def blocking(name: str) -> list[str]:
        inner = engine.run_sync(turn(("edit", "k"), "read", ids=["x", "y"]))
        return [outcome.status for outcome in inner.outcomes]

    engine = Engine(tools.toolbox, locks=MemoryStore())
    recorder = EventRecorder()
    result = run(partial(engine.run, turn("blocking"), on_event=recorder))
    assert result.outcomes[0].value == ["ok", "ok"]
    kinds = recorder.kinds("call_started", "call_settled")
    assert kinds[0] == ("call_started", "a")
    assert kinds[-1] == ("call_settled", "a")
    assert ("call_started", "a/x") in kinds


def test_c027_questions_of_nested_calls_go_to_the_approver_of_the_run(run):
    asked: list[str] = []

    def approver(question):
        asked.append(question.call)
        return question.call != "a/a2"

    rules = {"version": 1, "rules": [{"tool": "read", "ask": "Sure?"}]}
    nest = Nest(policy=rules)
    nest.children = {"a": ("read", "read", "edit")}
    nest.children["a"] = ("read", "read", ("edit", "k"))
    result = run(partial(nest.engine.run, turn("spawn"), approver=approver))
    assert result.outcomes[0].value == ["ok", "declined", "ok"]
    assert sorted(asked) == ["a/a1", "a/a2"]


def test_c027_a_nested_call_that_must_be_asked_for_is_declined_where_nobody_is_there(run):
    rules = {"version": 1, "rules": [{"tool": "read", "ask": "Sure?"}]}
    nest = Nest(policy=rules)
    nest.children = {"a": ("read",)}
    result = run(partial(nest.engine.run, turn("spawn")))
    assert (result.status, result.outcomes[0].value) == ("done", ["declined"])


def test_c027_the_failure_of_a_nested_call_is_its_own(run):
    nest = Nest()
    nest.children = {"a": (("read", {"raises": "broken"}), ("read", 1))}
    result = run(partial(nest.engine.run, turn("spawn", ("read", 1))))
    assert statuses(result) == ["ok", "ok"]
    assert result.outcomes[0].value == ["failed", "ok"]


def test_c027_resources_of_an_ancestor_are_taken_again(run):
    policy = {
        "version": 1,
        "limits": {"resources": {"gpu": 1}},
        "rules": [{"tool": ["read", "spawn"], "safe": True, "uses": {"gpu": 1}}],
    }
    nest = Nest(policy=policy)
    nest.children = {"a": (("read", 1), ("read", 1))}
    result = run(partial(nest.engine.run, turn("spawn", ("read", 1))))
    assert spans(result) == [(0, 2), (2, 3)]
    assert spans(nest.results["a"]) == [(0, 1), (1, 2)]


def test_c027_a_nested_turn_is_a_turn_of_its_own_in_the_parents_message(run):
    nest = Nest()
    nest.children = {"a": ("read", "read")}
    result = run(partial(nest.engine.run, turn("spawn")))
    assert [item["id"] for item in result.results[0]["results"]] == ["a"]
    assert isinstance(nest.results["a"].turn, Turn)
    assert [item["id"] for item in nest.results["a"].results[0]["results"]] == ["a1", "a2"]
