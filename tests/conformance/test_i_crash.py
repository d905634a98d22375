"""Conformance I: a run whose process died, lines 110 and 111, as far as no journal is needed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio
import pytest
from acting import answered, chat, later, statuses, turn
from hypothesis import given, settings
from hypothesis import strategies as st

from toolflow.compiler import Plan
from toolflow.engine import Engine
from toolflow.errors import CheckpointError
from toolflow.formats import read_turn
from toolflow.locks import MemoryStore
from toolflow.model.outcome import Outcome
from toolflow.recording import (
    Recorder,
    after_crash,
    load_checkpoint,
    load_recording,
    replay,
    save_checkpoint,
    save_recording,
)
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.result import RunResult
from toolflow.runtime.approvals import Answer
from toolflow.runtime.context import Context
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Deny, Hooks
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.transcript import Transcript

POLICY = {
    "version": 1,
    "rules": [
        {"tool": "read", "safe": True, "idempotent": True},
        {"tool": "send", "safe": True, "idempotent": False},
        {"tool": "publish", "ask": "Publish?", "safe": True, "idempotent": True},
        {"tool": "delete", "ask": "Delete?", "safe": True},
        {"tool": "forbidden", "deny": "Not here."},
        {"tool": "strict", "safe": True, "on_error": "stop"},
        {"tool": "pausing", "safe": True, "stop": "after"},
    ],
}
TOOLS = ("read", "send", "publish", "delete", "build", "forbidden", "strict", "pausing")
UNKNOWN = "It started, and nobody knows how it ended: look before you repeat it."
DONE = Outcome("ok", "kept")


class Seen(Hooks):
    """A before-hook that keeps which calls it has seen."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def before_call(self, call, context):
        self.calls.append(call.name)


class Desk:
    """Tools that keep which bodies ran, with their attempt."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, int]] = []

    def engine(self, **options: Any) -> Engine:
        tools = Toolbox()
        for name in TOOLS:

            async def body(ctx: Context, name: str = name) -> str:
                self.ran.append((ctx.name, ctx.attempt))
                await anyio.sleep(1)
                return f"{name} ran"

            async def no_name(ctx: Context, body: Any = body) -> str:
                return await body(ctx)

            tools.tool(no_name, name=name)

        @tools.tool(safe=True)
        async def colour(ctx: Context) -> str:
            self.ran.append((ctx.name, ctx.attempt))
            return ctx.interrupt("Which colour?")

        return Engine(tools, **{"policy": POLICY, "locks": MemoryStore(), **options})

    def plan(self, *calls: str) -> Plan:
        return self.engine().plan(chat(*calls))


def texts(messages: tuple[Any, ...]) -> list[str]:
    return [text for _, text in answered(messages)]


def ask_of(result: RunResult) -> list[tuple[str, str]]:
    return [(question.call, question.kind) for question in result.questions]


# ---- 110: the turn is closed ----


def test_c110_a_call_that_never_started_is_not_started_and_one_that_did_is_unknown():
    repair = after_crash(Desk().plan("read", "send", "build"), started="ab", outcomes={"a": DONE})
    assert [outcome.status for outcome in repair.outcomes] == [
        "ok",
        "outcome_unknown",
        "not_started",
    ]
    assert (repair.unknown, repair.not_started) == (("b",), ("c",))
    assert repair.outcomes[1].error == UNKNOWN
    assert "never started" in repair.outcomes[2].error


def test_c110_every_call_gets_one_result_in_call_order_ready_for_the_transcript(run):
    repair = after_crash(Desk().plan("read", "send", "build"), started="cb", outcomes={"c": DONE})
    messages = repair.messages()
    assert messages[0] == chat("read", "send", "build")
    assert [name for name, _ in answered(messages)] == ["a", "b", "c"]
    assert texts(messages)[1:] == [UNKNOWN, "kept"]
    transcript = Transcript([{"role": "user", "content": "go"}])
    run(partial(transcript.append, messages))
    assert transcript.messages[1:] == messages


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_c110_the_order_in_which_the_log_was_written_does_not_matter(data):
    plan = Desk().plan("read", "send", "delete", "build", "read", "forbidden")
    names = [call.name for call in plan.calls[:5]]
    started = data.draw(st.lists(st.sampled_from(names), unique=True))
    done = data.draw(st.lists(st.sampled_from(names), unique=True))
    one = after_crash(plan, started=started, outcomes=dict.fromkeys(done, DONE))
    other = after_crash(
        plan,
        started=data.draw(st.permutations(started)),
        outcomes=dict.fromkeys(data.draw(st.permutations(done)), DONE),
    )
    assert one == other
    assert one.messages() == other.messages()
    expected = [
        "ok" if name in done else "outcome_unknown" if name in started else "not_started"
        for name in names
    ]
    assert [outcome.status for outcome in one.outcomes] == [*expected, "denied"]


def test_c110_a_balanced_turn_is_untouched(run):
    desk = Desk()
    engine = desk.engine(approver=lambda question: True)
    result = run(partial(engine.run, chat("read", "send", "forbidden", "delete", "build")))
    known = dict(zip("abcde", result.outcomes, strict=True))
    repair = after_crash(result.plan, started="dabe", outcomes=known)
    assert repair.messages() == result.messages
    assert json.dumps(repair.messages()) == json.dumps(result.messages)
    assert repair.outcomes == result.outcomes
    assert repair.checkpoint.questions == repair.unknown == repair.not_started == ()
    desk.ran.clear()
    again = run(partial(engine.resume, repair.checkpoint))
    assert (again.outcomes, again.messages) == (result.outcomes, result.messages)
    assert desk.ran == []


def test_c110_an_earlier_turn_with_the_same_ids_is_not_looked_at(run):
    engine = Desk().engine()
    transcript = Transcript()
    run(partial(engine.run, chat("read", "build"), transcript=transcript))
    before = transcript.messages
    plan = engine.plan(chat("send", "build"))
    run(partial(transcript.append, after_crash(plan, started="a").messages()))
    assert transcript.messages[: len(before)] == before
    assert texts(transcript.messages)[2:] == [
        UNKNOWN,
        "It never started: the process ended before.",
    ]


def test_c110_closing_twice_changes_nothing():
    plan = Desk().plan("read", "send", "forbidden", "build")
    once = after_crash(plan, started="ab")
    names = [call.name for call in plan.calls]
    twice = after_crash(plan, started="ab", outcomes=dict(zip(names, once.outcomes, strict=True)))
    assert twice.outcomes == once.outcomes
    assert twice.messages() == once.messages()
    assert after_crash(plan, started="ab") == once


def test_c110_a_call_that_the_plan_answers_keeps_that_answer():
    repair = after_crash(Desk().plan("forbidden", "nosuch"), started="a")
    assert [outcome.status for outcome in repair.outcomes] == ["denied", "unknown_tool"]
    assert repair.checkpoint.questions == repair.unknown == repair.not_started == ()


def test_c110_other_formats_are_closed_in_their_own_form():
    message = {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": name, "name": "send", "input": {}} for name in ("k1", "k2")
        ],
    }
    plan = Desk().engine().plan(message)
    first, second = after_crash(plan, started=["k1"]).messages(read_turn(message))
    assert first == message
    assert [block["tool_use_id"] for block in second["content"]] == ["k1", "k2"]
    assert all(block["is_error"] for block in second["content"])


@pytest.mark.parametrize("field", ["started", "outcomes", "attempts", "approved", "answers"])
def test_c110_a_name_of_another_turn_is_refused(field):
    given: Mapping[str, Any] = {
        "started": ["z"],
        "outcomes": {"z": DONE},
        "attempts": {"z": 1},
        "approved": ["z"],
        "answers": {"z": ["blue"]},
    }
    with pytest.raises(CheckpointError, match=f"^{field}: 'z' is no call of .* are a, b.$"):
        after_crash(Desk().plan("read", "send"), **{field: given[field]})


# ---- 110: the turn goes on ----


def test_c110_finished_calls_do_not_run_again_and_those_that_never_started_do(run):
    desk = Desk()
    plan = desk.plan("send", "send", "build", "read")
    repair = after_crash(plan, started="a", outcomes={"a": DONE})
    result = run(partial(desk.engine().resume, repair.checkpoint))
    assert desk.ran == [("b", 1), ("c", 1), ("d", 1)]
    assert result.outcomes[0] == DONE
    assert result.ok


def test_c110_after_every_possible_crash_no_call_is_lost_and_no_finished_one_runs_again(run):
    names = "abcd"
    for states in itertools.product(["done", "entered", "waiting"], repeat=4):
        of = dict(zip(names, states, strict=True))
        done = [name for name in names if of[name] == "done"]
        started = [name for name in names if of[name] != "waiting"]
        desk = Desk()
        plan = desk.plan("read", "send", "build", "delete")
        repair = after_crash(plan, started=started, outcomes=dict.fromkeys(done, DONE))
        assert {question.call for question in repair.checkpoint.questions} == (
            set(started) - set(done) - {"a"}
        )
        engine = desk.engine(approver=lambda question: True)
        answers = {question.call: True for question in repair.checkpoint.questions}
        result = run(partial(engine.resume, repair.checkpoint, answers))
        assert result.ok
        assert sorted(desk.ran) == [
            (name, 1 + (name in started)) for name in names if name not in done
        ]


# ---- 111 ----


def test_c111_an_idempotent_call_runs_again_with_its_next_attempt(run):
    desk = Desk()
    repair = after_crash(desk.plan("read", "read"), started="aba", attempts={"b": 4})
    assert repair.checkpoint.questions == ()
    assert run(partial(desk.engine().resume, repair.checkpoint)).ok
    assert desk.ran == [("a", 3), ("b", 6)]


def test_c111_a_call_whose_outcome_is_unknown_is_not_run_again_unless_a_person_says_so(run):
    desk = Desk()
    repair = after_crash(desk.plan("read", "send", "read"), started="ab")
    (question,) = repair.checkpoint.questions
    assert (question.call, question.kind) == ("b", "repeat")
    assert question.text.endswith("may have taken effect; run it again?")
    paused = run(partial(desk.engine().resume, repair.checkpoint))
    assert paused.status == "paused"
    assert paused.questions == (question,)
    assert desk.ran == [("a", 2), ("c", 1)]


@pytest.mark.parametrize("yes", [True, Answer(approved=True)])
def test_c111_with_a_yes_it_runs_again(run, yes):
    desk = Desk()
    repair = after_crash(desk.plan("send", "build"), started="a")
    result = run(partial(desk.engine().resume, repair.checkpoint, {"a": yes}))
    assert desk.ran == [("a", 2), ("b", 1)]
    assert result.ok


@pytest.mark.parametrize("no", [False, Answer(approved=False, reason="it is in the outbox")])
def test_c111_with_a_no_its_outcome_stays_unknown_and_later_calls_go_on(run, no):
    desk = Desk()
    repair = after_crash(desk.plan("send", "build"), started="a")
    result = run(partial(desk.engine().resume, repair.checkpoint, {"a": no}))
    assert desk.ran == [("b", 1)]
    assert statuses(result) == ["outcome_unknown", "ok"]
    assert texts(result.messages) == [UNKNOWN, "build ran"]
    assert result.outcomes[0].note.startswith("Declined by the approver")


def test_c111_a_no_counts_as_a_failure_where_later_calls_are_to_stop(run):
    desk = Desk()
    repair = after_crash(desk.plan("strict", "build"), started="a")
    result = run(partial(desk.engine().resume, repair.checkpoint, {"a": False}))
    assert statuses(result) == ["outcome_unknown", "skipped"]
    assert desk.ran == []


def test_c111_an_exclusive_call_that_waits_for_an_answer_holds_back_later_calls(run):
    desk = Desk()
    plan = desk.plan("read", "build", "read")
    repair = after_crash(plan, started="ab", outcomes={"a": DONE})
    paused = run(partial(desk.engine().resume, repair.checkpoint))
    assert desk.ran == []
    assert run(partial(desk.engine().resume, paused.checkpoint, {"b": True})).ok
    assert desk.ran == [("b", 2), ("c", 1)]


def test_c111_the_question_outlives_files_and_pauses(run, tmp_path):
    desk, file = Desk(), tmp_path / "checkpoint.yaml"
    checkpoint = after_crash(desk.plan("send", "read", "send"), started="ac").checkpoint
    for _ in range(3):
        save_checkpoint(checkpoint, file)
        assert load_checkpoint(file) == checkpoint
        paused = run(partial(desk.engine().resume, load_checkpoint(file)))
        assert ask_of(paused) == [("a", "repeat"), ("c", "repeat")]
        assert paused.checkpoint is not None
        checkpoint = paused.checkpoint
    assert desk.ran == [("b", 1)]
    paused = run(partial(desk.engine().resume, checkpoint, {"c": False}))
    assert ask_of(paused) == [("a", "repeat")]
    result = run(partial(desk.engine().resume, paused.checkpoint, {"a": True}))
    assert statuses(result) == ["ok", "ok", "outcome_unknown"]
    assert desk.ran == [("b", 1), ("a", 2)]


def test_c111_an_answer_that_is_neither_yes_nor_no_is_refused(run):
    desk = Desk()
    repair = after_crash(desk.plan("send"), started="a")
    for wrong in ("yes", 1, None):
        with pytest.raises(CheckpointError, match="use True, False or an Answer"):
            run(partial(desk.engine().resume, repair.checkpoint, {"a": wrong}))
    assert desk.ran == []


def test_c111_a_yes_to_running_a_call_is_none_to_running_it_again(run):
    desk = Desk()
    repair = after_crash(desk.plan("delete", "delete"), started="a", approved="a")
    always = {"b": Answer(approved=True, always=True)}
    assert repair.checkpoint.approved == frozenset()
    paused = run(partial(desk.engine().resume, repair.checkpoint))
    assert ask_of(paused) == [("a", "repeat"), ("b", "approval")]
    paused = run(partial(desk.engine().resume, paused.checkpoint, always))
    assert ask_of(paused) == [("a", "repeat")]
    assert run(partial(desk.engine().resume, paused.checkpoint, {"a": True})).ok
    assert desk.ran == [("b", 1), ("a", 2)]


def test_c111_an_idempotent_call_that_had_been_entered_needs_no_second_yes(run):
    desk = Desk()
    repair = after_crash(desk.plan("publish", "publish"), started="a", approved="b")
    assert run(partial(desk.engine().resume, repair.checkpoint)).ok
    assert desk.ran == [("a", 2), ("b", 1)]


@pytest.mark.parametrize("tool", ["read", "send"])
@pytest.mark.parametrize("answers", [{}, {"a": True}])
def test_c111_an_abort_before_it_runs_again_leaves_it_unknown(run, tool, answers):
    control, desk = Control(), Desk()
    control.abort()
    repair = after_crash(desk.plan(tool, "read"), started="a")
    if tool == "read":
        answers = {}
    go = partial(desk.engine().resume, repair.checkpoint, answers, control=control)
    result = run(go)
    assert statuses(result) == ["outcome_unknown", "not_started"]
    assert texts(result.messages)[0] == UNKNOWN
    assert desk.ran == []


def test_c111_an_abort_while_it_runs_again_is_told_as_an_abort(run):
    control, desk = Control(), Desk()

    async def main() -> RunResult:
        repair = after_crash(desk.plan("read"), started="a")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later, 0.5, control.abort)
            return await desk.engine().resume(repair.checkpoint, control=control)

    assert statuses(run(main)) == ["aborted"]


def test_c111_a_before_hook_sees_the_second_run_however_late_the_answer_comes(run):
    desk, hooks = Desk(), Seen()
    point = after_crash(desk.plan("send"), started="a").checkpoint

    async def main():
        engine = desk.engine(hooks=hooks)
        paused = await engine.resume(point)
        return await engine.resume(paused.checkpoint, {"a": True})

    assert run(main).status == "done"
    assert (hooks.calls, desk.ran) == (["a"], [("a", 2)])


def test_c111_a_run_that_cannot_pause_leaves_it_unknown(run):
    desk = Desk()
    point = after_crash(desk.plan("send", "read"), started="a").checkpoint
    result = run(partial(desk.engine().resume, point, can_pause=False))
    assert (result.status, statuses(result)) == ("done", ["outcome_unknown", "ok"])
    assert desk.ran == [("b", 1)]


def test_c111_a_hook_that_refuses_the_second_run_leaves_it_unknown(run):
    class Refusing(Hooks):
        async def before_call(self, call, context):
            return Deny("Not today.")

    desk = Desk()
    repair = after_crash(desk.plan("read", "read"), started="a")
    result = run(partial(desk.engine(hooks=Refusing()).resume, repair.checkpoint))
    assert statuses(result) == ["outcome_unknown", "denied"]
    assert result.outcomes[0].note == "Not today."


def test_c111_what_asked_a_person_after_it_ran_again_is_not_unknown_any_more(run):
    control, desk = Control(), Desk()
    policy = {"version": 1, "rules": [{"tool": "colour", "idempotent": True}]}
    plan = desk.engine(policy=policy).plan(chat("colour"))
    checkpoint = after_crash(plan, started="a").checkpoint
    paused = run(partial(desk.engine().resume, checkpoint))
    assert ask_of(paused) == [("a", "interrupt")]
    assert paused.checkpoint is not None
    assert paused.checkpoint.unknown == frozenset()
    control.abort()
    result = run(partial(desk.engine().resume, paused.checkpoint, control=control))
    assert statuses(result) == ["aborted"]


def test_c111_what_asked_a_person_in_its_second_run_is_aborted_with_that_run(run):
    control, desk = Control(), Desk()
    policy = {"version": 1, "rules": [{"tool": "*", "safe": True, "idempotent": True}]}
    engine = desk.engine(policy=policy)
    repair = after_crash(engine.plan(chat("colour", "read")), started="a")

    async def main() -> RunResult:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later, 0.5, control.abort)
            return await engine.resume(repair.checkpoint, control=control)

    assert statuses(run(main)) == ["aborted", "aborted"]


def test_c111_answers_to_a_body_are_given_to_it_again(run):
    desk = Desk()
    plan = desk.plan("colour")
    checkpoint = after_crash(plan, attempts={"a": 1}, answers={"a": ["blue"]}).checkpoint
    result = run(partial(desk.engine().resume, checkpoint))
    assert result.outcomes == (Outcome("ok", "blue"),)
    assert desk.ran == [("a", 2)]


def test_c111_a_run_that_went_on_is_replayed_without_a_divergence(run, tmp_path):
    desk = Desk()
    recorder = Recorder(policy=desk.engine().policy)
    repair = after_crash(desk.plan("send", "read", "send", "build"), started="abc")
    paused = run(partial(desk.engine().resume, repair.checkpoint, {"c": False}))
    recorder.add(paused)
    control = Control()
    control.abort()
    recorder.add(run(partial(desk.engine().resume, paused.checkpoint, control=control)))
    recorder.add(run(partial(desk.engine().resume, paused.checkpoint, {"a": True})))
    save_recording(recorder.recording, tmp_path / "recording.yaml")
    report = replay(load_recording(tmp_path / "recording.yaml"))
    assert report.ok
    assert [turn.compared for turn in report.turns] == [
        ("plan", "run"),
        ("plan", "run", "messages"),
        ("plan", "run", "messages"),
    ]


# ---- stop points ----


def test_stop_points_behind_the_crash_count_no_more(run):
    rules = [{"tool": "*", "safe": True, "idempotent": True, "stop": "before"}]
    desk = Desk()
    plan = desk.engine(policy={"version": 1, "rules": rules}).plan(chat("read", "send", "read"))
    checkpoint = after_crash(plan, started="ab", outcomes={"a": DONE}).checkpoint
    paused = run(partial(desk.engine().resume, checkpoint))
    assert paused.status == "paused"
    assert desk.ran == [("b", 2)]
    assert run(partial(desk.engine().resume, paused.checkpoint)).ok


def test_a_stop_point_after_the_last_finished_call_still_counts(run):
    desk = Desk()
    plan = desk.plan("pausing", "read", "read")
    checkpoint = after_crash(plan, started="a", outcomes={"a": DONE}).checkpoint
    paused = run(partial(desk.engine().resume, checkpoint))
    assert (paused.status, desk.ran) == ("paused", [])
    assert run(partial(desk.engine().resume, paused.checkpoint)).ok
    later_on = after_crash(plan, started="ab", outcomes={"a": DONE}).checkpoint
    assert later_on.stops == frozenset()


def test_a_turn_is_closed_with_the_messages_of_the_turn_that_is_given():
    message = turn("send", "read")
    plan = Desk().engine().plan(message)
    assert isinstance(after_crash(plan).checkpoint, Checkpoint)
    assert after_crash(plan).messages(message) == after_crash(plan).messages()
