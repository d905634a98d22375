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


def test_they_end_before_a_call_that_settled_before_the_run_was_resumed() -> None:
    scheduler = scheduler_of(*["safe"] * 6, settled={4: True})
    assert started(scheduler) == [0, 1]
    assert [*scheduler.following(9)] == [2, 3]


@pytest.mark.parametrize("pool", [1, 2])
def test_behind_an_exclusive_call_more_than_a_permit_is_missing(pool: int) -> None:
    scheduler = scheduler_of("exclusive", *["safe"] * 4, pool=pool)
    assert started(scheduler) == [0]
    assert [*scheduler.following(9)] == []
    scheduler.stopped(0, failed=False)
    assert len(started(scheduler)) == pool
    assert [*scheduler.following(9)] == [*range(pool + 1, 5)]


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
            assert now == promised[:1]  # each success gives its permit on
            promised = promised[1:]
            running += now
        if running:
            scheduler.stopped(running.pop(), failed=chance.random() < 0.2)
            running += started(scheduler)
