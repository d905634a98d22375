"""Conformance D: hooks, denials and questions, lines 44 to 59."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest
from turns import scripted, spans, starts, statuses, turn

from toolflow.engine import Engine
from toolflow.locks import MemoryStore
from toolflow.model.outcome import Outcome
from toolflow.model.turn import Call, Turn
from toolflow.runtime.approvals import Answer
from toolflow.runtime.hooks import Deny, Hooks
from toolflow.testing import EventRecorder

ASK = {"version": 1, "rules": [{"tool": "read", "ask": "Read {{ args.name }}?", "safe": True}]}


def run_turn(run: Any, engine: Engine, *calls: Any, **options: Any) -> Any:
    return run(partial(engine.run, turn(*calls), **options))


class Watch(Hooks):
    """Notes who came when, and does to calls what it was told."""

    def __init__(self, seconds: float = 0, **does: Any) -> None:
        self.seen: list[tuple[str, str]] = []
        self.seconds = seconds
        self.does = does

    async def before_call(self, call, context):
        self.seen.append(("before", call.name))
        await anyio.sleep(self.seconds)
        todo = self.does.get(f"before_{call.name}")
        if isinstance(todo, BaseException):
            raise todo
        return todo

    async def after_call(self, call, outcome, context):
        self.seen.append(("after", call.name))
        await anyio.sleep(self.seconds)
        todo = self.does.get(f"after_{call.name}")
        if isinstance(todo, BaseException):
            raise todo
        return todo

    def names(self, which: str) -> list[str]:
        return [name for kind, name in self.seen if kind == which]


# ---- 44, 45: the order of hooks ----


@pytest.mark.parametrize("seconds", [0, 1])
@pytest.mark.parametrize("pool", [1, 3, 10])
def test_c044_before_hooks_see_calls_in_the_models_order(run, seconds, pool):
    hooks = Watch(seconds)
    calls = [("read", 5), ("edit", 1, "k"), ("write", 1), ("read", 3), "nosuch", ("read", 1)]
    run_turn(run, Engine(scripted().toolbox, hooks=hooks, pool=pool), *calls)
    assert hooks.names("before") == list("abcdf")  # e is settled by the plan


@pytest.mark.parametrize("seconds", [0, 2])
def test_c045_after_hooks_see_calls_in_the_models_order_despite_reverse_completion(run, seconds):
    hooks = Watch(seconds)
    tools = scripted()
    calls = [("read", 40), ("read", 30), ("read", 20), ("read", 10)]
    run_turn(run, Engine(tools.toolbox, hooks=hooks), *calls)
    assert [name for what, name in tools.log if what == "end"] == list("dcba")
    assert hooks.names("after") == list("abcd")


def test_c045_hooks_never_overlap(run):
    inside: list[str] = []

    class Alone(Hooks):
        async def enter(self):
            assert inside == []
            inside.append("x")
            await anyio.sleep(1)
            inside.clear()

        async def before_call(self, call, context):
            await self.enter()

        async def after_call(self, call, outcome, context):
            await self.enter()

    calls = [("read", 5), ("read", 1), ("edit", 3, "k"), ("edit", 1, "k"), ("write", 1), "read"]
    result = run_turn(run, Engine(scripted().toolbox, hooks=Alone()), *calls)
    assert statuses(result) == ["ok"] * 6


def test_c045_several_hooks_are_entered_in_the_given_order_and_left_in_reverse(run):
    seen: list[str] = []

    class Named(Hooks):
        def __init__(self, name: str) -> None:
            self.name = name

        def before_call(self, call, context):
            seen.append(f"{self.name} before")

        async def around_call(self, call, context, proceed):
            seen.append(f"{self.name} in")
            value = await proceed()
            seen.append(f"{self.name} out")
            return value

        def after_call(self, call, outcome, context):
            seen.append(f"{self.name} after")

    engine = Engine(scripted().toolbox, hooks=[Named("one"), Named("two")])
    run_turn(run, engine, "read", hooks=Named("run"))
    order = ["one", "two", "run"]
    assert seen == [
        *(f"{name} before" for name in order),
        *(f"{name} in" for name in order),
        *(f"{name} out" for name in order[::-1]),
        *(f"{name} after" for name in order[::-1]),
    ]


# ---- 46, 47, 48: denials and failures before ----


@pytest.mark.parametrize("tool", ["read", "write"])
def test_c046_a_denied_call_does_not_run_and_later_calls_do(run, tool):
    tools = scripted()
    hooks = Watch(before_b=Deny("Not on Sundays."))
    result = run_turn(run, Engine(tools.toolbox, hooks=hooks), "read", tool, "read")
    assert statuses(result) == ["ok", "denied", "ok"]
    assert result.outcomes[1].error == "Not on Sundays."
    assert result.results[0]["results"][1]["error"] == "Not on Sundays."
    assert tools.order == ["a", "c"]


def test_c046_a_denied_call_holds_no_key(run):
    hooks = Watch(before_a=Deny("No."))
    engine = Engine(scripted().toolbox, hooks=hooks)
    result = run_turn(run, engine, ("edit", 3, "k"), ("edit", 1, "k"))
    assert starts(result) == [None, 0]


@pytest.mark.parametrize("error", [ValueError("broken"), RuntimeError(""), KeyError("x")])
def test_c047_a_before_hook_that_raises_fails_that_call_only(run, error):
    tools = scripted()
    hooks = Watch(before_b=error)
    result = run_turn(run, Engine(tools.toolbox, hooks=hooks), "read", "read", "write", "read")
    assert statuses(result) == ["ok", "failed", "ok", "ok"]
    assert result.outcomes[1].error.startswith("The before-hook failed: ")
    assert type(error).__name__ in result.outcomes[1].error
    assert tools.order == ["a", "c", "d"]


def test_c047_of_several_hooks_none_behind_the_one_that_raised_sees_the_call(run):
    first, second = Watch(before_a=ValueError("broken")), Watch()
    run_turn(run, Engine(scripted().toolbox, hooks=[first, second]), "read", "read")
    assert second.names("before") == ["b"]


def test_c048_a_denied_call_reaches_the_after_hook(run):
    hooks = Watch(before_a=Deny("No."))
    run_turn(run, Engine(scripted().toolbox, hooks=hooks), "read", "read")
    assert hooks.names("after") == ["a", "b"]


def test_c048_a_call_whose_before_hook_raised_does_not_reach_the_after_hook(run):
    hooks = Watch(before_a=ValueError("broken"))
    run_turn(run, Engine(scripted().toolbox, hooks=hooks), "read", "read")
    assert hooks.names("after") == ["b"]


def test_c048_a_call_that_was_declined_reaches_the_after_hook_in_its_place(run):
    hooks = Watch()
    engine = Engine(scripted().toolbox, policy=ASK, hooks=hooks, approver=lambda q: q.call != "b")
    result = run_turn(run, engine, ("read", 2), "read", ("edit", 1, "k"))
    assert statuses(result) == ["ok", "declined", "ok"]
    assert hooks.names("after") == ["a", "b", "c"]


def test_c048_the_after_hook_of_a_failed_call_sees_its_failure(run):
    seen: dict[str, Outcome] = {}

    class Sees(Hooks):
        def after_call(self, call, outcome, context):
            seen[call.name] = outcome

    run_turn(run, Engine(scripted().toolbox, hooks=Sees()), ("read", {"raises": "broken"}))
    assert (seen["a"].status, seen["a"].error) == ("failed", "RuntimeError: broken")


# ---- 49, 50: after-hooks that raise or replace ----


def test_c049_an_after_hook_that_raises_makes_that_call_an_error_and_siblings_settle(run):
    errors = [ValueError("first"), KeyError("second")]
    hooks = Watch(after_b=errors[0], after_c=errors[1])
    calls = [("read", 1), ("read", 2), ("read", 1), ("write", 1)]
    result = run_turn(run, Engine(scripted().toolbox, hooks=hooks), *calls)
    assert statuses(result) == ["ok", "failed", "failed", "ok"]
    assert result.outcomes[1].error == "The after-hook failed: ValueError: first"
    assert result.report.hook_error is errors[0]
    assert result.status == "done"


def test_c049_the_barrier_behind_it_still_runs(run):
    hooks = Watch(after_a=ValueError("broken"))
    result = run_turn(run, Engine(scripted().toolbox, hooks=hooks), ("read", 1), ("write", 1))
    assert starts(result) == [0, 1]


def test_c049_with_on_error_stop_a_failed_after_hook_stops_later_calls(run):
    rules = {"version": 1, "rules": [{"tool": "write", "on_error": "stop"}]}
    hooks = Watch(after_a=ValueError("broken"))
    engine = Engine(scripted().toolbox, hooks=hooks, policy=rules)
    result = run_turn(run, engine, "write", "read")
    assert statuses(result) == ["failed", "skipped"]


@pytest.mark.parametrize(
    ("replacement", "value"),
    [
        ("short", "short"),
        ({"rows": [1, 2]}, {"rows": [1, 2]}),
        (0, 0),
        (False, False),
        ("", ""),
        (Outcome("ok", "made"), "made"),
    ],
)
def test_c050_an_after_hook_can_replace_the_content_and_the_id_stays(run, replacement, value):
    hooks = Watch(after_b=replacement)
    result = run_turn(run, Engine(scripted().toolbox, hooks=hooks), "read", "read")
    assert result.outcomes[1].value == value
    assert [item["id"] for item in result.results[0]["results"]] == ["a", "b"]
    assert result.results[0]["results"][1]["value"] == value


def test_c050_an_after_hook_can_turn_a_success_into_a_failure_and_back(run):
    hooks = Watch(after_a=Outcome("failed", error="Not good enough."), after_b="repaired")
    engine = Engine(scripted().toolbox, hooks=hooks)
    recorder = EventRecorder()
    result = run_turn(run, engine, "read", ("read", {"raises": "broken"}), on_event=recorder)
    assert statuses(result) == ["failed", "ok"]
    told = {e.call: e.data["status"] for e in recorder.events if e.kind == "call_settled"}
    assert told == {"a": "failed", "b": "ok"}


def test_c050_what_an_after_hook_leaves_the_next_one_sees(run):
    seen = []

    class Adds(Hooks):
        def __init__(self, text: str) -> None:
            self.text = text

        def after_call(self, call, outcome, context):
            seen.append(outcome.value)
            return outcome.value + self.text

    engine = Engine(scripted().toolbox, hooks=[Adds(" outer"), Adds(" inner")])
    result = run_turn(run, engine, "read")
    assert seen == ["a", "a inner"]
    assert result.outcomes[0].value == "a inner outer"


def test_c050_an_after_hook_cannot_record_what_cannot_be_written(run):
    hooks = Watch(after_a={"x": {1, 2}}, after_b="x\ud83dy")
    result = run_turn(run, Engine(scripted().toolbox, hooks=hooks), "read", "read")
    assert statuses(result) == ["ok", "ok"]
    str(result.messages).encode()


# ---- 51, 52: nobody to ask ----


def test_c051_without_approver_and_without_a_way_to_pause_the_call_is_declined(run):
    tools = scripted()
    engine = Engine(tools.toolbox, policy=ASK)
    result = run_turn(run, engine, "read", ("edit", 1, "k"), "read", can_pause=False)
    assert statuses(result) == ["declined", "ok", "declined"]
    assert result.outcomes[0].error == "Declined: nobody is there to approve this call."
    assert tools.order == ["b"]


@pytest.mark.parametrize("approvals", ["inline", "first"])
def test_c051_in_whatever_order_questions_are_asked(run, approvals):
    engine = Engine(scripted().toolbox, policy={**ASK, "approvals": approvals})
    result = run_turn(run, engine, ("edit", 1, "k"), "read", "write", can_pause=False)
    assert statuses(result) == ["ok", "declined", "ok"]


def test_c051_a_call_outside_a_turn_is_declined(run):
    outcome = run(partial(Engine(scripted().toolbox, policy=ASK).call, "read"))
    assert outcome.status == "declined"


def test_c051_an_exclusive_call_that_is_declined_is_no_barrier(run):
    rules = {"version": 1, "rules": [{"tool": "write", "ask": "Sure?"}]}
    engine = Engine(scripted().toolbox, policy=rules)
    result = run_turn(run, engine, ("read", 5), "write", ("read", 1), can_pause=False)
    assert statuses(result) == ["ok", "declined", "ok"]
    assert starts(result) == [0, None, 0]


def test_c051_a_hook_that_changes_arguments_into_such_that_must_be_asked_for(run):
    rules = [{"tool": "read", "when": "{{ args.returns == 'x' }}", "ask": "Sure?"}]

    class Changes(Hooks):
        def before_call(self, call, context):
            return {**call.args, "returns": "x"} if call.name == "b" else None

    tools = scripted()
    engine = Engine(tools.toolbox, policy={"version": 1, "rules": rules}, hooks=Changes())
    result = run_turn(run, engine, "read", "read", "read", can_pause=False)
    assert statuses(result) == ["ok", "declined", "ok"]
    assert tools.order == ["a", "c"]


def test_c052_without_approver_the_run_pauses_at_the_stop_point_with_a_checkpoint(run):
    async def main():
        tools = scripted()
        engine = Engine(tools.toolbox, policy=ASK)
        recorder = EventRecorder()
        paused = await engine.run(
            turn(("edit", 2, "k"), "read", ("edit", 1, "k"), "read"), on_event=recorder
        )
        assert paused.status == "paused"
        assert statuses(paused) == ["ok", None, None, None]
        assert [(q.call, q.text) for q in paused.questions] == [
            ("b", "Read b?"),
            ("d", "Read d?"),
        ]
        assert recorder.kinds()[-1] == ("run_paused", None)
        assert tools.order == ["a"]
        result = await engine.resume(paused.checkpoint, {"b": True, "d": False})
        assert statuses(result) == ["ok", "ok", "ok", "declined"]
        assert tools.order == ["a", "b", "c"]

    run(main)


def test_c052_a_question_of_the_first_call_pauses_before_anything_ran(run):
    tools = scripted()
    paused = run_turn(run, Engine(tools.toolbox, policy=ASK), "read", ("edit", 1, "k"))
    assert (paused.status, tools.order) == ("paused", [])


@pytest.mark.parametrize("hooks", [(), (Hooks(),)])
def test_c052_the_after_hooks_of_what_ran_before_the_stop_point_are_done(run, hooks):
    async def main():
        watch = Watch(seconds=1)
        engine = Engine(scripted().toolbox, policy=ASK, hooks=[*hooks, watch])
        paused = await engine.run(turn(("edit", 2, "k"), ("edit", 1, "m"), "read"))
        assert watch.names("after") == ["a", "b"]
        await engine.resume(paused.checkpoint, {"c": True})
        assert watch.names("after") == ["a", "b", "c"]

    run(main)


# ---- 53: always ----


def always(call: str, asked: list[str], *, approved: bool = True) -> Any:
    """An approver that says «always» for one call and yes, once, for every other."""

    async def approver(question):
        asked.append(question.call)
        await anyio.sleep(1)
        if question.call == call:
            return Answer(approved, reason=None if approved else "Never.", always=True)
        await anyio.sleep(100)
        return True

    return approver


def same(*args: dict[str, Any]) -> Turn:
    return Turn("turn-1", tuple(Call(i, "abcdef"[i], "read", a) for i, a in enumerate(args)))


def test_c053_always_allow_approves_an_identical_later_sibling(run):
    asked: list[str] = []
    engine = Engine(scripted().toolbox, policy=ASK, approver=always("a", asked))
    result = run(partial(engine.run, same({"name": "x"}, {"name": "x"}, {"name": "x"})))
    assert statuses(result) == ["ok"] * 3
    assert starts(result) == [1, 1, 1]


@pytest.mark.parametrize("other", [{"name": "y"}, {"name": "x", "seconds": 0}, {}])
def test_c053_always_allow_is_for_the_same_tool_and_arguments_only(run, other):
    asked: list[str] = []
    engine = Engine(scripted().toolbox, policy=ASK, approver=always("a", asked))
    result = run(partial(engine.run, same({"name": "x"}, other, {"name": "x"})))
    assert starts(result) == [1, 101, 1]


def test_c053_always_allow_of_one_tool_says_nothing_of_another(run):
    rules = {"version": 1, "rules": [{"tool": "*", "ask": "Sure?", "safe": True}]}
    asked: list[str] = []
    tools = scripted()
    tools.add("grep", safe=True)
    engine = Engine(tools.toolbox, policy=rules, approver=always("a", asked))
    calls = (Call(0, "a", "read", {"name": "x"}), Call(1, "b", "grep", {"name": "x"}))
    result = run(partial(engine.run, Turn("turn-1", calls)))
    assert starts(result) == [1, 101]


def test_c053_always_allow_of_a_later_call_frees_the_earlier_identical_one(run):
    asked: list[str] = []
    engine = Engine(scripted().toolbox, policy=ASK, approver=always("c", asked))
    result = run(partial(engine.run, same({"name": "x"}, {"name": "y"}, {"name": "x"})))
    assert starts(result) == [1, 101, 1]


def test_c053_a_call_that_becomes_identical_later_is_not_asked_for(run):
    asked: list[str] = []

    class Changes(Hooks):
        async def before_call(self, call, context):
            if call.name == "b":
                await anyio.sleep(3)
                return {"name": "x"}
            return None

    async def approver(question):
        asked.append(f"{question.call} {question.args['name']}")
        return Answer(approved=True, always=True)

    engine = Engine(scripted().toolbox, policy=ASK, approver=approver, hooks=Changes())
    result = run(partial(engine.run, same({"name": "x"}, {"name": "y"})))
    assert statuses(result) == ["ok", "ok"]
    assert asked == ["a x", "b y"]


def test_c053_always_declined_declines_identical_siblings(run):
    asked: list[str] = []
    engine = Engine(scripted().toolbox, policy=ASK, approver=always("a", asked, approved=False))
    result = run(partial(engine.run, same({"name": "x"}, {"name": "x"}, {"name": "z"})))
    assert statuses(result) == ["declined", "declined", "ok"]
    assert result.outcomes[1].error == "Declined by the approver: Never."


def test_c053_without_always_an_identical_sibling_is_asked_for_by_itself(run):
    asked: list[str] = []

    def approver(question):
        asked.append(question.call)
        return question.call == "a"

    engine = Engine(scripted().toolbox, policy=ASK, approver=approver)
    result = run(partial(engine.run, same({"name": "x"}, {"name": "x"})))
    assert (statuses(result), asked) == (["ok", "declined"], ["a", "b"])


def test_c053_always_holds_for_the_turn_and_no_longer(run):
    asked: list[str] = []

    def approver(question):
        asked.append(question.call)
        return Answer(approved=True, always=True)

    async def main():
        engine = Engine(scripted().toolbox, policy=ASK, approver=approver)
        await engine.run(same({"name": "x"}, {"name": "x"}))
        await engine.run(same({"name": "x"}))

    run(main)
    assert asked[-1] == "a"
    assert asked.count("a") == 2


def test_c053_always_given_to_a_paused_run_goes_for_identical_siblings(run):
    async def main():
        engine = Engine(scripted().toolbox, policy=ASK)
        paused = await engine.run(same({"name": "x"}, {"name": "y"}, {"name": "x"}))
        answers = {"a": Answer(approved=True, always=True), "b": False}
        result = await engine.resume(paused.checkpoint, answers)
        assert statuses(result) == ["ok", "declined", "ok"]

    run(main)


def test_c053_an_own_answer_to_a_paused_run_counts_before_always(run):
    async def main():
        engine = Engine(scripted().toolbox, policy=ASK)
        paused = await engine.run(same({"name": "x"}, {"name": "x"}, {"name": "x"}))
        answers = {"a": Answer(approved=True, always=True), "b": False}
        result = await engine.resume(paused.checkpoint, answers)
        assert statuses(result) == ["ok", "declined", "ok"]

    run(main)


# ---- 54: declined ----


def test_c054_a_declined_call_holds_nobody_back(run):
    tools = scripted()
    engine = Engine(tools.toolbox, policy=ASK, approver=lambda q: q.call != "b")
    recorder = EventRecorder()
    result = run_turn(run, engine, "read", "read", ("write", 1), "read", on_event=recorder)
    assert statuses(result) == ["ok", "declined", "ok", "ok"]
    assert tools.order == ["a", "c", "d"]
    answered = [
        (e.call, e.data["approved"]) for e in recorder.events if e.kind == "question_answered"
    ]
    assert sorted(answered) == [("a", True), ("b", False), ("d", True)]


def test_c054_with_on_error_stop_a_declined_call_stops_later_ones(run):
    rules = {
        "version": 1,
        "rules": [
            {"tool": "read", "when": "{{ args.name == 'b' }}", "ask": "Sure?", "on_error": "stop"},
            {"tool": "read", "safe": True},
        ],
    }
    engine = Engine(scripted().toolbox, policy=rules, approver=lambda q: False, pool=1)
    result = run_turn(run, engine, ("read", 1), "read", "read", "write")
    assert statuses(result) == ["ok", "declined", "skipped", "skipped"]
    assert "'b'" in result.outcomes[2].error


@pytest.mark.parametrize("answer", [None, "yes", 1, 0, "", [True]])
def test_c054_an_answer_that_is_neither_yes_nor_no_approves_nothing(run, answer):
    tools = scripted()
    engine = Engine(tools.toolbox, policy=ASK, approver=lambda q: answer)
    result = run_turn(run, engine, "read", ("edit", 1, "k"))
    assert statuses(result) == ["declined", "ok"]
    assert tools.order == ["b"]


def test_c054_an_approver_that_raises_approves_nothing(run):
    async def approver(question):
        await anyio.sleep(1)
        raise ValueError("terminal closed")

    engine = Engine(scripted().toolbox, policy=ASK, approver=approver)
    result = run_turn(run, engine, "read", ("edit", 1, "k"))
    assert statuses(result) == ["declined", "ok"]
    assert "terminal closed" in result.outcomes[0].error


# ---- 55: an open question holds nothing ----


def slow_yes(seconds: float, asked: list[tuple[str, float]] | None = None) -> Any:
    async def approver(question):
        if asked is not None:
            asked.append((question.call, anyio.current_time()))
        await anyio.sleep(seconds)
        return True

    return approver


def test_c055_an_open_question_holds_no_permit(run):
    engine = Engine(scripted().toolbox, policy=ASK, approver=slow_yes(10), pool=1)
    result = run_turn(run, engine, "read", ("edit", 2, "k"), ("edit", 2, "m"), "read")
    assert starts(result) == [10, 0, 2, 10]


@pytest.mark.parametrize("pool", [1, 2, 10])
def test_c055_any_number_of_open_questions_hold_no_permit(run, pool):
    engine = Engine(scripted().toolbox, policy=ASK, approver=slow_yes(10), pool=pool)
    calls = ["read"] * 12 + [("edit", 1, "k")]
    result = run_turn(run, engine, *calls)
    assert starts(result)[12] == 0
    assert set(starts(result)[:12]) == {10}


def test_c055_an_open_question_holds_no_key_that_another_run_wants(run):
    rules = {
        "version": 1,
        "rules": [{"tool": "edit", "when": "{{ args.name == 'a' }}", "ask": "Sure?"}],
    }

    async def main():
        store = MemoryStore()
        engine = Engine(scripted().toolbox, policy=rules, approver=slow_yes(10), locks=store)
        results = {}

        async def one(ids: str) -> None:
            results[ids] = await engine.run(turn(("edit", 1, "k"), ids=ids))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "a")
            await anyio.sleep(2)
            assert store.statistics().keys == {}
            tasks.start_soon(one, "b")
        assert spans(results["a"]) == [(10, 11)]
        assert spans(results["b"]) == [(0, 1)]

    run(main)


def test_c055_an_open_question_holds_no_resource(run):
    rules = {
        "version": 1,
        "limits": {"resources": {"gpu": 1}},
        "rules": [
            {"tool": "read", "ask": "Sure?", "safe": True, "uses": {"gpu": 1}},
            {"tool": "edit", "safe": True, "uses": {"gpu": 1}},
        ],
    }
    engine = Engine(scripted().toolbox, policy=rules, approver=slow_yes(10), locks=MemoryStore())
    result = run_turn(run, engine, "read", ("edit", 2, "k"))
    assert starts(result) == [10, 0]


def test_c055_only_what_the_plan_puts_behind_the_call_waits(run):
    rules = {
        "version": 1,
        "rules": [{"tool": "edit", "when": "{{ args.name == 'a' }}", "ask": "Sure?"}],
    }
    rules["rules"][0]["safe"] = True
    engine = Engine(scripted().toolbox, policy=rules, approver=slow_yes(10))
    calls = [
        ("edit", 1, "k"),
        ("edit", 1, "k"),
        ("edit", 1, "m"),
        ("read", 1),
        ("write", 1),
        "read",
    ]
    result = run_turn(run, engine, *calls)
    # b has a's key and waits; c and d do not; e is a barrier behind all of them.
    assert starts(result) == [10, 11, 0, 0, 12, 13]


def test_c055_the_open_question_of_a_barrier_holds_what_is_behind_it(run):
    rules = {"version": 1, "rules": [{"tool": "write", "ask": "Sure?"}]}
    engine = Engine(scripted().toolbox, policy=rules, approver=slow_yes(10))
    result = run_turn(run, engine, ("read", 2), ("write", 1), ("read", 1))
    assert starts(result) == [0, 10, 11]


def test_c055_a_barrier_that_is_declined_before_its_turn_holds_nobody(run):
    async def declines(question):
        await anyio.sleep(1)
        return False

    rules = {"version": 1, "rules": [{"tool": "write", "ask": "Sure?"}]}
    engine = Engine(scripted().toolbox, policy=rules, approver=declines)
    result = run_turn(run, engine, ("read", 5), ("write", 1), ("read", 1))
    assert statuses(result) == ["ok", "declined", "ok"]
    assert starts(result) == [0, None, 1]


def test_c055_all_questions_are_put_at_once_and_in_call_order(run):
    async def main():
        asked: list[tuple[str, float]] = []
        begun = anyio.current_time()
        engine = Engine(scripted().toolbox, policy=ASK, approver=slow_yes(3, asked))
        calls = ["read", ("write", 5), "read", ("edit", 1, "k"), "read", "read"]
        result = await engine.run(turn(*calls))
        assert asked == [(name, begun) for name in "acef"]
        # By the time the barrier is over, everything behind it has been answered.
        assert starts(result) == [3, 3, 8, 8, 8, 8]

    run(main)


def test_c055_before_hooks_do_not_wait_for_the_answer(run):
    hooks = Watch()
    engine = Engine(scripted().toolbox, policy=ASK, approver=slow_yes(10), hooks=hooks, pool=2)
    result = run_turn(run, engine, "read", ("edit", 1, "k"), ("edit", 1, "m"))
    assert starts(result) == [10, 0, 0]


def test_c055_a_question_that_a_hook_made_needless_holds_nobody(run):
    rules = {
        "version": 1,
        "rules": [
            {"tool": "read", "when": "{{ args.returns == 'fine' }}", "safe": True},
            {"tool": "read", "ask": "Sure?", "safe": True},
        ],
    }

    async def approver(question):
        await anyio.sleep(1000)
        return False

    hooks = Watch(seconds=1, before_a={"returns": "fine"})
    engine = Engine(scripted().toolbox, policy=rules, approver=approver, hooks=hooks)
    result = run_turn(run, engine, "read", ("edit", 1, "k"))
    assert statuses(result) == ["ok", "ok"]
    assert starts(result) == [1, 2]


@pytest.mark.parametrize("seconds", [0.1, 5])
def test_c055_an_answer_to_a_question_that_the_tools_made_needless_changes_nothing(run, seconds):
    rules = {
        "version": 1,
        "rules": [
            {"tool": "copy", "when": "{{ server == 'far' }}", "ask": "Sure?", "safe": True},
            {"tool": "*", "safe": True},
        ],
    }
    tools, cancelled = scripted(), []
    tools.add("copy", server="far")

    async def approver(question):
        try:
            await anyio.sleep(3)
        except BaseException:
            cancelled.append(question.call)
            raise
        return False

    def sink(event):
        if (event.kind, event.call) == ("call_settled", "b"):
            tools.toolbox.remove("copy")
            tools.add("copy")

    engine = Engine(tools.toolbox, policy=rules, approver=approver)
    calls = [("copy", seconds), ("read", 1), ("read", 8)]
    result = run_turn(run, engine, *calls, on_event=sink)
    assert (starts(result), statuses(result)) == ([1, 0, 0], ["ok"] * 3)
    assert cancelled == ["a"]


def test_c055_a_question_is_put_again_where_a_hook_changed_the_arguments(run):
    asked: list[tuple[str, Any]] = []

    def approver(question):
        asked.append((question.call, question.args.get("returns")))
        return question.args.get("returns") is None

    hooks = Watch(seconds=1, before_a={"name": "a", "returns": "other"})
    engine = Engine(scripted().toolbox, policy=ASK, approver=approver, hooks=hooks)
    result = run_turn(run, engine, "read", "read")
    assert asked == [("a", None), ("b", None), ("a", "other")]
    assert statuses(result) == ["declined", "ok"]


def test_c055_a_call_that_its_hook_denied_asks_nobody_any_more(run):
    cancelled: list[str] = []

    async def approver(question):
        try:
            await anyio.sleep(1000)
        except BaseException:
            cancelled.append(f"{question.call} at {anyio.current_time() - begun[0]:g}")
            raise
        return True

    begun: list[float] = []

    async def main():
        begun.append(anyio.current_time())
        hooks = Watch(seconds=1, before_a=Deny("No."))
        engine = Engine(scripted().toolbox, policy=ASK, approver=approver, hooks=hooks)
        result = await engine.run(turn("read", ("edit", 5, "k")))
        assert statuses(result) == ["denied", "ok"]

    run(main)
    assert cancelled == ["a at 1"]


def test_c055_body_time_does_not_count_the_wait_for_the_answer(run):
    rules = {"version": 1, "rules": [{"tool": "read", "ask": "Sure?", "timeout": 5}]}
    engine = Engine(scripted().toolbox, policy=rules, approver=slow_yes(60))
    assert statuses(run_turn(run, engine, ("read", 4))) == ["ok"]


# ---- 56: faulty ids ----


@pytest.mark.parametrize("ids", [("", "b"), ("x", "x"), ("", "")])
def test_c056_calls_with_faulty_ids_reach_neither_policy_nor_hooks_nor_tool(run, ids):
    hooks, tools = Watch(), scripted()
    looked: list[str] = []

    def safe(name: str) -> bool:
        looked.append(name)
        return True

    @tools.toolbox.tool(name="look", safe=safe, writes=lambda name: looked.append(name) or [])
    async def look(name: str) -> None: ...

    calls = (Call(0, ids[0], "look", {"name": "1"}), Call(1, ids[1], "look", {"name": "2"}))
    engine = Engine(tools.toolbox, hooks=hooks, policy=None)
    result = run(partial(engine.run, Turn("turn-1", (*calls, Call(2, "c", "read")))))
    bad = [index for index, i in enumerate(ids) if i == "" or ids.count(i) > 1]
    assert [i for i, s in enumerate(statuses(result)) if s == "invalid_id"] == bad
    good = [call.name for call in result.plan.calls if call.index not in bad]
    assert hooks.names("before") == hooks.names("after") == good
    assert {int(name) - 1 for name in looked} == {0, 1} - set(bad)


def test_c056_a_policy_that_would_deny_a_call_with_a_faulty_id_does_not_see_it(run):
    rules = {"version": 1, "rules": [{"tool": "read", "deny": "Never."}]}
    calls = (Call(0, "x", "read"), Call(1, "x", "read"), Call(2, "y", "read"))
    result = run(partial(Engine(scripted().toolbox, policy=rules).run, Turn("turn-1", calls)))
    assert statuses(result) == ["invalid_id", "invalid_id", "denied"]


# ---- 57: extra context ----


class Extra(Hooks):
    async def before_call(self, call, context):
        if call.name == "c":
            context.add_context("c before")
            return Deny("No.")
        if call.name == "d":
            context.add_context("d before")
            raise ValueError("broken")
        return None

    async def around_call(self, call, context, proceed):
        value = await proceed()
        context.add_context(f"{call.name} around")
        return value

    async def after_call(self, call, outcome, context):
        context.add_context(f"{call.name} after")


WANTED = ["a around", "a after", "b around", "b after", "c before", "c after", "d before"]


def test_c057_extra_context_is_appended_after_all_results_in_call_order(run):
    engine = Engine(scripted().toolbox, hooks=Extra())
    result = run_turn(run, engine, ("read", 5), ("read", 1), "read", "read")
    assert result.report.extra == tuple(WANTED)
    answers = result.results[0]
    assert [item["id"] for item in answers["results"]] == list("abcd")


def test_c057_in_the_providers_form_the_texts_stand_behind_the_results(run):
    content = [
        {"type": "tool_use", "id": name, "name": "read", "input": {"seconds": seconds}}
        for name, seconds in zip("abcd", (5, 1, 0, 0), strict=True)
    ]
    engine = Engine(scripted().toolbox, hooks=Extra())
    result = run(partial(engine.run, {"role": "assistant", "content": content}))
    (answer,) = result.results
    kinds = [block["type"] for block in answer["content"]]
    assert kinds == ["tool_result"] * 4 + ["text"] * len(kinds[4:])
    texts = "\n".join(block["text"] for block in answer["content"][4:])
    assert [texts.index(text) for text in WANTED] == sorted(texts.index(text) for text in WANTED)


def test_c057_extra_context_of_a_paused_run_is_kept(run):
    async def main():
        engine = Engine(scripted().toolbox, hooks=Extra(), policy=ASK)
        paused = await engine.run(turn(("edit", 1, "k"), "read"))
        result = await engine.resume(paused.checkpoint, {"b": True})
        assert "a around" in str(result.results)
        assert str(result.results).index("a after") < str(result.results).index("b around")

    run(main)


# ---- 58, 59: blocked calls ----


def test_c058_blocked_calls_are_not_executed_and_stand_in_their_places(run):
    tools = scripted()
    hooks = Watch(before_a=Deny("No a."), before_c=Deny("No c."))
    recorder = EventRecorder()
    engine = Engine(tools.toolbox, hooks=hooks)
    result = run_turn(run, engine, "read", "read", "write", "read", on_event=recorder)
    assert tools.order == ["b", "d"]
    assert [call for _, call in recorder.kinds("call_started")] == ["b", "d"]
    items = result.results[0]["results"]
    assert [(item["id"], item["status"]) for item in items] == [
        ("a", "denied"),
        ("b", "ok"),
        ("c", "denied"),
        ("d", "ok"),
    ]


def test_c059_with_all_calls_blocked_nothing_is_executed(run):
    tools, recorder = scripted(), EventRecorder()
    hooks = Watch(**{f"before_{name}": Deny("No.") for name in "abcd"})
    engine = Engine(tools.toolbox, hooks=hooks)
    calls = ["read", "write", ("edit", 1, "k"), "read"]
    result = run_turn(run, engine, *calls, on_event=recorder)
    assert result.status == "done"
    assert statuses(result) == ["denied"] * 4
    assert tools.log == []
    assert recorder.kinds("call_started", "call_queued", "call_stopped") == []
    assert [call for _, call in recorder.kinds("call_settled")] == list("abcd")
    assert hooks.names("after") == list("abcd")


def test_c059_with_all_calls_denied_by_the_policy_no_hook_runs(run):
    rules = {"version": 1, "rules": [{"tool": "*", "deny": "Never."}]}
    hooks = Watch()
    engine = Engine(scripted().toolbox, hooks=hooks, policy=rules)
    result = run_turn(run, engine, "read", "write")
    assert (statuses(result), hooks.seen) == (["denied", "denied"], [])
