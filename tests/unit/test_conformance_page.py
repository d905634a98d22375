"""The page of conformance numbers is what its script makes of the tests."""

from __future__ import annotations

import runpy
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "conformance" / "table.py"


def test_the_page_is_up_to_date() -> None:
    made = runpy.run_path(str(SCRIPT))
    assert made["PAGE"].read_text("utf-8") == made["page"]()
