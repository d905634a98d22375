"""Agents that share one workspace: keys of files against one global lock.

``python tests/benchmarks/bench_agents.py [--json] [--real]``. K agents run turns of reads, edits
and searches over the same files, at once; the same turns run with keys of files, with one key for
everything, and with no keys at all (which loses edits, and says what the rest of the machinery
would allow). In virtual time, so the ratios say what the locks allow and do not depend on the
machine; ``--real`` sleeps for real, with the overhead of everything.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from functools import partial
from typing import Any

import anyio

from toolflow.engine import Engine
from toolflow.locks import MemoryStore
from toolflow.model.turn import Call, Turn
from toolflow.policy import Policy, load_policy
from toolflow.runtime.toolbox import Toolbox
from toolflow.testing import run_virtual

FOLDERS, FILES, TURNS, CALLS = 4, 6, 12, (1, 5)
SECONDS = {"read": (0.01, 0.03), "edit": (0.02, 0.06), "search": (0.05, 0.2)}
SHARES = {"read": 5, "edit": 4, "search": 1}
KEYED = load_policy({
    "version": 1,
    "rules": [
        {"tool": "read", "safe": True, "reads": ["file:{{ args.path }}"]},
        {"tool": "edit", "safe": True, "writes": ["file:{{ args.path }}"]},
        {"tool": "search", "safe": True, "reads": ["file:{{ args.path }}/**"]},
    ],
})  # fmt: skip
GLOBAL = load_policy({
    "version": 1,
    "rules": [{"tool": "*", "safe": True, "writes": ["workspace"]}],
})  # fmt: skip
NONE = load_policy({"version": 1, "rules": [{"tool": "*", "safe": True, "writes": []}]})


def work(agents: int, seed: int) -> list[list[Turn]]:
    """The turns of every agent, the same for the same seed."""
    chance = random.Random(seed)  # no secret
    return [[_turn(chance, agent, n) for n in range(TURNS)] for agent in range(agents)]


def _turn(chance: random.Random, agent: int, number: int) -> Turn:
    calls = []
    for index in range(chance.randint(*CALLS)):
        tool = chance.choices(list(SHARES), list(SHARES.values()))[0]
        path = f"/repo/{chance.randrange(FOLDERS)}"
        if tool != "search":
            path += f"/{chance.randrange(FILES)}.py"
        args = {"path": path, "seconds": round(chance.uniform(*SECONDS[tool]), 3)}
        calls.append(Call(index, f"c{index}", tool, args))
    return Turn(f"agent-{agent}-{number}", tuple(calls))


def tools() -> Toolbox:
    """Tools that take their time."""
    box = Toolbox()

    async def body(path: str, seconds: float) -> None:  # keys are made of it
        await anyio.sleep(seconds)

    for name in SECONDS:
        box.tool(body, name=name)
    return box


async def total(agents: list[list[Turn]], policy: Policy) -> float:
    """Seconds until all agents have run all their turns."""
    store, box = MemoryStore(), tools()

    async def one(turns: list[Turn]) -> None:
        engine = Engine(box, policy=policy, locks=store)
        for turn in turns:
            result = await engine.run(turn)
            assert result.ok

    begun = anyio.current_time()
    async with anyio.create_task_group() as tasks:
        for turns in agents:
            tasks.start_soon(one, turns)
    return anyio.current_time() - begun


def measure(count: int, seeds: int, *, real: bool) -> dict[str, Any]:
    """One row of the table: means over several workloads."""
    run = anyio.run if real else run_virtual
    rows = []
    for seed in range(seeds):
        turns = work(count, seed)
        rows.append([run(partial(total, turns, policy)) for policy in (KEYED, GLOBAL, NONE)])
    keyed, single, none = (statistics.mean(column) for column in zip(*rows, strict=True))
    ratios = [one[1] / one[0] for one in rows]
    return {
        "agents": count,
        "keyed_s": round(keyed, 3),
        "global_s": round(single, 3),
        "no_keys_s": round(none, 3),
        "global/keyed": round(single / keyed, 2),
        "least": round(min(ratios), 2),
        "most": round(max(ratios), 2),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--real", action="store_true", help="sleep for real")
    parser.add_argument("--seeds", type=int, default=5, help="how many workloads")
    options = parser.parse_args()
    rows = [measure(count, options.seeds, real=options.real) for count in (2, 4, 8)]
    if options.json:
        print(json.dumps(rows))
        return
    print(" ".join(f"{name:>13}" for name in rows[0]))
    for row in rows:
        print(" ".join(f"{value:>13}" for value in row.values()))


if __name__ == "__main__":
    main()
