"""Large recordings: turns of real runs, as many as are asked for, written one at a time.

A turn has one to three calls with arguments of some hundred bytes and results of some thousand, as
sessions of coding agents have them; of ``small`` ones with a word each. Each was classified,
compiled and driven through the scheduler, so a replay has everything to compare. No two are alike,
and nothing is drawn by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorded_runs import POLICY, PureRun, recording_of

from toolflow.compiler import compile_plan
from toolflow.formats import read_turn
from toolflow.model import Outcome, RecordedTurn
from toolflow.policy import load_policy
from toolflow.recording.committed import committed_of, written_messages
from toolflow.recording.writing import save_turns

_LINE = "def function(value):\n    return value + 1  # a line of a file, as tools give them\n"
_TOOLS = ("look", "write", "grind")
_POLICY = load_policy(POLICY)


def large_turn(number: int, *, small: bool = False) -> RecordedTurn:
    """One turn.

    Args:
        number: Which, counted from 0.
        small: Whether arguments and results are a word each.
    """
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "ok" if small else _LINE}]
    for place in range(1 + number % 3):
        more = {} if small else {"note": _LINE}
        args = {"path": f"src/module_{number}_{place}.py", **more}
        name = f"toolu_{number:09d}{place}"
        blocks.append({"type": "tool_use", "id": name, "name": _TOOLS[place], "input": args})
    turn = read_turn({"role": "assistant", "content": blocks}, turn_id=f"turn-{number + 1}")
    plan = compile_plan(_POLICY.classify(turn, cwd="/repo"))
    run = PureRun(plan, lambda count: count - 1).run()
    text = f"{number}\n" + ("" if small else _LINE * (10 + number * 7 % 60))
    outcomes = tuple(Outcome("ok", f"{place} {text}") for place in range(len(turn.calls)))
    messages = written_messages(turn, outcomes) or ()
    return replace(
        run,
        turn=turn,
        outcomes=outcomes,
        messages=messages,
        committed=committed_of(turn, outcomes, messages),
    )


def write_recording(path: Path, size: int, *, small: bool = False) -> tuple[int, int]:
    """Write a recording, turn by turn.

    Args:
        path: The file; its ending says whether it is YAML or JSON.
        size: About how many bytes.
        small: As for `large_turn`.

    Returns:
        How many turns and calls are in it.
    """
    turns = calls = 0

    def made() -> Iterator[RecordedTurn]:
        nonlocal turns, calls
        each = _bytes_of_a_turn(path, small=small)
        while turns * each < size:
            turn = large_turn(turns, small=small)
            turns, calls = turns + 1, calls + len(turn.turn.calls)
            yield turn

    save_turns(made(), lambda: replace(recording_of(), turns=()), path)
    return turns, calls


def _bytes_of_a_turn(path: Path, *, small: bool) -> float:
    """How many bytes a turn has in a file of that name, as the first sixty show it."""
    sample = path.with_name(f"sample{path.suffix}")
    count = save_turns((large_turn(n, small=small) for n in range(60)), recording_of, sample)
    size = sample.stat().st_size
    sample.unlink()
    return size / count
