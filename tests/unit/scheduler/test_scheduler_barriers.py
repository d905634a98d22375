"""Barriers: nothing runs beside an exclusive call, whatever became of it."""

from __future__ import annotations

from small_turns import KINDS, call, plan_of

from toolflow.scheduler import Decision, Scheduler


def begun(*kinds: str, pool: int = 4, **options: object) -> Scheduler:
    plan = plan_of([call(i, KINDS[kind]) for i, kind in enumerate(kinds)], pool=pool)
    scheduler = Scheduler(plan, **options)  # type: ignore[arg-type]
    scheduler.begin()
    return scheduler


def test_nothing_starts_beside_an_exclusive_body_that_was_only_reported() -> None:
    scheduler = begun("timeout_exclusive", "safe")
    scheduler.started(0)
    scheduler.reported(0)
    assert scheduler.take() == [Decision("start", 0)]
    scheduler.stopped(0, failed=True)
    assert scheduler.take() == [Decision("start", 1)]


def test_an_exclusive_body_that_never_stops_fails_what_comes_after_it() -> None:
    scheduler = begun("timeout_exclusive", "safe", "exclusive", hooks=True)
    scheduler.prepared(0)
    scheduler.started(0)
    scheduler.reported(0)
    scheduler.after_done(0)
    scheduler.take()
    scheduler.grace_over(0)
    assert scheduler.take() == [
        Decision("settle", 1, "held", 0),
        Decision("settle", 2, "held", 0),
        Decision("finish"),
    ]


def test_a_denied_barrier_holds_nobody_back_while_its_after_hook_runs() -> None:
    scheduler = begun("exclusive", "safe", hooks=True)
    scheduler.prepared(0)
    scheduler.refused(0)
    assert Decision("prepare", 1) in scheduler.take()


def test_a_call_that_becomes_exclusive_while_it_waits_for_keys_holds_later_ones_at_once() -> None:
    scheduler = begun("write_k", "ask", approver=True)
    scheduler.changed(0, call(0, KINDS["exclusive_k"]))
    scheduler.answered(1, approved=True)
    assert Decision("start", 1) not in scheduler.take()
    scheduler.gave_up(0)
    assert scheduler.take() == [Decision("start", 0)]


def test_an_exclusive_call_stays_exclusive_whatever_it_becomes() -> None:
    scheduler = begun("safe", "exclusive")
    scheduler.changed(1, call(1, KINDS["safe"]))
    assert scheduler.take() == [Decision("start", 0)]
    scheduler.started(0)
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == [Decision("start", 1)]


def test_a_new_barrier_calls_back_later_calls_that_wait_for_their_keys() -> None:
    scheduler = begun("write_j", "write_k")
    scheduler.take()
    scheduler.changed(0, call(0, KINDS["exclusive"]))
    assert set(scheduler.take()) == {Decision("cancel", 0), Decision("cancel", 1)}
    scheduler.gave_up(0)
    scheduler.gave_up(1)
    assert scheduler.take() == [Decision("start", 0)]
