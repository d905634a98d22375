"""How much a turn costs beside its bodies: ``python tests/benchmarks/bench_turn.py [--quick]``.

A whole turn (read, classify, compile, run no-op bodies, write the results, put the record together)
is measured against ``asyncio.gather`` of the same bodies, in the same process and the same rounds,
so that the ratio hardly depends on the machine. Times are processor times of this process, so
others on the machine disturb little, and the best of several rounds counts. ``journal`` is what the
same turn costs more with a journal in a file (``--durability``, by default ``batch``), its plan
included: the median over the rounds of the difference to the same turn without one, right before
and after it. Peak memory is measured in a round of its own, since measuring it slows everything
down.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import toolflow
from toolflow.compiler import compile_plan
from toolflow.formats import read_turn, write_turn
from toolflow.recording.journal import Durability, Journal, open_journal
from toolflow.runtime.executor import Executor
from toolflow.runtime.options import RunOptions

POLICY = "version: 1\nrules:\n  - {tool: noop, safe: true}\n"


async def noop() -> str:
    """Do nothing."""
    return "ok"


def message(count: int) -> dict[str, Any]:
    """A Chat message of many calls, as a provider sends it."""
    calls = [
        {"id": f"call_{i}", "type": "function", "function": {"name": "noop", "arguments": "{}"}}
        for i in range(count)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


async def timed(function: Callable[[], Awaitable[Any]], times: int = 1) -> float:
    """Processor seconds that an async function takes; several in a row where it is short."""
    gc.collect()
    begin = time.process_time()
    for _ in range(times):
        await function()
    return (time.process_time() - begin) / times


async def measure(count: int, rounds: int, durability: Durability) -> dict[str, float]:
    """Measure one size of turn.

    Returns:
        Seconds a call for ``gather``, for the ``whole`` turn and for each of its parts.
    """
    tools = toolflow.Toolbox()
    tools.tool(noop)
    engine = toolflow.Engine(tools, policy=POLICY)
    sent = message(count)
    best: dict[str, float] = {}

    def keep(name: str, seconds: float) -> None:
        best[name] = min(best.get(name, seconds), seconds / count)

    times = max(1, 200 // count)
    added = []
    with TemporaryDirectory() as folder:
        for number in range(rounds):
            keep(
                "gather",
                await timed(lambda: asyncio.gather(*[noop() for _ in range(count)]), times),
            )
            before = await timed(lambda: whole(engine, sent), times)
            path = Path(folder) / f"{number}.jsonl"
            with open_journal(path, durability=durability) as journal:
                written = await timed(lambda: whole(engine, sent, journal), times)
            after = await timed(lambda: whole(engine, sent), times)
            keep("whole", min(before, after))
            added.append((written - (before + after) / 2) / count)
            for name, seconds in (await parts(engine, sent)).items():
                keep(name, seconds)
    return best | {"journal": median(added)}


async def whole(
    engine: toolflow.Engine, sent: dict[str, Any], journal: Journal | None = None
) -> None:
    """A whole turn, as a harness runs it, with its record."""
    result = await engine.run(engine.plan(read_turn(sent)), journal=journal)
    assert result.ok
    assert len(result.events) > 0
    assert len(result.times) == len(result.outcomes)


async def parts(engine: toolflow.Engine, sent: dict[str, Any]) -> dict[str, float]:
    """The parts of a turn, one after the other, in seconds."""
    marks = [time.process_time()]
    turn = read_turn(sent)
    marks.append(time.process_time())
    batch = engine.policy.classify(turn, engine.tools)
    marks.append(time.process_time())
    plan = compile_plan(batch)
    marks.append(time.process_time())
    report = await Executor(plan, engine.tools, engine.locks, RunOptions()).run()
    marks.append(time.process_time())
    write_turn(turn, [outcome for outcome in report.outcomes if outcome is not None])
    marks.append(time.process_time())
    assert report.events
    assert report.times
    marks.append(time.process_time())
    names = ("read", "classify", "compile", "run", "write", "record")
    return {name: b - a for name, a, b in zip(names, marks, marks[1:], strict=False)}


def peak_memory(count: int) -> float:
    """The most memory that a turn needs beyond what was there, in bytes a call."""
    tools = toolflow.Toolbox()
    tools.tool(noop)
    engine = toolflow.Engine(tools, policy=POLICY)
    sent = message(count)
    asyncio.run(whole(engine, message(1)))
    tracemalloc.start()
    asyncio.run(whole(engine, sent))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / count


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller turns")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--durability", default="batch", choices=["none", "batch", "strict"])
    options = parser.parse_args()
    sizes = {1: 10, 10: 20, 100: 20, 1_000: 10} if options.quick else {
        1: 30, 10: 60, 100: 60, 1_000: 30, 10_000: 6
    }  # fmt: skip
    rows = []
    for count, rounds in sizes.items():
        best = asyncio.run(measure(count, rounds, options.durability))
        row: dict[str, Any] = {"calls": count, "ratio": round(best["whole"] / best["gather"], 2)}
        row |= {name: round(seconds * 1e6, 2) for name, seconds in best.items()}
        rows.append(row | {"bytes": round(peak_memory(count))})
    if options.json:
        print(json.dumps(rows))
        return
    names = list(rows[0])
    print(" ".join(f"{name:>9}" for name in names), "  (microseconds and bytes a call)")
    for row in rows:
        print(" ".join(f"{row[name]:>9}" for name in names))
    if len(rows) > 1 and rows[-1]["calls"] == 10_000:
        growth = rows[-1]["whole"] / rows[-2]["whole"]
        print(f"a call of 10,000 costs {growth:.2f} times one of 1,000")
    print(f"overhead of a turn of 10 calls: {10 * (rows[1]['whole'] - rows[1]['gather']):.0f} µs")


if __name__ == "__main__":
    main()
