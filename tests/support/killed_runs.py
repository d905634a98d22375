"""Processes that are killed at one write of their journal, and what has to hold afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Literal

from journals import TOOL_OF, Runner, World, entered, go_on, run_until_death, written

from toolflow.recording import read_journal, replay
from toolflow.recording.journal import is_written

SUPPORT = Path(__file__).parent
CODES = {"exits": 77, "killed": -signal.SIGKILL if hasattr(signal, "SIGKILL") else 0}
Stage = Literal["first", "second"]


def process(path: Path, number: int, dies: str, how: str, stage: Stage = "first") -> int:
    """Run a process that ends at a write, if it gets that far.

    Args:
        path: The journal.
        number: The write, counted from 1.
        dies: ``before``, ``during`` or ``after`` it.
        how: ``exits`` or ``killed``.
        stage: Whether it begins the run, or goes on with one that paused.

    Returns:
        Its exit code.
    """
    program = str(SUPPORT / "journal_process.py")
    words = [sys.executable, program, str(path), str(number), dies, how, stage]
    places = os.pathsep.join([str(SUPPORT), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": places}
    return subprocess.run(words, env=env, check=False, timeout=120).returncode


def killed_and_gone_on(
    run: Runner, folder: Path, number: int, dies: str, how: str, stage: Stage = "first"
) -> bool:
    """Have a process end at a write, go on in this one, and check what became of every call.

    Args:
        run: Runs an async function.
        folder: An empty folder.
        number: The write, counted from 1.
        dies: As for `process`.
        how: As for `process`.
        stage: As for `process`.

    Returns:
        Whether the process ended there; it does not where it has fewer writes.
    """
    path, earlier = folder / "j.jsonl", World()
    if stage == "second":
        paused = run_until_death(run, earlier, path)
        assert paused is not None
        assert paused.status == "paused"
    code = process(path, number, dies, how, stage)
    if code == 0:
        return False
    assert code == CODES[how]
    did = path.with_suffix(".did")
    before = Counter([*earlier.did, *(did.read_text().split() if did.exists() else ())])
    finished, unknown = written(path), entered(path)
    assert not is_written(path)
    assert (written(path), entered(path)) == (finished, unknown)  # opening it changes nothing
    assert set(before) <= finished.keys() | unknown | {"c09"}
    turns = read_journal(path).turns
    if turns and not any(turn.unfinished for turn in turns):  # that was its very last write
        assert finished.keys() == set(before) == set(TOOL_OF)
        assert turns[-1].status == "done"
        return True
    world = World()
    result: Any = go_on(run, world, path)
    assert result is not None
    assert result.ok
    again = Counter(world.did)
    assert not finished.keys() & again.keys()
    assert before.keys() | again.keys() == set(TOOL_OF)
    assert before.keys() & again.keys() - {"c09"} <= unknown
    assert replay(read_journal(path).recording(source={"cwd": "/repo"})).ok
    return True
