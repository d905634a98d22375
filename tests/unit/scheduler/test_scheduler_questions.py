"""Questions that come up late, or are needed no more."""

from __future__ import annotations

from small_turns import KINDS, call, plan_of

from toolflow.scheduler import Decision, Scheduler


def begun(*kinds: str, pool: int = 4, **options: object) -> Scheduler:
    plan = plan_of([call(i, KINDS[kind]) for i, kind in enumerate(kinds)], pool=pool)
    scheduler = Scheduler(plan, **options)  # type: ignore[arg-type]
    scheduler.begin()
    return scheduler


def test_a_call_that_needs_no_answer_any_more_does_not_wait_for_one() -> None:
    scheduler = begun("ask", hooks=True, approver=True)
    scheduler.prepared(0, call(0, KINDS["safe"]))
    assert scheduler.open_questions == ()
    assert Decision("start", 0) in scheduler.take()


def test_a_declined_call_is_not_asked_for_again_when_its_hook_changes_it() -> None:
    scheduler = begun("ask", hooks=True, approver=True)
    scheduler.answered(0, approved=False)
    scheduler.take()
    scheduler.prepared(0, call(0, KINDS["ask"], version=1), ask_again=True)
    assert scheduler.take() == [Decision("after", 0)]


def test_a_call_that_needs_an_answer_since_the_tools_changed_is_asked_for() -> None:
    scheduler = begun("safe", "safe", pool=1, approver=True)
    scheduler.changed(1, call(1, KINDS["ask"]))
    assert scheduler.take() == [Decision("start", 0), Decision("ask", 1)]
    scheduler.started(0)
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == []
    scheduler.answered(1, approved=True)
    assert scheduler.take() == [Decision("start", 1)]


def test_without_an_approver_such_a_call_stops_the_run() -> None:
    scheduler = begun("write_k", "write_k", "write_j", pausable=True)
    scheduler.changed(1, call(1, KINDS["ask_k"]))
    scheduler.started(0)
    scheduler.stopped(0, failed=False)
    scheduler.started(2)
    scheduler.stopped(2, failed=False)
    assert scheduler.take() == [Decision("start", 0), Decision("start", 2), Decision("pause")]
    assert scheduler.stop_point == 1


def test_without_an_approver_and_a_pause_such_a_call_is_declined() -> None:
    scheduler = begun("write_k", "write_k")
    scheduler.changed(0, call(0, KINDS["ask_k"]))
    scheduler.changed(1, call(1, KINDS["ask_k"]))
    scheduler.gave_up(0)
    assert scheduler.take() == [
        Decision("start", 0),
        Decision("cancel", 0),
        Decision("settle", 1, "declined"),
        Decision("settle", 0, "declined"),
        Decision("finish"),
    ]


def test_a_call_whose_question_came_up_while_its_hook_ran_is_declined_without_an_approver() -> None:
    scheduler = begun("safe", hooks=True)
    scheduler.changed(0, call(0, KINDS["ask"]))
    scheduler.prepared(0)
    assert Decision("settle", 0, "declined") in scheduler.take()


def test_a_call_that_is_declined_while_it_waits_for_keys_settles_when_it_gave_up() -> None:
    scheduler = begun("write_k", approver=True)
    scheduler.changed(0, call(0, KINDS["ask_k"]))
    scheduler.answered(0, approved=False)
    assert scheduler.take()[-1] == Decision("ask", 0)
    scheduler.gave_up(0)
    assert scheduler.take() == [Decision("finish")]


def test_a_call_at_a_stop_point_that_needs_no_answer_any_more_is_not_prepared_twice() -> None:
    scheduler = begun("safe", "write_k", hooks=True, pausable=True)
    scheduler.prepared(0)
    scheduler.prepared(1, call(1, KINDS["ask_k"]), ask_again=True)
    assert scheduler.stop_point == 1
    scheduler.take()
    scheduler.changed(1, call(1, KINDS["write_k"]))
    assert scheduler.take() == [Decision("start", 1)]


def test_a_call_declined_for_want_of_an_approver_counts_as_a_failure() -> None:
    scheduler = begun("ask_stop", "safe")
    assert scheduler.take() == [
        Decision("settle", 0, "declined"),
        Decision("settle", 1, "skipped", 0),
        Decision("finish"),
    ]


def test_an_answer_that_nobody_waits_for_changes_nothing() -> None:
    scheduler = begun("ask", "safe", approver=True)
    scheduler.answered(0, approved=True)
    scheduler.started(0)
    scheduler.take()
    phases = list(scheduler.phase)
    scheduler.answered(0, approved=False)  # a second answer, to a call that runs
    scheduler.answered(1, approved=False)  # an answer to a call that never asked
    assert scheduler.take() == []
    assert scheduler.phase == phases


def test_where_all_questions_come_first_a_late_one_holds_back_what_was_prepared() -> None:
    kinds = ("write_k", "read_k", "read_k")
    calls = [call(index, KINDS[kind]) for index, kind in enumerate(kinds)]
    scheduler = Scheduler(plan_of(calls, pool=2, approvals="first"), approver=True)
    scheduler.begin()
    scheduler.started(0)
    scheduler.changed(2, call(2, KINDS["ask"]))
    assert scheduler.take() == [Decision("start", 0), Decision("ask", 2)]
    scheduler.stopped(0, failed=False)
    assert scheduler.take() == []  # call 1 reads what call 0 wrote, and waits for the answer
    scheduler.answered(2, approved=True)
    assert scheduler.take() == [Decision("start", 1), Decision("start", 2)]
