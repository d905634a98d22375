"""How long turns took, read from logs in two ways, and from recordings of our own in one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from audit_logs import Told, edit, look, policy, recording

from toolflow.errors import UsageError
from toolflow.model import Event, Outcome, RecordedTurn, Times
from toolflow.recording import simulate
from toolflow.recording.audit import Audit, Reading, TurnTime, audit


def times(path: Path, *calls: Told, pool: int | None = None) -> TurnTime:
    found = audit(recording(path, calls), policy(), pool=pool).turns[0].time
    assert found is not None
    return found


def seconds(reading: Reading) -> dict[str, float]:
    names = ("work", "critical", "bound", "simulated", "waited", "to_win", "to_lose")
    return {name: round(getattr(reading, name), 6) for name in names}


def test_one_call_took_what_lies_between_its_line_and_its_result(tmp_path: Path) -> None:
    found = times(tmp_path, look((1, 3.5)))
    assert (found.clock, found.wall) == ("log", 2.5)
    assert found.whole is found.own
    assert seconds(found.whole) == {
        "work": 2.5, "critical": 2.5, "bound": 2.5, "simulated": 2.5,
        "waited": 0, "to_win": 0, "to_lose": 0,
    }  # fmt: skip


def test_calls_that_may_run_together_are_read_in_two_ways(tmp_path: Path) -> None:
    found = times(tmp_path, look((0, 1)), look((0, 3)), look((0, 4)))
    assert found.wall == 4
    assert seconds(found.whole) == {  # they ran side by side
        "work": 8, "critical": 4, "bound": 4, "simulated": 4, "waited": 0, "to_win": 0,
        "to_lose": 0,
    }  # fmt: skip
    assert seconds(found.own) == {  # they took 1, 2 and 1 seconds
        "work": 4, "critical": 2, "bound": 2, "simulated": 2, "waited": 0, "to_win": 2,
        "to_lose": 0,
    }  # fmt: skip
    assert found.of("to_win") == (0, 2)


def test_calls_that_meet_wait_for_each_other(tmp_path: Path) -> None:
    calls = [edit("/f", "a", "b", at=(0, 2)), edit("/f", "c", "d", at=(0, 3))]
    found = times(tmp_path, *calls)
    assert seconds(found.whole)["simulated"] == 5
    assert seconds(found.whole)["waited"] == 2
    assert seconds(found.whole)["to_lose"] == 2
    assert seconds(found.own)["simulated"] == 3
    assert found.of("waited") == (2, 2)


def test_waiting_for_a_barrier_is_not_waiting_for_calls_that_meet(tmp_path: Path) -> None:
    calls = [look((0, 2)), Told("Bash", {}, at=(0, 3)), look((0, 4))]
    assert times(tmp_path, *calls).of("waited") == (0, 0)


def test_the_time_in_which_the_message_was_written_is_not_to_be_won(tmp_path: Path) -> None:
    found = times(tmp_path, look((0, 11)), look((5, 12)), look((10, 12)))
    assert (found.wall, found.counted) == (12, 2)  # from the last call's line on
    assert seconds(found.whole)["to_win"] == 0
    assert seconds(found.whole)["work"] == 5


def test_a_call_cannot_end_before_its_line_and_its_duration(tmp_path: Path) -> None:
    found = times(tmp_path, look((0, 1)), look((5, 7)))
    assert (found.wall, found.counted) == (7, 7)
    assert seconds(found.whole)["simulated"] == 7
    assert found.of("to_win") == (0, 0)


def test_a_narrow_pool_makes_the_bound(tmp_path: Path) -> None:
    found = times(tmp_path, look((0, 4)), look((0, 4)), look((0, 4)), pool=1)
    assert seconds(found.whole)["bound"] == 12
    assert seconds(found.whole)["simulated"] == 12


def test_a_pool_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pool is 0"):
        times(tmp_path, look((0, 4)), pool=0)


def test_a_turn_in_which_one_call_lacks_its_time_has_none(tmp_path: Path) -> None:
    found = audit(recording(tmp_path, [look((0, 4)), look(None)]), policy()).turns[0]
    assert found.time is None
    assert (found.ran, found.timed) == (2, 1)
    assert found.seconds == (4, None)


@pytest.mark.parametrize("status", ["declined", "denied", "skipped", "invalid_arguments"])
def test_calls_that_did_not_run_take_no_time(tmp_path: Path, status: str) -> None:
    given = recording(tmp_path, [look((0, 4)), look((0, 60))])
    outcomes = (given.turns[0].outcomes[0], Outcome(status, error="no"))
    turn = replace(given.turns[0], outcomes=outcomes)
    found = audit(replace(given, turns=(turn,)), policy()).turns[0]
    assert found.time is not None
    assert found.time.wall == 4
    assert found.ran == 1


def test_what_the_policy_answers_is_not_counted_as_won(tmp_path: Path) -> None:
    found = times(tmp_path, look((0, 4)), Told("Never", {}, at=(0, 60)))
    assert found.wall == 4
    assert found.of("to_win") == (0, 0)


def measured(path: Path, *spans: tuple[float, float]) -> Audit:
    """A recording in which the bodies themselves were measured."""
    given = recording(path, [look() for _ in spans])
    found = tuple(Times(0.0, a, a, b, b) for a, b in spans)
    events = (Event("run_started", 0, 0.0, "r", "turn-1"),)
    turn: RecordedTurn = replace(given.turns[0], times=found, events=events)
    return audit(replace(given, turns=(turn,)), policy())


def test_measured_bodies_are_read_in_one_way(tmp_path: Path) -> None:
    found = measured(tmp_path, (0, 1), (1, 3), (3, 6)).turns[0]
    assert found.time is not None
    assert found.time.clock == "run"
    assert found.time.whole is found.time.own
    assert seconds(found.time.whole) == {
        "work": 6, "critical": 3, "bound": 3, "simulated": 3, "waited": 0, "to_win": 3,
        "to_lose": 0,
    }  # fmt: skip


def test_times_that_cannot_be_are_no_times(tmp_path: Path) -> None:
    found = measured(tmp_path, (0, float("nan")), (3, 1)).turns[0]
    assert found.time is None
    assert found.timed == 0


@pytest.mark.parametrize(
    "details", [{"durationMs": 250}, {"durationSeconds": 0.25}, {"totalDurationMs": 250}]
)
def test_what_the_log_has_measured_is_what_a_call_took(
    tmp_path: Path, details: dict[str, float]
) -> None:
    given = recording(tmp_path, [Told("Look", at=(0, 4), details=details), look((0, 4))])
    found = audit(given, policy())
    assert found.turns[0].seconds == (0.25, 4)
    assert found.summary.tools[0].seconds == 4.25
    assert found.turns[0].time is not None
    assert found.turns[0].time.counted == 4


@pytest.mark.parametrize("value", [-1, True, "5", None, 1e300, float("nan")])
def test_what_is_no_duration_is_not_taken_for_one(tmp_path: Path, value: object) -> None:
    told = Told("Look", at=(0, 4), details={"durationMs": value, "x": 1})
    assert audit(recording(tmp_path, [told]), policy()).turns[0].seconds == (4,)


@pytest.mark.parametrize("pool", [1, 2, 4])
@pytest.mark.parametrize(
    "tools", ["Look Look Look", "Look Bash Look Look", "Bash Bash", "Look Never"]
)
def test_the_short_way_to_the_simulated_time_is_the_long_one(
    tmp_path: Path, tools: str, pool: int
) -> None:
    calls = [Told(tool, at=(0, 1 + 3 * at % 5)) for at, tool in enumerate(tools.split())]
    [turn] = audit(recording(tmp_path, calls), policy(), pool=pool).turns
    assert turn.time is not None
    seconds = {
        call.name: told
        for call, told in zip(turn.plan.calls, turn.seconds, strict=True)
        if told is not None and call.verdict.kind != "settled"
    }
    assert turn.time.whole.simulated == pytest.approx(simulate(turn.plan, seconds).total)
