"""Faults of kind M (limits, nesting, deadlock) that real users met: 93, 95, 96, 97, 99."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from turns import scripted, starts, statuses, turn

from toolflow.engine import Engine
from toolflow.locks import MemoryStore
from toolflow.runtime.toolbox import Toolbox
from toolflow.testing import EventRecorder

NAMES = [f"n{number}" for number in range(60)]


def most_at_once(recorder: EventRecorder, only: set[str] | None = None) -> int:
    """The largest number of calls between their started and their last event."""
    running, most = 0, 0
    for event in recorder.events:
        if event.call is None or (only is not None and event.call not in only):
            continue
        running += {"call_started": 1, "call_settled": -1}.get(event.kind, 0)
        most = max(most, running)
    return most


def test_b095_never_more_searches_at_once_than_the_pool_holds(run):
    rules = {
        "version": 1,
        "limits": {"pool": 8},
        "rules": [{"tool": "grep", "safe": True}],
    }
    tools = scripted()
    tools.add("grep")
    recorder = EventRecorder()
    engine = Engine(tools.toolbox, policy=rules)
    calls = [("grep", 1 + number % 3) for number in range(60)]
    result = run(partial(engine.run, turn(*calls, ids=NAMES), on_event=recorder))
    assert tools.most == most_at_once(recorder) == 8
    assert statuses(result) == ["ok"] * 60
    assert [item["value"] for item in result.results[0]["results"]] == NAMES


def test_b095_also_where_the_searches_are_functions_in_threads(run):
    tools, busy, most = Toolbox(), set[str](), [0]
    guard = threading.Lock()

    @tools.tool(safe=True)
    def grep(name: str) -> str:
        with guard:
            busy.add(name)
            most[0] = max(most[0], len(busy))
        with guard:
            busy.discard(name)
        return name

    result = run(partial(Engine(tools, pool=8).run, turn(*["grep"] * 60, ids=NAMES)))
    assert most[0] <= 8
    assert [outcome.value for outcome in result.outcomes] == NAMES


SCARCE: dict[str, Any] = {
    "version": 1,
    "limits": {"pool": 8, "resources": {"search": 2}},
    "rules": [
        {"tool": "grep", "safe": True, "uses": {"search": 1}},
        {"tool": "read", "safe": True},
    ],
}


LIMITED: dict[str, Any] = {
    "version": 1,
    "limits": {"pool": 8, "tools": {"gr*": 2}},
    "rules": [{"tool": ["grep", "read"], "safe": True}],
}


@pytest.mark.parametrize("policy", [SCARCE, LIMITED], ids=["resource", "tool"])
@pytest.mark.parametrize("reads", ["last", "first", "between"])
def test_b096_a_limit_of_a_tool_holds_and_holds_up_nobody_else(run, reads, policy):
    tools = scripted()
    tools.add("grep")
    greps, others = [("grep", 10)] * 40, [("read", 1)] * 4
    calls = {
        "last": greps + others,
        "first": others + greps,
        "between": greps[:20] + others + greps[20:],
    }[reads]
    recorder = EventRecorder()
    engine = Engine(tools.toolbox, policy=policy, locks=MemoryStore())
    result = run(partial(engine.run, turn(*calls, ids=NAMES), on_event=recorder))
    kinds = [call.tool for call in result.plan.calls]
    assert (
        most_at_once(recorder, {n for n, k in zip(NAMES, kinds, strict=False) if k == "grep"}) == 2
    )
    begun = starts(result)
    assert [at for at, kind in zip(begun, kinds, strict=True) if kind == "read"] == [0] * 4
    assert max(at for at in begun if at is not None) == 190  # 40 of them, 2 at a time
    assert statuses(result) == ["ok"] * 44


@pytest.mark.parametrize("policy", [SCARCE, LIMITED], ids=["resource", "tool"])
def test_b096_the_limit_holds_over_all_runs_of_the_process(run, policy):
    async def main():
        tools = scripted()
        tools.add("grep")
        engine = Engine(tools.toolbox, policy=policy, locks=MemoryStore())

        async def one(letter: str) -> None:
            await engine.run(turn(*[("grep", 1)] * 5, ids=[f"{letter}{n}" for n in range(5)]))

        async with anyio.create_task_group() as tasks:
            for letter in "abc":
                tasks.start_soon(one, letter)
        assert tools.most == 2

    run(main)


def test_b097_plain_functions_overlap(run):
    tools = Toolbox()
    meeting = threading.Barrier(3)

    @tools.tool(safe=True)
    def block(name: str) -> int:
        return meeting.wait(timeout=30)  # each waits for the two others: alone it would never end

    result = run(partial(Engine(tools).run, turn("block", "block", "block")))
    assert statuses(result) == ["ok"] * 3
    assert sorted(outcome.value for outcome in result.outcomes) == [0, 1, 2]


def test_b097_a_plain_function_does_not_block_async_calls_beside_it(run):
    tools, go_on = scripted(), threading.Event()

    @tools.toolbox.tool(safe=True)
    def block(name: str) -> bool:
        return go_on.wait(timeout=30)

    @tools.toolbox.tool(safe=True)
    async def free(name: str) -> None:
        await anyio.lowlevel.checkpoint()
        go_on.set()

    result = run(partial(Engine(tools.toolbox).run, turn("block", "free")))
    assert result.outcomes[0].value is True


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_b097_timeouts_work_for_plain_functions(backend):
    """In real time: a virtual clock knows nothing of threads."""
    tools, go_on = scripted(), threading.Event()

    @tools.toolbox.tool(safe=True, timeout=1, writes=["key:k"])  # time for a thread to begin
    def stuck(name: str) -> str:
        go_on.wait(timeout=30)
        return "late"

    @tools.toolbox.tool(safe=True)
    async def beside(name: str) -> str:
        await reported[0].wait()
        assert tools.order == []  # a's key is still out
        go_on.set()  # a thread cannot be killed; let it end
        return name

    reported: list[anyio.Event] = []

    def on_event(event: Any) -> None:
        if (event.kind, event.call) == ("call_settled", "a"):
            reported[0].set()

    async def main() -> Any:
        reported.append(anyio.Event())
        return await engine.run(turn("stuck", "beside", ("edit", "k")), on_event=on_event)

    engine = Engine(tools.toolbox, locks=MemoryStore(), grace=60)
    result = anyio.run(main, backend=backend)
    assert statuses(result) == ["timed_out", "ok", "ok"]
    assert result.times[2].started >= result.times[0].stopped >= result.times[0].settled
    assert result.outcomes[0].note == "It ended later, with: late"


def test_b099_events_of_two_sub_agents_of_one_kind_do_not_mix(run):
    tools = scripted()
    inner_events: dict[str, EventRecorder] = {}

    @tools.toolbox.tool(safe=True)
    async def task(agent: str, name: str) -> list[str]:
        inner_events[name] = EventRecorder()
        calls = turn(("read", 1), ("read", 2), ids=["one", "two"])
        inner = await engine.run(calls, on_event=inner_events[name])
        return [event.call for event in inner.events if event.kind == "call_settled"]

    engine = Engine(tools.toolbox)
    recorder = EventRecorder()
    calls = turn(("task", {"agent": "reviewer"}), ("task", {"agent": "reviewer"}))
    result = run(partial(engine.run, calls, on_event=recorder))
    assert [outcome.value for outcome in result.outcomes] == [
        ["a/one", "a/two"],
        ["b/one", "b/two"],
    ]
    for name in "ab":
        own = inner_events[name].events
        assert {event.source for event in own} == {name}
        assert [event for event in recorder.events if event.source == name] == own
        assert len({event.run for event in own}) == 1
    assert len({event.run for event in recorder.events}) == 3


def test_b093_parents_that_wait_for_children_do_not_stop_them(run):
    """A limit of 3, three calls that each start two children: all of them end."""
    tools = scripted()
    ran: list[str] = []

    @tools.toolbox.tool(safe=True)
    async def child(name: str) -> str:
        await anyio.sleep(1)
        ran.append(name)
        return name

    engine = Engine(tools.toolbox, pool=3, locks=MemoryStore())

    @tools.toolbox.tool(safe=True)
    async def spawn(name: str) -> list[Any]:
        calls = [
            {"id": f"{name}{n}", "tool": "child", "args": {"name": f"{name}{n}"}} for n in (1, 2)
        ]
        result = await engine.run({"calls": calls})
        return [outcome.value for outcome in result.outcomes]

    result = run(partial(engine.run, turn("spawn", "spawn", "spawn")))
    assert [outcome.value for outcome in result.outcomes] == [
        ["a1", "a2"],
        ["b1", "b2"],
        ["c1", "c2"],
    ]
    assert sorted(ran) == ["a1", "a2", "b1", "b2", "c1", "c2"]
