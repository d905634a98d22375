"""How wide should the pool be: the turns of a recording under one pool size after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from toolflow.errors import UsageError
from toolflow.model.recording import Recording
from toolflow.model.tool import Catalog
from toolflow.policy import Policy
from toolflow.recording.asking import Missing, filled, filler, planned
from toolflow.recording.durations import body_seconds, whole_turns
from toolflow.recording.projection import project
from toolflow.recording.rules import Rules
from toolflow.recording.turn_reader import TurnSource, head_of, turns_of

PAYS = 0.01  # a wider pool pays if it is faster by more than this part
_MOST = 1000


@dataclass(frozen=True, slots=True)
class SweepRow:
    """All turns under one pool size.

    Attributes:
        pool: How many calls of one turn run at once.
        total: Seconds of all turns, one after the other.
        speedup: How many times as fast as one call at a time.
        utilisation: The part of the permits' time in which bodies ran, from 0 to 1.
        waiting: Seconds that calls wait for a permit or a resource, all together.
    """

    pool: int
    total: float
    speedup: float
    utilisation: float
    waiting: float

    def data(self) -> dict[str, Any]:
        """The row as JSON values."""
        return {
            "pool": self.pool,
            "total": round(self.total, 6),
            "speedup": round(self.speedup, 4),
            "utilisation": round(self.utilisation, 4),
            "waiting": round(self.waiting, 6),
        }


@dataclass(frozen=True, slots=True)
class Sweep:
    """The turns of a recording under several pool sizes.

    Attributes:
        rows: One for each pool size, ascending.
        serial: Seconds of all turns with one call at a time.
        work: Seconds of all bodies together.
        critical_seconds: Seconds of the critical paths of all turns: no pool is faster.
        unknown: How many calls that ran have no recorded time.
    """

    rows: tuple[SweepRow, ...]
    serial: float
    work: float
    critical_seconds: float
    unknown: int

    @property
    def enough(self) -> int:
        """The smallest pool whose total is within 1 % of the fastest one here."""
        best = min(row.total for row in self.rows)
        return next(row.pool for row in self.rows if row.total <= best * (1 + PAYS))

    def data(self) -> dict[str, Any]:
        """The table as JSON values."""
        return {
            "rows": [row.data() for row in self.rows],
            "enough": self.enough,
            "serial": round(self.serial, 6),
            "work": round(self.work, 6),
            "critical_path": round(self.critical_seconds, 6),
            "without_time": self.unknown,
        }


def sweep(
    recording: Recording | TurnSource,
    pools: Iterable[int],
    *,
    policy: Policy | None = None,
    resources: Mapping[str, int] | None = None,
    tools: Catalog | None = None,
    cwd: str | None = None,
    missing: Missing = "zero",
) -> Sweep:
    """Run the turns of a recording in virtual time under several pool sizes.

    Args:
        recording: The recording, or the reader of one, of which no turn is kept.
        pools: The pool sizes, integers of at least 1; doubled ones count once.
        policy: As for `what_if`.
        resources: As for `what_if`.
        tools: As for `what_if`.
        cwd: As for `what_if`.
        missing: As for `what_if`.

    Returns:
        What each size would bring.

    Raises:
        UsageError: If there is no pool size, more than 1,000 of them, or one that is no integer
            of at least 1; else as for `what_if`.
    """
    sizes = _sizes(pools)
    rules = Rules(head_of(recording), policy, tools, cwd=cwd, pool=None, resources=resources)
    fill = filler(turns_of(recording), missing)
    totals, waits = dict.fromkeys({1, *sizes}, 0.0), dict.fromkeys({1, *sizes}, 0.0)
    work = critical = 0.0
    unknown = 0
    for recorded in whole_turns(turns_of(recording)):
        plan, seconds = planned(rules, recorded), filled(recorded, fill)
        runs = {size: project(plan, seconds, recorded.outcomes, pool=size) for size in totals}
        for size, run in runs.items():
            totals[size] += run.total
            waits[size] += run.waiting
        work, critical = work + runs[1].work, critical + runs[1].critical_seconds
        known = body_seconds(recorded)
        unknown += sum(known[index] is None for index in runs[1].ran)
    rows = tuple(
        SweepRow(
            size,
            totals[size],
            totals[1] / totals[size] if totals[size] else 1.0,
            work / (size * totals[size]) if totals[size] else 0.0,
            waits[size],
        )
        for size in sizes
    )
    return Sweep(rows, totals[1], work, critical, unknown)


def _sizes(pools: Iterable[int]) -> list[int]:
    sizes = sorted(set(pools))
    if not sizes:
        raise UsageError("The sweep has no pool size. Use integers of at least 1.")
    if len(sizes) > _MOST:
        raise UsageError(f"The sweep has {len(sizes)} pool sizes. Use at most {_MOST}.")
    for size in sizes:
        if type(size) is not int or size < 1:
            raise UsageError(f"The sweep has a pool of {size!r}. Use integers of at least 1.")
    return sizes
