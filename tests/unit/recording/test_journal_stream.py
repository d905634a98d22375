"""The recording of a journal turn by turn: the same turns, and none kept that has ended."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from acting import chat
from journals import World, go_on, run_until_death

from toolflow import Engine, Toolbox
from toolflow.cli import main
from toolflow.errors import JournalError
from toolflow.locks import MemoryStore
from toolflow.recording import load_recording, replay, replay_turns, save_recording
from toolflow.recording.journal import JournalRecording, open_journal, read_journal
from toolflow.recording.journal.reading import Reading
from toolflow.testing import DiskFaults

Runner = Callable[..., Any]
POLICY = "version: 1\nrules:\n  - {tool: nap, safe: true}\n"


def engine_of() -> Engine:
    tools = Toolbox()

    @tools.tool
    async def nap(text: str = "a") -> str:
        return f"{text} rested\n" * 3

    return Engine(tools, policy=POLICY, cwd="/repo", locks=MemoryStore())


def written(run: Runner, path: Path, turns: int, **options: Any) -> Path:
    """A journal of so many turns."""
    engine = engine_of()
    with open_journal(path, about={"source": {"cwd": "/repo"}}, **options) as journal:
        for number in range(turns):
            calls = [("nap", {"text": f"{number}"}), "nap"]
            assert run(partial(engine.run, chat(*calls), journal=journal)).ok
    return path


def test_a_journal_of_several_files_gives_its_recording(run: Runner, tmp_path: Path) -> None:
    path = written(run, tmp_path / "j.jsonl", 6, segment=1500)
    assert (tmp_path / "j-2.jsonl").exists()
    whole = read_journal(path).recording()
    source = JournalRecording(path)
    assert source.head.policy == whole.policy
    assert source.head.source == {"format": "toolflow", "cwd": "/repo"}
    for _ in range(2):
        assert source.recording() == whole
    assert [str(turn) for turn in replay_turns(source)] == list(map(str, replay(whole).turns))


def test_a_turn_that_has_ended_is_not_kept(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(run, tmp_path / "j.jsonl", 6)
    kept: list[int] = []
    take = Reading.take

    def watched(reading: Reading, line: Any) -> None:
        take(reading, line)
        kept.append(len(reading.turns))

    monkeypatch.setattr(Reading, "take", watched)
    assert len(list(JournalRecording(path))) == 6
    assert max(kept) == 1


@pytest.mark.parametrize("writes", range(1, 40, 3))
def test_of_a_process_that_died_and_those_that_took_over(
    run: Runner, tmp_path: Path, writes: int
) -> None:
    path = tmp_path / "j.jsonl"
    world = World(faults=DiskFaults(dies_at=writes))
    if run_until_death(run, world, path) is None and not path.exists():
        return
    for _ in range(2):
        whole = read_journal(path).recording() if path.stat().st_size else None
        if whole is not None:
            assert JournalRecording(path).recording() == whole
        go_on(run, world, path)
    assert JournalRecording(path).recording() == read_journal(path).recording()


def test_torn_and_broken_lines_are_told(run: Runner, tmp_path: Path) -> None:
    path = written(run, tmp_path / "j.jsonl", 3)
    rows = path.read_bytes().splitlines(keepends=True)
    place = next(n for n, row in enumerate(rows) if b'"settled"' in row)
    path.write_bytes(b"".join([*rows[:place], b"\xff\n", *rows[place + 1 : -1], rows[-1][:-5]]))
    source = JournalRecording(path)
    assert source.recording() == read_journal(path).recording()
    assert [notice.code for notice in source.notices] == ["broken_line", "torn_line"]
    assert [problem.line for problem in source.problems] == [place + 1, len(rows)]


def test_a_line_behind_the_end_of_its_turn_is_told(run: Runner, tmp_path: Path) -> None:
    path = written(run, tmp_path / "j.jsonl", 2)
    rows = path.read_bytes().splitlines(keepends=True)
    late = next(row for row in rows if b'"settled"' in row and b'"turn":1' in row)
    path.write_bytes(b"".join([*rows, late]))
    (notice,) = JournalRecording(path).recording().notices
    said = "this settled line comes after the end of its turn."
    assert notice.message == f"{path}:{len(rows) + 1}: {said}"


def test_what_is_no_journal_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="this journal is not there"):
        JournalRecording(tmp_path / "no.jsonl")
    (tmp_path / "other.jsonl").write_text("{}\n")
    with pytest.raises(JournalError, match="this is no journal"):
        JournalRecording(tmp_path / "other.jsonl")


@pytest.mark.parametrize("name", ["r.yaml", "r.json"])
def test_it_is_saved_turn_by_turn(run: Runner, tmp_path: Path, name: str) -> None:
    path = written(run, tmp_path / "j.jsonl", 4)
    with JournalRecording(path) as source:
        assert source.save(tmp_path / name) == 4
    whole = read_journal(path).recording()
    save_recording(whole, tmp_path / f"whole-{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"whole-{name}").read_bytes()
    assert load_recording(tmp_path / name) == whole


@pytest.mark.parametrize(
    "words",
    [
        "replay {}",
        "replay {} -o json",
        "replay {} --turn 2",
        "replay {} --pool 1",
        "replay {} --sweep 1,2",
        "export {} --format openai-chat",
        "plan {} --turn 1",
        "audit {} -p p.yaml -o json",
        "check {}",
        "diff {} {}",
    ],
)
def test_commands_take_a_journal_for_its_recording(
    run: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    written(run, Path("j.jsonl"), 3)
    Path("p.yaml").write_text(POLICY)
    save_recording(read_journal("j.jsonl").recording(), "r.yaml")
    said = []
    for name in ("j.jsonl", "r.yaml"):
        code = main(words.format(name, name).split())
        said.append((code, *(text.replace(name, "FILE") for text in capsys.readouterr())))
    assert said[0] == said[1]
    assert said[0][0] == 0, said[0]
