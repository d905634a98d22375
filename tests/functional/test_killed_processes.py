"""Real processes that end in the middle of writing their journal, and others that go on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from journals import Runner
from killed_runs import Stage, killed_and_gone_on


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
@pytest.mark.parametrize(
    ("number", "dies", "how", "stage"),
    [
        (1, "during", "killed", "first"),
        (2, "after", "exits", "first"),
        (4, "before", "killed", "first"),
        (5, "during", "exits", "first"),
        (6, "after", "killed", "first"),
        (8, "during", "killed", "first"),
        (1, "after", "killed", "second"),
        (3, "during", "killed", "second"),
        (6, "after", "exits", "second"),
    ],
)
def test_c151_a_real_process_that_is_killed_loses_nothing(
    run: Runner, tmp_path: Path, number: int, dies: str, how: str, stage: Stage
) -> None:
    assert killed_and_gone_on(run, tmp_path, number, dies, how, stage)
