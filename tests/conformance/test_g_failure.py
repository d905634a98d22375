"""Conformance G: failure, lines 82 to 88."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import pytest
from acting import answered, assert_accounted, errors, held_elsewhere, run_with, statuses, turn

from toolflow.engine import Engine
from toolflow.errors import InternalError, LockLostError
from toolflow.locks import MemoryStore
from toolflow.model.plan import Edge
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Hooks
from toolflow.runtime.schedule import schedule
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.transcript import Transcript
from toolflow.testing import EventRecorder


def tools(ran: list[str] | None = None) -> Toolbox:
    """``read`` takes a second, ``edit`` writes its key, ``fail`` raises, ``write`` is exclusive."""
    box, ran = Toolbox(), [] if ran is None else ran

    @box.tool(safe=True, writes=())
    async def read(seconds: float = 1.0) -> str:
        await anyio.sleep(seconds)
        ran.append("read")
        return "read"

    @box.tool(safe=True, writes=lambda key: [f"key:{key}"])
    async def edit(key: str, seconds: float = 1.0) -> str:
        await anyio.sleep(seconds)
        ran.append(f"edit {key}")
        return f"edited {key}"

    @box.tool(safe=True, writes=())
    async def fail(text: str = "no such file") -> str:
        await anyio.sleep(0.5)
        raise OSError(text)

    @box.tool
    async def write() -> str:
        ran.append("write")
        return "written"

    return box


# ---- 82, 83 ----


def test_c082_a_failing_call_cancels_no_sibling_and_no_later_call(run):
    result = run(partial(Engine(tools()).run, turn("read", "fail", "read", "write", "read")))
    assert_accounted(result)
    assert statuses(result) == ["ok", "failed", "ok", "ok", "ok"]
    assert (result.status, result.ok) == ("done", False)
    assert answered(result.messages)[1] == ("b", "OSError: no such file")


def test_c082_a_failing_exclusive_call_lets_later_calls_run(run):
    box = tools()

    @box.tool
    async def probe() -> str:
        raise OSError("exit 2")

    result = run(partial(Engine(box).run, turn("probe", "read", "write")))
    assert statuses(result) == ["failed", "ok", "ok"]


class Strange(BaseException):
    """Neither an error nor an exit."""

    def __str__(self) -> str:
        raise ValueError("unreadable")


RAISED: list[Any] = [
    ValueError("bad"),
    ValueError(),
    KeyError("k"),
    StopIteration("stop"),
    StopAsyncIteration(),
    GeneratorExit(),
    SystemExit(3),
    asyncio.CancelledError("by the tool"),
    RecursionError("deep"),
    MemoryError(),
    Strange(),
    ExceptionGroup("two", [OSError("one"), OSError("other")]),
    BaseExceptionGroup("exit", [SystemExit(1)]),
    LockLostError("a tool's own"),
    InternalError("a tool's own."),
]


@pytest.mark.parametrize("threaded", [False, True], ids=["async", "thread"])
@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_c083_whatever_a_tool_raises_is_its_result(run, error, threaded):
    box = tools()

    def bad() -> str:
        raise error

    async def bad_too() -> str:
        raise error

    box.tool(name="bad", safe=True)(bad if threaded else bad_too)
    transcript = Transcript()
    result = run(partial(Engine(box).run, turn("read", "bad", "write"), transcript=transcript))
    assert_accounted(result)
    assert statuses(result) == ["ok", "failed", "ok"]
    assert result.outcomes[1].error
    assert transcript.messages == result.messages


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("where", ["before", "after", "around"])
def test_c083_whatever_a_hook_raises_fails_its_own_call_only(run, error, where):
    class Bad(Hooks):
        def before_call(self, call, context):
            if where == "before" and call.name == "a":
                raise error

        async def around_call(self, call, context, proceed):
            if where == "around" and call.name == "a":
                raise error
            return await proceed()

        async def after_call(self, call, outcome, context):
            if where == "after" and call.name == "a":
                raise error

    result = run(partial(Engine(tools(), hooks=Bad()).run, turn("read", "read")))
    assert_accounted(result)
    assert statuses(result) == ["failed", "ok"]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_c083_whatever_an_approver_raises_declines_the_call(run, error):
    def approve(question):
        if question.call == "a":
            raise error
        return True

    policy = {"version": 1, "rules": [{"tool": "read", "ask": "Go?", "safe": True, "writes": []}]}
    engine = Engine(tools(), policy=policy, approver=approve)
    result = run(partial(engine.run, turn("read", "read")))
    assert_accounted(result)
    assert statuses(result) == ["declined", "ok"]
    assert "The approver failed" in errors(result)[0]


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(1), Strange()])
def test_c083_whatever_an_observer_raises_changes_nothing(run, error):
    def observe(event):
        raise error

    result = run(partial(Engine(tools()).run, turn("read", "write"), on_event=observe))
    assert_accounted(result)
    assert statuses(result) == ["ok", "ok"]
    assert result.report.observer_errors > 0


def test_ctrl_c_in_an_observer_ends_the_run_with_every_call_answered(run):
    def observe(event):
        if event.kind == "call_settled" and event.call == "a":
            raise KeyboardInterrupt

    transcript = Transcript()
    go = partial(Engine(tools()).run, turn("read", "write"), on_event=observe)
    with pytest.raises(KeyboardInterrupt):
        run(partial(go, transcript=transcript))
    assert answered(transcript.messages) == [
        ("a", "read"),
        ("b", "Aborted before dispatch (by the keyboard)."),
    ]


# ---- 84, 86, 87: something of ours fails ----


class FailingStore(MemoryStore):
    """A lock store that fails for one key: at the asking, the waiting, or the giving back."""

    def __init__(self, where: str, error: BaseException) -> None:
        super().__init__()
        self.where, self.error = where, error

    def _check(self, where: str, request: Any) -> None:
        if self.where == where and "key:bad" in request.writes:
            raise self.error

    def acquire_nowait(self, request):
        self._check("ask", request)
        return None if self.where == "wait" else super().acquire_nowait(request)

    async def acquire(self, request, *, on_wait=None):
        if self.where == "wait" and "key:bad" in request.writes:
            await anyio.sleep(0.5)
            raise self.error
        return await super().acquire(request, on_wait=on_wait)

    def release(self, lease):
        self._check("release", lease.request)
        super().release(lease)


@pytest.mark.parametrize("where", ["ask", "wait", "release"])
@pytest.mark.parametrize("error", [ConnectionError("store gone"), SystemExit(7)], ids=repr)
def test_c084_a_failure_of_ours_lets_running_bodies_end_and_starts_none(run, where, error):
    ran: list[str] = []
    recorder, transcript = EventRecorder(), Transcript([{"role": "user", "content": "go"}])
    engine = Engine(tools(ran), locks=FailingStore(where, error), pool=3)
    calls = [("read", {"seconds": 3}), ("edit", {"key": "bad"}), ("read", {"seconds": 4})]
    calls += [("read", {"seconds": 5}), "write"]
    go = partial(engine.run, turn(*calls), on_event=recorder, transcript=transcript)
    with pytest.raises(type(error)) as raised:
        run(go)
    assert raised.value is error
    running = {"ask": ["read"], "wait": ["read"] * 2, "release": ["edit bad", "read", "read"]}
    assert ran == running[where]  # those that ran have ended, nothing else started
    settled = {event.call for event in recorder.events if event.kind == "call_settled"}
    assert settled <= {"a", "b", "c"} - ({"b"} if where != "release" else set())
    assert recorder.events[-1].kind == "run_finished"
    assert transcript.messages == ({"role": "user", "content": "go"},)


def test_c084_the_first_of_several_failures_is_raised(run):
    class Counting(MemoryStore):
        count = 0

        def acquire_nowait(self, request):
            self.count += 1
            raise ConnectionError(f"failure {self.count}")

    engine = Engine(tools(), locks=Counting())
    with pytest.raises(ConnectionError, match="failure 1"):
        run(partial(engine.run, turn(("edit", {"key": "a"}), ("edit", {"key": "b"}))))


def test_c084_with_hooks_no_hook_runs_after_the_failure(run):
    seen: list[tuple[str, str]] = []

    class Noting(Hooks):
        def before_call(self, call, context):
            seen.append(("before", call.name))

        def after_call(self, call, outcome, context):
            seen.append(("after", call.name))

    store = FailingStore("ask", ConnectionError("gone"))
    engine = Engine(tools(), locks=store, hooks=Noting())
    with pytest.raises(ConnectionError):
        run(partial(engine.run, turn("read", ("edit", {"key": "bad"}), "read", "write")))
    assert ("before", "d") not in seen
    assert not [call for when, call in seen if when == "after"]


def test_c084_a_store_that_fails_when_a_thread_ends_late_is_told(run):
    release, control = threading.Event(), Control()
    box = Toolbox()

    @box.tool(safe=True, writes=lambda: ["key:bad"])
    def slow() -> None:
        control.abort()
        release.wait(10)

    def let_go(event):
        if event.kind == "call_settled":
            release.set()

    engine = Engine(box, locks=FailingStore("release", ConnectionError("gone")))
    go = partial(engine.run, turn("slow"), control=control, on_event=let_go)
    with pytest.raises(ConnectionError):
        anyio.run(go, backend=run.keywords["backend"])  # a thread needs real time to end


def test_c084_keys_of_the_lost_call_and_of_all_others_are_given_back(run):
    store = FailingStore("wait", ConnectionError("gone"))
    engine = Engine(tools(), locks=store)
    calls = [("edit", {"key": "good", "seconds": 3}), ("edit", {"key": "bad"})]
    with pytest.raises(ConnectionError):
        run(partial(engine.run, turn(*calls)))
    assert not store.statistics().keys


def test_c084_an_abort_after_the_failure_does_not_hide_it(run):
    control = Control()
    engine = Engine(tools(), locks=FailingStore("ask", ConnectionError("gone")))
    calls = [("read", {"seconds": 9}), ("edit", {"key": "bad"})]
    with pytest.raises(ConnectionError):
        run(partial(run_unwrapped, engine, turn(*calls), control))


async def run_unwrapped(engine: Engine, what: Any, control: Control) -> None:
    """Aborts at one second; a group around the error would only be the test's own."""
    caught: BaseException | None = None
    async with anyio.create_task_group() as tasks:

        async def abort() -> None:
            await anyio.sleep(1)
            control.abort()

        tasks.start_soon(abort)
        try:
            await engine.run(what, control=control)
        except BaseException as error:
            caught = error
    if caught is not None:
        raise caught


def test_c085_an_error_in_the_plain_scheduler_ends_it_and_is_raised_as_it_is(run):
    started, ended = [], []

    async def one(index):
        started.append(index)
        await anyio.sleep(1 + index)
        if index == 1:
            raise KeyError("first")
        if index == 2:
            raise KeyError("second")
        ended.append(index)

    with pytest.raises(KeyError, match="first"):
        run(partial(schedule, count=6, safe=lambda index: True, run=one, max_parallel=4))
    assert (started, ended) == ([0, 1, 2, 3, 4], [0, 3, 4])


def test_c086_giving_up_the_wait_for_a_key_does_not_hide_the_failure_that_caused_it(run):
    store = FailingStore("ask", ConnectionError("the cause"))

    async def main():
        engine = Engine(tools(), locks=store)
        async with held_elsewhere(store, "key:k"):
            calls = [("edit", {"key": "k"}), ("read", {"seconds": 1}), ("edit", {"key": "bad"})]
            with pytest.raises(ConnectionError, match="the cause"):
                await engine.run(turn(*calls))
            return store.statistics().waits

    assert run(main) == ()


def test_c086_a_cancellation_during_the_drain_does_not_hide_the_failure(run):
    engine = Engine(tools(), locks=FailingStore("ask", ConnectionError("the cause")))

    async def main():
        with anyio.move_on_after(1):
            await engine.run(turn(("read", {"seconds": 3}), ("edit", {"key": "bad"})))

    with pytest.raises(ConnectionError, match="the cause"):
        run(main)


def test_c087_a_plan_in_which_nothing_can_go_on_stops_with_an_error(run):
    engine = Engine(tools())
    plan = engine.plan(turn("read", "read", "write"))
    circle = [Edge("a", "b", ("key x",), "key"), Edge("b", "a", ("key x",), "key")]
    broken = replace(plan, edges=(*plan.edges, *circle))
    with pytest.raises(InternalError, match="makes no progress"):
        run(partial(engine.run, broken))


def test_c088_no_failure_counter_is_built_in_and_events_suffice_to_count(run):
    recorder = EventRecorder()
    engine = Engine(tools(), pool=1)
    result = run(partial(engine.run, turn(*["fail"] * 12, "read"), on_event=recorder))
    assert statuses(result) == ["failed"] * 12 + ["ok"]  # nobody gave up half-way
    settled = [event for event in recorder.events if event.kind == "call_settled"]
    assert Counter(event.data["status"] for event in settled) == {"failed": 12, "ok": 1}


def test_c088_who_counts_can_stop_the_run_by_its_handle(run):
    control, failures = Control(), []

    def count(event):
        if event.kind == "call_settled" and event.data["status"] == "failed":
            failures.append(event.call)
            if len(failures) == 3:
                control.abort("after three failures")

    engine = Engine(tools(), pool=1)
    result = run(partial(run_with, engine, turn(*["fail"] * 5), on_event=count, control=control))
    assert_accounted(result)
    assert statuses(result) == ["failed"] * 3 + ["not_started"] * 2


# ---- on_error: stop ----


def stop_policy(**more: Any) -> dict[str, Any]:
    rules = [
        {"tool": "fail", "safe": True, "writes": [], "on_error": "stop"},
        {"tool": "read", "safe": True, "writes": [], **more},
    ]
    return {"version": 1, "rules": rules}


def test_on_error_stop_skips_later_calls_and_names_the_cause(run):
    engine = Engine(tools(), policy=stop_policy(), pool=2)
    result = run(partial(engine.run, turn("read", "fail", "read", "write")))
    assert_accounted(result)
    assert statuses(result) == ["ok", "failed", "skipped", "skipped"]
    assert "'b'" in errors(result)[2]


def test_on_error_stop_lets_calls_that_run_already_end(run):
    result = run(partial(Engine(tools(), policy=stop_policy()).run, turn("fail", "read", "write")))
    assert statuses(result) == ["failed", "ok", "skipped"]


def test_on_error_stop_counts_a_failure_of_the_after_hook_too(run):
    class Bad(Hooks):
        def after_call(self, call, outcome, context):
            raise ValueError("after")

    policy = {"version": 1, "rules": [{"tool": "write", "on_error": "stop"}]}
    result = run(partial(Engine(tools(), policy=policy, hooks=Bad()).run, turn("write", "write")))
    assert statuses(result) == ["failed", "skipped"]
