"""Conformance F: abort, lines 66 to 81."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import Any

import anyio
import pytest
from acting import (
    answered,
    assert_accounted,
    assert_told_once,
    chat,
    errors,
    held_elsewhere,
    later,
    run_with,
    statuses,
)
from acting import turn as turn_of

import toolflow
from toolflow.engine import Engine
from toolflow.locks import MemoryStore, acquire
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Deny, Hooks
from toolflow.runtime.results import ToolFailure
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.transcript import Transcript
from toolflow.testing import EventRecorder, run_virtual


def tools() -> Toolbox:
    """``read`` is safe, ``write`` exclusive, ``edit`` writes its key; all take ``seconds``."""
    box = Toolbox()

    @box.tool(safe=True, writes=())
    async def read(seconds: float = 1.0) -> str:
        await anyio.sleep(seconds)
        return "read"

    @box.tool
    async def write(seconds: float = 1.0) -> str:
        await anyio.sleep(seconds)
        return "written"

    @box.tool(safe=True, writes=lambda key: [f"key:{key}"])
    async def edit(key: str, seconds: float = 1.0) -> str:
        await anyio.sleep(seconds)
        return f"edited {key}"

    return box


def aborted_at(run: Any, engine: Engine, when: float, *calls: Any, **options: Any) -> Any:
    control = options.setdefault("control", Control())
    act = (when, control.abort)
    result = run(partial(run_with, engine, turn_of(*calls), act, **options))
    assert result.status == "aborted"
    assert_accounted(result)
    return result


# ---- 66 ----


def test_c066_a_run_that_is_aborted_already_starts_nothing_and_answers_all_in_order(run):
    control = Control()
    control.abort()
    recorder = EventRecorder()
    result = run(
        partial(
            Engine(tools()).run,
            turn_of("read", "write", "read"),
            control=control,
            on_event=recorder,
        )
    )
    assert_accounted(result)
    assert statuses(result) == ["not_started"] * 3
    assert recorder.kinds("call_settled") == [("call_settled", name) for name in "abc"]
    assert answered(result.messages) == [
        (name, "Aborted before dispatch (by the user).") for name in "abc"
    ]
    assert recorder.kinds("call_started") == []


def test_c066_calls_that_the_plan_settled_keep_their_own_answer(run):
    control = Control()
    control.abort()
    result = run(partial(Engine(tools()).run, turn_of("nothing", "read"), control=control))
    assert_accounted(result)
    assert statuses(result) == ["unknown_tool", "not_started"]


def test_c066_an_abort_by_the_first_event_counts_as_before(run):
    control = Control()
    result = run(
        partial(
            Engine(tools()).run,
            turn_of("read", "read"),
            control=control,
            on_event=lambda event: control.abort(),
        )
    )
    assert_accounted(result)
    assert statuses(result) == ["not_started"] * 2


# ---- 67 and 71 ----


class SlowHooks(Hooks):
    """Hooks that take their time, and may answer late."""

    def __init__(self, before: float = 0.0, after: float = 0.0, late: Any = None) -> None:
        self.before, self.after, self.late = before, after, late
        self.seen: list[tuple[str, str]] = []

    async def before_call(self, call: Any, context: Any) -> Any:
        self.seen.append(("before", call.name))
        try:
            await anyio.sleep(self.before)
        except anyio.get_cancelled_exc_class():
            if self.late is None:
                raise
            if isinstance(self.late, Exception):
                raise self.late from None
            return self.late

    async def after_call(self, call: Any, outcome: Any, context: Any) -> Any:
        self.seen.append(("after", call.name))
        await anyio.sleep(self.after)


def test_c067_an_abort_during_a_before_hook_keeps_that_call_and_the_rest_from_starting(run):
    hooks = SlowHooks(before=2)
    result = aborted_at(run, Engine(tools(), hooks=hooks), 1, "read", "read")
    assert statuses(result) == ["not_started"] * 2
    assert hooks.seen == [("before", "a")]


def test_c067_earlier_calls_that_run_meanwhile_are_interrupted(run):
    result = aborted_at(
        run, Engine(tools(), hooks=SlowHooks(before=2)), 3, ("read", {"seconds": 9}), "read"
    )
    assert statuses(result) == ["aborted", "not_started"]


@pytest.mark.parametrize(
    ("late", "status", "text"),
    [
        (Deny("Not on Sundays."), "denied", "Not on Sundays."),
        (KeyError("gate"), "failed", "The before-hook failed: KeyError: 'gate'"),
    ],
)
def test_c071_a_denial_or_failure_of_a_hook_after_the_abort_keeps_its_reason(
    run, late, status, text
):
    hooks = SlowHooks(before=2, late=late)
    result = aborted_at(run, Engine(tools(), hooks=hooks), 1, "read", "read")
    assert (statuses(result), errors(result)[0]) == ([status, "not_started"], text)


def test_c071_a_hook_that_aborts_and_then_denies_is_heard(run):
    control = Control()

    class Stopping(Hooks):
        def before_call(self, call, context):
            control.abort("by the hook")
            return Deny("No more.")

    engine = Engine(tools(), hooks=Stopping())
    result = run(partial(engine.run, turn_of("read", "read"), control=control))
    assert_accounted(result)
    assert errors(result) == ["No more.", "Aborted before dispatch (by the hook)."]


# ---- 68 and 69 ----


def test_c068_an_abort_in_a_pool_refills_nothing_and_keeps_what_ended(run):
    calls = [("read", {"seconds": s}) for s in (1, 3, 4, 1)]
    result = aborted_at(run, Engine(tools(), pool=2), 2, *calls)
    assert statuses(result) == ["ok", "aborted", "aborted", "not_started"]
    assert [text for _, text in answered(result.messages)] == [
        "read",
        "Interrupted by the user.",
        "Interrupted by the user.",
        "Aborted before dispatch (by the user).",
    ]


def test_c068_the_transcript_gets_the_whole_turn(run):
    transcript = Transcript([{"role": "user", "content": "go"}])
    result = aborted_at(run, Engine(tools()), 0.5, "read", "write", transcript=transcript)
    assert transcript.messages[1:] == result.messages
    assert transcript.staged is None


def test_c069_no_barrier_runs_after_its_pool_was_aborted(run):
    result = aborted_at(run, Engine(tools()), 0.5, "read", "write", "read")
    assert statuses(result) == ["aborted", "not_started", "not_started"]
    assert [times.started for times in result.times] == [0, None, None]


def test_c069_a_barrier_that_is_aborted_lets_nothing_behind_it_start(run):
    result = aborted_at(run, Engine(tools()), 1.5, "read", "write", "read")
    assert statuses(result) == ["ok", "aborted", "not_started"]


def test_c069_a_call_that_waits_for_a_sibling_with_its_key_never_starts(run):
    calls = [("edit", {"key": "k"}), ("edit", {"key": "k"})]
    result = aborted_at(run, Engine(tools()), 0.5, *calls)
    assert statuses(result) == ["aborted", "not_started"]


# ---- 70, 73, 75, 78 ----


def stubborn(box: Toolbox, end: Any, *, cleanup: float = 0.0) -> Toolbox:
    """Adds ``slow``: when it is cancelled it cleans up, then ends in its own way."""

    @box.tool(safe=True, writes=())
    async def slow(ctx: toolflow.Context) -> Any:
        ctx.keep("half")
        try:
            await anyio.sleep(10)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await anyio.sleep(cleanup)
            if end is None:
                raise
            if isinstance(end, BaseException):
                raise end from None
            return end

    return box


def test_c070_a_success_after_the_abort_counts_as_aborted_and_stays_as_a_note(run):
    result = aborted_at(run, Engine(stubborn(Toolbox(), {"rows": 3})), 1, "slow")
    outcome = result.outcomes[0]
    assert (outcome.status, outcome.error) == ("aborted", "Interrupted by the user.")
    assert '{"rows": 3}' in outcome.note


def test_c070_a_tools_own_error_after_the_abort_is_kept(run):
    result = aborted_at(run, Engine(stubborn(Toolbox(), ToolFailure("disk full"))), 1, "slow")
    outcome = result.outcomes[0]
    assert (outcome.status, outcome.error) == ("failed", "disk full")
    assert "aborted" in outcome.note


def test_c070_an_abort_by_the_tool_itself_counts_for_its_own_success(run):
    box, control = Toolbox(), Control()

    @box.tool
    async def finish() -> str:
        control.abort("by the tool")
        return "done"

    result = run(partial(Engine(box).run, turn_of("finish"), control=control))
    assert_accounted(result)
    assert (statuses(result), "done" in result.outcomes[0].note) == (["aborted"], True)


def test_c070_a_thread_that_ended_just_before_the_abort_keeps_its_value_as_a_note(run):
    box, control, begun, gate = Toolbox(), Control(), threading.Event(), threading.Event()

    @box.tool(safe=True)
    def quick() -> str:
        begun.set()
        gate.wait(10)
        return "quick"

    @box.tool(safe=True)
    async def freeze() -> None:
        while not begun.is_set():
            await anyio.lowlevel.checkpoint()
        gate.set()  # from here on the loop stands still: what the thread says is heard later
        threading.Event().wait(0.05)
        control.abort()

    go = partial(Engine(box).run, turn_of("quick", "freeze"), control=control)
    outcome = run(go).outcomes[0]
    assert outcome.status == "aborted"
    assert outcome.note.endswith(", with: quick")


def test_c070_a_thread_that_was_not_begun_never_runs_and_holds_nothing(run):
    box, control, store, ran = Toolbox(), Control(), MemoryStore(), []

    @box.tool(safe=True, writes=lambda: ["key:k"])
    def work() -> None:
        ran.append(1)

    def abort_at_start(event):
        if event.kind == "call_started":
            control.abort()

    engine = Engine(box, locks=store)
    result = run(partial(engine.run, turn_of("work"), control=control, on_event=abort_at_start))
    assert (statuses(result), ran, result.lingering) == (["aborted"], [], ())
    assert not store.statistics().keys


def test_c073_a_clean_up_is_waited_for_and_the_call_is_aborted_once(run):
    result = aborted_at(run, Engine(stubborn(Toolbox(), None, cleanup=3)), 1, "slow", "slow")
    assert statuses(result) == ["aborted", "aborted"]
    assert [times.stopped for times in result.times] == [4, 4]


def test_c073_the_outcome_is_told_while_the_clean_up_goes_on(run):
    recorder = EventRecorder()
    engine = Engine(stubborn(Toolbox(), None, cleanup=3))
    result = aborted_at(run, engine, 1, "slow", on_event=recorder)
    told = {event.kind: event.at for event in recorder.events if event.call == "a"}
    assert 1 <= told["call_settled"] < 1.5
    assert told["call_stopped"] == 4
    assert result.times[0].settled == told["call_settled"]


def test_c073_keys_come_back_only_when_the_clean_up_is_done(run):
    store = MemoryStore()

    async def main():
        box = Toolbox()

        @box.tool(safe=True, writes=lambda: ["key:k"])
        async def hold() -> None:
            try:
                await anyio.sleep(10)
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(3)

        control, taken = Control(), []

        async def other() -> None:
            await anyio.sleep(0.5)
            async with acquire(writes=["key:k"], store=store):
                taken.append(anyio.current_time())

        async with anyio.create_task_group() as tasks:
            start = anyio.current_time()
            tasks.start_soon(other)
            await run_with(
                Engine(box, locks=store), turn_of("hold"), (1, control.abort), control=control
            )
        return taken[0] - start

    assert run(main) == pytest.approx(4)


def stuck_in_a_thread(release: threading.Event) -> tuple[Toolbox, Control]:
    """``stuck`` aborts the run from its thread, then goes on until it is released."""
    box, control = Toolbox(), Control()

    @box.tool(safe=True, writes=lambda: ["key:k"])
    def stuck() -> str:
        control.abort()
        release.wait(20)
        return "late"

    return box, control


def test_c074_a_thread_that_never_stops_is_reported_and_named(run):
    release = threading.Event()
    box, control = stuck_in_a_thread(release)
    engine = Engine(box, locks=MemoryStore(), grace=2)
    try:
        result = run(partial(engine.run, turn_of("stuck"), control=control))
        assert_accounted(result)
        assert (statuses(result), result.lingering) == (["aborted"], ("a",))
        assert result.times[0].settled is not None
        assert result.times[0].stopped is None
        assert "call_stopped" not in [event.kind for event in result.events]
    finally:
        release.set()


def test_c074_the_key_of_a_body_that_goes_on_stays_taken_until_it_really_stops(run):
    release, store = threading.Event(), MemoryStore()
    box, control = stuck_in_a_thread(release)

    async def main():
        engine = Engine(box, locks=store, grace=2)
        await engine.run(turn_of("stuck"), control=control)
        refused = await engine.call("stuck")
        held = [(s.name, s.stopped) for s in store.statistics().keys["key:k"].holders]
        release.set()
        for _ in range(500):  # real time: the thread needs some to end
            if store.statistics().keys:
                await anyio.to_thread.run_sync(threading.Event().wait, 0.01)
        return refused, held, await engine.call("stuck")

    try:
        refused, held, again = run(main)
    finally:
        release.set()
    assert refused.status == "held"
    assert "'a'" in refused.error
    assert held == [("a", False)]
    assert again.ok


def test_c074_an_async_body_that_never_stops_is_reported_and_its_key_is_given_up(run):
    """The run itself ends only when the body does: a task cannot be left behind."""
    box, store, control = Toolbox(), MemoryStore(), Control()

    @box.tool(safe=True, writes=lambda: ["key:k"])
    async def stuck() -> None:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(100)

    engine = Engine(box, locks=store, grace=2)

    async def main():
        seen = []

        async def other() -> None:
            seen.append((await engine.call("stuck"), anyio.current_time() - start))

        async with anyio.create_task_group() as tasks:
            start = anyio.current_time()
            tasks.start_soon(later, 2, partial(tasks.start_soon, other))
            result = await run_with(engine, turn_of("stuck"), (1, control.abort), control=control)
            return result, seen[0], anyio.current_time() - start

    result, (other, refused_at), ended_at = run(main)
    assert_accounted(result)
    assert result.lingering == ()
    assert (result.times[0].settled, result.times[0].stopped) == (pytest.approx(1.1), 100)
    assert (other.status, refused_at, ended_at) == ("held", pytest.approx(3.1), 100)


def test_c075_an_abort_in_the_last_step_of_a_body_wins(run):
    box, control = Toolbox(), Control()

    @box.tool(safe=True)
    async def finish() -> str:
        await anyio.sleep(1)
        control.abort()
        return "done"

    result = run(partial(Engine(box).run, turn_of("finish", "finish"), control=control))
    assert_accounted(result)
    assert statuses(result) == ["aborted"] * 2


def test_c075_what_was_told_before_the_abort_stays(run):
    control = Control()

    def abort_at_first_end(event):
        if event.kind == "call_settled":
            control.abort()

    result = run(
        partial(
            Engine(tools()).run,
            turn_of("read", "read", "read"),
            control=control,
            on_event=abort_at_first_end,
        )
    )
    assert_accounted(result)
    assert sorted(statuses(result)) == ["aborted", "aborted", "ok"]


def test_c078_an_aborted_result_keeps_partial_output(run):
    result = aborted_at(run, Engine(stubborn(Toolbox(), None)), 1, "slow")
    assert result.outcomes[0].value == "half"
    assert answered(result.messages) == [("a", "Interrupted by the user.\nhalf")]


def test_c078_what_a_clean_up_still_keeps_is_in_the_result(run):
    box = Toolbox()

    @box.tool
    async def download(ctx: toolflow.Context) -> None:
        try:
            await anyio.sleep(10)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(1)
            ctx.keep({"file": "half.bin"})

    result = aborted_at(run, Engine(box), 1, "download")
    assert (statuses(result), result.outcomes[0].value) == (["aborted"], {"file": "half.bin"})


def test_c078_a_thread_keeps_what_it_had_when_it_was_given_up(run):
    box, release, control = Toolbox(), threading.Event(), Control()

    @box.tool
    def crunch(ctx: toolflow.Context) -> None:
        ctx.keep({"two", "\ud83d"})
        control.abort()
        release.wait(20)

    try:
        go = partial(Engine(box, grace=1).run, turn_of("crunch"), control=control)
        result = run(go)
        assert_accounted(result)
        assert sorted(result.outcomes[0].value) == ["two", "\ufffd"]
    finally:
        release.set()


# ---- 72 ----


def test_c072_an_abort_between_body_and_after_hook_keeps_the_real_result(run):
    hooks = SlowHooks(after=5)
    result = aborted_at(run, Engine(tools(), hooks=hooks), 2, "read", "read", "write")
    assert statuses(result) == ["ok", "ok", "not_started"]
    assert hooks.seen == [("before", "a"), ("before", "b"), ("after", "a")]


def test_c072_an_after_hook_that_aborts_still_has_its_say(run):
    control = Control()

    class Stopping(Hooks):
        def after_call(self, call, outcome, context):
            control.abort()
            return "changed"

    engine = Engine(tools(), hooks=Stopping())
    result = run(partial(engine.run, turn_of("read", "write"), control=control))
    assert_accounted(result)
    assert statuses(result) == ["ok", "not_started"]
    assert result.outcomes[0].value == "changed"


# ---- 76 ----


def ask_policy(tool: str) -> dict[str, Any]:
    return {"version": 1, "rules": [{"tool": tool, "ask": "May it?", "safe": True, "writes": []}]}


def test_c076_an_abort_while_an_approval_is_open_answers_every_call(run):
    async def never(question):
        await anyio.sleep(1000)

    engine = Engine(tools(), policy=ask_policy("read"), approver=never)
    transcript = Transcript()
    result = aborted_at(
        run, engine, 2, "read", ("edit", {"key": "k"}), "write", transcript=transcript
    )
    assert statuses(result) == ["not_started", "ok", "not_started"]
    assert [name for name, _ in answered(transcript.messages)] == ["a", "b", "c"]


def test_c076_an_answer_that_comes_with_the_abort_starts_nothing(run):
    control = Control()

    async def late(question):
        try:
            await anyio.sleep(1000)
        except anyio.get_cancelled_exc_class():
            return True

    engine = Engine(tools(), policy=ask_policy("read"), approver=late)
    result = aborted_at(run, engine, 1, "read", "read", control=control)
    assert statuses(result) == ["not_started"] * 2


def test_c076_an_approver_that_aborts_and_approves_starts_nothing(run):
    control = Control()

    def approve(question):
        control.abort()
        return True

    engine = Engine(tools(), policy=ask_policy("read"), approver=approve)
    result = run(partial(engine.run, turn_of("read", "read"), control=control))
    assert_accounted(result)
    assert statuses(result) == ["not_started"] * 2


def test_c076_ctrl_c_at_the_prompt_ends_the_run_with_every_call_answered(run):
    def prompt(question):
        raise KeyboardInterrupt

    transcript = Transcript()
    recorder = EventRecorder()
    engine = Engine(tools(), policy=ask_policy("read"), approver=prompt)
    with pytest.raises(KeyboardInterrupt):
        run(partial(engine.run, turn_of("read", "write"), transcript=transcript, on_event=recorder))
    assert_told_once(recorder.events, "ab")
    assert answered(transcript.messages) == [
        ("a", "Aborted before dispatch (by the keyboard)."),
        ("b", "Aborted before dispatch (by the keyboard)."),
    ]


# ---- 77, 80, 81 ----


def test_c077_the_first_cause_of_an_abort_counts(run):
    control = Control()
    acts = [(1, partial(control.abort, "by Ann")), (1.5, partial(control.abort, "by Bob"))]
    engine = Engine(stubborn(Toolbox(), None, cleanup=2))
    result = run(partial(run_with, engine, turn_of("slow", "nix"), *acts, control=control))
    assert errors(result)[0] == "Interrupted by Ann."
    assert result.report.abort_cause == "by Ann"


def test_c077_an_abort_outranks_an_interrupt(run):
    control = Control()
    acts = [(0.2, control.interrupt), (0.5, control.abort)]
    result = run(
        partial(run_with, Engine(tools()), turn_of("read", "write"), *acts, control=control)
    )
    assert result.status == "aborted"
    assert_accounted(result)
    assert statuses(result) == ["aborted", "not_started"]


def test_c077_an_abort_and_an_interrupt_before_the_run_are_an_abort(run):
    control = Control()
    control.interrupt()
    control.abort()
    result = run(partial(Engine(tools()).run, turn_of("read"), control=control))
    assert (result.status, statuses(result)) == ("aborted", ["not_started"])


def test_c080_aborting_twice_finalises_each_call_once(run):
    control = Control()
    acts = [(0.5, control.abort), (0.5, control.abort), (1.5, control.abort)]
    engine = Engine(stubborn(tools(), None, cleanup=2))
    result = run(
        partial(run_with, engine, turn_of("slow", "read", "write"), *acts, control=control)
    )
    assert_accounted(result)
    assert statuses(result) == ["aborted", "aborted", "not_started"]


def test_c080_an_abort_after_the_end_changes_nothing(run):
    control = Control()

    async def main():
        result = await Engine(tools()).run(turn_of("read"), control=control)
        before = (result.outcomes, result.events, result.messages)
        control.abort()
        control.interrupt()
        return result, before

    result, before = run(main)
    assert (result.outcomes, result.events, result.messages) == before
    assert result.status == "done"


def test_c080_an_abort_from_another_thread_is_heard(run):
    control, started = Control(), threading.Event()
    box = Toolbox()

    @box.tool
    async def wait() -> None:
        started.set()
        await anyio.sleep_forever()

    def abort() -> None:
        started.wait(10)
        control.abort("by a thread")

    thread = threading.Thread(target=abort)
    thread.start()
    result = run(partial(Engine(box).run, turn_of("wait"), control=control))
    thread.join()
    assert errors(result) == ["Interrupted by a thread."]


def test_c080_an_abort_from_a_timer_of_the_loop_is_heard_although_no_task_runs_there():
    control, box = Control(), stubborn(Toolbox(), None, cleanup=2)

    async def main():
        asyncio.get_running_loop().call_later(1, control.abort)
        return await Engine(box).run(turn_of("slow", "slow"), control=control)

    result = run_virtual(main, backend="asyncio")
    assert_accounted(result)
    assert statuses(result) == ["aborted", "aborted"]


def test_c081_an_interrupt_pauses_and_the_resumed_run_does_the_rest(run):
    async def main():
        control, engine = Control(), Engine(tools())
        acts = [(0.5, control.interrupt), (0.6, control.interrupt), (0.7, control.interrupt)]
        paused = await run_with(engine, turn_of("read", "write", "read"), *acts, control=control)
        return paused, await engine.resume(paused.checkpoint)

    paused, result = run(main)
    assert (paused.status, statuses(paused)) == ("paused", ["ok", None, None])
    assert paused.times[0].stopped == 1
    assert (result.status, statuses(result)) == ("done", ["ok", "ok", "ok"])
    assert_accounted_over(paused, result)


def assert_accounted_over(*results: Any) -> None:
    """Over a run and its resumes, every call settles once."""
    events = [event for result in results for event in result.events]
    assert_told_once(events, [call.name for call in results[0].plan.calls])


def test_c081_an_interrupt_before_the_run_pauses_before_anything_starts(run):
    control = Control()
    control.interrupt()
    result = run(partial(Engine(tools()).run, turn_of("read", "write"), control=control))
    assert (result.status, statuses(result)) == ("paused", [None, None])


def test_c081_an_interrupt_after_the_end_is_not_kept_for_the_resumed_run(run):
    async def main():
        control, engine = Control(), Engine(tools())
        paused = await run_with(
            engine, turn_of("read", "write"), (0.5, control.interrupt), control=control
        )
        control.interrupt()
        return await engine.resume(paused.checkpoint, control=control)

    assert run(main).status == "done"


def test_c081_an_interrupt_while_the_last_call_runs_lets_the_run_end(run):
    control = Control()
    result = run(
        partial(
            run_with, Engine(tools()), turn_of("read"), (0.5, control.interrupt), control=control
        )
    )
    assert (result.status, statuses(result)) == ("done", ["ok"])


def test_c081_where_nothing_can_pause_an_interrupt_aborts(run):
    control = Control()
    result = run(
        partial(
            run_with,
            Engine(tools()),
            turn_of("read", "write"),
            (0.5, control.interrupt),
            control=control,
            can_pause=False,
        )
    )
    assert_accounted(result)
    assert errors(result)[1] == "Aborted before dispatch (by an interrupt)."


# ---- 79 ----


def test_c079_a_turn_that_waits_for_another_turns_key_is_aborted_and_leaves_the_queue(run):
    store = MemoryStore()

    async def main():
        engine, control = Engine(tools(), locks=store), Control()
        first = turn_of(("edit", {"key": "k", "seconds": 5}))
        results = {}

        async def go(name: str, what: Any, *acts: Any, **options: Any) -> None:
            results[name] = await run_with(engine, what, *acts, **options)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(go, "first", first)
            await anyio.sleep(1)
            second = partial(go, "second", first, (1, control.abort), control=control)
            tasks.start_soon(second)
            await anyio.sleep(0.5)
            waiting = len(store.statistics().waits)
            tasks.start_soon(go, "third", turn_of(("edit", {"key": "k"})))
            await anyio.sleep(1)
            left = len(store.statistics().waits)
        return results, waiting, left

    results, waiting, left = run(main)
    assert (waiting, left) == (1, 1)
    assert statuses(results["second"]) == ["not_started"]
    assert_accounted(results["second"])
    assert results["second"].times[0].started is None
    assert statuses(results["third"]) == ["ok"]
    assert not store.statistics().keys


# ---- cancelling the task that awaits the run, and the keyboard ----


CANCELLED_AT = {
    "in the before-hook": 0.5,
    "in the bodies": 1.5,
    "in the after-hook": 2.5,
    "while it waits for a key": 3.7,
}


async def in_a_scope(go: Any, moment: float) -> bool:
    with anyio.move_on_after(moment) as scope:
        await go()
    return scope.cancelled_caught


async def in_a_task(go: Any, moment: float) -> bool:
    task = asyncio.ensure_future(go())
    await anyio.sleep(moment)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return task.cancelled()


WAYS = [(in_a_scope, "asyncio"), (in_a_scope, "trio"), (in_a_task, "asyncio")]


@pytest.mark.parametrize("moment", CANCELLED_AT.values(), ids=CANCELLED_AT)
@pytest.mark.parametrize(("way", "backend"), WAYS)
def test_cancelling_the_awaiting_task_answers_every_call_and_commits_the_turn(moment, way, backend):
    store = MemoryStore()
    transcript, recorder = Transcript(), EventRecorder()
    engine = Engine(tools(), hooks=SlowHooks(before=1, after=1), locks=store)
    what = turn_of("read", ("edit", {"key": "k"}), "write")
    go = partial(engine.run, what, transcript=transcript, on_event=recorder)

    async def main():
        async with held_elsewhere(store, "key:k"):
            return await way(go, moment)

    assert run_virtual(main, backend=backend)
    assert transcript.messages[0]["role"] == "assistant"
    assert [name for name, _ in answered(transcript.messages)] == ["a", "b", "c"]
    assert_told_once(recorder.events, "abc")
    assert not store.statistics().keys
    told = dict(answered(transcript.messages))
    assert told["c"] == "Aborted before dispatch (by cancellation)."
    assert recorder.events[-1].kind == "run_finished"


def test_cancelling_twice_changes_nothing(run):
    transcript = Transcript()

    async def main():
        engine = Engine(stubborn(Toolbox(), None, cleanup=2))
        with anyio.move_on_after(1), anyio.move_on_after(2):
            await engine.run(turn_of("slow", "slow"), transcript=transcript)

    run(main)
    assert [name for name, _ in answered(transcript.messages)] == ["a", "b"]


@pytest.mark.parametrize("threaded", [False, True])
def test_a_keyboard_interrupt_in_a_body_ends_the_run_with_all_calls_accounted_for(run, threaded):
    box = tools()

    @box.tool(safe=True)
    async def idle() -> None:
        await anyio.sleep_forever()

    def press() -> None:
        raise KeyboardInterrupt

    async def press_too() -> None:
        await anyio.sleep(0.5)
        raise KeyboardInterrupt

    box.tool(name="press", safe=True)(press if threaded else press_too)
    transcript, recorder = Transcript(), EventRecorder()
    go = partial(
        Engine(box).run,
        turn_of("idle", "press", "write"),
        transcript=transcript,
        on_event=recorder,
    )
    with pytest.raises(KeyboardInterrupt):
        run(go)
    assert_told_once(recorder.events, "abc")
    assert answered(transcript.messages) == [
        ("a", "Interrupted by the keyboard."),
        ("b", "Interrupted by the keyboard."),
        ("c", "Aborted before dispatch (by the keyboard)."),
    ]


def test_a_keyboard_interrupt_outlives_a_cancellation_that_follows(run):
    box = stubborn(Toolbox(), None, cleanup=3)

    @box.tool(safe=True)
    async def press() -> None:
        raise KeyboardInterrupt

    async def main():
        with anyio.move_on_after(1):
            await Engine(box).run(turn_of("slow", "press"))

    with pytest.raises(KeyboardInterrupt):
        run(main)


def test_a_keyboard_interrupt_in_a_task_group_of_a_body_is_one(run):
    box = Toolbox()

    async def press() -> None:
        raise KeyboardInterrupt

    @box.tool
    async def group() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(press)

    # A loop may let the interrupt out of the child task directly; either way the run ends with it.
    with pytest.raises(KeyboardInterrupt):
        run(partial(Engine(box).run, turn_of("group")))


# ---- the total limit ----


def test_a_total_limit_counts_everything_and_answers_every_call(run):
    engine = Engine(tools(), pool=1)
    calls = [("read", {"seconds": 2})] * 3
    result = run(partial(engine.run, turn_of(*calls), timeout=3))
    assert_accounted(result)
    assert statuses(result) == ["ok", "aborted", "not_started"]
    assert errors(result)[1:] == [
        "Interrupted after its total limit of 3 s.",
        "Aborted before dispatch (after its total limit of 3 s).",
    ]


def test_a_total_limit_counts_the_wait_for_an_approver_and_for_keys(run):
    async def never(question):
        await anyio.sleep(1000)

    async def main():
        store = MemoryStore()
        engine = Engine(tools(), policy=ask_policy("read"), approver=never, locks=store)
        async with held_elsewhere(store, "key:k"):
            start = anyio.current_time()
            result = await engine.run(turn_of("read", ("edit", {"key": "k"})), timeout=3)
            return result, anyio.current_time() - start

    result, seconds = run(main)
    assert seconds == pytest.approx(3)
    assert statuses(result) == ["not_started"] * 2


def test_a_total_limit_that_is_not_reached_leaves_no_trace(run):
    result = run(partial(Engine(tools()).run, turn_of("read"), timeout=30))
    assert (result.status, statuses(result)) == ("done", ["ok"])


@pytest.mark.parametrize("limit", [-1, float("nan"), "3", True])
def test_a_total_limit_that_makes_no_sense_is_refused_before_anything_starts(run, limit):
    transcript = Transcript()
    with pytest.raises(toolflow.errors.UsageError, match="timeout"):
        run(partial(Engine(tools()).run, turn_of("read"), timeout=limit, transcript=transcript))
    assert transcript.staged is None


# ---- nested turns ----


def test_an_abort_reaches_nested_turns_and_both_are_answered(run):
    box, inner = tools(), []
    engine = Engine(box)

    @box.tool
    async def agent() -> str:
        result = await engine.run(turn_of("read", "write"))
        inner.append(result)
        return "done"

    transcript = Transcript()
    control = Control()
    recorder = EventRecorder()
    nested = Transcript()

    @box.tool
    async def careful() -> None:
        await engine.run(turn_of("read", "write"), transcript=nested, on_event=recorder)

    result = run(
        partial(
            run_with,
            engine,
            turn_of("careful", "agent"),
            (0.5, control.abort),
            control=control,
            transcript=transcript,
        )
    )
    assert_accounted(result)
    assert statuses(result) == ["aborted", "not_started"]
    assert [name for name, _ in answered(nested.messages)] == ["a", "b"]
    assert_told_once([e for e in recorder.events if e.source == "a"], ["a/a", "a/b"])


def test_an_abort_of_a_nested_turn_alone_is_the_parents_to_tell(run):
    box = tools()
    engine, control = Engine(box), Control()

    @box.tool
    async def agent() -> list[str | None]:
        return statuses(await engine.run(turn_of("read", "write"), control=control))

    result = run(partial(run_with, engine, turn_of("agent", "read"), (0.5, control.abort)))
    assert result.status == "done"
    assert result.outcomes[0].value == ["aborted", "not_started"]
    assert result.outcomes[1].ok


def test_every_call_has_one_result_wherever_the_abort_falls(run):
    """A fine sweep over a turn with hooks, keys, a question, a barrier and a nested turn."""

    async def approve(question):
        await anyio.sleep(0.3)
        return True

    policy = ask_policy("edit")
    policy["rules"][0] |= {"writes": ["key:{{ args.key }}"]}

    async def main():
        for step in range(0, 60, 2):
            box = tools()
            engine = Engine(
                box,
                policy=policy,
                approver=approve,
                hooks=SlowHooks(before=0.1, after=0.1),
                locks=MemoryStore(),
                pool=2,
            )

            @box.tool(safe=True)
            async def agent(engine: Any = engine) -> str:
                await Engine.run(engine, turn_of("read"))
                return "done"

            calls = ["read", ("edit", {"key": "k"}), ("edit", {"key": "k"}), "write", "agent"]
            control, transcript = Control(), Transcript()
            result = await run_with(
                engine,
                turn_of(*calls),
                (step / 10, control.abort),
                control=control,
                transcript=transcript,
            )
            assert_accounted(result)
            assert transcript.messages == result.messages
            assert not engine.locks.statistics().keys, step

    run(main)


def test_message_of_the_turn_is_committed_as_it_was(run):
    control = Control()
    control.abort()
    message = chat("read", "write")
    result = run(partial(Engine(tools()).run, message, control=control))
    assert result.messages[0] == message
