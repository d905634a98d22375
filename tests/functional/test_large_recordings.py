"""Memory does not grow with a recording; the long form is `tests/benchmarks/big_recording.py`."""

from __future__ import annotations

from pathlib import Path

import pytest
from large_recordings import write_recording
from peaks import MB, peak

SMALL = 1_200_000  # a file of less is read at once
ROOM = 8  # megabytes that two runs of the same may differ by; what is read of the turns is more


@pytest.mark.parametrize(
    ("form", "other"),
    [
        ("yaml", ("audit", "-p", "shipped:claude-code", "-o", "json")),
        ("json", ("replay", "-o", "json")),
    ],
)
def test_the_peak_is_the_same_for_ten_times_the_size(
    tmp_path: Path, form: str, other: tuple[str, ...]
) -> None:
    small, large = tmp_path / f"small.{form}", tmp_path / f"large.{form}"
    few, _ = write_recording(small, SMALL)
    many, _ = write_recording(large, 10 * SMALL)
    assert large.stat().st_size > 9 * small.stat().st_size > 9 * MB
    one, ten = peak("replay", str(small)), peak("replay", str(large))
    assert one.out.endswith(f"{few} turns replayed, {few} of them compared: no divergence.\n")
    assert ten.out.endswith(f"{many} turns replayed, {many} of them compared: no divergence.\n")
    assert ten.megabytes < one.megabytes + ROOM
    more = peak(*other, str(large))
    assert more.out.endswith("}\n")
    assert more.megabytes < one.megabytes + ROOM
