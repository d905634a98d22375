"""The short form of ``tests/fuzz/fuzz_formats.py``: two thousand spoiled inputs, in four parts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from spoiling import Seed, corpus, seeds, spoiled

sys.path.insert(0, str(Path(__file__).parent))

from fuzz_formats import run

INPUTS = 2000
PARTS = 4


@pytest.fixture(scope="module")
def sources() -> list[Seed]:
    return seeds(corpus())  # without the recorded files there are small logs and messages


@pytest.mark.parametrize("part", range(PARTS))
def test_spoiled_inputs_are_read_or_refused_in_plain_lines_and_in_time(sources, part):
    count = INPUTS // PARTS
    result = run(sources, part * count, count)

    assert result.faults == []
    assert result.inputs == count
    for way in ("document", "message", "stream", "log"):
        assert result.told[f"read {way}"] > 0
        assert result.told[f"refused {way}"] > 0


def test_an_input_is_the_same_each_time_and_another_for_another_number(sources):
    assert spoiled(sources, 17) == spoiled(sources, 17)
    assert spoiled(sources, 17) != spoiled(sources, 17 + len(sources))


def test_what_takes_too_long_is_found_out():
    lines = b'{"type": "session", "id": "s", "cwd": "/"}\n' * 200_000
    result = run([Seed(lines, ".jsonl", "many")], 0, 40, bound=1e-4)

    assert any(fault.endswith("more than 0.0001 s") for fault in result.faults)
