"""Conformance M 151: a process that dies at any write of its journal, and the one that goes on."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from journals import (
    BURST,
    IDEMPOTENT,
    TOOL_OF,
    World,
    entered,
    go_on,
    run_until_death,
    written,
)

from toolflow.recording import replay
from toolflow.recording.journal import read_journal
from toolflow.testing import DiskFaults

Runner = Callable[..., Any]
WAYS = ("before", "during", "after")


@pytest.mark.parametrize(
    ("durability", "dies"),
    [("none", way) for way in WAYS] + [("batch", "during"), ("strict", "during")],
)
def test_c151_killed_at_every_write_no_finished_call_runs_again_and_none_is_lost(
    run: Runner, tmp_path: Path, dies: Any, durability: Any
) -> None:
    whole = World()
    expected = go_on(run, whole, tmp_path / "whole.jsonl")
    for number in itertools.count(1):
        path = tmp_path / f"{number}.jsonl"
        world = World(faults=DiskFaults(dies_at=number, dies=dies))
        paused = run_until_death(run, world, path, durability)
        if paused is not None:
            break
        before, finished, unknown = world.counts, written(path), entered(path)
        for _ in range(2):  # opening it again changes nothing
            assert (written(path), entered(path)) == (finished, unknown)
        result = go_on(run, world, path)
        assert result is not None
        assert result.ok
        assert len(result.messages) == 2
        again = {name for name, count in world.counts.items() if count > before[name] > 0}
        assert not again & finished.keys()
        assert again - unknown <= {"c09"}  # it had asked, and gets its answer
        assert set(world.counts) == set(TOOL_OF)
        assert result.messages == expected.messages
        assert replay(read_journal(path).recording(source={"cwd": "/repo"})).ok
    assert number > 8


@pytest.mark.parametrize("dies", WAYS)
def test_c151_killed_where_starts_were_written_far_ahead_nothing_is_lost_or_run_again(
    run: Runner, tmp_path: Path, dies: Any
) -> None:
    names = {call["id"] for call in BURST["calls"]}
    for number in itertools.count(1):
        path = tmp_path / f"{number}.jsonl"
        world = World(faults=DiskFaults(dies_at=number, dies=dies), message=BURST)
        if run_until_death(run, world, path) is not None:
            break
        before, finished, unknown = world.counts, written(path), entered(path)
        assert set(before) <= finished.keys() | unknown
        assert len(unknown.difference(before)) <= 67
        if path.exists() and [turn.status for turn in read_journal(path).turns] == ["done"]:
            continue  # only its caller was not told any more
        result = go_on(run, world, path)
        assert result is not None
        assert result.ok
        again = {name for name, count in world.counts.items() if count > 1}
        assert again <= unknown
        assert set(world.counts) == names
        assert replay(read_journal(path).recording(source={"cwd": "/repo"})).ok
    assert number > 10


@pytest.mark.parametrize("dies", ["before", "during"])
def test_c151_killed_at_the_recall_of_starts_that_did_not_happen_their_calls_run_once(
    run: Runner, tmp_path: Path, dies: Any
) -> None:
    path = tmp_path / "x.jsonl"
    world = World(faults=DiskFaults(dies_at=b'"line":"recalled"', dies=dies), message=BURST)
    assert run_until_death(run, world, path) is None
    ahead = entered(path).difference(world.counts)
    assert 3 < len(ahead) <= 67  # more than the pool, for it had gone further ahead
    result = go_on(run, world, path)
    assert result is not None
    assert result.ok
    assert {name: world.counts[name] for name in ahead} == dict.fromkeys(ahead, 1)


def test_c151_unknown_calls_that_are_not_idempotent_ask_and_a_no_leaves_them_unknown(
    run: Runner, tmp_path: Path
) -> None:
    seen = set()
    for number in itertools.count(1):
        path = tmp_path / f"{number}.jsonl"
        world = World(faults=DiskFaults(dies_at=number, dies="after"))
        if run_until_death(run, world, path) is not None:
            break
        unfinished = [turn for turn in read_journal(path).turns if turn.unfinished]
        points = [turn.repair().checkpoint for turn in unfinished]
        asked = {q.call for point in points for q in point.questions if q.kind == "repeat"}
        unknown = entered(path)
        assert asked == {name for name in unknown if TOOL_OF[name] not in IDEMPOTENT}
        seen |= asked
        before = world.counts
        result = go_on(run, world, path, repeat=False)
        assert all(world.counts[name] == before[name] for name in asked)
        statuses = {call.name: result.outcome(call.name).status for call in result.plan.calls}
        assert {name for name, status in statuses.items() if status != "ok"} == asked
        assert {statuses[name] for name in asked} <= {"outcome_unknown"}
    assert seen  # which ones depends on the order in which the event loop takes up tasks


def test_c151_the_process_that_goes_on_may_die_at_every_write_as_well(
    run: Runner, tmp_path: Path
) -> None:
    for second in range(1, 15):
        path = tmp_path / f"{second}.jsonl"
        world = World(faults=DiskFaults(dies_at=6, dies="during"))
        assert run_until_death(run, world, path) is None
        died = go_on(run, world, path, faults=DiskFaults(dies_at=second, dies="during"))
        finished, before = written(path), world.counts
        result = died if died is not None else go_on(run, world, path)
        assert result.ok
        again = {name for name, count in world.counts.items() if count > before[name] > 0}
        assert not again & finished.keys()
        assert set(world.counts) == set(TOOL_OF)
