"""Conformance B: plan and pool, lines 15 to 25, 28 to 32."""

from __future__ import annotations

import heapq
import random
from functools import partial
from typing import Any

import anyio
import pytest
from turns import scripted, spans, starts, statuses, turn

from toolflow.engine import Engine
from toolflow.errors import PolicyError, UsageError
from toolflow.model.batch import Limits
from toolflow.model.turn import Call, Turn
from toolflow.policy import load_policy
from toolflow.runtime.hooks import Deny, Hooks
from toolflow.testing import EventRecorder


def run_turn(run: Any, engine: Engine, *calls: Any, **options: Any) -> Any:
    return run(partial(engine.run, turn(*calls), **options))


def greedy(seconds: list[float], pool: int) -> list[float]:
    """When calls start that take these times, each as soon as any of the slots is free."""
    slots = [0.0] * pool
    begun = []
    for length in seconds:
        begun.append(heapq.heappop(slots))
        heapq.heappush(slots, begun[-1] + length)
    return begun


def test_c015_all_safe_siblings_start_before_any_completes(run):
    tools = scripted()
    run_turn(run, Engine(tools.toolbox), *["read"] * 5)
    assert [what for what, _ in tools.log] == ["start"] * 5 + ["end"] * 5


def test_c015_safe_siblings_of_different_tools_share_a_pool(run):
    tools = scripted()
    tools.add("grep", safe=True)
    calls = [("read", 1), ("grep", 1), ("edit", 1, "k"), ("read", 1)]
    assert starts(run_turn(run, Engine(tools.toolbox), *calls)) == [0, 0, 0, 0]


def test_c016_an_exclusive_call_between_safe_ones_gives_three_groups_in_strict_order(run):
    tools = scripted()
    engine = Engine(tools.toolbox)
    calls = [("read", 3), ("write", 2), ("read", 1)]
    plan = engine.plan(turn(*calls))
    assert [(node.kind, node.calls) for node in plan.nodes] == [
        ("pool", (0,)),
        ("barrier", (1,)),
        ("pool", (2,)),
    ]
    assert spans(run_turn(run, engine, *calls)) == [(0, 3), (3, 5), (5, 6)]


def test_c017_two_reads_a_write_two_reads_run_in_three_waves(run):
    calls = [("read", 1), ("read", 1), ("write", 1), ("read", 1), ("read", 1)]
    assert starts(run_turn(run, Engine(scripted().toolbox), *calls)) == [0, 0, 1, 2, 2]


def test_c018_a_write_before_two_reads_runs_alone_and_then_both(run):
    calls = [("write", 1), ("read", 1), ("read", 1)]
    assert starts(run_turn(run, Engine(scripted().toolbox), *calls)) == [0, 1, 1]


def test_c018_two_writes_run_one_after_the_other(run):
    assert starts(run_turn(run, Engine(scripted().toolbox), ("write", 1), ("write", 1))) == [0, 1]


@pytest.mark.parametrize(
    ("seconds", "begun"),
    [
        ([5, 1, 1, 1], [0, 0, 1, 2]),  # the second settles first
        ([1, 5, 1, 1], [0, 0, 1, 2]),  # the first settles first
        ([1, 2, 3, 1], [0, 0, 1, 2]),
        ([2, 2, 1, 1], [0, 0, 2, 2]),  # both at once
    ],
)
def test_c019_the_third_of_four_starts_when_any_settles(run, seconds, begun):
    engine = Engine(scripted().toolbox, pool=2)
    assert starts(run_turn(run, engine, *[("read", s) for s in seconds])) == begun


@pytest.mark.parametrize("ending", [{"raises": "no"}, {"returns": {"a": 1}}])
def test_c019_a_slot_comes_back_however_a_call_ends(run, ending):
    tools = scripted()
    calls = [("read", 1, ending), ("read", 9), ("read", 1), ("read", 1)]
    result = run_turn(run, Engine(tools.toolbox, pool=2), *calls)
    assert starts(result) == [0, 0, 1, 2]
    assert tools.most == 2


def test_c019_a_slot_comes_back_only_when_a_timed_out_body_has_stopped(run):
    tools = scripted()

    @tools.toolbox.tool(safe=True, timeout=1)
    async def slow_to_stop(name: str) -> None:
        try:
            await anyio.sleep(100)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(2)

    result = run_turn(run, Engine(tools.toolbox, pool=1), "slow_to_stop", ("read", 1))
    assert statuses(result) == ["timed_out", "ok"]
    assert result.times[0].settled == 1
    assert starts(result) == [0, 3]


def test_c019_only_bodies_overlap_so_a_before_hook_waits_for_an_after_hook_under_way(run):
    class Slow(Hooks):
        async def after_call(self, call, outcome, context):
            await anyio.sleep(10 if call.name == "a" else 0)

    calls = [("read", 1), ("read", 5), ("read", 1)]
    result = run_turn(run, Engine(scripted().toolbox, pool=2, hooks=Slow()), *calls)
    assert starts(result) == [0, 0, 11]


def test_c019_the_pool_rolls_again_behind_a_barrier(run):
    calls = [("read", 3), ("read", 1), ("read", 1), ("write", 1), ("read", 2), ("read", 1)]
    calls += [("read", 1)]
    result = run_turn(run, Engine(scripted().toolbox, pool=2), *calls)
    assert starts(result) == [0, 0, 1, 3, 4, 4, 5]


@pytest.mark.parametrize("seed", range(20))
def test_c019_any_lengths_start_as_slots_become_free(run, seed):
    chance = random.Random(seed)
    pool = chance.randint(1, 4)
    seconds = [chance.randint(1, 9) for _ in range(12)]
    tools = scripted()
    result = run_turn(run, Engine(tools.toolbox, pool=pool), *[("read", s) for s in seconds])
    assert starts(result) == greedy(seconds, pool)
    assert tools.most == min(pool, 12)


def test_c020_with_one_slot_no_call_starts_before_the_one_before_it_has_settled(run):
    tools = scripted()
    recorder = EventRecorder()
    engine = Engine(tools.toolbox, pool=1)
    run_turn(run, engine, *[("read", 2)] * 4, on_event=recorder)
    assert recorder.kinds("call_started", "call_settled") == [
        (kind, name) for name in "abcd" for kind in ("call_started", "call_settled")
    ]
    assert tools.most == 1


def test_c020_with_one_slot_failures_and_functions_in_threads_wait_their_turn(run):
    tools = scripted()
    busy: list[str] = []

    @tools.toolbox.tool(safe=True)
    def in_thread(name: str) -> int:
        busy.append(name)
        count = len(busy)
        busy.remove(name)
        return count

    calls = [("read", {"raises": "no"}), "in_thread", "in_thread", ("read", 1)]
    result = run_turn(run, Engine(tools.toolbox, pool=1), *calls)
    assert statuses(result) == ["failed", "ok", "ok", "ok"]
    assert [outcome.value for outcome in result.outcomes[1:3]] == [1, 1]
    ends = [time.stopped for time in result.times]
    assert all(begun >= ended for begun, ended in zip(starts(result)[1:], ends, strict=False))


def test_c021_ten_calls_run_at_once_where_nobody_says_otherwise(run):
    tools = scripted()
    result = run_turn(run, Engine(tools.toolbox), *[("read", 1)] * 21)
    assert tools.most == 10
    assert starts(result) == [0] * 10 + [1] * 10 + [2]
    assert result.plan.limits.pool == 10


BAD_POOLS = [0, -1, 1.5, 2.0, True, False, "3", float("nan"), [1]]


@pytest.mark.parametrize("pool", BAD_POOLS, ids=repr)
def test_c022_a_pool_that_is_no_whole_number_above_zero_is_refused_at_construction(pool):
    with pytest.raises(UsageError, match=r"pool is .*\. Use an integer of at least 1\."):
        Limits(pool)
    with pytest.raises(UsageError, match="pool is"):
        Engine(scripted().toolbox, pool=pool)
    with pytest.raises(UsageError, match="pool is"):
        Engine(scripted().toolbox, pool=pool, parallel=False)


@pytest.mark.parametrize("pool", BAD_POOLS, ids=repr)
def test_c022_a_pool_that_is_no_whole_number_above_zero_is_refused_at_load(pool):
    with pytest.raises(PolicyError, match=r"limits\.pool is"):
        load_policy({"version": 1, "limits": {"pool": pool}})


def test_c022_a_refused_pool_is_told_with_its_place():
    with pytest.raises(PolicyError, match=r"^<policy>:3:9: limits\.pool is 0\."):
        load_policy("version: 1\nlimits:\n  pool: 0\n")


@pytest.mark.parametrize("pool", [0, 1.5, -2, True])
def test_c022_a_refused_pool_is_told_when_a_run_is_resumed(run, pool):
    async def main():
        engine = Engine(scripted().toolbox)
        paused = await engine.run(turn("read"), stop_at=["a"])
        with pytest.raises(UsageError, match="pool is"):
            await engine.resume(paused.checkpoint, pool=pool)

    run(main)


@pytest.mark.parametrize("capacity", [0, 1.5, -2, True])
def test_c022_a_capacity_that_is_no_whole_number_above_zero_is_refused(capacity):
    with pytest.raises(UsageError, match="subprocess is"):
        Limits(1, {"subprocess": capacity})
    with pytest.raises(PolicyError, match=r"limits\.resources\.subprocess is"):
        load_policy({"version": 1, "limits": {"resources": {"subprocess": capacity}}})


def test_c023_with_parallel_off_everything_runs_one_after_another(run):
    tools = scripted()
    engine = Engine(tools.toolbox, parallel=False)
    result = run_turn(run, engine, ("read", 2), ("read", 1), ("write", 1), ("edit", 1, "k"))
    assert spans(result) == [(0, 2), (2, 3), (3, 4), (4, 5)]
    assert tools.most == 1


def test_c023_with_parallel_off_keys_still_keep_other_runs_away(run):
    tools = scripted()
    engine = Engine(tools.toolbox, parallel=False)
    results: dict[str, Any] = {}

    async def one(name: str) -> None:
        results[name] = await engine.run(turn(("edit", 2, "k"), ("edit", 2, "m"), ids=name))

    async def main():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "ab")
            tasks.start_soon(one, "cd")

    run(main)
    both = sorted([spans(results["ab"]), spans(results["cd"])])
    assert both == [[(0, 2), (2, 4)], [(2, 4), (4, 6)]]


def test_c024_an_empty_batch_gives_no_events_and_no_outcomes(run):
    recorder = EventRecorder()
    engine = Engine(scripted().toolbox, hooks=Hooks())
    result = run_turn(run, engine, on_event=recorder)
    assert recorder.events == []
    assert result.events == ()
    assert (result.status, result.outcomes, result.results) == ("done", (), ())
    assert result.ok


def test_c025_a_single_call_behaves_as_a_batch_of_one(run):
    async def main():
        engine = Engine(scripted().toolbox)
        alone, batch = EventRecorder(), EventRecorder()
        outcome = await engine.call("read", {"seconds": 2, "returns": 7}, on_event=alone)
        single = Turn("call", (Call(0, "call-1", "read", {"seconds": 2, "returns": 7}),))
        result = await engine.run(single, on_event=batch)
        assert (outcome,) == result.outcomes
        assert [(e.kind, e.call, e.at, e.data) for e in alone.events if e.call] == [
            (e.kind, e.call, e.at, e.data) for e in batch.events if e.call
        ]

    run(main)


@pytest.mark.parametrize("tool", ["read", "write"])
def test_c025_a_single_call_runs_at_once_whatever_its_verdict(run, tool):
    assert spans(run_turn(run, Engine(scripted().toolbox), (tool, 3))) == [(0, 3)]


RULES = {
    "version": 1,
    "rules": [{"tool": "asked", "ask": "Sure?"}, {"tool": "drop", "deny": "Never."}],
}


def mixed(*tools: str) -> Turn:
    """Calls named a, b ...; ``broken`` has arguments that could not be parsed."""
    calls = []
    for index, tool in enumerate(tools):
        name = "abcdefgh"[index]
        if tool == "broken":
            calls.append(Call(index, name, "read", raw='{"x":', problem="The text ends too soon."))
        else:
            args = {"seconds": 2, "name": name} if tool == "read" else {}
            calls.append(Call(index, name, tool, args))
    return Turn("turn-1", tuple(calls))


@pytest.mark.parametrize("pool", [1, 2, 3, 10])
def test_c028_settled_calls_neither_split_a_pool_nor_wait_nor_take_a_permit(run, pool):
    tools = scripted()
    tools.add("asked", safe=True)
    tools.add("drop")
    engine = Engine(tools.toolbox, policy=RULES, pool=pool)
    recorder = EventRecorder()
    plan = engine.plan(mixed("read", "nosuch", "read", "broken", "asked", "drop", "read"))
    assert [node.calls for node in plan.nodes if node.kind == "pool"] == [(0, 2, 4, 6)]
    result = run(partial(engine.run, plan, can_pause=False, on_event=recorder))
    assert statuses(result) == [
        *("ok", "unknown_tool", "ok", "invalid_arguments", "declined", "denied", "ok"),
    ]
    times = [result.times[index].started for index in (0, 2, 6)]
    assert times == greedy([2, 2, 2], pool)
    settled_at = {event.call: event.at for event in recorder.events if event.kind == "call_settled"}
    assert [settled_at[name] for name in "bdef"] == [0, 0, 0, 0]
    assert tools.most == min(pool, 3)


def test_c028_settled_calls_between_barriers_wait_for_none(run):
    tools = scripted()
    recorder = EventRecorder()
    run_turn(run, Engine(tools.toolbox), ("write", 5), "nosuch", ("write", 5), on_event=recorder)
    assert recorder.kinds("call_settled") == [
        ("call_settled", "b"),
        ("call_settled", "a"),
        ("call_settled", "c"),
    ]


def test_c029_a_call_denied_by_the_policy_takes_no_slot(run):
    tools = scripted()
    tools.add("drop", safe=True)
    engine = Engine(tools.toolbox, policy=RULES, pool=1)
    result = run_turn(run, engine, "drop", ("read", 2), "drop", ("read", 1))
    assert statuses(result) == ["denied", "ok", "denied", "ok"]
    assert starts(result) == [None, 0, None, 2]


def test_c029_a_call_denied_by_a_hook_takes_no_slot(run):
    class NoWrites(Hooks):
        def before_call(self, call, context):
            return Deny("No.") if call.tool == "edit" else None

    tools = scripted()
    engine = Engine(tools.toolbox, pool=2, hooks=NoWrites())
    result = run_turn(run, engine, ("read", 5), ("edit", 5, "k"), ("edit", 5, "k"), ("read", 1))
    assert statuses(result) == ["ok", "denied", "denied", "ok"]
    assert starts(result) == [0, None, None, 0]


class SlowAfter(Hooks):
    """An after-hook that takes two seconds, and notes when it is done."""

    def __init__(self) -> None:
        self.done: list[tuple[str, float]] = []

    async def after_call(self, call, outcome, context):
        await anyio.sleep(2)
        self.done.append((call.name, anyio.current_time()))


def test_c030_a_barrier_is_held_until_its_after_hook_is_done(run):
    async def main():
        hooks = SlowAfter()
        begun = anyio.current_time()
        engine = Engine(scripted().toolbox, hooks=hooks)
        result = await engine.run(turn(("write", 1), ("read", 1), ("write", 1)))
        done = [(name, at - begun) for name, at in hooks.done]
        assert done == [("a", 3), ("b", 6), ("c", 9)]
        assert starts(result) == [0, 3, 6]

    run(main)


def test_c030_a_barrier_waits_for_the_after_hooks_of_the_pool_before_it(run):
    engine = Engine(scripted().toolbox, hooks=SlowAfter())
    assert starts(run_turn(run, engine, ("read", 1), ("read", 1), ("write", 1))) == [0, 0, 5]


def test_c030_a_barrier_whose_call_was_denied_still_waits_for_its_after_hook(run):
    class Denies(SlowAfter):
        def before_call(self, call, context):
            return Deny("No.") if call.tool == "write" else None

    engine = Engine(scripted().toolbox, hooks=Denies())
    result = run_turn(run, engine, ("write", 1), ("read", 1))
    assert statuses(result) == ["denied", "ok"]
    assert starts(result) == [None, 2]


def test_c031_calls_enter_the_pool_in_declared_order(run):
    tools = scripted()
    run_turn(run, Engine(tools.toolbox, pool=3), *[("read", s) for s in (3, 1, 2, 1, 1, 4, 1, 1)])
    assert tools.order == list("abcdefgh")


def test_c031_of_several_calls_that_may_start_the_earliest_goes_first(run):
    tools = scripted()
    calls = [("edit", 3, "k"), ("edit", 3, "k"), ("read", 4), ("read", 3), ("read", 3)]
    result = run_turn(run, Engine(tools.toolbox, pool=2), *calls)
    # b may start only when a has ended; then it goes before d, which could have started as well.
    assert starts(result) == [0, 3, 0, 4, 6]
    assert tools.order == list("acbde")


def test_c031_threads_are_entered_in_declared_order(run):
    tools = scripted()
    entered: list[str] = []

    @tools.toolbox.tool(safe=True)
    async def mark(name: str) -> None:
        entered.append(name)

    run_turn(run, Engine(tools.toolbox, pool=4), *["mark"] * 20)
    assert entered == list("abcdefghijklmnopqrst")


def test_c032_results_come_after_all_calls_and_in_call_order(run):
    calls = [("read", s) for s in (5, 4, 3, 2, 1)]
    result = run_turn(run, Engine(scripted().toolbox), *calls)
    assert [event.call for event in result.events if event.kind == "call_settled"] == list("edcba")
    assistant, results = result.messages
    assert [call["id"] for call in assistant["calls"]] == list("abcde")
    assert [item["id"] for item in results["results"]] == list("abcde")
    assert [item["value"] for item in results["results"]] == list("abcde")


def test_c032_a_barrier_in_the_middle_does_not_change_the_order_of_results(run):
    calls = [("read", 2), ("write", 1), "nosuch", ("read", 3), ("read", 1)]
    result = run_turn(run, Engine(scripted().toolbox), *calls)
    assert [item["id"] for item in result.results[0]["results"]] == list("abcde")


def test_c030_the_before_hook_of_a_barrier_runs_when_all_before_it_is_done(run):
    seen: list[tuple[str, str]] = []

    class Order(Hooks):
        def before_call(self, call, context):
            seen.append(("before", call.name))

        async def after_call(self, call, outcome, context):
            await anyio.sleep(1)
            seen.append(("after", call.name))

    engine = Engine(scripted().toolbox, hooks=Order())
    run_turn(run, engine, ("read", 3), ("read", 1), ("write", 1), "read")
    order = [("before", "a"), ("before", "b"), ("after", "a"), ("after", "b")]
    order += [("before", "c"), ("after", "c"), ("before", "d"), ("after", "d")]
    assert seen == order
