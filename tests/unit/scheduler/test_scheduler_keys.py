"""Key edges while calls settle without running, or change their keys."""

from __future__ import annotations

import pytest
from small_turns import KINDS, Kind, call, plan_of

from toolflow.model import CallPlan
from toolflow.scheduler import Decision, Scheduler


def begun(*kinds: str, pool: int = 4, **options: object) -> Scheduler:
    plan = plan_of([call(i, KINDS[kind]) for i, kind in enumerate(kinds)], pool=pool)
    scheduler = Scheduler(plan, **options)  # type: ignore[arg-type]
    scheduler.begin()
    return scheduler


def starts(scheduler: Scheduler) -> list[int]:
    return [d.call for d in scheduler.take() if d.kind == "start"]


def finish(scheduler: Scheduler, index: int) -> None:
    scheduler.started(index)
    scheduler.stopped(index, failed=False)


def test_a_declined_writer_does_not_let_the_next_one_pass_the_one_before() -> None:
    scheduler = begun("write_k", "ask_k", "write_k", approver=True)
    assert starts(scheduler) == [0]
    scheduler.started(0)
    scheduler.answered(1, approved=False)
    assert starts(scheduler) == []
    scheduler.stopped(0, failed=False)
    assert starts(scheduler) == [2]


def test_a_declined_call_leaves_behind_it_only_what_still_meets() -> None:
    kinds = [Kind(writes=("a",)), Kind(writes=("a", "b"), ask="?"), Kind(writes=("b",))]
    plan = plan_of([call(i, kind) for i, kind in enumerate(kinds)])
    scheduler = Scheduler(plan, approver=True)
    scheduler.begin()
    assert starts(scheduler) == [0]
    scheduler.answered(1, approved=False)
    assert starts(scheduler) == [2]


def test_a_call_declined_between_gates_keeps_readers_and_writers_apart() -> None:
    """The fourth call waits for the first through the third, whose key it does not meet."""
    tree = "d/**"
    kinds = [
        Kind(reads=(tree,)),
        Kind(writes=("d/a",)),
        Kind(reads=(tree,), ask="?"),
        Kind(writes=("d/b",)),
    ]
    scheduler = Scheduler(plan_of([call(i, k) for i, k in enumerate(kinds)]), approver=True)
    scheduler.begin()
    assert starts(scheduler) == [0]
    scheduler.started(0)
    scheduler.answered(2, approved=False)
    assert starts(scheduler) == []
    scheduler.stopped(0, failed=False)
    assert starts(scheduler) == [1, 3]


def test_a_writer_that_a_hook_sends_elsewhere_does_not_open_the_way() -> None:
    scheduler = begun("write_k", "write_k", "write_k", hooks=True)
    scheduler.prepared(0)
    assert starts(scheduler) == [0]
    scheduler.started(0)
    scheduler.prepared(1, call(1, KINDS["write_j"]))
    assert starts(scheduler) == [1]
    scheduler.prepared(2)
    scheduler.started(1)
    scheduler.stopped(1, failed=False)
    assert starts(scheduler) == []
    scheduler.stopped(0, failed=False)
    assert starts(scheduler) == [2]


def test_a_declined_barrier_holds_nobody_back_but_meeting_keys_still_do() -> None:
    scheduler = begun("write_k", "ask_exclusive", "write_k", "write_j", approver=True)
    assert starts(scheduler) == [0]
    scheduler.answered(1, approved=False)
    assert starts(scheduler) == [3]
    finish(scheduler, 0)
    assert starts(scheduler) == [2]


def test_two_waiting_calls_that_change_into_each_others_way_do_not_wait_for_each_other() -> None:
    scheduler = begun("write_k", "write_j")
    assert starts(scheduler) == [0, 1]
    new: list[CallPlan] = [call(0, KINDS["write_kj"]), call(1, KINDS["write_kj"])]
    for index in (0, 1):
        scheduler.changed(index, new[index])
    assert [d for d in scheduler.take() if d.kind == "cancel"] == [
        Decision("cancel", 0),
        Decision("cancel", 1),
    ]
    scheduler.gave_up(0)
    scheduler.gave_up(1)
    assert starts(scheduler) == [0]
    finish(scheduler, 0)
    assert starts(scheduler) == [1]


def test_a_prepared_call_waits_for_one_that_changes_while_it_waits_for_its_keys() -> None:
    scheduler = begun("write_j", "write_k", "write_k")
    assert starts(scheduler) == [0, 1]
    scheduler.changed(0, call(0, KINDS["write_kj"]))
    scheduler.gave_up(0)
    finish(scheduler, 1)
    assert starts(scheduler) == [0]
    finish(scheduler, 0)
    assert starts(scheduler) == [2]


def test_readers_on_both_sides_of_a_declined_writer_both_keep_the_next_writer_waiting() -> None:
    scheduler = begun("read_k", "ask_k", "read_k", "write_k", approver=True)
    assert starts(scheduler) == [0]
    scheduler.started(0)
    scheduler.answered(1, approved=False)
    assert starts(scheduler) == [2]
    finish(scheduler, 2)
    assert starts(scheduler) == []
    scheduler.stopped(0, failed=False)
    assert starts(scheduler) == [3]


@pytest.mark.parametrize(
    ("first", "last", "waits"),
    [
        ("write_k", "write_k", True),
        ("write_k", "read_k", True),
        ("read_k", "write_k", True),
        ("write_k", "write_tree", True),
        ("write_tree", "read_k", True),
        ("read_k", "read_k", False),
        ("read_k", "read_tree", False),
        ("write_k", "write_j", False),
    ],
)
def test_who_meets_whom_when_edges_are_made_during_the_run(
    first: str, last: str, waits: bool
) -> None:
    declined = begun(first, "ask_tree", last, approver=True)
    declined.started(0)
    declined.answered(1, approved=False)
    assert starts(declined) == ([0] if waits else [0, 2])
    changed = begun(first, "safe", hooks=True)
    changed.prepared(0)
    changed.prepared(1, call(1, KINDS[last]))
    assert starts(changed) == ([0] if waits else [0, 1])
