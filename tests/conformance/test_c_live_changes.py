"""Conformance C: what changes while a turn runs, lines 35 to 43."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup
from turns import scripted, spans, starts, statuses, turn

import toolflow.locks
from toolflow.engine import Engine
from toolflow.locks import MemoryStore
from toolflow.model.turn import Call, Turn
from toolflow.runtime.hooks import Deny, Hooks
from toolflow.testing import EventRecorder, ScriptedTools

#: ``read`` is safe unless its arguments say otherwise; ``write`` never is.
RULES = {
    "version": 1,
    "rules": [
        {"tool": "read", "when": "{{ args.returns == 'alone' }}", "safe": False},
        {
            "tool": "read",
            "when": "{{ args.key is not none }}",
            "safe": True,
            "writes": ["key:{{ args.key }}"],
        },
        {"tool": "read", "safe": True},
    ],
}


def tools_of() -> ScriptedTools:
    tools = ScriptedTools()
    tools.add("read", safe=True)
    tools.add("write")
    return tools


class Changes(Hooks):
    """A before-hook that changes the arguments of some calls, by their names."""

    def __init__(self, seconds: float = 0, **changes: dict[str, Any]) -> None:
        self.changes = changes
        self.seconds = seconds

    async def before_call(self, call, context):
        await anyio.sleep(self.seconds)
        change = self.changes.get(call.name)
        return None if change is None else {**call.args, **change}


def run_turn(run: Any, engine: Engine, *calls: Any, **options: Any) -> Any:
    return run(partial(engine.run, turn(*calls), **options))


def ruled(tools: ScriptedTools, *hooks: Hooks, **options: Any) -> Engine:
    return Engine(
        tools.toolbox, policy={**RULES, **options.pop("policy", {})}, hooks=hooks, **options
    )


@asynccontextmanager
async def held(
    store: MemoryStore, seconds: float, *, keys: Sequence[str] = ("key:k",), since: float = 0.5
) -> AsyncIterator[TaskGroup]:
    """Somebody else holds keys for some seconds, and has had them for a while already."""

    async def other() -> None:
        async with toolflow.locks.acquire(writes=keys, store=store):
            await anyio.sleep(seconds)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        await anyio.sleep(since)
        yield tasks


# ---- 35: an exclusive call replaces tools ----


def declaring(tools: ScriptedTools, name: str, **declared: Any) -> None:
    """Replace a tool by one that does the same and declares something else."""
    tools.toolbox.remove(name)
    tools.add(name, **declared)


@pytest.mark.parametrize("hooks", [(), (Hooks(),)])
def test_c035_calls_behind_an_exclusive_call_that_replaces_their_tool_are_classified_again(
    run, hooks
):
    tools = tools_of()

    @tools.toolbox.tool
    async def reload(name: str) -> None:
        declaring(tools, "read")  # not safe any more

    engine = Engine(tools.toolbox, hooks=hooks)
    result = run_turn(run, engine, ("read", 1), ("read", 1), "reload", ("read", 1), ("read", 1))
    assert starts(result) == [0, 0, 1, 1, 2]
    verdicts = [call.verdict.kind for call in result.report.calls]
    assert verdicts == ["safe", "safe", "exclusive", "exclusive", "exclusive"]
    assert result.plan.calls[3].verdict.kind == "safe"  # the plan stays what it was


@pytest.mark.parametrize("hooks", [(), (Hooks(),)])
def test_c035_the_new_tools_keys_count(run, hooks):
    tools = tools_of()

    @tools.toolbox.tool
    async def reload(name: str) -> None:
        declaring(tools, "read", safe=True, writes=["key:one"])

    engine = Engine(tools.toolbox, hooks=hooks)
    result = run_turn(run, engine, "reload", ("read", 2), ("read", 2))
    assert starts(result) == [0, 0, 2]


def test_c035_the_new_body_runs(run):
    tools = tools_of()

    @tools.toolbox.tool
    async def reload(name: str) -> None:
        tools.toolbox.tool(name="read", safe=True, replace=True)(newer)

    async def newer(name: str) -> str:
        return f"new {name}"

    result = run_turn(run, Engine(tools.toolbox), "reload", "read")
    assert result.outcomes[1].value == "new b"


@pytest.mark.parametrize("hooks", [(), (Hooks(),)])
def test_c035_a_call_whose_tool_is_gone_settles_as_unknown(run, hooks):
    tools = tools_of()

    @tools.toolbox.tool
    async def unload(name: str) -> None:
        tools.toolbox.remove("read")

    engine = Engine(tools.toolbox, hooks=hooks)
    recorder = EventRecorder()
    result = run_turn(
        run, engine, ("read", 1), "unload", "read", "read", ("write", 1), on_event=recorder
    )
    assert statuses(result) == ["ok", "ok", "unknown_tool", "unknown_tool", "ok"]
    assert "read" in result.outcomes[2].error
    assert sorted(call for _, call in recorder.kinds("call_settled")) == list("abcde")
    assert ("call_started", "c") not in recorder.kinds("call_started")


def test_c035_a_call_whose_tool_is_gone_while_it_waits_for_a_key_settles_as_unknown(run):
    async def main():
        tools, store = scripted(), MemoryStore()
        engine = Engine(tools.toolbox, locks=store)
        recorder = EventRecorder()

        @tools.toolbox.tool(safe=True)
        async def unload(name: str) -> None:
            await anyio.sleep(1)
            tools.toolbox.remove("edit")

        async with held(store, 5):
            result = await engine.run(turn("unload", ("edit", 1, "k")), on_event=recorder)
        assert statuses(result) == ["ok", "unknown_tool"]
        assert recorder.kinds("call_queued") == [("call_queued", "b")]
        assert result.times[1].settled == 1

    run(main)


def test_c035_a_call_whose_tool_changes_while_it_waits_for_a_key_takes_the_new_one(run):
    """Nothing else happens meanwhile, so it is looked at when it gets the old key."""

    async def main():
        tools, store = tools_of(), MemoryStore()
        tools.add("edit", safe=True, writes=lambda key: [f"key:{key}"])
        engine, results = Engine(tools.toolbox, locks=store), []

        async def run_it() -> None:
            results.append(await engine.run(turn(("edit", 2, "k"))))

        async with held(store, 2) as tasks:
            tasks.start_soon(run_it)
            await anyio.sleep(0.5)
            declaring(tools, "edit", safe=True, writes=lambda key: [f"new:{key}"])
            await anyio.sleep(2)
            keys = list(store.statistics().keys)
        assert keys == ["new:k"]
        assert spans(results[0]) == [(1.5, 3.5)]

    run(main)


def test_c035_a_call_that_became_exclusive_while_it_waits_for_a_key_runs_alone(run):
    async def main():
        tools, store = scripted(), MemoryStore()
        engine = Engine(tools.toolbox, locks=store)

        @tools.toolbox.tool(safe=True)
        async def change(name: str) -> None:
            await anyio.sleep(1)
            declaring(tools, "edit", writes=lambda key: [f"key:{key}"])

        async with held(store, 2):
            calls = ["change", ("edit", 2, "k"), ("read", 3), ("read", 1)]
            result = await engine.run(turn(*calls))
        # c and d had started beside it; b waits for them and then holds nobody.
        assert spans(result) == [(0, 1), (3, 5), (0, 3), (0, 1)]

    run(main)


def test_c035_a_call_that_gave_up_its_place_goes_before_those_that_wait_for_a_permit(run):
    """Its new key is free, so it starts with the permit that it had, although more calls wait."""

    async def main():
        tools, store = scripted(), MemoryStore()
        engine = Engine(tools.toolbox, locks=store, pool=2)

        @tools.toolbox.tool(safe=True)
        async def change(name: str) -> None:
            await anyio.sleep(1)
            declaring(tools, "edit", safe=True, writes=lambda key: [f"new:{key}"])
            await anyio.sleep(8)

        async with held(store, 5):
            calls = [("edit", 1, "k"), "change", ("read", 1), ("read", 1)]
            result = await engine.run(turn(*calls))
        # It is looked at when it gets the old key, at 4.5; those behind it find no permit before.
        assert spans(result) == [(4.5, 5.5), (0, 9), (5.5, 6.5), (6.5, 7.5)]

    run(main)


def test_c035_a_call_before_one_that_became_a_barrier_starts_before_it(run):
    """Both wait for keys; the earlier one gives up its place, the later one runs alone after it."""

    async def main():
        tools, store = scripted(), MemoryStore()
        tools.add("patch", safe=True, writes=lambda key: [f"key:{key}"])
        engine = Engine(tools.toolbox, locks=store)

        @tools.toolbox.tool(safe=True)
        async def change(name: str) -> None:
            await anyio.sleep(1)
            declaring(tools, "edit", safe=True, writes=lambda key: [f"new:{key}"])
            declaring(tools, "patch", writes=lambda key: [f"key:{key}"])  # not safe any more

        async with held(store, 3, keys=["key:k", "key:m"]):
            calls = ["change", ("edit", 2, "k"), ("patch", 2, "m"), ("read", 1)]
            result = await engine.run(turn(*calls))
        # The pump at the end of the first call sees both changes: b goes on with its free key.
        assert spans(result) == [(0, 1), (1, 3), (3, 5), (0, 1)]

    run(main)


def test_c035_a_tool_that_becomes_safe_stays_a_barrier_in_this_turn(run):
    tools = tools_of()

    @tools.toolbox.tool
    async def reload(name: str) -> None:
        declaring(tools, "write", safe=True)

    engine = Engine(tools.toolbox)
    result = run_turn(run, engine, "reload", ("write", 1), ("write", 1))
    assert starts(result) == [0, 0, 1]
    assert starts(run_turn(run, engine, ("write", 1), ("write", 1))) == [0, 0]


def test_c035_a_rule_of_the_policy_still_counts_for_the_new_tool(run):
    tools = tools_of()

    @tools.toolbox.tool
    async def reload(name: str) -> None:
        declaring(tools, "read")

    result = run_turn(run, ruled(tools), "reload", ("read", 1), ("read", 1))
    assert starts(result) == [0, 0, 0]


def test_c035_a_running_call_goes_on_as_it_began(run):
    tools = tools_of()

    @tools.toolbox.tool(safe=True)
    async def reload(name: str) -> None:
        await anyio.sleep(1)
        tools.toolbox.remove("read")

    result = run_turn(run, Engine(tools.toolbox), ("read", 5), "reload", ("read", 5))
    assert statuses(result) == ["ok", "ok", "ok"]


# ---- 36: an observer makes the next call exclusive ----


def make_exclusive(tools: ScriptedTools) -> None:
    declaring(tools, "later")


class Observer(Hooks):
    """Makes ``later`` exclusive when a call has settled, of which it hears in one of three ways."""

    def __init__(self, tools: ScriptedTools, name: str, through: str) -> None:
        self.tools = tools
        self.awaited = (name, through)

    def hear(self, name, through):
        if (name, through) == self.awaited:
            make_exclusive(self.tools)

    def after_call(self, call, outcome, context):
        self.hear(call.name, "hook")

    async def around_call(self, call, context, proceed):
        value = await proceed()
        self.hear(call.name, "around")
        return value

    def sink(self, event):
        if event.kind == "call_settled":
            self.hear(event.call, "sink")


@pytest.mark.parametrize("through", ["hook", "sink", "around"])
def test_c036_the_pool_drains_before_a_call_that_an_observer_made_exclusive_runs_alone(
    run, through
):
    tools = tools_of()
    tools.add("later", safe=True)
    observer = Observer(tools, "b", through)

    # After-hooks run in call order: where b is to be seen early, a must have settled before.
    calls = [("read", 1), ("read", 2), ("read", 6), ("later", 1), ("read", 1), ("read", 1)]
    engine = Engine(tools.toolbox, hooks=observer, pool=3)
    recorder = EventRecorder()
    result = run(partial(engine.run, turn(*calls), on_event=[observer.sink, recorder]))
    begun = dict(zip("abcdef", spans(result), strict=True))
    # d starts in a's slot at 1, before b settles at 2: it runs as it began.
    assert begun["d"] == (1, 2)
    assert statuses(result) == ["ok"] * 6


@pytest.mark.parametrize("through", ["hook", "sink", "around"])
def test_c036_the_next_call_waits_for_those_running_and_later_ones_for_it(run, through):
    tools = tools_of()
    tools.add("later", safe=True)
    observer = Observer(tools, "a", through)

    calls = [("read", 1), ("read", 5), ("later", 2), ("read", 1), ("read", 1)]
    hooks = () if through == "sink" else observer
    engine = Engine(tools.toolbox, hooks=hooks, pool=2)
    result = run(partial(engine.run, turn(*calls), on_event=observer.sink))
    assert spans(result) == [(0, 1), (0, 5), (5, 7), (7, 8), (7, 8)]


def test_c036_a_call_that_had_a_slot_but_no_key_yet_gives_it_back(run):
    """It waits for another run's key; made exclusive meanwhile, it lets the rest of the pool go."""

    async def main():
        tools, store = scripted(), MemoryStore()
        engine = Engine(tools.toolbox, locks=store, pool=2)

        def sink(event):
            if (event.kind, event.call) == ("call_settled", "a"):
                declaring(tools, "edit", writes=lambda key: [f"key:{key}"])

        async with held(store, 3):
            calls = [("read", 1), ("edit", 1, "k"), ("read", 1)]
            result = await engine.run(turn(*calls), on_event=sink)
        # At 1 a settles and b becomes a barrier; c has not started and waits for b.
        assert spans(result) == [(0, 1), (2.5, 3.5), (3.5, 4.5)]

    run(main)


# ---- 37: a hook changes arguments, safe to not safe ----


@pytest.mark.parametrize("seconds", [0, 0.5])
def test_c037_a_changed_call_waits_for_those_beside_it_runs_alone_and_later_ones_wait(run, seconds):
    hooks = Changes(seconds, b={"returns": "alone"})
    calls = [("read", 5), ("read", 2), ("read", 1), ("read", 1)]
    result = run_turn(run, ruled(tools_of(), hooks), *calls)
    assert spans(result)[0] == (seconds, 5 + seconds)
    assert spans(result)[1] == (5 + seconds, 7 + seconds)
    assert starts(result)[2:] == [7 + 2 * seconds, 7 + 3 * seconds]
    assert [call.verdict.kind for call in result.report.calls] == [
        *("safe", "exclusive", "safe", "safe")
    ]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_c037_at_any_place_of_the_pool(run, place):
    hooks = Changes(**{"abc"[place]: {"returns": "alone"}})
    calls = [("read", 1)] * 3
    result = run_turn(run, ruled(tools_of(), hooks), *calls)
    wanted = {0: [0, 1, 1], 1: [0, 1, 2], 2: [0, 0, 1]}
    assert starts(result) == wanted[place]


def test_c037_it_waits_for_the_after_hooks_of_those_beside_it(run):
    class Slow(Changes):
        async def after_call(self, call, outcome, context):
            await anyio.sleep(2)

    result = run_turn(
        run, ruled(tools_of(), Slow(b={"returns": "alone"})), ("read", 1), ("read", 1), ("read", 1)
    )
    assert starts(result) == [0, 3, 6]


def test_c037_the_next_barrier_waits_for_it_too(run):
    hooks = Changes(b={"returns": "alone"})
    result = run_turn(
        run, ruled(tools_of(), hooks), ("read", 3), ("read", 3), ("write", 1), ("read", 1)
    )
    assert spans(result) == [(0, 3), (3, 6), (6, 7), (7, 8)]


def test_c037_with_one_slot(run):
    hooks = Changes(b={"returns": "alone"})
    result = run_turn(run, ruled(tools_of(), hooks, pool=1), ("read", 1), ("read", 1), ("read", 1))
    assert starts(result) == [0, 1, 2]


def test_c037_its_body_sees_the_changed_arguments(run):
    tools = tools_of()
    hooks = Changes(b={"returns": "alone"})
    result = run_turn(run, ruled(tools, hooks), "read", "read")
    assert [outcome.value for outcome in result.outcomes] == ["a", "alone"]
    assert result.report.calls[1].args["returns"] == "alone"
    assert result.messages[0]["calls"][1]["args"] == {"name": "b"}  # the message stays the model's


def test_c037_it_fails_and_the_rest_goes_on(run):
    hooks = Changes(b={"returns": "alone", "raises": "broken"})
    result = run_turn(run, ruled(tools_of(), hooks), ("read", 3), ("read", 1), ("read", 1))
    assert statuses(result) == ["ok", "failed", "ok"]
    assert starts(result) == [0, 3, 4]


@pytest.mark.parametrize("change", [{"seconds": "soon"}, {"nosuch": 1}, {"seconds": None}])
def test_c037_changed_arguments_that_do_not_fit_settle_the_call(run, change):
    result = run_turn(run, ruled(tools_of(), Changes(b=change)), "read", "read", ("read", 1))
    assert statuses(result) == ["ok", "invalid_arguments", "ok"]
    assert starts(result) == [0, None, 0]


def test_c037_a_call_changed_into_one_that_the_policy_denies_is_denied(run):
    rules = [{"tool": "read", "when": "{{ args.key == 'x' }}", "deny": "Not x."}, *RULES["rules"]]
    engine = ruled(tools_of(), Changes(b={"key": "x"}), policy={"rules": rules})
    result = run_turn(run, engine, "read", "read", "read")
    assert statuses(result) == ["ok", "denied", "ok"]
    assert result.outcomes[1].error == "Not x."


def test_c037_several_hooks_in_a_row_each_see_what_the_one_before_left(run):
    seen = []

    class Second(Hooks):
        def before_call(self, call, context):
            seen.append((call.name, call.args.get("returns")))
            return {**call.args, "seconds": 2} if call.name == "b" else None

    tools = tools_of()
    engine = ruled(tools, Changes(b={"returns": "alone"}), Second())
    result = run_turn(run, engine, ("read", 1), "read", ("read", 1))
    assert seen == [("a", None), ("b", "alone"), ("c", None)]
    assert spans(result) == [(0, 1), (1, 3), (3, 4)]


# ---- 38: two of them at once ----


def test_c038_two_calls_changed_at_once_do_not_wait_for_each_other(run):
    hooks = Changes(a={"returns": "alone"}, b={"returns": "alone"})
    result = run_turn(run, ruled(tools_of(), hooks), ("read", 2), ("read", 2), ("read", 2))
    assert spans(result) == [(0, 2), (2, 4), (4, 6)]


@pytest.mark.parametrize("seconds", [0, 1, 3])
@pytest.mark.parametrize("pool", [1, 2, 10])
def test_c038_changed_calls_between_others_run_alone_and_in_declared_order(run, seconds, pool):
    hooks = Changes(seconds, b={"returns": "alone"}, d={"returns": "alone"})
    tools = tools_of()
    result = run_turn(run, ruled(tools, hooks, pool=pool), *[("read", 2)] * 5)
    assert statuses(result) == ["ok"] * 5
    assert tools.order == list("abcde")
    for alone in (1, 3):
        begun, ended = spans(result)[alone]
        for other, (start, stop) in enumerate(spans(result)):
            assert other == alone or stop <= begun or start >= ended


@pytest.mark.parametrize("hooks", [0, 0.3])
def test_c038_all_calls_changed_run_one_after_another(run, hooks):
    changes = {name: {"returns": "alone"} for name in "abcdef"}
    tools = tools_of()
    run_turn(run, ruled(tools, Changes(hooks, **changes)), *[("read", 1)] * 6)
    assert tools.log == [(what, name) for name in "abcdef" for what in ("start", "end")]


def test_c038_a_tool_change_and_a_hook_at_once_do_not_deadlock(run):
    tools = tools_of()
    tools.add("later", safe=True)

    def sink(event):
        if (event.kind, event.call) == ("call_settled", "a"):
            make_exclusive(tools)

    engine = ruled(tools, Changes(0.1, d={"returns": "alone"}), pool=3)
    calls = [("read", 1), ("read", 4), ("later", 1), ("read", 1), ("later", 1), ("read", 1)]
    result = run(partial(engine.run, turn(*calls), on_event=sink))
    assert statuses(result) == ["ok"] * 6
    assert tools.order == list("abcdef")


# ---- 39: not safe to safe ----


def test_c039_a_call_that_was_exclusive_stays_a_barrier(run):
    rules = [{"tool": "write", "when": "{{ args.returns == 'only' }}", "safe": True}]
    engine = ruled(tools_of(), Changes(b={"returns": "only"}), policy={"rules": rules})
    result = run_turn(run, engine, ("read", 3), ("write", 1), ("read", 1))
    assert spans(result) == [(0, 3), (3, 4), (4, 5)]
    verdict = result.report.calls[1].verdict
    assert verdict.kind == "exclusive"
    assert "stays" in verdict.reason


def test_c039_changed_twice_by_two_hooks_only_the_last_arguments_count(run):
    hooks = [Changes(b={"returns": "alone"}), Changes(b={"returns": "fine"})]
    result = run_turn(run, ruled(tools_of(), *hooks), ("read", 2), ("read", 2))
    assert starts(result) == [0, 0]


# ---- 40: id, name, index and tool stay ----


@pytest.mark.parametrize(
    ("field", "value"), [("id", "other"), ("name", "z"), ("tool", "write"), ("index", 0)]
)
def test_c040_a_hook_that_changes_who_a_call_is_fails_that_call_with_its_settled_event(
    run, field, value
):
    class Tampers(Hooks):
        def before_call(self, call, context):
            return replace(call, **{field: value}) if call.name == "b" else None

    tools = tools_of()
    recorder = EventRecorder()
    engine = ruled(tools, Tampers())
    result = run_turn(run, engine, ("read", 1), "read", ("read", 1), on_event=recorder)
    assert statuses(result) == ["ok", "failed", "ok"]
    assert f"A hook changed the {field} of call 'b' to {value!r}." in result.outcomes[1].error
    assert recorder.kinds("call_settled").count(("call_settled", "b")) == 1
    assert tools.order == ["a", "c"]


@pytest.mark.parametrize("answer", [True, "go", 7, [("seconds", 1)]])
def test_c040_a_hook_that_returns_something_else_fails_that_call(run, answer):
    class Odd(Hooks):
        def before_call(self, call, context):
            return answer if call.name == "b" else None

    result = run_turn(run, ruled(tools_of(), Odd()), "read", "read", "read")
    assert statuses(result) == ["ok", "failed", "ok"]
    assert "Use None, a mapping of arguments, the changed call, or Deny." in (
        result.outcomes[1].error
    )


def test_c040_a_changed_verdict_in_the_call_that_a_hook_returns_does_not_count(run):
    class Lies(Hooks):
        def before_call(self, call, context):
            safe = replace(call.verdict, kind="safe")
            return replace(call, verdict=safe, reads=(), writes=())

    result = run_turn(run, ruled(tools_of(), Lies()), ("write", 1), ("write", 1))
    assert starts(result) == [0, 1]


def test_c040_a_denial_is_no_change(run):
    class Denies(Hooks):
        def before_call(self, call, context):
            return Deny("No.")

    assert statuses(run_turn(run, ruled(tools_of(), Denies()), "read", "write")) == ["denied"] * 2


# ---- 41: argument aliases ----


ALIASES = {
    "version": 1,
    "rules": [
        {
            "tool": ["find", "open"],
            "safe": True,
            "argument_aliases": {"file": "path", "nowhere": "nothing"},
            "writes": ["key:{{ args.path }}"],
        }
    ],
}


def finding() -> tuple[ScriptedTools, list[Any]]:
    tools, seen = ScriptedTools(), list[Any]()

    @tools.toolbox.tool
    async def find(path: str) -> str:
        seen.append(path)
        return path

    @tools.toolbox.tool(name="open")
    async def open_(**other: Any) -> str:
        seen.append(other)
        return "opened"

    return tools, seen


def call_with(tool: str, **args: Any) -> Turn:
    return Turn("turn-1", (Call(0, "a", tool, args),))


def test_c041_an_alias_applies_where_the_schema_has_the_target_and_the_call_lacks_it(run):
    tools, seen = finding()
    result = run(partial(Engine(tools.toolbox, policy=ALIASES).run, call_with("find", file="x")))
    assert (statuses(result), seen) == (["ok"], ["x"])
    assert result.plan.calls[0].writes == ("key:x",)
    assert result.messages[0]["calls"][0]["args"] == {"file": "x"}


@pytest.mark.parametrize(
    "args",
    [
        {"file": "x", "path": "y"},  # the call has it
        {"nowhere": "x"},  # the schema has no such target
        {"filename": "x"},  # nobody declared it
    ],
)
def test_c041_an_alias_applies_nowhere_else(run, args):
    tools, seen = finding()
    result = run(partial(Engine(tools.toolbox, policy=ALIASES).run, call_with("find", **args)))
    assert (statuses(result), seen) == (["invalid_arguments"], [])


def test_c041_without_the_policys_word_no_alias_applies(run):
    tools, _ = finding()
    result = run(partial(Engine(tools.toolbox).run, call_with("find", file="x")))
    assert statuses(result) == ["invalid_arguments"]


# ---- 42: nested dispatch ----


def test_c042_a_nested_turn_uses_the_tools_as_they_were_when_the_run_began(run):
    tools = scripted()
    found: list[Any] = []

    @tools.toolbox.tool
    async def change(name: str) -> None:
        tools.toolbox.remove("read")
        tools.add("brand_new", safe=True)

    @tools.toolbox.tool
    async def outer(name: str) -> None:
        inner = turn("read", "brand_new", ids="xy")
        found.append([call.verdict.kind for call in engine.plan(inner).calls])
        result = await engine.run(inner)
        found.append(statuses(result))

    engine = Engine(tools.toolbox)
    result = run_turn(run, engine, "change", "outer", "read")
    assert found == [["safe", "settled"], ["ok", "unknown_tool"]]
    assert statuses(result) == ["ok", "ok", "unknown_tool"]  # calls of the turn itself see it

    async def next_turn():
        assert statuses(await engine.run(turn("brand_new", "read"))) == ["ok", "unknown_tool"]

    run(next_turn)


def test_c042_a_change_while_a_nested_turn_runs_does_not_reach_it(run):
    tools = scripted()
    nested: list[Any] = []

    @tools.toolbox.tool(safe=True)
    async def change(name: str) -> None:
        await anyio.sleep(1)
        declaring(tools, "read")

    @tools.toolbox.tool(safe=True)
    async def outer(name: str) -> None:
        nested.append(await engine.run(turn(("read", 2), ("read", 2), ("read", 2), ids="xyz")))

    engine = Engine(tools.toolbox, pool=2)
    run_turn(run, engine, "outer", "change")
    assert starts(nested[0]) == [0, 0, 2]
    assert [call.verdict.kind for call in nested[0].report.calls] == ["safe"] * 3


def test_c042_a_sub_agent_with_a_toolbox_of_its_own_uses_that(run):
    tools, own = scripted(), ScriptedTools()
    own.add("special", safe=True)
    nested: list[Any] = []

    @tools.toolbox.tool
    async def agent(name: str) -> None:
        nested.append(await Engine(own.toolbox).run(turn("special", "read", ids="xy")))

    run_turn(run, Engine(tools.toolbox), "agent")
    assert statuses(nested[0]) == ["ok", "unknown_tool"]


# ---- 43: keys after a change ----


def test_c043_a_changed_call_takes_the_keys_of_its_new_arguments(run):
    calls = [("read", 3, "x"), ("read", 1, "y"), ("read", 1, "y")]
    plain = run_turn(run, ruled(tools_of()), *calls)
    assert starts(plain) == [0, 0, 1]
    changed = run_turn(run, ruled(tools_of(), Changes(b={"key": "x"})), *calls)
    assert starts(changed) == [0, 3, 0]  # b meets a now, and c meets b no more
    assert changed.report.calls[1].writes == ("key:x",)


def test_c043_a_later_call_waits_for_a_changed_one_that_it_meets_now(run):
    calls = [("read", 3, "x"), ("read", 1, "y")]
    result = run_turn(run, ruled(tools_of(), Changes(a={"key": "y"})), *calls)
    assert starts(result) == [0, 3]


def test_c043_a_call_changed_away_from_a_key_waits_no_more(run):
    calls = [("read", 3, "x"), ("read", 1, "x")]
    result = run_turn(run, ruled(tools_of(), Changes(b={"key": "z"})), *calls)
    assert starts(result) == [0, 0]


def test_c043_the_lock_store_sees_the_new_keys(run):
    async def main():
        store = MemoryStore()
        engine = ruled(tools_of(), Changes(a={"key": "k"}), locks=store)

        async with held(store, 3, since=1):
            result = await engine.run(turn(("read", 1, "x")))
        assert spans(result) == [(2, 3)]

    run(main)


def test_c043_a_key_that_cannot_be_worked_out_after_a_change_fails_the_call(run):
    rules = [{"tool": "read", "safe": True, "writes": ["key:{{ args.key.upper() }}"]}]
    tools = tools_of()
    engine = ruled(tools, Changes(b={"key": None}), policy={"rules": rules})
    result = run_turn(run, engine, ("read", "x"), ("read", "y"), ("read", "z"))
    assert statuses(result) == ["ok", "failed", "ok"]
    assert result.outcomes[1].error.startswith("Could not tell what the call changes:")
    assert tools.order == ["a", "c"]


def test_c037_a_call_changed_into_one_that_needs_more_than_there_is_settles(run):
    rules = [
        {"tool": "read", "when": "{{ args.returns == 'big' }}", "safe": True, "uses": {"gpu": 3}},
        {"tool": "read", "safe": True, "uses": {"gpu": 1}},
    ]
    policy = {"rules": rules, "limits": {"resources": {"gpu": 2}}}
    engine = ruled(tools_of(), Changes(b={"returns": "big"}), policy=policy)
    result = run_turn(run, engine, "read", "read", "read")
    assert statuses(result) == ["ok", "failed", "ok"]
