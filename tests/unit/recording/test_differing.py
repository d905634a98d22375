"""Differences of recordings: plans, outcomes, the order of starts; times are none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from recorded_runs import PureRun, message_of, plan_of, recording_of

from toolflow.errors import UsageError
from toolflow.model import Outcome, RecordedTurn, Recording, Times
from toolflow.recording import diff_recordings, dump_recording, load_recording

CALLS = [("look", "a"), ("read", "b"), ("write", "b"), ("build", "c")]


def recorded(calls: list[tuple[str, str]] = CALLS, **more: object) -> RecordedTurn:
    turn = PureRun(plan_of(message_of(calls)), lambda count: count - 1).run()
    return replace(turn, **more)  # type: ignore[arg-type]


def lines(one: Recording, other: Recording) -> list[str]:
    return str(diff_recordings(one, other)).splitlines()


def test_a_recording_does_not_differ_from_itself_as_loaded_again() -> None:
    own = recording_of(recorded())

    found = diff_recordings(own, load_recording(dump_recording(own)), words=True)

    assert found.same
    assert str(found) == "no difference in 1 turn"


def test_other_times_are_no_difference() -> None:
    own = recorded()
    late = replace(own, times=tuple(Times(9.0, 9.0, 9.0, 9.5, 9.5) for _ in own.times))

    assert diff_recordings(recording_of(own), recording_of(late)).same


def test_outcomes_are_told_by_call_and_field() -> None:
    own = recorded()
    outcomes = list(own.outcomes)
    outcomes[0] = Outcome("failed", error="It broke.")
    outcomes[1] = None
    other = replace(own, outcomes=tuple(outcomes), committed=None, messages=())

    found = lines(recording_of(own), recording_of(other))

    assert found[:2] == [
        "~ outcome toolu_01  status: ok -> failed",
        f"~ outcome toolu_01  value: {own.outcomes[0].value} -> none",  # type: ignore[union-attr]
    ]
    assert "- outcome toolu_02: ok" in found


def test_another_order_of_starts_names_the_first_that_differs() -> None:
    calls = [("look", "a"), ("look", "b"), ("look", "c")]
    own = recorded(calls)
    events = list(own.events)
    places = [at for at, event in enumerate(events) if event.kind == "call_started"]
    one, two = places[:2]
    events[one], events[two] = events[two], events[one]
    other = replace(own, events=tuple(events), facts=())

    (line,) = lines(recording_of(replace(own, facts=())), recording_of(other))
    assert line == (
        "~ order  of starts: toolu_01, toolu_02, toolu_03 -> toolu_02, toolu_01, toolu_03  "
        "(start 1 is of 'toolu_01', then of 'toolu_02')"
    )


def test_committed_messages_count_where_nothing_else_differs() -> None:
    own = recorded()
    assert own.committed is not None
    other = replace(own, committed=replace(own.committed, digest="0" * 64))

    (line,) = lines(recording_of(own), recording_of(other))
    assert line.startswith("~ messages  committed: ")


def test_turns_are_told_apart_by_name_and_a_lonely_one_goes_with_any() -> None:
    first = recorded()
    assert first.plan is not None
    second = replace(first, plan=replace(first.plan, turn_id="turn-2"))

    assert diff_recordings(recording_of(first), recording_of(second)).same
    assert lines(recording_of(first, second), recording_of(first)) == ["- turn turn-2"]
    assert lines(recording_of(first), recording_of(second, first)) == ["+ turn turn-2"]
    # a pause and its resume have one name
    assert lines(recording_of(first, first), recording_of(first)) == ["- turn turn-1"]


def test_of_several_turns_each_change_stands_under_its_turn() -> None:
    first = recorded()
    assert first.plan is not None
    second = replace(first, plan=replace(first.plan, turn_id="turn-2"))
    other = replace(second, outcomes=(Outcome("ok", "new"), *second.outcomes[1:]))

    found = diff_recordings(recording_of(first, second), recording_of(first, other))

    assert str(found).splitlines()[0] == "~ turn turn-2"
    assert str(found).splitlines()[1].startswith("  ~ outcome toolu_01  value: ")
    assert found.data()["compared"] == 2
    assert [turn["turn"] for turn in found.data()["turns"]] == ["turn-2"]


def test_a_log_without_plans_is_refused_with_what_to_do() -> None:
    own = recording_of(replace(recorded(), plan=None))

    with pytest.raises(UsageError, match="has no plan"):
        diff_recordings(own, own)
