"""Real processes that end in the middle of writing their journal, and others that go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from journals import TOOL_OF, World, entered, go_on, written

from toolflow.recording import read_journal, replay
from toolflow.recording.journal import is_written

SUPPORT = Path(__file__).parent.parent / "support"


def process(path: Path, number: int, dies: str, how: str) -> int:
    """Run a process to its death; its exit code."""
    words = [sys.executable, str(SUPPORT / "journal_process.py"), str(path), str(number), dies, how]
    places = os.pathsep.join([str(SUPPORT), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": places}
    return subprocess.run(words, env=env, check=False, timeout=120).returncode


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
@pytest.mark.parametrize(
    ("number", "dies", "how"),
    [
        (1, "during", "killed"),
        (2, "after", "exits"),
        (4, "before", "killed"),
        (5, "during", "exits"),
        (6, "after", "killed"),
        (8, "during", "killed"),
    ],
)
def test_c151_a_real_process_that_is_killed_loses_nothing(
    run: object, tmp_path: Path, number: int, dies: str, how: str
) -> None:
    path = tmp_path / "j.jsonl"
    assert process(path, number, dies, how) == (77 if how == "exits" else -9)
    before = path.with_suffix(".did").read_text().split()
    finished, unknown = written(path), entered(path)
    assert not is_written(path)
    assert set(before) <= finished.keys() | unknown | {"c09"}
    world = World()
    result = go_on(run, world, path)  # type: ignore[arg-type]  # the fixture
    assert result is not None
    assert result.ok
    assert not finished.keys() & set(world.did)
    assert {*before, *world.did} == set(TOOL_OF)
    assert {*before} & {*world.did} - {"c09"} <= unknown
    assert replay(read_journal(path).recording(source={"cwd": "/repo"})).ok
