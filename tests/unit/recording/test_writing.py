"""A recording written turn by turn is the same text as one written at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from toolflow.errors import RecordingError
from toolflow.formats import read_turn
from toolflow.model import Notice, Outcome, RecordedTurn, Recording, Turn
from toolflow.recording import dump_recording, load_recording
from toolflow.recording.writing import save_turns


def turn(number: int, text: str = "a\nb") -> RecordedTurn:
    calls = [{"id": f"c{number}", "tool": "read", "args": {"path": text}}]
    read = read_turn({"calls": calls}, turn_id=f"turn-{number}")
    return RecordedTurn(read, (Outcome("ok", text),))


WHOLE = Recording(
    (turn(1), turn(2, "x"), turn(3, "\ud83d"), turn(4, '{"$json": "no"}')),
    source={"format": "claude-code", "lines": 7},
    notices=(Notice("broken_line", "Line 2 was skipped: it is not JSON.", line=2),),
)


@pytest.mark.parametrize("name", ["r.yaml", "r.json"])
@pytest.mark.parametrize("count", [0, 1, 2, 4])
def test_it_reads_back_as_what_was_written(tmp_path: Path, name: str, count: int) -> None:
    some = replace(WHOLE, turns=WHOLE.turns[:count])
    path = tmp_path / name
    assert save_turns(iter(some.turns), lambda: replace(some, turns=()), path) == count
    assert load_recording(path) == some
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_plain_turns_give_the_very_same_text(tmp_path: Path, form: str) -> None:
    plain = replace(WHOLE, turns=WHOLE.turns[:2])
    path = tmp_path / f"r.{form}"
    save_turns(iter(plain.turns), lambda: replace(plain, turns=()), path)
    assert path.read_text("utf-8") == dump_recording(plain, form)  # type: ignore[arg-type]  # of the two


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_turn_that_fits_on_the_line_of_its_list_is_not_lost(tmp_path: Path, form: str) -> None:
    small = Recording((RecordedTurn(Turn("t", ()), ()),))
    path = tmp_path / f"r.{form}"
    assert save_turns(iter(small.turns), lambda: replace(small, turns=()), path) == 1
    assert load_recording(path) == small


def test_what_was_there_stays_if_a_turn_cannot_be_read(tmp_path: Path) -> None:
    def turns() -> Iterator[RecordedTurn]:
        yield turn(1)
        raise RuntimeError("the log is torn")

    path = tmp_path / "r.yaml"
    path.write_text("before", "utf-8")
    with pytest.raises(RuntimeError, match="torn"):
        save_turns(turns(), lambda: WHOLE, path)
    assert path.read_text("utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "r.yaml"
    with pytest.raises(RecordingError, match="cannot be written: no such file or directory"):
        save_turns(iter(()), lambda: replace(WHOLE, turns=()), path)
