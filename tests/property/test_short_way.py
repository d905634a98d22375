"""The short way of plain calls decides exactly what the long way decides."""

from __future__ import annotations

import random
from typing import Any, Literal

import pytest

from toolflow.compiler import Plan, compile_plan
from toolflow.model import Call, Turn
from toolflow.model.batch import Batch, CallPlan, Limits, Terms, Verdict
from toolflow.scheduler import Scheduler
from toolflow.scheduler.decisions import ACQUIRING, RUNNING

PLAIN, KEYED = ("plain",) * 3, ("keyed", "reader", "reader")
KINDS = (*PLAIN, *KEYED, "exclusive", "ask", "stop", "scarce", "settled")


class LongWay(Scheduler):
    """A scheduler without the short way."""

    def _pass_on(self, index: int) -> bool:
        return False


def call_of(index: int, kind: str, on_error: str) -> CallPlan:
    """A call of a kind."""
    verdict = {"exclusive": "exclusive", "settled": "settled"}.get(kind, "safe")
    status = "denied" if kind == "settled" else None
    name = f"c{index}"
    terms = Terms(
        uses={"r": 1} if kind == "scarce" else {},
        stop="after" if kind == "stop" else None,
        on_error=on_error,  # type: ignore[arg-type]  # one of the two
    )
    reads = ("k",) if kind == "reader" else ()
    writes = ("k",) if kind == "keyed" else ()
    return CallPlan(
        index,
        name,
        name,
        "tool",
        {},
        Verdict(verdict, "it says so", status=status),  # type: ignore[arg-type]  # one of the three
        reads,
        writes,
        terms,
        "Sure?" if kind == "ask" else None,
    )


def turn_of(chance: random.Random) -> tuple[Plan, dict[str, Any]]:
    """A plan, and how its scheduler is set up."""
    few = (*PLAIN, *KEYED, *chance.choices(KINDS))  # what most turns are made of
    kinds = chance.choices(chance.choice((few, KINDS)), k=chance.randint(1, 14))
    errors = chance.choices(("continue", "continue", "stop"), k=len(kinds))
    calls = tuple(map(call_of, range(len(kinds)), kinds, errors))
    turn = Turn("turn-1", tuple(Call(call.index, call.id, call.tool) for call in calls))
    limits = Limits(chance.randint(1, 3), {"r": 1})
    approvals: Literal["inline", "first"] = chance.choice(("inline", "inline", "first"))
    pausable = chance.random() < 0.6
    places = range(len(calls))
    setup = {
        "approver": chance.random() < 0.6,
        "pausable": pausable,
        "stops": chance.sample(places, k=chance.randint(0, 1)),
        "asking": chance.sample(places, k=int(pausable and chance.random() < 0.1)),
    }
    if not setup["asking"] and chance.random() < 0.5:
        barriers = [place for place in places if kinds[place] == "exclusive"]
        setup["settled"] = dict.fromkeys([*barriers, chance.choice(places)], True)
    return compile_plan(Batch(turn, calls, limits, approvals)), setup


def facts_now(scheduler: Scheduler, cancelled: set[int]) -> dict[tuple[str, int, bool], float]:
    """What may be told next, and how likely it is; calls whose wait was cancelled give up."""
    facts: dict[tuple[str, int, bool], float] = {
        ("halt", -1, False): 0.1,
        ("abort", -1, False): 0.1,
    }
    for index, phase in enumerate(scheduler.phase):
        if phase == ACQUIRING:
            facts["gave_up" if index in cancelled else "started", index, False] = 2
        elif phase == RUNNING:
            facts["stopped", index, False] = 2
            facts["stopped", index, True] = facts["reported", index, True] = 0.05
        elif index in scheduler.open_questions:
            facts["answered", index, True] = facts["answered", index, False] = 1
    for index in scheduler.lingering:
        facts["stopped", index, True] = 1
    return facts


def tell(scheduler: Scheduler, kind: str, index: int, flag: bool) -> None:
    """Tell a fact."""
    method = getattr(scheduler, kind)
    if index < 0:
        method()
    elif kind in {"started", "gave_up"}:
        method(index)
    else:
        method(index, **{"approved" if kind == "answered" else "failed": flag})


@pytest.mark.parametrize("seed", range(8))
def test_the_short_way_decides_as_the_long_way(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(400):
        plan, setup = turn_of(chance)
        short, long = Scheduler(plan, **setup), LongWay(plan, **setup)
        short.begin()
        long.begin()
        cancelled: set[int] = set()
        while not short.ended:
            decisions = short.take()
            assert long.take() == decisions
            cancelled |= {each.call for each in decisions if each.kind == "cancel"}
            facts = facts_now(short, cancelled)
            (fact,) = chance.choices(list(facts), weights=list(facts.values()))
            tell(short, *fact)
            tell(long, *fact)
            assert short.phase == long.phase
            assert (short.stop_point, short.ended) == (long.stop_point, long.ended)
            assert short.prepared_calls == long.prepared_calls
        assert short.take() == long.take()
        assert long.ended


def test_a_barrier_that_ended_before_does_not_let_later_calls_pass_earlier_ones() -> None:
    kinds = ("plain", "keyed", "exclusive", "plain", "reader")
    calls = tuple(call_of(index, kind, "continue") for index, kind in enumerate(kinds))
    turn = Turn("turn-1", tuple(Call(call.index, call.id, call.tool) for call in calls))
    plan = compile_plan(Batch(turn, calls, Limits(2)))
    scheduler = Scheduler(plan, settled={2: True})
    scheduler.begin()
    for index in (0, 1):
        scheduler.started(index)
    scheduler.stopped(0, failed=False)
    scheduler.started(3)
    scheduler.take()
    scheduler.stopped(3, failed=False)
    assert scheduler.take() == []  # call 4 reads what call 1 still writes
    scheduler.stopped(1, failed=False)
    assert [(each.kind, each.call) for each in scheduler.take()] == [("start", 4)]
