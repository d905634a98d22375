"""A plain call that succeeds hands its permit straight on, unless anything stands in the way."""

from __future__ import annotations

import pytest
from small_turns import KINDS, call, plan_of

from toolflow.scheduler import Decision, Scheduler


def begun(*kinds: str, pool: int = 2, **options: object) -> Scheduler:
    plan = plan_of([call(i, KINDS[kind]) for i, kind in enumerate(kinds)], pool=pool)
    scheduler = Scheduler(plan, **options)  # type: ignore[arg-type]
    scheduler.begin()
    for decision in scheduler.take():
        if decision.kind == "start":
            scheduler.started(decision.call)
    return scheduler


def ends(scheduler: Scheduler, index: int, *, failed: bool = False) -> list[Decision]:
    scheduler.stopped(index, failed=failed)
    return scheduler.take()


def test_the_next_call_gets_the_permit_until_there_is_none() -> None:
    scheduler = begun("safe", "safe", "safe")
    assert ends(scheduler, 1) == [Decision("start", 2)]
    scheduler.started(2)
    assert ends(scheduler, 2) == []
    assert ends(scheduler, 0) == [Decision("finish")]


def test_nothing_is_handed_on_behind_a_stop_point_after_a_call() -> None:
    scheduler = begun("safe", "stop_after", "safe", pausable=True)
    assert ends(scheduler, 0) == []
    assert ends(scheduler, 1) == [Decision("pause")]


def test_nothing_is_handed_on_when_that_stop_point_is_reached() -> None:
    scheduler = begun("safe", "stop_after", "safe", pausable=True)
    assert ends(scheduler, 1) == []
    assert ends(scheduler, 0) == [Decision("pause")]


def test_keys_count_across_a_barrier_that_was_declined() -> None:
    kinds = ("safe", "write_k", "ask_exclusive", "write_j", "write_k")
    scheduler = begun(*kinds, pool=3, settled={2: True}, failed=[2])
    assert ends(scheduler, 0) == []
    assert ends(scheduler, 1) == [Decision("start", 4)]


def test_calls_that_wait_for_a_permit_only_come_first() -> None:
    scheduler = begun("write_k", "read_k", "read_k", "safe", "safe")
    assert ends(scheduler, 0) == [Decision("start", 1)]
    assert ends(scheduler, 3) == [Decision("start", 2)]


def test_calls_that_wait_for_the_one_that_ends_come_first() -> None:
    scheduler = begun("write_k", "write_k", "safe", "safe")
    assert ends(scheduler, 0) == [Decision("start", 1)]


def test_a_call_that_is_done_already_is_passed() -> None:
    scheduler = begun("safe", "safe", "safe", pool=1, settled={1: True})
    assert ends(scheduler, 0) == [Decision("start", 2)]


def test_a_barrier_gets_no_permit_before_its_turn() -> None:
    scheduler = begun("safe", "safe", "exclusive")
    assert ends(scheduler, 0) == []
    assert ends(scheduler, 1) == [Decision("start", 2)]


def test_the_end_of_a_call_that_uses_a_resource_gives_it_back() -> None:
    scheduler = begun("uses_two", "uses_two", "safe", "safe")
    assert ends(scheduler, 0) == [Decision("start", 1)]


def test_a_failure_that_stops_the_turn_hands_nothing_on() -> None:
    scheduler = begun("error_stop", "safe", pool=1)
    assert ends(scheduler, 0, failed=True) == [
        Decision("settle", 1, "skipped", 0),
        Decision("finish"),
    ]


@pytest.mark.parametrize("what", ["halt", "abort", "fail"])
def test_nothing_is_handed_on_when_the_run_stops(what: str) -> None:
    scheduler = begun("safe", "safe", pool=1, pausable=True)
    getattr(scheduler, what)()
    scheduler.take()
    assert Decision("start", 1) not in ends(scheduler, 0)


def test_the_late_end_of_a_reported_body_hands_nothing_on_twice() -> None:
    scheduler = begun("timeout", "safe", "safe", pool=1)
    scheduler.reported(0)
    assert ends(scheduler, 0) == [Decision("start", 1)]
    assert scheduler.lingering == ()
