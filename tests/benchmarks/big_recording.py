"""Large recordings in little memory: ``python tests/benchmarks/big_recording.py [--size MB]``.

Writes a recording of so many megabytes in a temporary place, turn by turn, as YAML and as JSON, and
replays and audits each in a process of its own; prints how long that took and the most memory that
the process had (its resident set, as the system tells it). More than ``--limit`` megabytes, or a
report that is not about all turns, makes the exit code 1. With ``--small`` arguments and results
are a word each, so that there are as many turns as can be.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from large_recordings import write_recording
from peaks import MB, peak

from toolflow.policy.shelf import SHIPPED, shipped_names


def main() -> int:
    """Print a line for each recording and command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("forms", nargs="*", help="yaml, json; both where none is named")
    parser.add_argument("--size", type=int, default=1000, help="megabytes of the recording")
    parser.add_argument("--limit", type=int, default=200, help="megabytes of memory at most")
    parser.add_argument("--small", action="store_true", help="many small turns")
    parser.add_argument("--audit", action="store_true", help="audit it, too")
    given = parser.parse_args()
    failed = False
    for form in given.forms or ("yaml", "json"):
        with tempfile.TemporaryDirectory(prefix="large") as folder:
            path = Path(folder) / f"recording.{form}"
            begin = time.monotonic()
            turns, calls = write_recording(path, given.size * MB, small=given.small)
            size, made = path.stat().st_size / MB, time.monotonic() - begin
            about = f"{size:.0f} MB, {turns} turns, {calls} calls"
            print(f"{form}: {about}, made in {made:.0f} s", flush=True)
            commands = [["replay", str(path)]]
            if given.audit:
                commands.append(["audit", str(path), "-p", f"{SHIPPED}{shipped_names()[0]}"])
            for words in commands:
                out, seconds, most = peak(*words)
                right = words[0] != "replay" or out.endswith(
                    f"\n{turns} turns replayed, {turns} of them compared: no divergence.\n"
                )
                rate = f"{size / seconds:.1f} MB/s"
                print(f"  {words[0]}: {seconds:.0f} s, {rate}, {most:.0f} MB", end="")
                print("" if right else f", NOT all turns: {out[-200:]}", flush=True)
                failed = failed or not right or most > given.limit
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
