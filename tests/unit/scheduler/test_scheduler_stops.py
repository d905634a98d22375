"""Stop points, skipping, bodies that never stop, and what comes after the end."""

from __future__ import annotations

from small_turns import KINDS, Kind, call, plan_of

from toolflow.scheduler import Decision, Scheduler


def begun(*kinds: str, pool: int = 4, **options: object) -> Scheduler:
    plan = plan_of([call(i, KINDS[kind]) for i, kind in enumerate(kinds)], pool=pool)
    scheduler = Scheduler(plan, **options)  # type: ignore[arg-type]
    scheduler.begin()
    return scheduler


# ---- on_error: stop ----


def test_a_resumed_run_skips_what_stands_behind_a_failure() -> None:
    settled = {0: True}
    scheduler = begun("ask_stop", "safe", settled=settled, failed=[0])
    assert scheduler.take() == [Decision("settle", 1, "skipped", 0), Decision("finish")]
    assert begun("ask_stop", "safe", settled=settled).take() == [Decision("start", 1)]


def test_a_call_that_asks_a_person_behind_a_failure_is_skipped() -> None:
    scheduler = begun("error_stop", "asks", "safe", pausable=True)
    for index in range(3):
        scheduler.started(index)
    scheduler.stopped(0, failed=True)
    scheduler.take()
    scheduler.interrupted(1)
    assert scheduler.take() == [Decision("settle", 1, "skipped", 0)]
    scheduler.stopped(2, failed=False)
    assert scheduler.take() == [Decision("finish")]


def test_a_call_that_asked_before_the_failure_is_skipped_as_well() -> None:
    scheduler = begun("error_stop", "asks", pausable=True)
    scheduler.started(0)
    scheduler.started(1)
    scheduler.interrupted(1)
    scheduler.stopped(0, failed=True)
    assert scheduler.take()[2:] == [Decision("settle", 1, "skipped", 0), Decision("finish")]


# ---- bodies that never stop ----


def test_nothing_settles_after_a_pause_when_a_body_does_not_stop() -> None:
    scheduler = begun("timeout_k", "write_k", pausable=True)
    scheduler.started(0)
    scheduler.reported(0)
    scheduler.halt()
    assert scheduler.take() == [Decision("start", 0), Decision("pause")]
    scheduler.grace_over(0)
    assert scheduler.take() == []


def test_a_body_that_never_stops_does_not_settle_calls_while_the_run_stops() -> None:
    scheduler = begun("timeout_k", "write_k", "safe", pausable=True)
    scheduler.started(0)
    scheduler.started(2)
    scheduler.reported(0)
    scheduler.halt()
    scheduler.grace_over(0)
    scheduler.stopped(2, failed=False)
    assert scheduler.take() == [Decision("start", 0), Decision("start", 2), Decision("pause")]


def test_a_body_that_never_stops_does_not_settle_calls_behind_a_stop_point() -> None:
    for kinds in (("timeout_k", "stop_before_k"), ("timeout_k", "safe", "stop_before_k")):
        for pool in (1, 2):
            scheduler = begun(*kinds, pool=pool, pausable=True, passed=[])
            scheduler.started(0)
            scheduler.reported(0)
            if len(kinds) == 3 and pool == 2:
                scheduler.started(1)
                scheduler.stopped(1, failed=False)
            scheduler.grace_over(0)
            assert scheduler.take()[-1] == Decision("pause")
            assert scheduler.stop_point == len(kinds) - 1


def test_a_body_that_never_stops_does_not_settle_calls_behind_a_stop_point_after_a_call() -> None:
    scheduler = begun("timeout", "stop_after", "exclusive", pausable=True)
    scheduler.started(0)
    scheduler.started(1)
    scheduler.reported(0)
    scheduler.stopped(1, failed=False)
    scheduler.grace_over(0)
    assert scheduler.take()[-1] == Decision("pause")
    assert scheduler.stop_point == 1


def test_who_waits_for_a_body_that_never_stops_fails_while_others_go_on() -> None:
    scheduler = begun("timeout_k", "write_k", "write_k", "write_j")
    scheduler.started(0)
    scheduler.started(3)
    scheduler.reported(0)
    scheduler.take()
    scheduler.grace_over(0)
    assert scheduler.take() == [
        Decision("settle", 1, "held", 0),
        Decision("settle", 2, "held", 0),
    ]


# ---- stop points ----


def test_a_stop_point_is_not_passed_by_a_pause_before_it() -> None:
    scheduler = begun("safe", "stop_before", pausable=True)
    scheduler.halt()
    scheduler.gave_up(0)
    assert scheduler.take()[-1] == Decision("pause")
    assert scheduler.stop_point == -1


def test_a_stop_point_that_a_hook_brings_counts() -> None:
    scheduler = begun("safe", "safe", hooks=True, pausable=True)
    scheduler.prepared(0, call(0, KINDS["stop_after"]))
    scheduler.started(0)
    scheduler.stopped(0, failed=False)
    scheduler.after_done(0)
    assert scheduler.take()[-1] == Decision("pause")
    assert scheduler.stop_point == 0


def test_a_denied_call_is_no_stop_point_and_holds_nobody_back() -> None:
    scheduler = begun("stop_after", "safe", hooks=True, pausable=True)
    scheduler.refused(0)
    assert Decision("prepare", 1) in scheduler.take()


def test_a_call_that_is_gone_is_no_stop_point() -> None:
    scheduler = begun("safe", "stop_before", "safe", pausable=True)
    scheduler.refused(1, hooked=False)
    assert scheduler.take() == [Decision("start", 0), Decision("start", 2)]


def test_stop_points_of_a_run_that_cannot_pause_hold_nobody_back() -> None:
    scheduler = begun("stop_after", "stop_before")
    assert scheduler.take() == [Decision("start", 0), Decision("start", 1)]


def test_a_run_ends_when_its_last_call_fails_for_a_body_that_never_stops() -> None:
    scheduler = begun("timeout_k", "safe", "read_k", pool=2)
    scheduler.started(0)
    scheduler.started(1)
    scheduler.reported(0)
    scheduler.grace_over(0)
    scheduler.take()
    scheduler.stopped(1, failed=False)
    assert scheduler.take() == [Decision("settle", 2, "held", 0), Decision("finish")]


def test_a_failure_for_a_body_that_never_stops_counts_as_one() -> None:
    scheduler = begun("timeout_k", "error_stop_k", "write_k")
    scheduler.started(0)
    scheduler.reported(0)
    scheduler.take()
    scheduler.grace_over(0)
    assert scheduler.take() == [
        Decision("settle", 1, "held", 0),
        Decision("settle", 2, "skipped", 1),
        Decision("finish"),
    ]


def test_who_waits_through_a_gate_for_a_body_that_never_stops_fails_at_once() -> None:
    tree = Kind(reads=("d/**",))
    writers = [Kind(writes=(f"d/{name}",)) for name in "abc"]
    plan = plan_of([call(i, k) for i, k in enumerate([tree, tree, tree, *writers, Kind()])], pool=7)
    assert plan.gates
    scheduler = Scheduler(plan)
    scheduler.begin()
    for index in (0, 1, 2, 6):
        scheduler.started(index)
    scheduler.reported(0)
    scheduler.take()
    scheduler.grace_over(0)
    assert scheduler.take() == [Decision("settle", index, "held", 0) for index in (3, 4, 5)]


def test_a_prepared_call_behind_a_new_stop_point_does_not_settle_for_a_stuck_body() -> None:
    scheduler = begun("timeout_k", "write_j", "write_k", "safe", pausable=True)
    scheduler.started(0)
    scheduler.started(3)
    scheduler.reported(0)
    scheduler.changed(1, call(1, KINDS["ask"]))
    scheduler.gave_up(1)
    assert scheduler.stop_point == 1
    scheduler.take()
    scheduler.grace_over(0)
    assert scheduler.take() == []
    scheduler.stopped(3, failed=False)
    assert scheduler.take() == [Decision("pause")]


def test_nothing_fails_for_a_stuck_body_while_another_one_may_still_stop() -> None:
    scheduler = begun("timeout", "timeout", "exclusive")
    for index in (0, 1):
        scheduler.started(index)
        scheduler.reported(index)
    scheduler.take()
    scheduler.grace_over(0)
    assert scheduler.take() == []
    scheduler.grace_over(1)
    assert scheduler.take() == [Decision("settle", 2, "held", 0), Decision("finish")]


def test_a_declined_call_is_no_stop_point_either() -> None:
    scheduler = begun("stop_after_ask", "safe", approver=True, pausable=True)
    scheduler.answered(0, approved=False)
    assert scheduler.take() == [Decision("ask", 0), Decision("start", 1)]


def test_a_call_released_behind_a_new_stop_point_does_not_start() -> None:
    scheduler = begun("write_j", "write_k", "write_k", pausable=True)
    scheduler.changed(0, call(0, KINDS["ask"]))
    scheduler.gave_up(0)
    scheduler.take()
    scheduler.started(1)
    scheduler.stopped(1, failed=False)
    assert scheduler.take() == [Decision("pause")]


def test_a_finished_run_stands_at_no_stop_point() -> None:
    scheduler = begun("stop_after", pausable=True)
    scheduler.started(0)
    scheduler.stopped(0, failed=False)
    assert scheduler.take()[-1] == Decision("finish")
    assert scheduler.stop_point == -1


def test_calls_before_an_unanswered_stop_point_run_in_a_resumed_run() -> None:
    scheduler = begun("safe", "asks_stop_after", "safe", pausable=True, asking=[1])
    assert scheduler.take() == [Decision("start", 0)]
    scheduler.started(0)
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == [Decision("pause")]


def test_a_call_that_asked_gives_its_permit_back() -> None:
    scheduler = begun("error_stop", "asks", "timeout_exclusive", pool=2, pausable=True)
    scheduler.started(0)
    scheduler.started(1)
    scheduler.stopped(0, failed=True)
    scheduler.take()
    scheduler.interrupted(1)
    assert scheduler._starts.idle


def test_an_answer_that_nobody_waits_for_any_more_is_ignored() -> None:
    scheduler = begun("ask", "safe", approver=True)
    scheduler.refused(0)
    scheduler.take()
    scheduler.answered(0, approved=False)
    assert scheduler.take() == []
    scheduler.answered(1, approved=False)
    assert scheduler.take() == []
    scheduler.started(1)
    scheduler.stopped(1, failed=False)
    assert scheduler.take() == [Decision("finish")]


def test_a_call_that_runs_does_not_change() -> None:
    scheduler = begun("write_j", "write_k")
    scheduler.started(0)
    scheduler.changed(0, call(0, KINDS["write_k"]))
    assert scheduler.calls[0].writes == KINDS["write_j"].writes
    scheduler.stopped(0, failed=False)
    scheduler.changed(0, call(0, KINDS["write_k"]))
    assert scheduler.calls[0].writes == KINDS["write_j"].writes


def test_a_late_answer_does_not_bring_a_second_after_hook() -> None:
    scheduler = begun("ask", "safe", hooks=True, approver=True)
    scheduler.refused(0)
    scheduler.after_done(0)
    scheduler.take()
    scheduler.answered(0, approved=False)
    assert scheduler.take() == []


def test_a_prepared_call_waits_behind_one_that_becomes_a_stop_point() -> None:
    scheduler = begun("write_j", "write_k", "write_k", pausable=True)
    scheduler.changed(0, call(0, KINDS["stop_after"]))
    scheduler.gave_up(0)
    scheduler.started(0)
    scheduler.started(1)
    scheduler.take()
    scheduler.stopped(1, failed=False)
    assert scheduler.take() == []
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == [Decision("pause")]


# ---- resumed runs with bodies that have no answer yet ----


def test_an_unanswered_call_keeps_others_off_its_keys_across_a_declined_barrier() -> None:
    kinds = ("asks_k", "ask_exclusive", "write_k")
    scheduler = begun(*kinds, pausable=True, asking=[0], settled={1: True}, failed=[1])
    assert scheduler.take() == [Decision("pause")]


def test_nothing_fails_for_a_stuck_body_while_a_person_is_waited_for() -> None:
    scheduler = begun("asks", "timeout", "exclusive", pausable=True, asking=[0])
    scheduler.started(1)
    scheduler.reported(1)
    scheduler.grace_over(1)
    assert scheduler.take() == [Decision("start", 1), Decision("pause")]
