"""Faults that real users met, as far as a run is concerned whose process died."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from acting import statuses
from recorded_runs import message_of

from toolflow import Context, Engine, Outcome, Plan, Toolbox
from toolflow.recording import CrashRepair, after_crash

Runner = Callable[..., Any]
POLICY = {"version": 1, "rules": [{"tool": "look", "safe": True}]}


class Looks:
    """A tool that keeps which calls ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        tools = Toolbox()

        @tools.tool(name="look")
        async def look(path: str, ctx: Context) -> str:
            self.ran.append(ctx.name)
            return f"content of {path}"

        self.engine = Engine(tools, policy=POLICY, cwd="/repo")

    def plan(self, *paths: str) -> Plan:
        return self.engine.plan(message_of([("look", path) for path in paths]))


def results(repair: CrashRepair) -> list[tuple[str, str]]:
    _, user = repair.messages()
    return [(block["tool_use_id"], block["content"]) for block in user["content"]]


def test_b001_a_turn_whose_process_was_stopped_half_way_has_a_result_for_every_call() -> None:
    plan = Looks().plan("notes.md", "todo.md")
    kept = Outcome("ok", "buy milk")
    repair = after_crash(plan, started=["toolu_01", "toolu_02"], outcomes={"toolu_01": kept})
    assert repair.outcomes[0] == kept
    (first, second) = results(repair)
    assert first == ("toolu_01", "buy milk")
    assert second[0] == "toolu_02"
    assert second[1].startswith("It started, and nobody knows how it ended")
    loaded = dict(zip(["toolu_01", "toolu_02"], repair.outcomes, strict=True))
    again = after_crash(plan, started=["toolu_01", "toolu_02"], outcomes=loaded)
    assert again.messages() == repair.messages()


def test_b005_one_call_that_hung_loses_nothing_of_its_finished_siblings() -> None:
    plan = Looks().plan("q1", "q2", "q3")
    names = ["toolu_01", "toolu_02", "toolu_03"]
    done = {name: Outcome("ok", f"content {name}") for name in names[:2]}
    repair = after_crash(plan, started=names, outcomes=done)
    assert [o.status for o in repair.outcomes] == ["ok", "ok", "outcome_unknown"]
    assert results(repair)[:2] == [(name, f"content {name}") for name in names[:2]]
    assert [question.call for question in repair.checkpoint.questions] == names[2:]


def test_b101_an_answered_sibling_does_not_count_for_a_call_that_never_ran(run: Runner) -> None:
    looks = Looks()
    repair = after_crash(
        looks.plan("c1", "c2"), started=["toolu_01"], outcomes={"toolu_01": Outcome("ok", 1)}
    )
    assert run(partial(looks.engine.resume, repair.checkpoint)).ok
    assert looks.ran == ["toolu_02"]


def test_b103_a_log_in_the_order_of_ending_is_matched_by_the_name_of_calls(run: Runner) -> None:
    looks = Looks()
    ended = [f"toolu_0{number}" for number in (5, 2, 7)]
    repair = after_crash(
        looks.plan(*"1234567"),
        started=ended,
        outcomes={name: Outcome("ok", name) for name in ended},
    )
    result = run(partial(looks.engine.resume, repair.checkpoint))
    assert looks.ran == [f"toolu_0{number}" for number in (1, 3, 4, 6)]
    assert [result.outcome(name).value for name in ended] == ended


def test_b107_a_call_that_an_interrupt_made_void_stays_void_however_often_it_is_opened(
    run: Runner,
) -> None:
    looks = Looks()
    plan = looks.plan("a", "b", "c")
    known = {
        "toolu_01": Outcome("ok", 1),
        "toolu_02": Outcome("aborted", error="Interrupted by the user."),
        "toolu_03": Outcome("not_started", error="Aborted before dispatch (by the user)."),
    }
    for _ in range(3):
        repair = after_crash(plan, started=["toolu_01", "toolu_02"], outcomes=known)
        result = run(partial(looks.engine.resume, repair.checkpoint))
        assert statuses(result) == ["ok", "aborted", "not_started"]
        assert result.messages == repair.messages()
        known = {name: result.outcome(name) for name in known}
    assert looks.ran == []
