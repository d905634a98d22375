"""Large logs in little memory: ``python tests/benchmarks/big_logs.py [--size MB] [FORMAT ...]``.

Makes a log of so many megabytes in a temporary place, imports it in a process of its own, and
prints how long that took and the most memory that the process had (its resident set, as the system
tells it): once looking through it, once writing a recording. More than ``--limit`` megabytes, or
another number of turns or calls than were written, makes the exit code 1. With ``--small``
arguments and results are a word each, so that there are as many lines as can be.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from large_logs import LARGE, write_log

MB = 1_000_000


def imported(log: Path, to: Path | None) -> tuple[dict[str, Any], float, float]:
    """Import a log in a process of its own.

    Returns:
        The summary, the seconds of processor time, and the peak of the resident set in MB.
    """
    command = [sys.executable, "-m", "toolflow", "import", str(log), "--output", "json"]
    if to is not None:
        command += ["--to", str(to)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the import ended with {process.returncode}")
    kilobytes = used.ru_maxrss if sys.platform != "darwin" else used.ru_maxrss / 1024
    return json.loads(text), used.ru_utime + used.ru_stime, kilobytes * 1024 / MB


def main() -> int:
    """Print a line for each log and way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", help="formats; all where none is named")
    parser.add_argument("--size", type=int, default=1000, help="megabytes of the log")
    parser.add_argument("--to", choices=("json", "yaml"), default="json", help="kind of recording")
    parser.add_argument("--limit", type=int, default=200, help="megabytes of memory at most")
    parser.add_argument("--look", action="store_true", help="write no recording")
    parser.add_argument("--small", action="store_true", help="many small lines")
    given = parser.parse_args()
    failed = False
    for form in given.formats or LARGE:
        with tempfile.TemporaryDirectory(prefix="large") as folder:
            log = Path(folder) / "log.jsonl"
            begin = time.monotonic()
            turns, calls = write_log(log, form, given.size * MB, small=given.small)
            size = log.stat().st_size / MB
            made = time.monotonic() - begin
            about = f"{size:.0f} MB, {turns} turns, {calls} calls"
            print(f"{form}: {about}, made in {made:.0f} s", flush=True)
            for to in (None,) if given.look else (None, Path(folder) / f"recording.{given.to}"):
                found, seconds, peak = imported(log, to)
                way = "looked through" if to is None else f"recorded as {given.to}"
                print(f"  {way}: {seconds:.0f} s, {size / seconds:.1f} MB/s, {peak:.0f} MB", end="")
                if to is not None:
                    print(f", {to.stat().st_size / MB:.0f} MB written", end="")
                right = (found["turns"], found["calls"], found["results"]) == (turns, calls, calls)
                right = right and not found["oddities"]
                print("" if right else f", NOT what was written: {found}", flush=True)
                failed = failed or not right or peak > given.limit
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
