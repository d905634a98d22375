"""The data of a page: what is written today is what was looked at and found good.

After a change that was meant, write it anew with ``TOOLFLOW_GOLDEN=write`` and look at it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import reported

FILE = Path(__file__).parent / "render" / "report.json"


def test_the_data_of_a_page_is_what_was_found_good() -> None:
    data = reported.page_of(reported.session(reported.nine())).data
    del data["states"]  # told by `toolflow.render.style`
    text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
    if os.environ.get("TOOLFLOW_GOLDEN") == "write":
        FILE.write_bytes(text.encode())
    assert FILE.read_bytes() == text.encode()
