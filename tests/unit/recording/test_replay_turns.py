"""Replay, and what else reads a recording, without holding it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import TOOLS, PureRun, message_of, plan_of, recording_of
from streamed import never_at_once

from toolflow.errors import DivergenceError, ReplayError, UsageError
from toolflow.model import Outcome, RecordedTurn, Recording
from toolflow.recording import (
    load_recording,
    open_recording,
    replay,
    replay_turns,
    save_recording,
    sweep,
)
from toolflow.recording.naming import find_call
from toolflow.recording.turn_form import read_recorded_turn


@pytest.fixture(autouse=True)
def _never_at_once() -> Iterator[None]:
    with never_at_once():
        yield


def turn(number: int) -> RecordedTurn:
    calls = [(tool, f"{number}") for tool in TOOLS[number % 3 :]]
    run = PureRun(plan_of(message_of(calls)), lambda count: count - 1).run()
    name = f"turn-{number}"
    assert run.plan is not None
    return replace(run, turn=replace(run.turn, id=name), plan=replace(run.plan, turn_id=name))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_recording(recording_of(*map(turn, range(5))), tmp_path / "r.yaml")
    return tmp_path / "r.yaml"


def test_turns_of_a_reader_replay_as_those_of_a_recording(path: Path) -> None:
    report = replay(load_recording(path))
    assert report.ok
    with open_recording(path) as reader:
        assert tuple(map(str, replay_turns(reader))) == tuple(map(str, report.turns))
    assert [str(each) for each in replay_turns(load_recording(path))] == list(
        map(str, report.turns)
    )


def test_no_more_than_two_turns_are_held(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: weakref.WeakSet[object] = weakref.WeakSet()
    most = 0

    class Message(dict[str, object]):
        """A message that can be watched."""

    def watched(*given: object) -> RecordedTurn:
        read = read_recorded_turn(*given)  # type: ignore[arg-type]  # as it is called
        message = Message(read.turn.message)
        alive.add(message)
        return replace(read, turn=replace(read.turn, message=message))

    Message.__hash__ = object.__hash__  # type: ignore[method-assign,assignment]  # for the set
    monkeypatch.setattr("toolflow.recording.turn_reader.read_recorded_turn", watched)
    with open_recording(path) as reader:
        for replayed in replay_turns(reader):
            assert replayed.compared
            del replayed
            gc.collect()
            most = max(most, len(alive))
    assert 1 <= most <= 3  # two, and the plan of the one that was given out


def test_what_cannot_be_asked_is_told_before_the_first_turn(path: Path) -> None:
    with open_recording(path) as reader:
        with pytest.raises(UsageError, match="'nothing'"):
            replay_turns(reader, ignore=["nothing"])
        broken = replace(reader.head, policy="rules: 1\n")
        with pytest.raises(ReplayError, match="cannot be used"):
            replay_turns(broken)


def test_a_divergence_names_its_turn_where_there_are_several(tmp_path: Path) -> None:
    one, other = turn(1), turn(2)
    wrong = replace(one, outcomes=(*one.outcomes[:-1], Outcome("ok", "another")))
    for turns, where in (([wrong, other], "in 'turn-1' at"), ([wrong], "at call")):
        save_recording(recording_of(*turns), tmp_path / "r.yaml")
        with open_recording(tmp_path / "r.yaml") as reader:
            with pytest.raises(DivergenceError, match=f"Replay diverged {where}") as found:
                list(replay_turns(reader))
            lenient = list(replay_turns(reader, strict=False))
        assert str(lenient[0].divergence) == str(found.value)
        assert len(lenient) == len(turns)


def test_a_sweep_reads_as_often_as_it_needs(path: Path) -> None:
    whole = load_recording(path)
    with open_recording(path) as reader:
        for missing in ("zero", "median"):
            assert sweep(reader, [1, 3], missing=missing) == sweep(whole, [1, 3], missing=missing)  # type: ignore[arg-type]  # of the two


def test_calls_are_found_without_holding_their_turns(path: Path) -> None:
    whole = load_recording(path)
    with open_recording(path) as reader:
        for name in ("turn-3/toolu_02", "toolu_08"):
            try:
                expected: object = find_call(whole, name)
            except UsageError as error:
                expected = str(error)
            try:
                found: object = find_call(reader, name)
            except UsageError as error:
                found = str(error)
            assert found == expected
        with pytest.raises(UsageError, match="5 turns have a call 'toolu_01'"):
            find_call(reader, "toolu_01")
        with pytest.raises(UsageError, match="There is no call 'toolu_99'"):
            find_call(reader, "toolu_99")


def test_of_turns_of_one_name_the_last_one_counts() -> None:
    one, other = turn(1), turn(2)
    again = replace(other, turn=replace(other.turn, id="turn-1"))
    both = Recording((one, turn(3), again))
    assert find_call(both, "turn-1/toolu_01") == (again, 0)
    [name] = [f"toolu_{len(one.turn.calls):02}"]
    short = replace(both, turns=(one, again))
    assert len(again.turn.calls) < len(one.turn.calls)
    with pytest.raises(UsageError, match="There is no call"):
        find_call(short, name)
