"""How long replay and its questions take, a call, against a plain loop over the same records.

    python tests/benchmarks/bench_replay.py [calls] [calls a turn] [which ...]

The plain loop is what any replay has to do: write the messages of every turn from its outcomes, and
take their digest. Everything else (reading and classifying again, compiling, driving the scheduler,
comparing) is what toolflow adds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from recorded_runs import PureRun, message_of, plan_of, recording_of

from toolflow.model import Recording
from toolflow.recording import diff_recordings, replay, sweep, what_if
from toolflow.recording.committed import message_digest, written_messages
from toolflow.recording.walking import Walk

TOOLS = ("look", "read", "look", "write", "grind", "look", "read", "look", "look", "build")


def main() -> None:
    """Measure and print."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    recording = made(total // size, size)
    calls = sum(len(turn.turn.calls) for turn in recording.turns)
    print(f"{calls} calls in {len(recording.turns)} turns")
    plain = timed(lambda: loop(recording))
    report("plain loop", plain, plain, calls)
    for name, work in (
        ("replay", lambda: replay(recording)),
        ("what_if, pool 2", lambda: what_if(recording, pool=2)),
        ("sweep, 4 sizes", lambda: sweep(recording, [1, 2, 4, 8])),
        ("diff with itself", lambda: diff_recordings(recording, recording)),
        ("walk", lambda: walk(recording)),
    ):
        if not sys.argv[3:] or name.split(",")[0].split(" ")[0] in sys.argv[3:]:
            report(name, timed(work), plain, calls)


def made(turns: int, size: int) -> Recording:
    """A recording of different turns."""
    found = []
    for number in range(turns):
        calls = [(TOOLS[at % len(TOOLS)], f"{number}-{at % 37}") for at in range(size)]
        turn = PureRun(plan_of(message_of(calls)), lambda count: count - 1).run()
        found.append(replace(turn, turn=replace(turn.turn, id=f"turn-{number + 1}")))
    return recording_of(*found)


def loop(recording: Recording) -> None:
    """Write the messages of every turn, and take their digest."""
    for turn in recording.turns:
        messages = written_messages(turn.turn, turn.outcomes)
        assert messages is not None
        message_digest(messages)


def walk(recording: Recording) -> None:
    """Tell a scheduler every fact, without looking at it in between."""
    for turn in recording.turns:
        walking = Walk(turn)
        while not walking.over:
            walking.step()


def timed(work: Callable[[], object]) -> float:
    """The best of two, in seconds of this process, so that others on the machine disturb little."""
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def report(name: str, seconds: float, plain: float, calls: int) -> None:
    """Print a line."""
    each = seconds / calls * 1e6
    print(f"{name:<18} {seconds:7.3f} s  {each:7.2f} us a call  {seconds / plain:6.1f} x")


if __name__ == "__main__":
    main()
