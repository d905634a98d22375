"""Lines of the conformance list that pictures keep."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import plans

from toolflow.render import dot_text

ROOT = Path(__file__).parents[2]


def test_c139_equal_plans_give_equal_dot_bytes_in_another_process_too() -> None:
    code = (
        "import plans, sys\n"
        "from toolflow.render import dot_text\n"
        "sys.stdout.buffer.write(dot_text(plans.nine()).encode())"
    )
    path = os.pathsep.join((str(ROOT), str(ROOT / "tests" / "support")))
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, check=True
        )
        assert done.stdout.decode() == dot_text(plans.nine())
