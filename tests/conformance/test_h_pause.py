"""Conformance H: interrupts, stop points, approvals and resume, lines 89 to 96."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import replace
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
    run_with,
    statuses,
    turn,
)

import toolflow
from toolflow.engine import Engine
from toolflow.errors import CheckpointError, UsageError
from toolflow.locks import LockRequest, MemoryStore
from toolflow.recording import load_checkpoint, save_checkpoint
from toolflow.runtime.approvals import Answer
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Hooks
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.transcript import Transcript
from toolflow.testing import EventRecorder


class Desk:
    """Tools that ask a person, and what they did.

    ``read`` is safe, ``edit`` writes its key, ``write`` is exclusive; ``ask`` is safe and asks
    once, ``ask_twice`` twice, ``ask_alone`` is exclusive.
    """

    def __init__(self) -> None:
        self.box = Toolbox()
        self.log: list[Any] = []
        box = self.box

        @box.tool(safe=True, writes=())
        async def read(seconds: float = 1.0, name: str = "read") -> str:
            self.log.append(name)
            await anyio.sleep(seconds)
            return name

        @box.tool(safe=True, writes=lambda key: [f"key:{key}"])
        async def edit(key: str, seconds: float = 1.0) -> str:
            self.log.append(f"edit {key}")
            await anyio.sleep(seconds)
            return f"edited {key}"

        @box.tool
        async def write(name: str = "write") -> str:
            self.log.append(name)
            return "written"

        async def asking(ctx: toolflow.Context, question: str = "go on?") -> str:
            self.log.append(f"ask {ctx.name} {ctx.attempt}")
            answer = ctx.interrupt(question)
            self.log.append(f"told {ctx.name} {answer}")
            return f"{ctx.name} got {answer}"

        box.tool(name="ask", safe=True, writes=())(asking)
        box.tool(name="ask_alone")(asking)

        @box.tool(safe=True, writes=())
        async def ask_twice(ctx: toolflow.Context) -> list[Any]:
            return [ctx.interrupt("first?"), ctx.interrupt("second?")]

        @box.tool(safe=True, writes=())
        def ask_in_a_thread(ctx: toolflow.Context) -> str:
            return f"thread got {ctx.interrupt('from a thread?')}"

        @box.tool(safe=True, writes=())
        async def ask_in_a_group(ctx: toolflow.Context) -> str:
            got = []

            async def child() -> None:
                got.append(ctx.interrupt("from a group?"))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child)
            return f"group got {got[0]}"

    def engine(self, **options: Any) -> Engine:
        options.setdefault("locks", MemoryStore())
        return Engine(self.box, **options)


def asks(result: Any) -> list[tuple[str, Any]]:
    """Who waits for an answer to what, in call order."""
    return [(question.call, question.text) for question in result.questions]


def assert_accounted_over(*results: Any) -> None:
    """Over a run and its resumes, every call settles once and has one result."""
    assert [result.status for result in results[:-1]] == ["paused"] * (len(results) - 1)
    last = results[-1]
    assert_told_once([e for r in results for e in r.events], [c.name for c in last.plan.calls])
    assert [name for name, _ in answered(last.messages)] == [c.name for c in last.plan.calls]


async def resumed(engine: Engine, what: Any, *answers: dict[str, Any], **options: Any) -> list[Any]:
    """Run, then resume with one mapping of answers after the other."""
    results = [await engine.run(what, **options)]
    for given in answers:
        results.append(await engine.resume(results[-1].checkpoint, given, **options))
    return results


# ---- 89, 90, 91 ----


def test_c089_a_call_that_asks_lets_running_calls_finish_and_pauses_the_run(run):
    desk = Desk()
    calls = [("read", {"seconds": 3}), "ask", "write"]
    result = run(partial(desk.engine().run, turn(*calls)))
    assert result.status == "paused"
    assert statuses(result) == ["ok", None, None]
    assert asks(result) == [("b", "go on?")]
    assert result.messages == ()
    assert desk.log == ["read", "ask b 1"]


def test_c089_no_further_call_of_the_pool_starts(run):
    desk = Desk()
    result = run(partial(desk.engine(pool=2).run, turn("ask", "read", "read", "read")))
    assert statuses(result) == [None, "ok", None, None]
    assert desk.log == ["ask a 1", "read"]


@pytest.mark.parametrize("tool", ["ask_in_a_thread", "ask_in_a_group"])
def test_c089_a_body_may_ask_from_a_thread_and_from_a_task_group(run, tool):
    paused, result = run(partial(resumed, Desk().engine(), turn(tool, "write"), {"a": "yes"}))
    assert asks(paused)[0][1].startswith("from a")
    assert result.outcomes[0].value.endswith("got yes")
    assert_accounted_over(paused, result)


def test_c090_calls_that_never_started_run_after_the_answer_in_order_and_as_planned(run):
    desk = Desk()
    calls = ["ask", ("read", {"name": "b"}), ("write", {"name": "c"}), ("read", {"name": "d"})]
    paused, result = run(partial(resumed, desk.engine(pool=1), turn(*calls), {"a": "yes"}))
    assert desk.log == ["ask a 1", "ask a 2", "told a yes", "b", "c", "d"]
    assert_accounted_over(paused, result)
    assert statuses(result) == ["ok"] * 4
    assert result.outcomes[0].value == "a got yes"
    assert (result.times[2].started, result.times[3].started) == (1, 1)


def test_c090_the_call_that_asked_sees_its_answer_and_how_often_it_was_entered(run):
    desk = Desk()
    _, result = run(partial(resumed, desk.engine(), turn("ask"), {"a": {"rows": [1, None]}}))
    assert desk.log == ["ask a 1", "ask a 2", "told a {'rows': [1, None]}"]
    assert result.status == "done"


def test_c090_an_exclusive_call_that_asks_keeps_its_turn(run):
    desk = Desk()
    calls = ["read", "ask_alone", "read"]
    paused, result = run(partial(resumed, desk.engine(), turn(*calls), {"b": 1}))
    assert_accounted_over(paused, result)
    assert desk.log == ["read", "ask b 1", "ask b 2", "told b 1", "read"]


def test_c090_behind_an_exclusive_call_that_waits_for_its_answer_nothing_starts(run):
    desk = Desk()
    calls = ["ask_alone", "read", "write"]
    paused, again, result = run(partial(resumed, desk.engine(), turn(*calls), {}, {"a": 1}))
    assert (asks(again), statuses(again)) == (asks(paused), [None] * 3)
    assert_accounted_over(paused, again, result)
    assert desk.log == ["ask a 1", "ask a 2", "told a 1", "read", "write"]


def test_c090_a_false_or_empty_answer_is_an_answer(run):
    _, result = run(partial(resumed, Desk().engine(), turn("ask"), {"a": None}))
    assert result.outcomes[0].value == "a got None"


def test_c090_several_questions_of_one_call_are_answered_one_after_the_other(run):
    one, two, result = run(partial(resumed, Desk().engine(), turn("ask_twice"), {"a": 1}, {"a": 2}))
    assert (asks(one), asks(two)) == ([("a", "first?")], [("a", "second?")])
    assert result.outcomes[0].value == [1, 2]


def test_c091_a_call_that_waits_for_a_key_when_a_sibling_asks_counts_as_not_started(run):
    desk, store = Desk(), MemoryStore()

    async def main():
        engine = desk.engine(locks=store)
        async with held_elsewhere(store, "key:k"):
            paused = await engine.run(turn(("edit", {"key": "k"}), "read", "ask"))
            waits = store.statistics().waits
        return paused, waits, await engine.resume(paused.checkpoint, {"c": "yes"})

    paused, waits, result = run(main)
    assert statuses(paused) == [None, "ok", None]
    assert paused.times[0].started is None
    assert paused.checkpoint.attempts == {1: 1, 2: 1}
    assert waits == ()
    assert statuses(result) == ["ok"] * 3
    assert_accounted_over(paused, result)
    assert desk.log.count("edit k") == 1


@pytest.mark.parametrize("how", ["interrupt", "abort"])
def test_c091_a_call_that_gets_its_key_in_the_moment_of_an_interrupt_does_not_start(run, how):
    desk, store, control = Desk(), MemoryStore(), Control()
    held = store.acquire_nowait(LockRequest("other", (), ("key:k",)))
    results = []

    async def run_it():
        engine = desk.engine(locks=store)
        results.append(await engine.run(turn(("edit", {"key": "k"})), control=control))

    async def main():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_it)
            await anyio.sleep(1)
            store.release(held)
            getattr(control, how)()
        assert store.statistics().keys == {}

    run(main)
    assert statuses(results[0]) == [None if how == "interrupt" else "not_started"]
    assert results[0].status == ("paused" if how == "interrupt" else "aborted")
    assert desk.log == []


def test_c091_a_call_that_waits_for_a_siblings_key_is_not_started_either(run):
    desk = Desk()
    calls = [("edit", {"key": "k", "seconds": 5}), ("edit", {"key": "k"}), "ask"]
    paused, result = run(partial(resumed, desk.engine(), turn(*calls), {"c": 1}))
    assert statuses(paused) == ["ok", None, None]
    assert_accounted_over(paused, result)
    assert [entry for entry in desk.log if "edit" in entry] == ["edit k", "edit k"]


# ---- 92 ----


def test_c092_two_calls_that_ask_in_one_pool_are_both_listed_and_answered_by_name(run):
    desk = Desk()
    calls = [("ask", {"question": "A?"}), ("ask", {"question": "B?"}), "write"]
    paused, result = run(
        partial(resumed, desk.engine(), turn(*calls), {"b": "for b", "a": "for a"})
    )
    assert asks(paused) == [("a", "A?"), ("b", "B?")]
    assert [outcome.value for outcome in result.outcomes] == [
        "a got for a",
        "b got for b",
        "written",
    ]


def test_c092_questions_come_in_call_order_whoever_asked_first(run):
    desk = Desk()

    @desk.box.tool(safe=True, writes=())
    async def ask_late(ctx: toolflow.Context) -> Any:
        await anyio.sleep(2)
        return ctx.interrupt("late?")

    result = run(partial(desk.engine().run, turn("ask_late", "ask")))
    assert asks(result) == [("a", "late?"), ("b", "go on?")]


def test_c092_some_answers_run_some_calls_and_the_others_keep_waiting_without_running_again(run):
    desk = Desk()
    calls = ["ask", "ask", "read", "write"]
    paused, half, result = run(
        partial(resumed, desk.engine(pool=1), turn(*calls), {"a": 1}, {"b": 2})
    )
    assert asks(paused) == [("a", "go on?")]  # pool of one: b had not started
    assert asks(half) == [("b", "go on?")]
    assert statuses(half) == ["ok", None, None, None]
    assert statuses(result) == ["ok"] * 4
    assert_accounted_over(paused, half, result)


def test_c092_the_second_may_be_answered_first_and_the_first_body_is_left_alone(run):
    desk = Desk()
    calls = ["ask", "ask", "read", "write"]
    paused, half, result = run(partial(resumed, desk.engine(), turn(*calls), {"b": 2}, {"a": 1}))
    assert asks(paused) == [("a", "go on?"), ("b", "go on?")]
    assert asks(half) == [("a", "go on?")]
    assert statuses(half) == [None, "ok", "ok", None]
    assert desk.log.count("ask a 1") == desk.log.count("ask a 2") == 1
    assert_accounted_over(paused, half, result)
    assert [outcome.value for outcome in result.outcomes][:2] == ["a got 1", "b got 2"]


def test_c092_what_meets_a_waiting_call_waits_with_it(run):
    desk = Desk()

    @desk.box.tool(safe=True, writes=["key:k"])
    async def ask_with_key(ctx: toolflow.Context) -> Any:
        return ctx.interrupt("key?")

    calls = ["ask_with_key", "ask", ("edit", {"key": "k"}), ("edit", {"key": "l"})]
    paused, half, result = run(partial(resumed, desk.engine(), turn(*calls), {"b": 2}, {"a": 1}))
    assert statuses(half) == [None, "ok", None, "ok"]
    assert_accounted_over(paused, half, result)
    assert desk.log[-1] == "edit k"


def test_c092_resuming_without_an_answer_runs_nothing_of_the_asking_calls(run):
    desk = Desk()
    paused, again = run(partial(resumed, desk.engine(), turn("ask", "ask"), {}))
    assert asks(paused) == asks(again)
    assert desk.log == ["ask a 1", "ask b 1"]


@pytest.mark.parametrize(
    "answers", [{"nobody": 1}, {"a": 1, "nobody": 1}, {"c": True}, {"a": 1, "c": True}]
)
def test_c092_an_answer_for_a_call_that_waits_for_none_is_refused_and_nothing_runs(run, answers):
    desk = Desk()

    async def main():
        engine = desk.engine()
        paused = await engine.run(turn("ask", "ask", "write"))
        before = (list(desk.log), paused.checkpoint)
        with pytest.raises(CheckpointError, match=r"waits for none\. Waiting: a, b"):
            await engine.resume(paused.checkpoint, answers)
        assert (desk.log, paused.checkpoint) == before
        return await engine.resume(paused.checkpoint, {"a": 1, "b": 2})

    assert statuses(run(main)) == ["ok"] * 3


def test_c092_the_checkpoint_can_be_resumed_although_an_earlier_answer_was_refused(run):
    policy = {"version": 1, "rules": [{"tool": "write", "ask": "Go?"}]}

    async def main():
        engine = Desk().engine(policy=policy)
        paused = await engine.run(turn("ask", "write"))
        with pytest.raises(CheckpointError, match="use True, False or an Answer"):
            await engine.resume(paused.checkpoint, {"a": 1, "b": "yes"})
        return await engine.resume(paused.checkpoint, {"a": 1, "b": True})

    assert statuses(run(main)) == ["ok", "ok"]


# ---- an abort of a run that asks ----


def test_an_abort_while_a_sibling_finishes_settles_the_call_that_asked_as_aborted(run):
    desk, control = Desk(), Control()
    calls = ["ask", ("read", {"seconds": 5}), "write"]
    go = partial(run_with, desk.engine(), turn(*calls), (1, control.abort), control=control)
    result = run(go)
    assert_accounted(result)
    assert statuses(result) == ["aborted", "aborted", "not_started"]


def test_an_abort_of_the_resumed_run_says_the_same_of_a_call_that_still_waits(run):
    async def main():
        engine, control = Desk().engine(), Control()
        paused = await engine.run(turn("ask", "write"))
        control.abort("at last")
        return paused, await engine.resume(paused.checkpoint, control=control)

    paused, result = run(main)
    assert_accounted_over(paused, result)
    assert errors(result) == ["Interrupted at last.", "Aborted before dispatch (at last)."]


def test_where_nothing_can_pause_a_body_that_asks_fails(run):
    result = run(partial(Desk().engine().run, turn("ask", "read"), can_pause=False))
    assert_accounted(result)
    assert statuses(result) == ["failed", "ok"]
    assert "cannot pause" in errors(result)[0]


def test_a_nested_turn_cannot_pause_so_its_tool_is_told(run):
    desk = Desk()
    engine = desk.engine()

    @desk.box.tool
    async def agent() -> Any:
        return (await engine.run(turn("ask"))).outcomes[0].status

    result = run(partial(engine.run, turn("agent")))
    assert (result.status, result.outcomes[0].value) == ("done", "failed")


# ---- on_error: stop and questions ----


def test_a_call_that_asked_is_skipped_where_an_earlier_one_stops_the_rest(run):
    desk = Desk()

    @desk.box.tool(safe=True, writes=())
    async def fail() -> None:
        await anyio.sleep(1)
        raise ValueError("no")

    policy = {"version": 1, "rules": [{"tool": "fail", "on_error": "stop"}]}
    result = run(partial(desk.engine(policy=policy).run, turn("fail", "ask", "write")))
    assert_accounted(result)
    assert statuses(result) == ["failed", "skipped", "skipped"]


def test_a_call_that_is_declined_on_resume_stops_the_rest_if_its_rule_says_so(run):
    policy = {"version": 1, "rules": [{"tool": "write", "ask": "Go?", "on_error": "stop"}]}
    desk = Desk()
    paused, result = run(
        partial(resumed, desk.engine(policy=policy), turn("write", "read"), {"a": False})
    )
    assert_accounted_over(paused, result)
    assert statuses(result) == ["declined", "skipped"]
    assert desk.log == []


# ---- approvals without and with an approver ----


def gated(**more: Any) -> dict[str, Any]:
    rule = {"tool": "edit", "ask": "Edit {{ args.key }}?", "safe": True}
    return {"version": 1, "rules": [{**rule, "writes": ["key:{{ args.key }}"], **more}]}


def test_without_an_approver_the_run_pauses_before_the_first_question_and_lists_all(run):
    desk = Desk()
    calls = ["read", ("edit", {"key": "x"}), "read", ("edit", {"key": "y"})]
    paused = run(partial(desk.engine(policy=gated()).run, turn(*calls)))
    assert statuses(paused) == ["ok", None, None, None]
    assert asks(paused) == [("b", "Edit x?"), ("d", "Edit y?")]
    assert [question.kind for question in paused.questions] == ["approval"] * 2
    assert desk.log == ["read"]


def test_approvals_are_given_by_call_and_a_later_one_alone_runs_nothing_yet(run):
    desk = Desk()
    calls = [("edit", {"key": "x"}), ("edit", {"key": "y"})]
    paused, still, result = run(
        partial(resumed, desk.engine(policy=gated()), turn(*calls), {"b": True}, {"a": True})
    )
    assert asks(still) == [("a", "Edit x?")]
    assert statuses(still) == [None, None]
    assert [outcome.value for outcome in result.outcomes] == ["edited x", "edited y"]
    assert_accounted_over(paused, still, result)


def test_a_declined_call_tells_the_reason_and_holds_nobody_back(run):
    desk = Desk()
    calls = [("edit", {"key": "x"}), ("edit", {"key": "x"}), "write"]
    answers = {"a": Answer(approved=False, reason="Not today."), "b": True}
    paused, result = run(partial(resumed, desk.engine(policy=gated()), turn(*calls), answers))
    assert_accounted_over(paused, result)
    assert statuses(result) == ["declined", "ok", "ok"]
    assert errors(result)[0] == "Declined by the approver: Not today."


def test_an_answer_for_always_goes_for_equal_calls_of_the_turn(run):
    desk = Desk()
    calls = [("edit", {"key": "x"}), ("edit", {"key": "x"}), ("edit", {"key": "y"})]
    answers = {"a": Answer(approved=True, always=True)}
    _, half = run(partial(resumed, desk.engine(policy=gated()), turn(*calls), answers))
    assert statuses(half) == ["ok", "ok", None]
    assert asks(half) == [("c", "Edit y?")]


def test_an_approver_given_to_resume_answers_what_is_left(run):
    async def main():
        engine = Desk().engine(policy=gated())
        paused = await engine.run(turn(("edit", {"key": "x"}), ("edit", {"key": "y"})))
        return await engine.resume(
            paused.checkpoint, {"b": False}, approver=lambda question: question.call == "a"
        )

    assert statuses(run(main)) == ["ok", "declined"]


def test_no_approver_and_no_way_to_pause_declines_and_never_hangs(run):
    calls = [("edit", {"key": "x"}), "write"]
    result = run(partial(Desk().engine(policy=gated()).run, turn(*calls), can_pause=False))
    assert_accounted(result)
    assert statuses(result) == ["declined", "ok"]


def test_a_resume_that_may_not_pause_declines_what_is_still_open(run):
    async def main():
        engine = Desk().engine(policy=gated())
        paused = await engine.run(turn(("edit", {"key": "x"}), ("edit", {"key": "y"})))
        return await engine.resume(paused.checkpoint, {"a": True}, can_pause=False)

    assert statuses(run(main)) == ["ok", "declined"]


class Renaming(Hooks):
    """A before-hook that changes the key of edits, and says so to the model."""

    def __init__(self, to: str) -> None:
        self.to = to
        self.seen: list[str] = []

    def before_call(self, call, context):
        self.seen.append(call.name)
        if call.tool == "edit":
            context.add_context(f"{call.name} was renamed")
            return {**call.args, "key": call.args["key"] + self.to}
        return None


def test_changed_arguments_are_asked_again_and_the_answer_is_for_what_runs(run):
    desk = Desk()
    hooks = Renaming("!")
    one, two, result = run(
        partial(
            resumed,
            desk.engine(policy=gated(), hooks=hooks),
            turn(("edit", {"key": "x"}), "write"),
            {"a": True},
            {"a": True},
        )
    )
    assert (asks(one), asks(two)) == ([("a", "Edit x?")], [("a", "Edit x!?")])
    assert desk.log == ["edit x!", "write"]
    assert_accounted_over(one, two, result)


def test_a_before_hook_runs_once_for_a_call_however_often_the_run_pauses(run):
    desk, hooks = Desk(), Renaming("!")
    calls = ["ask", ("edit", {"key": "x"}), "write"]
    paused, result = run(partial(resumed, desk.engine(hooks=hooks, pool=1), turn(*calls), {"a": 1}))
    assert hooks.seen == ["a", "b", "c"]
    assert desk.log[3:] == ["edit x!", "write"]
    texts = [m for m in result.messages if "renamed" in json.dumps(m)]
    assert len(texts) == 1
    assert json.dumps(texts).count("b was renamed") == 1
    assert_accounted_over(paused, result)


def test_a_run_without_hooks_in_between_does_not_bring_a_before_hook_back(run):
    desk, hooks = Desk(), Renaming("!")

    async def main():
        paused = await desk.engine(hooks=hooks).run(turn("ask"))
        again = await desk.engine().resume(paused.checkpoint)
        return paused, again, await desk.engine(hooks=hooks).resume(again.checkpoint, {"a": 1})

    assert_accounted_over(*run(main))
    assert hooks.seen == ["a"]


def test_a_call_that_asked_in_a_run_without_hooks_has_its_before_hook_when_it_runs_again(run):
    desk, hooks = Desk(), Renaming("!")

    async def main():
        paused = await desk.engine().run(turn("ask"))
        again = await desk.engine(hooks=hooks).resume(paused.checkpoint)
        return paused, again, await desk.engine(hooks=hooks).resume(again.checkpoint, {"a": 1})

    assert_accounted_over(*run(main))
    assert hooks.seen == ["a"]


def test_a_question_without_an_answer_is_declined_where_the_run_cannot_pause_any_more(run):
    async def main():
        engine = Desk().engine()
        paused = await engine.run(turn("ask", "write"))
        return await engine.resume(paused.checkpoint, can_pause=False)

    result = run(main)
    assert (result.status, statuses(result)) == ("done", ["declined", "ok"])


def test_an_after_hook_sees_every_call_once_over_the_pause(run):
    seen = []

    class Noting(Hooks):
        def after_call(self, call, outcome, context):
            seen.append((call.name, outcome.status))

    calls = ["read", ("edit", {"key": "x"}), "ask", "write"]
    paused, half, result = run(
        partial(
            resumed,
            Desk().engine(policy=gated(), hooks=Noting()),
            turn(*calls),
            {"b": False},
            {"c": 1},
        )
    )
    assert seen == [("a", "ok"), ("b", "declined"), ("c", "ok"), ("d", "ok")]
    assert_accounted_over(paused, half, result)


def test_an_answer_to_a_question_about_other_arguments_is_refused(run):
    async def main():
        engine = Desk().engine(policy=gated())
        paused = await engine.run(turn(("edit", {"key": "x"})))
        point = paused.checkpoint
        other = engine.plan(turn(("edit", {"key": "z"})))
        forged = replace(point, plan=other)
        with pytest.raises(CheckpointError, match="other arguments"):
            await engine.resume(forged, {"a": True})
        again = await engine.resume(forged)
        assert asks(again) == [("a", "Edit z?")]

    run(main)


# ---- 93: stop points ----


def test_c093_a_rule_with_stop_after_ends_the_dispatch_at_its_call(run):
    desk = Desk()
    policy = {"version": 1, "rules": [{"tool": "write", "stop": "after"}]}
    calls = ["read", "write", "read", "write"]
    paused, again, *_ = run(partial(resumed, desk.engine(policy=policy), turn(*calls), {}))
    assert statuses(paused) == ["ok", "ok", None, None]
    assert paused.questions == ()
    assert statuses(again) == ["ok"] * 4  # nothing stands behind the last one: no pause
    assert again.status == "done"


def test_c093_a_safe_call_with_stop_after_lets_nothing_behind_it_start(run):
    desk = Desk()
    policy = {"version": 1, "rules": [{"tool": "read", "safe": True, "stop": "after"}]}
    calls = ["read", ("edit", {"key": "x"})]
    paused, result = run(partial(resumed, desk.engine(policy=policy), turn(*calls), {}))
    assert desk.log == ["read", "edit x"]
    assert (statuses(paused), result.status) == (["ok", None], "done")


@pytest.mark.parametrize("way", ["denied", "declined", "refused"])
def test_c093_if_the_call_was_denied_the_turn_goes_on(run, way):
    rule: dict[str, Any] = {"tool": "write", "stop": "after"}
    options: dict[str, Any] = {}
    if way == "denied":
        rule["deny"] = "Never."
    elif way == "declined":
        rule["ask"] = "May it?"
        options["approver"] = lambda question: False
    else:

        class Denying(Hooks):
            def before_call(self, call, context):
                return toolflow.Deny("No.") if call.tool == "write" else None

        options["hooks"] = Denying()
    policy = {"version": 1, "rules": [rule]}
    result = run(partial(Desk().engine(policy=policy, **options).run, turn("write", "read")))
    assert result.status == "done"
    assert statuses(result)[1] == "ok"


def test_c093_a_failed_call_with_stop_after_stops_all_the_same(run):
    desk = Desk()

    @desk.box.tool
    async def fail() -> None:
        raise ValueError("no")

    policy = {"version": 1, "rules": [{"tool": "fail", "stop": "after"}]}
    paused, result = run(partial(resumed, desk.engine(policy=policy), turn("fail", "read"), {}))
    assert statuses(paused) == ["failed", None]
    assert_accounted_over(paused, result)


def test_stop_before_pauses_before_its_call_and_resume_passes_it(run):
    desk = Desk()
    policy = {"version": 1, "rules": [{"tool": "write", "stop": "before"}]}
    calls = ["read", "write", "write", "read"]
    one, two, result = run(partial(resumed, desk.engine(policy=policy), turn(*calls), {}, {}))
    assert (statuses(one), statuses(two)) == (["ok", None, None, None], ["ok", "ok", None, None])
    assert_accounted_over(one, two, result)


def test_stop_at_pauses_before_a_named_call_and_an_unknown_one_is_refused(run):
    async def main():
        engine = Desk().engine()
        with pytest.raises(UsageError, match="'nix', which is no call of this plan"):
            await engine.run(turn("read"), stop_at=["nix"])
        paused = await engine.run(turn("read", "read", "write"), stop_at=["b"])
        again = await engine.resume(paused.checkpoint, stop_at=["c"])
        return paused, again, await engine.resume(again.checkpoint)

    paused, again, result = run(main)
    assert [statuses(r) for r in (paused, again)] == [["ok", None, None], ["ok", "ok", None]]
    assert_accounted_over(paused, again, result)


def test_step_pauses_before_every_call(run):
    async def main():
        engine = Desk().engine()
        results = [await engine.run(turn("read", "write", "read"), step=True)]
        while results[-1].checkpoint is not None:
            results.append(await engine.resume(results[-1].checkpoint, step=True))
        return results

    results = run(main)
    assert [sum(status == "ok" for status in statuses(r)) for r in results] == [0, 1, 2, 3]
    assert_accounted_over(*results)


def test_stop_points_are_passed_where_nothing_can_pause(run):
    policy = {"version": 1, "rules": [{"tool": "write", "stop": "before"}]}
    engine = Desk().engine(policy=policy)
    result = run(partial(engine.run, turn("write", "write"), can_pause=False, step=True))
    assert (result.status, statuses(result)) == ("done", ["ok", "ok"])


# ---- 94, 95 ----


def test_c094_nothing_of_a_paused_turn_is_committed_and_all_of_it_after_the_resume(run):
    transcript = Transcript([{"role": "user", "content": "go"}])
    paused, result = run(
        partial(resumed, Desk().engine(), turn("read", "ask"), {"b": 1}, transcript=transcript)
    )
    assert paused.checkpoint is not None
    assert paused.messages == ()
    assert transcript.messages == ({"role": "user", "content": "go"}, *result.messages)
    assert transcript.staged is None


def test_c094_an_interrupt_asked_for_by_a_result_pauses_when_the_batch_has_settled(run):
    control = Control()

    def stop(event):
        if event.kind == "call_settled" and event.call == "a":
            control.interrupt()

    calls = ["read", ("read", {"seconds": 4}), "write"]
    result = run(partial(Desk().engine().run, turn(*calls), control=control, on_event=stop))
    assert (result.status, statuses(result)) == ("paused", ["ok", "ok", None])
    assert result.checkpoint.outcomes.keys() == {0, 1}


def test_c095_a_steering_message_lands_after_the_whole_turn(run):
    control, transcript = Control(), Transcript()
    word = {"role": "user", "content": "hurry"}
    acts = [(0.5, partial(control.steer, word))]
    options = {"control": control, "transcript": transcript}
    result = run(
        partial(run_with, Desk().engine(), turn("read", "write", "read"), *acts, **options)
    )
    assert result.messages[-1] == word
    assert [m["role"] for m in transcript.messages] == ["assistant", "tool", "tool", "tool", "user"]
    assert transcript.messages == result.messages


def test_c095_a_steering_message_survives_a_pause_and_lands_after_the_turn(run, tmp_path):
    word = {"role": "user", "content": "hurry"}

    async def main():
        control, engine = Control(), Desk().engine()
        control.steer(word)
        paused = await engine.run(turn("ask", "write"), control=control)
        assert paused.messages == ()
        save_checkpoint(paused.checkpoint, tmp_path / "point.yaml")
        return await engine.resume(load_checkpoint(tmp_path / "point.yaml"), {"a": 1})

    result = run(main)
    assert result.steering == (word,)
    assert [m["role"] for m in result.messages] == ["assistant", "tool", "tool", "user"]


def test_c095_a_steering_message_of_an_aborted_turn_is_delivered_too(run):
    control = Control()
    acts = [(0.5, partial(control.steer, {"role": "user", "content": "x"})), (0.6, control.abort)]
    result = run(partial(run_with, Desk().engine(), turn("read"), *acts, control=control))
    assert result.status == "aborted"
    assert result.messages[-1] == {"role": "user", "content": "x"}


# ---- 96 ----


def test_c096_the_resumed_run_keeps_pool_and_timeouts_of_the_paused_one(run):
    policy = {
        "version": 1,
        "limits": {"pool": 1},
        "rules": [{"tool": "read", "safe": True, "writes": [], "timeout": 2}],
    }
    desk = Desk()

    async def main():
        paused = await desk.engine(policy=policy).run(turn("ask", ("read", {"seconds": 5}), "read"))
        other = desk.engine(pool=9)  # another engine, without that policy
        return await other.resume(paused.checkpoint, {"a": 1})

    result = run(main)
    assert statuses(result) == ["ok", "timed_out", "ok"]
    assert [times.started for times in result.times] == [0, 0, 2]


def test_c096_an_overridden_pool_counts(run):
    async def main():
        engine = Desk().engine(pool=1)
        paused = await engine.run(turn("ask", "read", "read"))
        return await engine.resume(paused.checkpoint, {"a": 1}, pool=3)

    assert [times.started for times in run(main).times] == [0, 0, 0]


@pytest.mark.parametrize("pool", [0, 1.5, True])
def test_c096_a_pool_that_is_no_pool_is_refused(run, pool):
    async def main():
        engine = Desk().engine()
        paused = await engine.run(turn("ask"))
        with pytest.raises(UsageError):
            await engine.resume(paused.checkpoint, {"a": 1}, pool=pool)

    run(main)


def test_c096_what_is_left_of_the_total_limit_counts_unless_another_is_given(run):
    async def main():
        engine = Desk().engine()
        calls = [("read", {"seconds": 3}), "ask", "write", ("read", {"seconds": 4})]
        paused = await engine.run(turn(*calls), timeout=5)
        assert paused.checkpoint.timeout == pytest.approx(2)
        await anyio.sleep(100)  # the wait for the person does not count
        kept = await engine.resume(paused.checkpoint, {"b": 1})
        given = await engine.resume(paused.checkpoint, {"b": 1}, timeout=50)
        return kept, given

    kept, given = run(main)
    assert (kept.status, statuses(kept)) == ("aborted", ["ok", "ok", "ok", "aborted"])
    assert (given.status, statuses(given)) == ("done", ["ok"] * 4)


def test_c096_a_finished_call_is_never_run_again_however_often_it_pauses(run):
    desk = Desk()
    calls = ["ask", "read", "ask", "write", "ask_alone", "read"]
    results = run(partial(resumed, desk.engine(), turn(*calls), {"c": 3}, {"a": 1}, {"e": 5}))
    assert_accounted_over(*results)
    assert desk.log.count("read") == 2
    assert desk.log.count("write") == 1


# ---- in another process ----

SCRIPT = """
    import sys
    from pathlib import Path

    import toolflow
    from toolflow.recording import load_checkpoint, save_checkpoint

    tools = toolflow.Toolbox()
    LOG = Path("log.txt")

    def note(text):
        with LOG.open("a") as file:
            print(text, file=file)

    @tools.tool(safe=True)
    async def read(name: str) -> str:
        note(f"read {name}")
        return f"text of {name} \\ud83d"

    @tools.tool(safe=True)
    async def ask(ctx: toolflow.Context, question: str) -> str:
        note(f"ask {ctx.name} {ctx.attempt}")
        return f"got {ctx.interrupt({'question': question})}"

    @tools.tool
    async def deploy(service: str) -> str:
        note(f"deploy {service}")
        return "deployed"

    POLICY = '''
    version: 1
    limits: {pool: 2}
    rules:
      - {tool: read, safe: true, timeout: 5s}
      - {tool: ask, safe: true}
      - {tool: deploy, ask: "Deploy {{ args.service }}?"}
    '''
    engine = toolflow.Engine(tools, policy=POLICY)
    message = {"calls": [
        {"id": "r1", "tool": "read", "args": {"name": "one"}},
        {"id": "q1", "tool": "ask", "args": {"question": "A?"}},
        {"id": "q2", "tool": "ask", "args": {"question": "B?"}},
        {"id": "d1", "tool": "deploy", "args": {"service": "web"}},
        {"id": "r2", "tool": "read", "args": {"name": "two"}},
    ]}

    def show(result):
        print(result.status, [o and o.status for o in result.outcomes])
        print([(q.call, q.kind, q.text) for q in result.questions])
        if result.checkpoint is not None:
            save_checkpoint(result.checkpoint, "point.yaml")
        else:
            print([o.value for o in result.outcomes])

    if sys.argv[1:]:
        point = load_checkpoint("point.yaml")
        show(engine.resume_sync(point, eval(sys.argv[1])))
    else:
        show(engine.run_sync(message))
"""


def test_a_run_pauses_in_one_process_and_ends_in_others(tmp_path):
    script = tmp_path / "harness.py"
    script.write_text(textwrap.dedent(SCRIPT), "utf-8")

    def step(*answers: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, script, *answers],
            cwd=tmp_path,
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    status, questions = step()
    assert status == "paused ['ok', None, None, None, None]"
    assert [q[0] for q in eval(questions)] == ["q1", "q2", "d1"]
    status, questions = step("{'q1': 'yes', 'd1': True}")
    assert status == "paused ['ok', 'ok', None, None, None]"
    assert eval(questions) == [("q2", "interrupt", {"question": "B?"})]
    status, questions, values = step("{'q2': [1, 2]}")
    assert status == "done ['ok', 'ok', 'ok', 'ok', 'ok']"
    assert eval(values)[1:4] == ["got yes", "got [1, 2]", "deployed"]
    log = (tmp_path / "log.txt").read_text().splitlines()
    first = ["read one", "ask q1 1", "ask q2 1"]
    assert sorted(log[:3]) == sorted(first)
    assert log[3:] == ["ask q1 2", "ask q2 2", "deploy web", "read two"]


def test_a_checkpoint_in_a_file_resumes_like_the_one_in_memory(run, tmp_path):
    desk, hooks = Desk(), Renaming("!")
    calls = ["read", "ask", ("edit", {"key": "x"}), "write"]

    async def main():
        engine = desk.engine(policy=gated(), hooks=hooks, pool=2)
        paused = await engine.run(turn(*calls), timeout=60)
        save_checkpoint(paused.checkpoint, tmp_path / "point.yaml")
        loaded = load_checkpoint(tmp_path / "point.yaml")
        assert loaded == paused.checkpoint
        one = await engine.resume(paused.checkpoint, {"b": 1, "c": True})
        other = await engine.resume(loaded, {"b": 1, "c": True})
        return one, other

    one, other = run(main)
    assert statuses(one) == statuses(other)
    assert [e[:2] for e in one.events] == [e[:2] for e in other.events]
    assert asks(one) == asks(other)


def test_the_message_survives_pause_file_and_resume(run, tmp_path):
    message = chat("read", "ask") | {"content": "I will look.", "refusal": None}

    async def main():
        engine = Desk().engine()
        paused = await engine.run(message)
        save_checkpoint(paused.checkpoint, tmp_path / "point.yaml")
        return await engine.resume(load_checkpoint(tmp_path / "point.yaml"), {"b": 1})

    assert run(main).messages[0] == message


# ---- approvals with an approver, while the run goes on ----


def test_an_open_question_holds_neither_slot_nor_key_and_only_what_the_plan_puts_behind_it(run):
    store = MemoryStore()
    seen = {}

    async def slow(question):
        await anyio.sleep(5)
        seen["keys"] = tuple(store.statistics().keys)
        return True

    desk = Desk()
    engine = Engine(
        desk.box,
        policy={
            "version": 1,
            "rules": [
                {
                    "tool": "edit",
                    "when": "{{ args.key == 'x' }}",
                    "ask": "x?",
                    "safe": True,
                    "writes": ["key:x"],
                },
            ],
        },
        approver=slow,
        locks=store,
        pool=1,
    )
    calls = [("edit", {"key": "x"}), "read", ("edit", {"key": "x", "seconds": 2}), "read", "write"]
    result = run(partial(engine.run, turn(*calls)))
    assert_accounted(result)
    starts = [times.started for times in result.times]
    assert (starts[1], starts[3]) == (0, 1)
    assert starts[0] == 5
    assert starts[2] >= 6
    assert seen["keys"] == ()


def test_questions_are_put_in_call_order_at_once(run):
    asked = []

    async def approver(question):
        asked.append((question.call, anyio.current_time()))
        await anyio.sleep(3)
        return True

    calls = [("edit", {"key": key}) for key in "xyz"]
    result = run(partial(Desk().engine(policy=gated(), approver=approver).run, turn(*calls)))
    assert_accounted(result)
    assert [call for call, _ in asked] == ["a", "b", "c"]
    assert len({when for _, when in asked}) == 1
    assert [times.started for times in result.times] == [3, 3, 3]


def test_approvals_first_asks_all_before_anything_runs(run):
    recorder = EventRecorder()

    async def approver(question):
        await anyio.sleep(2)
        return True

    engine = Desk().engine(policy=gated() | {"approvals": "first"}, approver=approver)
    calls = ["read", ("edit", {"key": "x"}), ("edit", {"key": "y"})]
    result = run(partial(engine.run, turn(*calls), on_event=recorder))
    assert [times.started for times in result.times] == [2, 2, 2]
    kinds = [kind for kind, _ in recorder.kinds("question_answered", "call_started")]
    assert kinds == ["question_answered"] * 2 + ["call_started"] * 3


def test_an_interrupt_while_a_question_is_open_pauses_with_that_question(run):
    async def never(question):
        await anyio.sleep(1000)

    async def main():
        control, engine = Control(), Desk().engine(policy=gated(), approver=never)
        calls = [("edit", {"key": "x"}), "read"]
        paused = await run_with(engine, turn(*calls), (2, control.interrupt), control=control)
        return paused, await engine.resume(
            paused.checkpoint, {"a": True}, approver=lambda question: False
        )

    paused, result = run(main)
    assert (statuses(paused), asks(paused)) == ([None, "ok"], [("a", "Edit x?")])
    assert_accounted_over(paused, result)
    assert statuses(result) == ["ok", "ok"]
