"""Ten thousand made turns of each format: ``python tests/benchmarks/round_trips.py [FORMAT ...]``.

The long form of ``tests/property/test_round_trips.py``: each turn is written, read and held against
itself; with ``--sdks`` what is written also goes through the types of the official SDKs.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from made_turns import MAKERS, made
from round_trips import same_again
from sdk_types import CHECKS

from toolflow.formats import write_turn


def main() -> int:
    """Print a line for each format; the exit code is 1 if a turn was not the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", help="formats; all where none is named")
    parser.add_argument("--count", type=int, default=10_000, help="turns of each format")
    parser.add_argument("--sdks", action="store_true", help="check with the SDKs' types too")
    given = parser.parse_args()
    failed = 0
    for form in given.formats or MAKERS:
        begin, calls, bad = time.process_time(), 0, []
        for number in range(given.count):
            turn, outcomes = made(form, number)
            calls += len(turn.calls)
            try:
                same_again(turn, outcomes)
                if given.sdks and form in CHECKS:
                    CHECKS[form](*write_turn(turn, outcomes, texts=["go on"]))
            except Exception as error:  # whatever it is, its number is told
                bad.append(number)
                print(f"  {form} {number}: {type(error).__name__}: {str(error)[:200]}")
        seconds = time.process_time() - begin
        count = given.count
        print(f"{form}: {count} turns, {calls} calls, {len(bad)} not the same, {seconds:.0f} s")
        failed += len(bad)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
