"""The long form of the random tests of `shell_effects`.

    python tests/benchmarks/fuzz_shell.py [LINES] [SEED]

Judges LINES random lines (200,000 by default), and runs each that is judged reading, once, in a
folder of its own: whatever changes there is a fault. Also tells how long the slowest took.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from shell_soup import Folder, sensible, soup, with_options

from toolflow.policy.shell import shell_effects


def main(lines: int = 200_000, seed: int = 1) -> int:
    """Run, and end with 1 if a line that was judged reading changed a file."""
    choice = random.Random(seed)
    ran: set[str] = set()
    faults, slowest = 0, (0.0, "")
    with tempfile.TemporaryDirectory() as top:
        folder = Folder(Path(top))
        for number in range(lines):
            line = (soup, sensible, with_options)[number % 3](choice)
            start = time.perf_counter()
            effects = shell_effects(line)
            slowest = max(slowest, (time.perf_counter() - start, line))
            if effects.reads_only and line not in ran:
                ran.add(line)
                if folder.changed_by(line):
                    faults += 1
                    print(f"judged reading, but writes: {line!r}")
                    break
    print(f"{lines} lines, {len(ran)} judged reading and run, {faults} faults")
    print(f"slowest: {slowest[0] * 1e3:.1f} ms for {slowest[1]!r}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
