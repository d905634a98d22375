"""Conformance K in runs: lines 121, 123, 125 and 126; and 65, names of nested calls."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import pytest
from turns import scripted, spans, starts, statuses, turn

import toolflow.locks
from toolflow.engine import Engine
from toolflow.locks import MemoryStore
from toolflow.model.event import Event
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Hooks
from toolflow.testing import EventRecorder, ScriptedTools


def engine_of(tools: ScriptedTools, **options: Any) -> Engine:
    options.setdefault("locks", MemoryStore())
    return Engine(tools.toolbox, **options)


async def hold(store: MemoryStore, seconds: float, key: str = "key:k") -> None:
    async with toolflow.locks.acquire(writes=[key], store=store):
        await anyio.sleep(seconds)


def nobody_holds(store: Any) -> bool:
    found = store.statistics()
    return not (found.keys or found.resources or found.waits)


def seen(recorder: EventRecorder, kind: str) -> list[tuple[str | None, float]]:
    return [(event.call, event.at) for event in recorder.events if event.kind == kind]


# ---- 65 ----


class Family:
    """An engine with ``spawn``, which runs the turns that its arguments say, one inside the other.

    ``turns`` is a list of turns, each a list of pairs: an id, and the turns of that call.
    """

    def __init__(self, **options: Any) -> None:
        self.tools = scripted()
        self.tools.toolbox.tool(name="spawn", safe=True)(self.spawn)
        self.tools.toolbox.tool(name="thread", safe=True)(self.thread)
        self.engine = engine_of(self.tools, **options)

    async def spawn(self, turns: list[Any], beside: bool = False) -> None:
        async with anyio.create_task_group() as tasks:
            for calls in turns:
                if beside:
                    tasks.start_soon(self.engine.run, self.message(calls))
                else:
                    await self.engine.run(self.message(calls))

    def thread(self, turns: list[Any]) -> None:
        for calls in turns:
            self.engine.run_sync(self.message(calls))

    def message(self, calls: list[Any], tool: str = "spawn") -> dict[str, Any]:
        return {"calls": [{"id": i, "tool": tool, "args": {"turns": t}} for i, t in calls]}

    def names(self, run: Any, calls: list[Any], tool: str = "spawn") -> list[str]:
        recorder = EventRecorder()
        result = run(partial(self.engine.run, self.message(calls, tool), on_event=recorder))
        assert result.ok
        settled = [name for name, _ in seen(recorder, "call_settled")]
        assert sorted(settled) == sorted(name for name, _ in seen(recorder, "call_started"))
        return [name for name in settled if name is not None]


def test_c065_a_nested_call_is_called_by_its_parent_and_itself(run):
    child = [("x", []), ("y", [[("z", [])]])]
    names = Family().names(run, [("a", [child]), ("b", [child])])
    assert sorted(names) == ["a", "a/x", "a/y", "a/y/z", "b", "b/x", "b/y", "b/y/z"]


@pytest.mark.parametrize("tool", ["spawn", "thread"])
def test_c065_calls_of_several_turns_of_one_parent_have_names_of_their_own(run, tool):
    child = [("x", [[("z", [])]])]
    names = Family().names(run, [("a", [child, child, child])], tool)
    assert sorted(names) == ["a", "a#2/x", "a#2/x/z", "a#3/x", "a#3/x/z", "a/x", "a/x/z"]


def test_c065_also_where_the_turns_of_one_parent_run_side_by_side(run):
    family = Family()
    recorder = EventRecorder()
    args = {"turns": [[("x", [])]] * 3, "beside": True}
    message = {"calls": [{"id": "a", "tool": "spawn", "args": args}]}
    run(partial(family.engine.run, message, on_event=recorder))
    assert sorted(name or "" for name, _ in seen(recorder, "call_settled")) == [
        "a",
        "a#2/x",
        "a#3/x",
        "a/x",
    ]


def test_c065_single_calls_inside_a_body_are_told_apart_also_by_the_approver(run):
    tools = scripted()
    asked: list[str] = []

    @tools.toolbox.tool(safe=True)
    async def parent(name: str) -> list[str]:
        return [(await engine.call("read", {"name": n})).status for n in ("x", "y")]

    def approver(question: Any) -> bool:
        asked.append(question.call)
        return len(asked) == 1

    rules = {"version": 1, "rules": [{"tool": "read", "ask": "Sure?"}]}
    engine = engine_of(tools, policy=rules, approver=approver)
    result = run(partial(engine.run, turn("parent")))
    assert result.outcomes[0].value == ["ok", "declined"]
    assert asked == ["a/call-1", "a#2/call-1"]


# ---- 121 ----


def test_c121_safe_calls_on_one_key_take_turns_inside_one_pool_and_others_run_beside_them(run):
    engine = engine_of(scripted())
    calls = [
        ("edit", 2, "k"),
        ("edit", 1, "k"),
        ("edit", 1, "other"),
        ("read", 1),
        ("edit", 1, "k"),
    ]
    result = run(partial(engine.run, turn(*calls)))
    assert [node.kind for node in result.plan.nodes] == ["pool"]
    assert spans(result) == [(0, 2), (2, 3), (0, 1), (0, 1), (3, 4)]


def test_c121_readers_share_a_key_and_a_tree_key_takes_all_below_it(run):
    tools = scripted()
    tools.add("look", safe=True, reads=lambda key: [key])
    tools.add("change", safe=True, writes=lambda key: [key])
    engine = engine_of(tools)
    calls = [
        ("look", 1, "file:/a/x"),
        ("look", 2, "file:/a/x"),
        ("change", 1, "file:/a/**"),
        ("look", 1, "file:/a/x"),
        ("look", 1, "file:/b"),
    ]
    result = run(partial(engine.run, turn(*calls)))
    assert spans(result) == [(0, 1), (0, 2), (2, 3), (3, 4), (0, 1)]


def test_c121_calls_that_wait_for_a_sibling_hold_no_slot(run):
    engine = engine_of(scripted(), pool=2)
    calls = [("edit", 3, "k"), ("edit", 1, "k"), ("edit", 1, "k"), ("read", 1), ("read", 1)]
    assert starts(run(partial(engine.run, turn(*calls)))) == [0, 3, 4, 0, 1]


def test_c121_keys_that_a_hook_gave_a_call_count_in_its_pool(run):
    class Moves(Hooks):
        def before_call(self, call, context):
            return replace(call, args={**call.args, "key": "k"})

    engine = engine_of(scripted(), hooks=Moves())
    calls = [("edit", 2, "k"), ("edit", 1, "l"), ("edit", 1, "m")]
    assert starts(run(partial(engine.run, turn(*calls)))) == [0, 2, 3]


def test_c121_pools_of_two_runs_take_turns_on_one_key_as_well(run):
    async def main():
        engine = engine_of(scripted())
        results: list[Any] = []

        async def one() -> None:
            results.append(await engine.run(turn(("edit", 2, "k"), ("edit", 2, "k"))))

        begun = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one)
            tasks.start_soon(one)
        found = sorted(span for result in results for span in spans(result))
        assert [start for start, _ in found] == [0, 2, 4, 6]
        assert anyio.current_time() - begun == 8

    run(main)


# ---- 123 ----


@pytest.mark.parametrize("keys", [[], ["key:k"]])
def test_c123_an_abort_while_the_plan_works_out_keys_lets_nothing_run(run, keys):
    control, tools = Control(), scripted()

    def aborts(key: str) -> list[str]:
        control.abort()
        return keys

    tools.add("change", safe=True, writes=aborts)
    engine = engine_of(tools)
    message = turn("read", ("change", "k"), "read")
    result = run(partial(engine.run, message, control=control))
    assert statuses(result) == ["not_started"] * 3
    assert tools.log == []
    assert nobody_holds(engine.locks)


@pytest.mark.parametrize("keys", [[], ["key:k"]])
@pytest.mark.parametrize("safe", [True, False])
def test_c123_an_abort_while_a_hook_has_keys_worked_out_again_lets_the_call_never_run(
    run, keys, safe
):
    control, tools = Control(), scripted()

    def aborts(key: str) -> list[str]:
        if key == "changed":
            control.abort("by the key function")
        return keys

    class Moves(Hooks):
        def before_call(self, call, context):
            if call.tool == "change":
                return replace(call, args={**call.args, "key": "changed"})
            return None

    tools.add("change", safe=safe, writes=aborts)
    engine = engine_of(tools, hooks=Moves())
    recorder = EventRecorder()
    message = turn(("change", "k"), "read")
    result = run(partial(engine.run, message, control=control, on_event=recorder))
    assert statuses(result) == ["not_started"] * 2
    assert tools.log == []
    assert seen(recorder, "call_started") == []
    assert nobody_holds(engine.locks)


def test_c123_an_abort_while_other_tools_have_keys_worked_out_again_lets_the_call_never_run(run):
    control, tools = Control(), scripted()

    def aborts(key: str) -> list[str]:
        control.abort("by the key function")
        return []

    @tools.toolbox.tool
    async def swap(name: str) -> None:
        tools.add("edit", safe=True, writes=aborts, replace=True)

    engine = engine_of(tools)
    message = turn("swap", ("edit", "k"), ("edit", "l"))
    result = run(partial(engine.run, message, control=control))
    assert statuses(result) == ["ok", "not_started", "not_started"]
    assert tools.log == []


def test_c123_an_abort_of_a_nested_turn_by_its_key_function_is_its_own(run):
    tools = scripted()
    control = Control()
    tools.add("change", safe=True, writes=lambda key: control.abort() or [])

    @tools.toolbox.tool(safe=True)
    async def parent(name: str) -> list[str]:
        return statuses(await engine.run(turn(("change", "k")), control=control))

    engine = engine_of(tools)
    result = run(partial(engine.run, turn("parent", "read")))
    assert statuses(result) == ["ok", "ok"]
    assert result.outcomes[0].value == ["not_started"]


# ---- 125 ----

SHORT = {"version": 1, "rules": [{"tool": "slow", "timeout": 2}]}


def cleaning(log: list[Any], seconds: float) -> ScriptedTools:
    """With ``slow``, whose clean-up takes its time whatever cancels it."""
    tools = scripted()

    @tools.toolbox.tool(safe=True, writes=lambda key: [f"key:{key}"])
    async def slow(name: str, key: str) -> str:
        try:
            await anyio.sleep(100)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(seconds)
            log.append(("cleaned", anyio.current_time()))
        return name

    return tools


def test_c125_a_timed_out_call_is_told_at_once_and_its_key_is_kept_until_it_has_cleaned_up(run):
    async def main():
        log: list[Any] = []
        store = MemoryStore()
        engine = engine_of(cleaning(log, 3), policy=SHORT, locks=store)
        recorder = EventRecorder()
        begun = anyio.current_time()

        async def other() -> None:
            await anyio.sleep(1)
            assert (await engine.run(turn(("edit", "k"), ids="o"))).ok
            log.append(("other", anyio.current_time()))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other)
            calls = [("slow", "k"), ("edit", 1, "k"), ("edit", 1, "free")]
            result = await engine.run(turn(*calls), on_event=recorder)
        assert statuses(result) == ["timed_out", "ok", "ok"]
        assert dict(seen(recorder, "call_settled")) == {"c": 1, "a": 2, "b": 6}
        assert ("a", 5) in seen(recorder, "call_stopped")
        # The other run asked for the key before the sibling could: it comes first.
        assert [(what, at - begun) for what, at in log] == [("cleaned", 5), ("other", 5)]
        assert spans(result) == [(0, 5), (5, 6), (0, 1)]
        assert (result.times[0].settled, result.times[0].stopped) == (2, 5)
        assert nobody_holds(store)

    run(main)


def test_c125_the_key_of_a_body_that_does_not_stop_in_its_grace_time_is_refused_with_a_reason(run):
    log: list[Any] = []
    engine = engine_of(cleaning(log, 50), policy=SHORT, grace=4)
    result = run(partial(engine.run, turn(("slow", "k"), ("edit", "k"), "read")))
    assert statuses(result) == ["timed_out", "held", "ok"]
    assert "was reported as ended while its body still runs" in str(result.outcomes[1].error)
    assert (result.times[0].settled, result.times[1].settled) == (2, 6)
    assert nobody_holds(engine.locks)  # the run has waited for its end


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_c125_a_thread_that_was_given_up_keeps_its_key_until_it_ends(backend):
    # Real time, since a thread knows no other; nothing is measured.
    log: list[str] = []
    stop = threading.Event()
    tools = scripted()
    rules = {
        "version": 1,
        "rules": [{"tool": "stuck", "timeout": 1}],
    }  # time enough for a thread to begin

    @tools.toolbox.tool(safe=True, writes=["key:k"])
    def stuck(name: str) -> None:
        stop.wait(60)
        log.append("the thread ends")

    async def main():
        engine = engine_of(tools, policy=rules, grace=60)
        told, waits = anyio.Event(), anyio.Event()
        results: dict[str, Any] = {}

        def sink(event: Event) -> None:
            if event.kind == "call_settled":
                log.append(f"{event.data['status']} is told")
                told.set()

        def other_sink(event: Event) -> None:
            if event.kind in {"call_queued", "call_started"}:
                log.append(f"the other: {event.kind}")
                waits.set()

        async def one(name: str, message: Any, sink: Any) -> None:
            results[name] = await engine.run(message, on_event=sink)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "stuck", turn("stuck"), sink)
            await told.wait()
            tasks.start_soon(one, "other", turn(("edit", "k")), other_sink)
            await waits.wait()
            stop.set()
        assert statuses(results["stuck"]) == ["timed_out"]
        assert statuses(results["other"]) == ["ok"]
        times = results["stuck"].times[0]
        assert times.settled < times.stopped
        assert nobody_holds(engine.locks)

    try:
        anyio.run(main, backend=backend)
    finally:
        stop.set()
    assert log == [
        "timed_out is told",
        "the other: call_queued",
        "the thread ends",
        "the other: call_started",
    ]


# ---- 126 ----

LIMITED = {
    "version": 1,
    "limits": {"resources": {"gpu": 1}},
    "rules": [
        {"tool": "grind", "safe": True, "uses": {"gpu": 1}, "timeout": 2},
        {"tool": ["read", "edit", "write"], "timeout": 2},
        {"tool": "asked", "ask": "Sure?", "safe": True, "timeout": 2},
    ],
}


def limited(**options: Any) -> Engine:
    tools = scripted()
    for name in ("long", "grind", "asked"):
        tools.add(name, safe=True)
    return engine_of(tools, policy=LIMITED, **options)


def test_c126_waiting_for_a_key_is_not_counted_in_the_timeout_of_the_tool(run):
    async def main():
        engine = limited()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold, engine.locks, 11)
            await anyio.sleep(1)
            result = await engine.run(turn(("edit", 1, "k"), ("edit", 3, "k")))
        assert statuses(result) == ["ok", "timed_out"]
        assert spans(result) == [(10, 11), (11, 13)]

    run(main)


@pytest.mark.parametrize(
    ("calls", "options", "expected"),
    [
        ([("long", 5), ("write", 1), ("read", 1)], {}, [(0, 5), (5, 6), (6, 7)]),  # the turn
        ([("long", 5), ("read", 1)], {"pool": 1}, [(0, 5), (5, 6)]),  # a permit
        ([("grind", 1)] * 4, {}, [(0, 1), (1, 2), (2, 3), (3, 4)]),  # a resource
        ([("edit", 1, "k")] * 4, {}, [(0, 1), (1, 2), (2, 3), (3, 4)]),  # a sibling's key
    ],
)
def test_c126_waiting_for_turn_permit_resource_or_sibling_is_not_counted_either(
    run, calls, options, expected
):
    result = run(partial(limited(**options).run, turn(*calls)))
    assert statuses(result) == ["ok"] * len(calls)
    assert spans(result) == expected


def test_c126_waiting_for_hooks_and_answers_is_not_counted_either(run):
    class Slow(Hooks):
        async def before_call(self, call, context):
            await anyio.sleep(5)

        async def after_call(self, call, outcome, context):
            await anyio.sleep(5)

    async def approver(question: Any) -> bool:
        await anyio.sleep(5)
        return True

    engine = limited(hooks=Slow(), approver=approver)
    result = run(partial(engine.run, turn(("asked", 1), ("read", 1))))
    assert statuses(result) == ["ok", "ok"]


def test_c126_waiting_for_a_key_counts_in_the_total_limit_of_the_run(run):
    async def main():
        engine = limited()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold, engine.locks, 11)
            await anyio.sleep(1)
            recorder = EventRecorder()
            message = turn(("edit", 1, "k"), ("read", 1), ("edit", 1, "k"))
            result = await engine.run(message, timeout=5, on_event=recorder)
            assert anyio.current_time() - begun == 6
            (queue,) = engine.locks.statistics().keys.values()
            assert (len(queue.holders), queue.waiters) == (1, ())
        assert statuses(result) == ["not_started", "ok", "not_started"]
        assert seen(recorder, "call_started") == [("b", 0)]
        assert result.status == "aborted"
        assert "5 s" in str(result.outcomes[0].error)

    begun = 0.0

    async def timed():
        nonlocal begun
        begun = anyio.current_time()
        await main()

    run(timed)


def test_c126_waiting_for_the_turn_counts_in_the_total_limit_of_the_run(run):
    engine = limited()
    message = turn(("long", 4), ("write", 1), ("long", 4), ("write", 1))
    result = run(partial(engine.run, message, timeout=7))
    assert statuses(result) == ["ok", "ok", "aborted", "not_started"]
    assert spans(result) == [(0, 4), (4, 5), (5, 7), (None, None)]


def test_c126_hooks_and_open_questions_count_in_the_total_limit_as_well(run):
    async def approver(question: Any) -> bool:
        await anyio.sleep(50)
        return True

    engine = limited(approver=approver)
    result = run(partial(engine.run, turn(("asked", 1), ("read", 1)), timeout=7))
    assert statuses(result) == ["not_started", "ok"]
    assert result.times[0].settled == 7
