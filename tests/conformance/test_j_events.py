"""Conformance J: events, lines 112 to 116, and what else is promised of them (spec 9.3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import anyio
import pytest
from turns import scripted, starts, statuses, turn

from toolflow.engine import Engine
from toolflow.errors import UsageError
from toolflow.model.event import Event
from toolflow.model.turn import Call, Turn
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Deny, Hooks
from toolflow.runtime.transcript import Transcript
from toolflow.testing import EventRecorder


def run_turn(run: Any, engine: Engine, *calls: Any, **options: Any) -> Any:
    return run(partial(engine.run, turn(*calls), **options))


def block(seconds: float) -> None:
    """Move the virtual clock on, as code does that blocks the event loop."""
    try:
        loop: Any = asyncio.get_running_loop()
    except RuntimeError:
        import trio

        clock: Any = trio.lowlevel.current_clock()
        clock.jump(seconds)
    else:
        loop._virtual.now += seconds


# ---- 112 ----


def test_c112_the_start_of_a_call_precedes_every_event_of_its_children(run):
    tools = scripted()

    @tools.toolbox.tool(safe=True)
    async def parent(name: str) -> None:
        await engine.run(turn(("read", 2), ("read", 1), ids=[f"{name}1", f"{name}2"]))

    engine = Engine(tools.toolbox)
    recorder = EventRecorder()
    run_turn(run, engine, "parent", "parent", on_event=recorder)
    place = {(e.kind, e.call): n for n, e in enumerate(recorder.events) if e.call}
    for name in "ab":
        nested = [n for n, e in enumerate(recorder.events) if e.source == name]
        assert len(nested) == 7
        assert place["call_started", name] < min(nested)
        assert place["call_settled", name] > max(nested)


def test_c112_ends_are_told_at_completion_so_they_interleave(run):
    recorder = EventRecorder()
    calls = [("read", 3), ("read", 1), ("read", 2)]
    run_turn(run, Engine(scripted().toolbox), *calls, on_event=recorder)
    assert [(e.call, e.at) for e in recorder.events if e.kind == "call_settled"] == [
        ("b", 1),
        ("c", 2),
        ("a", 3),
    ]


# ---- 113 ----


class Difficult(Hooks):
    def before_call(self, call, context):
        if call.name == "d":
            return Deny("No.")
        if call.name == "e":
            raise ValueError("broken")
        if call.name == "f":
            from dataclasses import replace

            return replace(call, id="tampered")
        return None

    def after_call(self, call, outcome, context):
        if call.name == "g":
            raise ValueError("broken")


RULES = {
    "version": 1,
    "rules": [
        {"tool": "asked", "ask": "Sure?"},
        {"tool": "drop", "deny": "Never."},
        {"tool": "slow", "timeout": 2, "safe": True},
    ],
}


def difficult() -> tuple[Engine, Turn]:
    tools = scripted()
    for name in ("asked", "slow", "drop"):
        tools.add(name, safe=True)
    calls = (
        Call(0, "a", "read", {"seconds": 1}),
        Call(1, "b", "nosuch"),
        Call(2, "c", "asked"),
        Call(3, "d", "read"),
        Call(4, "e", "read"),
        Call(5, "f", "read"),
        Call(6, "g", "read"),
        Call(7, "h", "read", {"raises": "broken"}),
        Call(8, "i", "slow", {"seconds": 9}),
        Call(9, "j", "read", problem="Not JSON.", raw="{"),
        Call(10, "k", "drop"),
        Call(11, "", "read"),
        Call(12, "x", "read"),
        Call(13, "x", "read"),
        Call(14, "m", "write", {"seconds": 1}),
        Call(15, "n", "read", {"seconds": 1}),
    )
    return Engine(tools.toolbox, policy=RULES, hooks=Difficult()), Turn("turn-1", calls)


STARTED = {"a", "g", "h", "i", "m", "n"}


@pytest.mark.parametrize("pool", [1, 2, 10])
def test_c113_every_declared_call_has_exactly_one_settled_event(run, pool):
    engine, message = difficult()
    recorder = EventRecorder()
    engine.limits = Engine(pool=pool).limits
    result = run(partial(engine.run, message, can_pause=False, on_event=recorder))
    names = [call.name for call in result.plan.calls]
    settled = Counter(event.call for event in recorder.events if event.kind == "call_settled")
    assert settled == dict.fromkeys(names, 1)
    told = {e.call: e.data["status"] for e in recorder.events if e.kind == "call_settled"}
    assert [told[name] for name in names] == statuses(result)
    assert Counter(statuses(result)) == {
        "ok": 3,
        "unknown_tool": 1,
        "declined": 1,
        "denied": 2,
        "failed": 4,
        "timed_out": 1,
        "invalid_arguments": 1,
        "invalid_id": 3,
    }


@pytest.mark.parametrize("pool", [1, 2, 10])
def test_c113_a_started_event_comes_only_where_the_body_was_dispatched_and_before_the_settled(
    run, pool
):
    engine, message = difficult()
    engine.limits = Engine(pool=pool).limits
    recorder = EventRecorder()
    run(partial(engine.run, message, can_pause=False, on_event=recorder))
    place: dict[tuple[str, str | None], int] = {}
    for number, event in enumerate(recorder.events):
        assert (event.kind, event.call) not in place or event.call is None
        place[event.kind, event.call] = number
    started = {call for kind, call in place if kind == "call_started"}
    assert started == STARTED
    for name in started:
        assert place["call_started", name] < place["call_settled", name]


@pytest.mark.parametrize("at", [0.0, 0.5, 1.5, 2.5, 3.5])
@pytest.mark.parametrize("what", ["abort", "interrupt"])
def test_c113_also_where_the_run_is_cut_off(run, at, what):
    async def main():
        engine, message = difficult()
        control, recorder = Control(), EventRecorder()
        async with anyio.create_task_group() as tasks:

            async def cut() -> None:
                await anyio.sleep(at)
                getattr(control, what)()

            tasks.start_soon(cut)
            options = {"control": control, "on_event": recorder}
            result = await engine.run(message, can_pause=what != "abort", **options)
        done = {c.name for c, o in zip(result.plan.calls, result.outcomes, strict=True) if o}
        settled = Counter(event.call for event in recorder.events if event.kind == "call_settled")
        assert set(settled) <= done
        assert set(settled.values()) <= {1}
        if result.status != "paused":
            assert set(settled) == {call.name for call in result.plan.calls}
        last = recorder.events[-1]
        assert last.kind == ("run_paused" if result.status == "paused" else "run_finished")
        assert last.data == {"status": result.status}

    run(main)


def test_c113_over_a_pause_and_its_end_every_call_is_told_once(run):
    async def main():
        engine, message = difficult()
        first, second = EventRecorder(), EventRecorder()
        paused = await engine.run(message, on_event=first)
        assert paused.status == "paused"
        result = await engine.resume(paused.checkpoint, {"c": True}, on_event=second)
        both = [*first.events, *second.events]
        settled = Counter(event.call for event in both if event.kind == "call_settled")
        # Settled calls are told again by the run that ends, for those who watch only that one.
        names = {call.name for call in result.plan.calls}
        assert set(settled) == names
        told = Counter(event.call for event in second.events if event.kind == "call_settled")
        assert set(told.values()) == {1}

    run(main)


# ---- 114 ----


@pytest.mark.parametrize("tool", ["read", "threaded"])
def test_c114_the_refill_is_seen_behind_the_result_that_made_room(run, tool):
    tools = scripted()

    @tools.toolbox.tool(safe=True)
    def threaded(name: str, seconds: float = 0) -> str:
        return name

    recorder = EventRecorder()
    engine = Engine(tools.toolbox, pool=2)
    calls = [("read", 1), ("read", 5), (tool, 1)]
    run_turn(run, engine, *calls, on_event=recorder)
    assert recorder.kinds("call_started", "call_settled")[:4] == [
        ("call_started", "a"),
        ("call_started", "b"),
        ("call_settled", "a"),
        ("call_started", "c"),
    ]


def test_c114_with_one_slot_starts_and_results_take_turns(run):
    recorder = EventRecorder()
    run_turn(run, Engine(scripted().toolbox, pool=1), *["read"] * 3, on_event=recorder)
    assert recorder.kinds("call_started", "call_settled") == [
        (kind, name) for name in "abc" for kind in ("call_started", "call_settled")
    ]


def test_c114_with_hooks_the_end_of_the_body_is_told_first_and_the_settled_event_is_final(run):
    class Slow(Hooks):
        async def after_call(self, call, outcome, context):
            await anyio.sleep(3)

    recorder = EventRecorder()
    engine = Engine(scripted().toolbox, hooks=Slow())
    run_turn(run, engine, ("read", 2), ("read", 1), on_event=recorder)
    told = [(e.kind, e.call, e.at) for e in recorder.events if e.kind.startswith("call_")]
    assert told == [
        ("call_started", "a", 0),
        ("call_started", "b", 0),
        ("call_stopped", "b", 1),
        ("call_stopped", "a", 2),
        ("call_settled", "a", 5),
        ("call_settled", "b", 8),
    ]


# ---- 115 ----


def bad_observers() -> list[Any]:
    def raises(event: Event) -> None:
        raise ValueError("observer")

    class Strange:
        def __call__(self, event: Event) -> object:
            raise Exception

    return [raises, Strange()]


@pytest.mark.parametrize("hooks", [(), (Hooks(),)])
def test_c115_an_observer_that_raises_changes_no_outcome_and_hides_nothing_from_others(run, hooks):
    def engine() -> Engine:
        return Engine(scripted().toolbox, hooks=hooks)

    calls = [("read", 2), ("read", {"raises": "broken"}), ("write", 1), "nosuch", ("read", 1)]
    plain = run_turn(run, engine(), *calls)
    before, after = EventRecorder(), EventRecorder()
    watched = run_turn(run, engine(), *calls, on_event=[before, *bad_observers(), after])
    assert watched.outcomes == plain.outcomes
    assert watched.messages == plain.messages
    assert starts(watched) == starts(plain)
    assert before.events == after.events == list(watched.events)
    # Only those that came before the report was made are in its count.
    assert watched.report.observer_errors == 2 * (len(watched.events) - 2)


def test_c115_an_observer_that_blocks_changes_no_outcome(run):
    rules = {"version": 1, "rules": [{"tool": "read", "safe": True, "timeout": 5}]}

    def slow(event: Event) -> None:
        block(3)

    engine = Engine(scripted().toolbox, policy=rules)
    result = run_turn(run, engine, *[("read", 1)] * 4, on_event=slow)
    assert statuses(result) == ["ok"] * 4


def test_c115_what_an_observer_returns_does_not_count(run):
    result = run_turn(run, Engine(scripted().toolbox), "read", on_event=lambda event: False)
    assert statuses(result) == ["ok"]


def test_c115_an_async_observer_is_refused_before_anything_runs(run):
    async def observer(event: Event) -> None: ...

    tools = scripted()
    with pytest.raises(UsageError, match="Use plain functions that take an event"):
        run_turn(run, Engine(tools.toolbox), "read", on_event=observer)
    with pytest.raises(UsageError, match="on_event has 7"):
        run_turn(run, Engine(tools.toolbox), "read", on_event=[7])
    assert tools.log == []


def test_c115_an_observer_may_steer_the_run(run):
    control = Control()

    def stops(event: Event) -> None:
        if (event.kind, event.call) == ("call_settled", "a"):
            control.abort("by the observer")

    calls = [("read", 1), ("read", 5), ("write", 1)]
    result = run_turn(run, Engine(scripted().toolbox), *calls, on_event=stops, control=control)
    assert statuses(result) == ["ok", "aborted", "not_started"]


def test_c115_an_observer_of_a_nested_turn_that_raises_changes_nothing(run):
    tools = scripted()

    @tools.toolbox.tool(safe=True)
    async def parent(name: str) -> str:
        inner = await engine.run(turn("read", ids="x"))
        return inner.outcomes[0].status

    engine = Engine(tools.toolbox)
    result = run_turn(run, engine, "parent", on_event=bad_observers())
    assert result.outcomes[0].value == "ok"


# ---- 116 ----


def test_c116_the_started_event_comes_when_the_call_enters_the_pool(run):
    recorder = EventRecorder()
    engine = Engine(scripted().toolbox, pool=1)
    run_turn(run, engine, ("read", 2), ("read", 1), ("write", 1), "read", on_event=recorder)
    assert [(e.call, e.at) for e in recorder.events if e.kind == "call_started"] == [
        ("a", 0),
        ("b", 2),
        ("c", 3),
        ("d", 4),
    ]


def test_c116_a_wait_for_a_key_of_another_run_is_told_and_comes_before_the_start(run):
    import toolflow.locks
    from toolflow.locks import MemoryStore

    async def main():
        store, recorder = MemoryStore(), EventRecorder()
        engine = Engine(scripted().toolbox, locks=store)

        async def other() -> None:
            async with toolflow.locks.acquire(writes=["key:k"], store=store, label="the editor"):
                await anyio.sleep(3)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(other)
            await anyio.sleep(1)
            await engine.run(turn(("edit", 1, "k")), on_event=recorder)
        told = [(e.kind, e.at) for e in recorder.events if e.call == "a"]
        assert told == [("call_queued", 0), ("call_started", 2), ("call_settled", 3)]
        (queued,) = [e for e in recorder.events if e.kind == "call_queued"]
        assert "key:k" in str(queued.data["waits"])
        assert "the editor" in str(queued.data["waits"])

    run(main)


# ---- what else is promised ----


def test_c113_events_carry_run_turn_message_call_source_and_number(run):
    message = Turn("turn-7", (Call(0, "a", "read"),), message_id="msg_1")
    recorder = EventRecorder()
    result = run(partial(Engine(scripted().toolbox).run, message, on_event=recorder))
    assert [event.seq for event in recorder.events] == list(range(len(recorder.events)))
    assert {(e.turn, e.message_id, e.source) for e in recorder.events} == {
        ("turn-7", "msg_1", "main")
    }
    (name,) = {event.run for event in recorder.events}
    assert name.startswith("run-")
    assert tuple(recorder.events) == result.events
    assert [e.kind for e in recorder.events] == [
        "run_started",
        "call_started",
        "call_settled",
        "turn_committed",
        "run_finished",
    ]


@pytest.mark.parametrize("transcript", [True, False])
def test_c113_the_commit_event_carries_the_snapshot_that_is_the_truth(run, transcript):
    kept = Transcript(["before"]) if transcript else None
    seen: list[Any] = []

    def sink(event: Event) -> None:
        if event.kind == "turn_committed":
            seen.append((event.data["messages"], kept.messages if kept else None))

    engine = Engine(scripted().toolbox)
    result = run_turn(run, engine, "read", "nosuch", on_event=sink, transcript=kept)
    ((told, committed),) = seen
    assert told == (("before", *result.messages) if transcript else result.messages)
    assert committed is None or told == committed


def test_c113_a_turn_that_is_not_committed_tells_no_commit(run):
    class Full:
        async def append(self, messages):
            raise OSError("disk full")

        async def rebuild(self, messages): ...

    recorder = EventRecorder()
    engine = Engine(scripted().toolbox)
    with pytest.raises(OSError, match="disk full"):
        run_turn(run, engine, "read", on_event=recorder, transcript=Transcript(store=Full()))
    assert [kind for kind, _ in recorder.kinds()][-2:] == ["call_settled", "run_finished"]
    paused = run_turn(run, engine, "read", stop_at=["a"], on_event=recorder)
    assert paused.status == "paused"
    assert "turn_committed" not in {event.kind for event in recorder.events}


def test_c113_an_aborted_turn_is_committed_and_told(run):
    control = Control()
    control.abort()
    recorder = EventRecorder()
    run_turn(run, Engine(scripted().toolbox), "read", control=control, on_event=recorder)
    assert [kind for kind, _ in recorder.kinds()] == [
        "run_started",
        "call_settled",
        "turn_committed",
        "run_finished",
    ]
    assert recorder.events[-1].data == {"status": "aborted"}
