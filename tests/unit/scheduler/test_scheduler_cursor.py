"""The cursor comes back: calls that gave up their place stand before others that are prepared."""

from __future__ import annotations

from dataclasses import replace

from small_turns import KINDS, call, plan_of

from toolflow.model.batch import Terms
from toolflow.scheduler import Decision, Scheduler


def begun(*kinds: str, pool: int = 4, **options: object) -> Scheduler:
    plan = plan_of([call(i, KINDS[kind]) for i, kind in enumerate(kinds)], pool=pool)
    scheduler = Scheduler(plan, **options)  # type: ignore[arg-type]
    scheduler.begin()
    return scheduler


def starts(scheduler: Scheduler) -> list[int]:
    return [d.call for d in scheduler.take() if d.kind == "start"]


def change(scheduler: Scheduler, index: int, kind: str) -> None:
    """A new tool set changes a call that waits for its keys; so it gives up its place."""
    scheduler.changed(index, call(index, KINDS[kind]))
    scheduler.gave_up(index)


def test_a_call_before_a_late_barrier_starts_once_its_stop_point_is_gone() -> None:
    scheduler = begun("safe", "safe", pausable=True)
    change(scheduler, 0, "ask")
    scheduler.changed(1, call(1, KINDS["exclusive"]))
    scheduler.take()
    scheduler.changed(0, call(0, KINDS["safe"]))
    scheduler.gave_up(1)
    assert scheduler.take() == [Decision("start", 0)]
    scheduler.started(0)
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == [Decision("start", 1)]


def test_a_late_barrier_starts_itself_once_its_stop_point_is_gone() -> None:
    scheduler = begun("safe", "safe", "safe", pausable=True)
    scheduler.started(2)
    scheduler.changed(0, call(0, KINDS["ask_exclusive"]))
    scheduler.gave_up(0)
    scheduler.gave_up(1)
    scheduler.take()
    scheduler.changed(0, call(0, KINDS["exclusive"]))
    assert scheduler.take() == []
    scheduler.stopped(2, failed=False)
    assert scheduler.take() == [Decision("start", 0)]


def test_a_call_that_becomes_a_barrier_at_its_stop_point_is_not_overtaken() -> None:
    scheduler = begun("safe", "safe", "safe", hooks=True, pausable=True)
    scheduler.prepared(0)
    scheduler.prepared(1)
    change(scheduler, 0, "ask")
    scheduler.take()
    scheduler.changed(0, call(0, KINDS["exclusive"]))
    scheduler.prepared(2)
    assert Decision("start", 2) not in scheduler.take()
    scheduler.gave_up(1)
    assert starts(scheduler) == [0]


def test_of_two_stop_points_the_earlier_one_counts() -> None:
    scheduler = begun("safe", "safe", pausable=True)
    change(scheduler, 0, "ask")
    change(scheduler, 1, "ask")
    assert scheduler.take()[-1] == Decision("pause")
    assert scheduler.stop_point == 0


def test_an_earlier_stop_point_takes_the_place_of_a_later_one() -> None:
    scheduler = begun("safe", "safe", "safe", pausable=True)
    scheduler.started(2)
    change(scheduler, 1, "ask")
    change(scheduler, 0, "ask")
    scheduler.stopped(2, failed=False)
    assert scheduler.take()[-1] == Decision("pause")
    assert scheduler.stop_point == 0


def test_a_call_before_a_stop_point_goes_on() -> None:
    scheduler = begun("safe", "safe", "safe", pausable=True)
    scheduler.started(2)
    change(scheduler, 0, "ask_exclusive")
    scheduler.changed(0, call(0, KINDS["exclusive"]))
    change(scheduler, 1, "ask")
    scheduler.take()
    scheduler.stopped(2, failed=False)
    assert scheduler.take() == [Decision("start", 0)]


def test_the_stop_point_after_a_call_comes_before_a_later_one() -> None:
    scheduler = begun("safe", "safe", pausable=True)
    change(scheduler, 1, "ask")
    assert scheduler.stop_point == 1
    change(scheduler, 0, "stop_after")
    scheduler.started(0)
    scheduler.stopped(0, failed=False)
    assert scheduler.take()[-1] == Decision("pause")
    assert scheduler.stop_point == 0


def test_the_stop_point_after_a_call_does_not_hide_an_earlier_one() -> None:
    scheduler = begun("safe", "stop_after", "safe", pausable=True)
    change(scheduler, 0, "ask")
    scheduler.started(1)
    scheduler.stopped(1, failed=False)
    assert scheduler.take()[-1] == Decision("pause")
    assert scheduler.stop_point == 0


def test_the_stop_point_after_a_call_is_kept_until_earlier_ones_are_gone() -> None:
    scheduler = begun("safe", "safe", "stop_after", "safe", pausable=True)
    scheduler.started(0)
    scheduler.started(2)
    change(scheduler, 1, "ask")
    scheduler.stopped(2, failed=False)
    scheduler.changed(1, call(1, KINDS["safe"]))
    assert starts(scheduler) == [0, 1, 2, 1]
    scheduler.started(1)
    scheduler.stopped(1, failed=False)
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == [Decision("pause")]
    assert scheduler.stop_point == 2


def test_the_stop_point_after_a_call_is_kept_when_an_earlier_one_comes_and_goes() -> None:
    scheduler = begun("safe", "write_k", "stop_after", "safe", pool=3, pausable=True)
    scheduler.started(0)
    scheduler.started(2)
    scheduler.stopped(2, failed=False)
    assert scheduler.stop_point == 2
    change(scheduler, 1, "ask")
    assert scheduler.stop_point == 1
    scheduler.changed(1, call(1, KINDS["safe"]))
    assert starts(scheduler) == [0, 1, 2, 1]
    scheduler.started(1)
    scheduler.stopped(1, failed=False)
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == [Decision("pause")]
    assert scheduler.stop_point == 2


def test_a_stop_point_that_comes_back_does_not_hide_an_earlier_one() -> None:
    scheduler = begun("safe", "write_k", "write_k", "write_k", "stop_after", pausable=True)
    assert starts(scheduler) == [0, 1, 4]
    for index in (0, 1, 4):
        scheduler.started(index)
    scheduler.stopped(4, failed=False)
    assert scheduler.stop_point == 4
    scheduler.changed(2, call(2, replace(KINDS["write_k"], terms=Terms(stop="after"))))
    scheduler.stopped(1, failed=False)
    assert starts(scheduler) == [2]
    scheduler.started(2)
    scheduler.stopped(2, failed=False)
    assert scheduler.stop_point == 2
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == [Decision("pause")]
    assert scheduler.stop_point == 2


def test_of_two_calls_that_are_done_the_run_stops_after_the_earlier_one_first() -> None:
    scheduler = begun("stop_after", "stop_after", "safe", pausable=True)
    assert starts(scheduler) == [0]
    scheduler.started(0)
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == [Decision("pause")]
    assert scheduler.stop_point == 0


def test_a_stop_point_after_a_call_that_is_gone_holds_nobody_back() -> None:
    scheduler = begun("stop_after", "safe", pausable=True)
    scheduler.changed(0, call(0, KINDS["safe"]))
    assert scheduler.take() == [
        Decision("start", 0),
        Decision("cancel", 0),
        Decision("start", 1),
    ]
    scheduler.gave_up(0)
    assert scheduler.take() == [Decision("start", 0)]


def test_a_stop_point_after_a_call_counts_from_the_moment_that_it_is_there() -> None:
    scheduler = begun("safe", "write_k", "write_k", pausable=True)
    scheduler.started(1)
    scheduler.changed(0, call(0, KINDS["stop_after"]))
    scheduler.stopped(1, failed=False)
    assert starts(scheduler) == [0, 1]


def test_a_call_at_the_cursor_is_not_overtaken_by_as_many_as_there_are_permits() -> None:
    scheduler = begun("write_k", "safe", "read_k", "read_k", pool=3, pausable=True)
    change(scheduler, 0, "ask_k")
    scheduler.take()
    scheduler.changed(0, call(0, KINDS["write_j"]))
    assert starts(scheduler) == [0, 2]


# ---- resumed runs ----


def test_a_body_that_an_earlier_run_left_behind_holds_nobody_back() -> None:
    options = {"settled": {0: True}, "failed": [0], "prepared": [0]}
    scheduler = begun("timeout_k", "write_j", hooks=True, pausable=True, **options)
    scheduler.prepared(1, call(1, KINDS["write_k"]))
    assert starts(scheduler) == [1]


def test_calls_whose_body_was_reported_do_not_count_as_prepared() -> None:
    scheduler = begun("timeout_k", "safe", hooks=True, pausable=True)
    scheduler.prepared(0)
    scheduler.started(0)
    scheduler.prepared(1)
    scheduler.reported(0)
    assert scheduler.prepared_calls == {1}
    scheduler.after_done(0)
    assert scheduler.prepared_calls == {1}


def test_a_call_that_no_before_hook_has_seen_does_not_count_as_prepared() -> None:
    """Its process died, or it ran in a run without hooks: its hook runs when it runs again."""
    scheduler = begun("asks", "asks", hooks=True, pausable=True, asking=[0, 1], prepared=[1])
    assert scheduler.take() == [Decision("pause")]
    assert scheduler.prepared_calls == {1}


def test_a_run_that_cannot_pause_declines_what_has_no_answer() -> None:
    scheduler = begun("asks", "error_stop", "asks", "safe", asking=[0, 2])
    assert scheduler.take() == [
        Decision("settle", 0, "declined"),
        Decision("settle", 2, "declined"),
        Decision("start", 1),
        Decision("start", 3),
    ]


def test_a_declined_call_without_an_answer_counts_as_a_failure() -> None:
    scheduler = begun("error_stop", "safe", asking=[0])
    assert scheduler.take() == [
        Decision("settle", 0, "declined"),
        Decision("settle", 1, "skipped", 0),
        Decision("finish"),
    ]


def test_a_call_without_an_answer_behind_a_failure_settles_once() -> None:
    scheduler = begun("error_stop", "asks", asking=[1], settled={0: True}, failed=[0])
    assert scheduler.take() == [Decision("settle", 1, "skipped", 0), Decision("finish")]


def test_a_later_call_without_an_answer_does_not_hold_back_an_earlier_one() -> None:
    scheduler = begun("write_j", "asks_k", pausable=True, asking=[1])
    scheduler.changed(0, call(0, KINDS["write_k"]))
    scheduler.gave_up(0)
    assert starts(scheduler) == [0, 0]
