"""The start queue: permits, resources, and calls that are taken out of it."""

from __future__ import annotations

from small_turns import KINDS, Kind, call, plan_of

from toolflow.model import Limits, Terms
from toolflow.scheduler import Scheduler
from toolflow.scheduler.starts import StartQueue


def queue(*uses: int, pool: int = 4, units: int = 2) -> StartQueue:
    kinds = [Kind(terms=Terms(uses={"r": n} if n else {})) for n in uses]
    return StartQueue([call(i, k) for i, k in enumerate(kinds)], Limits(pool, {"r": units}))


def taken(starts: StartQueue) -> list[int]:
    found = []
    while (index := starts.first()) >= 0:
        if starts.take():
            found.append(index)
    return found


def test_the_earliest_goes_first_and_permits_end() -> None:
    starts = queue(0, 0, 0, pool=2)
    for index in (2, 0, 1):
        starts.offer(index)
    assert taken(starts) == [0, 1]
    starts.give_back(1)
    assert taken(starts) == [2]
    assert not starts.idle
    assert starts.permits <= len(starts.queued)


def test_a_call_that_lacks_a_resource_lets_others_pass_and_takes_no_permit() -> None:
    starts = queue(2, 1, 0, pool=2)
    for index in range(3):
        starts.offer(index)
    assert taken(starts) == [0, 2]
    starts.give_back(0)
    assert taken(starts) == [1]


def test_a_call_that_was_offered_twice_while_it_lacked_a_resource_starts_once() -> None:
    starts = queue(2, 1)
    starts.offer(0)
    starts.offer(1)
    assert taken(starts) == [0]
    starts.retract(1)
    starts.offer(1)
    assert taken(starts) == []
    starts.give_back(0)
    assert taken(starts) == [1]


def test_a_call_that_was_taken_out_of_the_queue_does_not_start() -> None:
    starts = queue(0, 0, 2, 2)
    for index in range(4):
        starts.offer(index)
    starts.retract(0)
    assert taken(starts) == [1, 2]
    starts.retract(3)
    starts.give_back(2)
    assert taken(starts) == []


def test_a_call_that_changes_while_it_lacks_a_resource_starts_once() -> None:
    kinds = ("uses_two", "uses_one")
    scheduler = Scheduler(plan_of([call(i, KINDS[k]) for i, k in enumerate(kinds)]))
    scheduler.begin()
    scheduler.started(0)
    scheduler.changed(1, call(1, KINDS["uses_one"], version=1))
    scheduler.stopped(0, failed=False)
    assert [d.call for d in scheduler.take() if d.kind == "start"] == [0, 1]
