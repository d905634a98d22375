"""A recording that is read turn by turn: its head, its notices so far, what is wrong when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import PureRun, message_of, plan_of, recording_of
from streamed import never_at_once

from toolflow.errors import RecordingError
from toolflow.model import Notice, RecordedTurn
from toolflow.recording import dump_recording, load_recording, open_recording, save_recording


@pytest.fixture(autouse=True)
def _never_at_once() -> Iterator[None]:
    with never_at_once():
        yield


def turns(count: int) -> Iterator[RecordedTurn]:
    run = PureRun(
        plan_of(message_of([("look", "a"), ("read", "b")])), lambda count: count - 1
    ).run()
    for number in range(1, count + 1):
        yield replace(run, turn=replace(run.turn, id=f"turn-{number}"))


def saved(folder: Path, count: int, *, name: str = "r.yaml", spoil: tuple[int, ...] = ()) -> Path:
    """A recording of so many turns; those with these numbers are corrupt."""
    text = dump_recording(recording_of(*turns(count)), "json" if name.endswith("json") else "yaml")
    for number in spoil:
        at = text.index(f"turn-{number}")
        text = text[:at] + text[at:].replace("anthropic", "[]", 1).replace('"[]"', "[]", 1)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", ["r.yaml", "r.json"])
def test_the_head_is_there_before_the_first_turn(tmp_path: Path, name: str) -> None:
    whole = replace(recording_of(*turns(3)), notices=(Notice("odd", "It was odd.", 7),))
    save_recording(whole, tmp_path / name)
    with open_recording(tmp_path / name) as reader:
        assert reader.head == replace(whole, turns=())
        assert reader.notices == whole.notices
        expected = load_recording(tmp_path / name).turns
        assert len(expected) == 3
        assert tuple(reader) == expected
        assert tuple(reader) == expected  # again from the beginning
        assert reader.problems == ()


@pytest.mark.parametrize("name", ["r.yaml", "r.json"])
def test_a_corrupt_turn_is_told_when_it_was_read(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path, 4, name=name, spoil=(3,))
    with open_recording(path) as reader:
        seen = [(turn.turn.id, len(reader.notices)) for turn in reader]
    assert seen == [("turn-1", 0), ("turn-2", 0), ("turn-3", 1), ("turn-4", 1)]
    assert reader.notices == load_recording(path).notices
    assert reader.notices[0].turn == "turn-3"
    said = ["turns[2].format is an empty list. Use text."]
    assert [problem.message for problem in reader.problems] == said
    lines = path.read_text("utf-8").splitlines()
    line, column = reader.problems[0].line, reader.problems[0].column
    assert lines[(line or 0) - 1][(column or 0) - 1 :].startswith("[]")


def test_corrupt_turns_at_the_beginning_wait_for_one_that_is_not(tmp_path: Path) -> None:
    with open_recording(saved(tmp_path, 4, spoil=(1, 2))) as reader:
        assert [turn.turn.id for turn in reader] == ["turn-1", "turn-2", "turn-3", "turn-4"]
        assert [notice.turn for notice in reader.notices] == ["turn-1", "turn-2"]
    path = saved(tmp_path, 2, spoil=(1, 2))
    with open_recording(path) as reader, pytest.raises(RecordingError) as found:
        next(iter(reader))
    with pytest.raises(RecordingError) as expected:
        load_recording(path)
    assert found.value.problems == expected.value.problems
    assert len(found.value.problems) == 2


def test_not_all_corrupt_turns_wait(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("version: 1\nturns:\n" + "  - 7\n" * 150)
    with open_recording(path) as reader:
        turns = iter(reader)
        assert next(turns).turn.id == ""
        with pytest.raises(RecordingError):
            list(turns)


def test_of_very_many_problems_the_first_thousand_are_told(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("version: 1\nturns:\n  - {id: one, calls: []}\n" + "  - 7\n" * 600)
    whole = load_recording(path)
    with open_recording(path) as reader:
        assert len(list(reader)) == len(whole.turns) == 601
    assert reader.notices == whole.notices
    assert len(reader.notices) == 1001
    assert reader.notices[-1].message == "800 more problems are not told."


def test_strict_ends_at_the_first_corrupt_turn(tmp_path: Path) -> None:
    with open_recording(saved(tmp_path, 4, spoil=(2, 3)), strict=True) as reader:
        turns = iter(reader)
        with pytest.raises(RecordingError, match=r"turns\[1\]\.format") as found:
            list(turns)
    assert len(found.value.problems) == 1


def test_a_head_that_cannot_be_used_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("version: 2\npolicy: 3\nturns:\n  - {id: one, calls: []}\nmore: 1\n")
    with pytest.raises(RecordingError) as found:
        open_recording(path)
    assert [str(problem).removeprefix(f"{path}:") for problem in found.value.problems] == [
        "5:1: more is not a known field. Did you mean 'source'?",
        "1:10: version is 2. Use 1.",
        "2:9: policy is 3. Use text.",
    ]
    with pytest.raises(RecordingError, match="There is no such file"):
        open_recording(tmp_path / "nowhere.yaml")


def test_a_file_that_breaks_off_gives_its_turns_first(tmp_path: Path) -> None:
    path = saved(tmp_path, 3)
    path.write_text(path.read_text("utf-8") + "    more: [1\n", "utf-8")
    with open_recording(path) as reader:
        found: list[str] = []
        with pytest.raises(RecordingError, match="A list is opened here") as told:
            found.extend(turn.turn.id for turn in reader)
    assert found == ["turn-1", "turn-2"]
    assert told.value.problems[0].line == len(path.read_text("utf-8").splitlines())


def test_results_beside_the_recording_are_read_with_their_turn(tmp_path: Path) -> None:
    whole = recording_of(*turns(3))
    save_recording(whole, tmp_path / "r.yaml", aside=5)
    assert list((tmp_path / "results").iterdir())
    with open_recording(tmp_path / "r.yaml") as reader:
        found = tuple(reader)
        assert found == tuple(reader) == load_recording(tmp_path / "r.yaml").turns
    assert [turn.outcomes for turn in found] == [turn.outcomes for turn in whole.turns]
