"""Conformance B 26 and 34: what calls of one turn share, and what they do not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from turns import scripted, statuses, turn

from toolflow.engine import Engine
from toolflow.model.tool import ToolSpec
from toolflow.model.turn import Call, Turn
from toolflow.runtime.context import Context
from toolflow.runtime.hooks import Hooks
from toolflow.runtime.toolbox import Toolbox

who: ContextVar[str] = ContextVar("who", default="nobody")


def test_c026_every_execution_gets_a_context_of_its_own(run):
    tools = Toolbox()
    seen: list[Context] = []

    @tools.tool(safe=True)
    async def look(ctx: Context) -> str:
        seen.append(ctx)
        ctx.args["mark"] = ctx.name
        ctx.keep(f"kept by {ctx.name}")
        await anyio.sleep(1)
        assert "mark" not in ctx.args
        return f"{ctx.name} {ctx.partial}"

    calls = tuple(Call(index, f"c{index}", "look") for index in range(5))
    result = run(partial(Engine(tools).run, Turn("turn-1", calls)))
    assert [outcome.value for outcome in result.outcomes] == [
        f"c{index} kept by c{index}" for index in range(5)
    ]
    assert len({id(context) for context in seen}) == 5


def shared_list(body: Callable[..., Any]) -> Toolbox:
    tools = Toolbox()
    tools.tool(name="collect", safe=True)(body)
    return tools


def unchecked(body: Callable[..., Any]) -> Toolbox:
    tools = Toolbox()
    tools.add(ToolSpec("collect", safe=True), body)
    return tools


def with_schema(body: Callable[..., Any]) -> Toolbox:
    tools = Toolbox()
    schema = {"type": "object", "properties": {"items": {"type": "array"}}}
    tools.add(ToolSpec("collect", safe=True, parameters=schema), body)
    return tools


@pytest.mark.parametrize("made", [shared_list, unchecked, with_schema])
def test_c026_an_argument_that_a_body_changes_changes_nowhere_else(run, made):
    async def collect(items: list[Any]) -> int:
        items.append("mine")
        items[0]["deep"] = True
        await anyio.sleep(1)
        return len(items)

    async def main():
        shared = {"items": [{"x": 1}]}
        message = Turn("turn-1", (Call(0, "a", "collect", shared), Call(1, "b", "collect", shared)))
        engine = Engine(made(collect))
        plan = engine.plan(message)
        for _ in range(2):  # the plan is a value: running it does not change it either
            result = await engine.run(plan)
            assert [outcome.value for outcome in result.outcomes] == [2, 2]
            assert shared == {"items": [{"x": 1}]}
            assert result.messages[0]["calls"][0]["args"] == {"items": [{"x": 1}]}
        assert plan == engine.plan(message)

    run(main)


def test_c026_an_argument_that_a_before_hook_changes_in_place_changes_nothing(run):
    class Careless(Hooks):
        def before_call(self, call, context):
            call.args["name"] = "changed"

    tools = scripted()
    result = run(partial(Engine(tools.toolbox, hooks=Careless()).run, turn("read", "read")))
    assert tools.order == ["a", "b"]
    assert [call.args for call in result.report.calls] == [{"name": "a"}, {"name": "b"}]
    assert [call["args"] for call in result.assistant[0]["calls"]] == [{"name": "a"}, {"name": "b"}]


def test_c026_hooks_of_a_call_share_a_context_and_calls_do_not(run):
    seen: dict[str, set[int]] = {}
    kept: list[Any] = []

    class Watch(Hooks):
        def note(self, call, context):
            kept.append(context)
            seen.setdefault(call.name, set()).add(id(context))

        def before_call(self, call, context):
            self.note(call, context)

        async def around_call(self, call, context, proceed):
            self.note(call, context)
            return await proceed()

        def after_call(self, call, outcome, context):
            self.note(call, context)

    run(partial(Engine(scripted().toolbox, hooks=Watch()).run, turn("read", "read")))
    assert [len(ids) for ids in seen.values()] == [1, 1]
    assert seen["a"] != seen["b"]


def noting(tools: Toolbox, seen: dict[str, str]) -> None:
    """Tools, async and in threads, that note the variable, set it, and note it again."""

    @tools.tool(safe=True)
    async def awaits(name: str) -> str:
        seen[name] = who.get()
        who.set(name)
        await anyio.sleep(1)
        return who.get()

    @tools.tool(safe=True)
    def threaded(name: str) -> str:
        seen[name] = who.get()
        who.set(name)
        return who.get()


@pytest.mark.parametrize("tool", ["awaits", "threaded"])
@pytest.mark.parametrize("pool", [1, 2, 10])
def test_c034_the_callers_variables_are_seen_and_changes_stay_with_the_call(run, tool, pool):
    tools, seen = Toolbox(), dict[str, str]()
    noting(tools, seen)

    async def main():
        who.set("caller")
        result = await Engine(tools, pool=pool).run(turn(*[tool] * 6))
        assert [outcome.value for outcome in result.outcomes] == list("abcdef")
        assert seen == dict.fromkeys("abcdef", "caller")
        assert who.get() == "caller"

    run(main)


def test_c034_a_barrier_and_later_pools_see_the_callers_variables(run):
    tools, seen = Toolbox(), dict[str, str]()
    noting(tools, seen)

    @tools.tool
    async def alone(name: str) -> None:
        seen[name] = who.get()
        who.set(name)

    async def main():
        who.set("caller")
        await Engine(tools).run(turn("awaits", "alone", "threaded", "alone", "awaits"))
        assert seen == dict.fromkeys("abcde", "caller")

    run(main)


def test_c034_tasks_that_a_body_starts_see_what_it_set(run):
    tools = Toolbox()

    @tools.tool(safe=True)
    async def starts_tasks(name: str) -> list[str]:
        found: list[str] = []

        async def child() -> None:
            await anyio.sleep(1)
            found.append(who.get())

        who.set(name)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child)
            tasks.start_soon(child)
        found.append(await anyio.to_thread.run_sync(who.get))
        return found

    result = run(partial(Engine(tools).run, turn("starts_tasks", "starts_tasks")))
    assert [outcome.value for outcome in result.outcomes] == [["a"] * 3, ["b"] * 3]


def test_c034_what_an_around_hook_sets_is_seen_by_its_body_and_by_no_sibling(run):
    tools, seen = Toolbox(), dict[str, str]()
    noting(tools, seen)

    class Span(Hooks):
        async def around_call(self, call, context, proceed):
            before = who.get()
            token = who.set(f"span of {call.name}")
            try:
                return await proceed()
            finally:
                assert who.get() == f"span of {call.name}"
                who.reset(token)
                assert who.get() == before == "caller"

    async def main():
        who.set("caller")
        calls = ["awaits", "threaded", "awaits", "threaded"]
        result = await Engine(tools, hooks=Span(), pool=2).run(turn(*calls))
        assert statuses(result) == ["ok"] * 4
        assert seen == {name: f"span of {name}" for name in "abcd"}
        assert who.get() == "caller"

    run(main)


def test_c034_hooks_see_the_callers_variables_and_what_they_set_stays_with_them(run):
    seen: list[tuple[str, str]] = []

    class Sets(Hooks):
        async def before_call(self, call, context):
            seen.append((call.name, who.get()))
            who.set("before")
            await anyio.lowlevel.checkpoint()

        def after_call(self, call, outcome, context):
            seen.append((call.name, who.get()))
            who.set("after")

    async def main():
        who.set("caller")
        await Engine(scripted().toolbox, hooks=Sets()).run(turn("read", "read", "write"))
        assert {value for _, value in seen} == {"caller"}
        assert len(seen) == 6

    run(main)


def test_c034_an_approver_sees_the_callers_variables(run):
    seen: list[str] = []

    async def approver(question):
        seen.append(who.get())
        who.set("approver")
        return True

    async def main():
        who.set("caller")
        rules = {"version": 1, "rules": [{"tool": "read", "ask": "Sure?"}]}
        engine = Engine(scripted().toolbox, policy=rules, approver=approver)
        await engine.run(turn("read", "read"))
        assert seen == ["caller", "caller"]

    run(main)


def test_c034_two_runs_at_once_see_each_their_own_caller(run):
    tools, seen = Toolbox(), dict[str, str]()
    noting(tools, seen)
    engine = Engine(tools)

    async def caller(ids: str) -> None:
        who.set(ids)
        await engine.run(turn("awaits", "threaded", "awaits", ids=ids))

    async def main():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(caller, "abc")
            tasks.start_soon(caller, "xyz")

    run(main)
    assert seen == {**dict.fromkeys("abc", "abc"), **dict.fromkeys("xyz", "xyz")}


def test_c034_a_body_that_resets_what_it_set_is_in_one_context_to_its_end(run):
    tools = Toolbox()

    @tools.tool(safe=True)
    async def scoped(name: str) -> str:
        token = who.set(name)
        await anyio.sleep(1)
        who.reset(token)
        return who.get()

    async def main():
        who.set("caller")
        result = await Engine(tools, pool=1).run(turn("scoped", "scoped"))
        assert [outcome.value for outcome in result.outcomes] == ["caller", "caller"]

    run(main)


def test_c034_functions_run_outside_the_event_loops_thread(run):
    tools = Toolbox()

    @tools.tool(safe=True)
    def where(name: str) -> bool:
        return threading.current_thread() is threading.main_thread()

    result = run(partial(Engine(tools).run, turn("where")))
    assert result.outcomes[0].value is False


def test_c034_a_plain_function_that_hands_a_coroutine_on_is_awaited(run):
    tools = Toolbox()

    async def inner(name: str) -> str:
        await anyio.sleep(1)
        return f"{name} {who.get()}"

    @tools.tool(safe=True)
    def handing_on(name: str) -> Any:
        return inner(name)

    async def main():
        who.set("caller")
        result = await Engine(tools).run(turn("handing_on", "handing_on"))
        assert [outcome.value for outcome in result.outcomes] == ["a caller", "b caller"]

    run(main)
