"""What the scheduler says of the calls that follow each other if nothing but successes happens."""

from __future__ import annotations

import random

import pytest
from small_turns import KINDS, call, plan_of

from toolflow.scheduler import Scheduler


def scheduler_of(*kinds: str, pool: int = 2, **options: object) -> Scheduler:
    plan = plan_of([call(i, KINDS[kind]) for i, kind in enumerate(kinds)], pool=pool)
    scheduler = Scheduler(plan, **options)  # type: ignore[arg-type]
    scheduler.begin()
    return scheduler


def started(scheduler: Scheduler) -> list[int]:
    calls = [decision.call for decision in scheduler.take() if decision.kind == "start"]
    for index in calls:
        scheduler.started(index)
    return calls


def test_they_are_the_next_calls_without_a_permit() -> None:
    scheduler = scheduler_of(*["safe"] * 6)
    assert started(scheduler) == [0, 1]
    assert [*scheduler.following(3)] == [2, 3, 4]
    assert [*scheduler.following(9)] == [2, 3, 4, 5]
    assert [*scheduler.following(0)] == []


def test_they_end_before_a_call_that_needs_more_than_a_permit() -> None:
    scheduler = scheduler_of("safe", "safe", "safe", "exclusive", "safe")
    started(scheduler)
    assert [*scheduler.following(9)] == [2]


@pytest.mark.parametrize("trouble", ["abort", "halt"])
def test_there_are_none_when_nothing_starts_any_more(trouble: str) -> None:
    scheduler = scheduler_of(*["safe"] * 6, pausable=True)
    started(scheduler)
    getattr(scheduler, trouble)()
    assert [*scheduler.following(9)] == []


@pytest.mark.parametrize("seed", range(200))
def test_as_long_as_calls_succeed_they_start_in_just_that_order(seed: int) -> None:
    chance = random.Random(seed)
    plain = ["safe"] * chance.randint(3, 30)
    kinds = [*plain, *chance.choices([*KINDS], k=chance.randint(0, 6))]
    if chance.random() < 0.5:
        chance.shuffle(kinds)
    scheduler = scheduler_of(*kinds, pool=chance.randint(1, 4), approver=True)
    running = started(scheduler)
    while running:
        promised = [*scheduler.following(chance.randint(0, 40))]
        while promised and running:
            scheduler.stopped(running.pop(chance.randrange(len(running))), failed=False)
            now = started(scheduler)
            assert now[: len(promised)] == promised[: len(now)]
            assert now  # each success gives its permit on
            promised = promised[len(now) :]
            running += now
        if running:
            scheduler.stopped(running.pop(), failed=chance.random() < 0.2)
            running += started(scheduler)
