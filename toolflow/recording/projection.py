"""A plan with its run in virtual time, and what bounds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from toolflow.compiler import Plan
from toolflow.model.outcome import Outcome
from toolflow.model.plan import PlanData
from toolflow.recording.simulator import Simulation, simulate


@dataclass(frozen=True, slots=True)
class Projection:
    """How a plan runs in virtual time.

    Attributes:
        plan: The plan.
        simulation: Its run: who starts and ends when.
        critical_path: Names of the calls of the longest chain.
        critical_seconds: How long that chain takes.
        lower_bound: max(critical path, work / pool): no run is shorter (spec 15).
        work: Seconds of all bodies together.
    """

    plan: Plan
    simulation: Simulation
    critical_path: tuple[str, ...]
    critical_seconds: float
    lower_bound: float
    work: float

    @property
    def total(self) -> float:
        """Seconds from the begin of the run to the end of the last call."""
        return self.simulation.total

    @property
    def waiting(self) -> float:
        """Seconds that calls wait for a permit or a resource, all together."""
        return sum(self.simulation.waiting.values())

    @property
    def ran(self) -> frozenset[int]:
        """Indexes of the calls that run."""
        times = enumerate(self.simulation.times)
        return frozenset(index for index, each in times if each.started is not None)


def project(
    plan: Plan,
    seconds: Sequence[float],
    outcomes: Sequence[Outcome | None] = (),
    *,
    pool: int | None = None,
) -> Projection:
    """Run a plan in virtual time.

    Args:
        plan: The plan.
        seconds: How long each call takes, in call order.
        outcomes: How each call settled in the record: what failed fails again, which counts where
            ``on_error: stop`` stands, and what was declined is declined again.
        pool: Another pool than the plan's own.

    Returns:
        The run, with its bounds.

    Raises:
        UsageError: If the pool is not an integer of at least 1.
    """
    names = [call.name for call in plan.calls]
    statuses = [None if outcome is None else outcome.status for outcome in outcomes]
    pairs = list(zip(names, statuses, strict=False))
    run = simulate(
        plan,
        dict(zip(names, seconds, strict=True)),
        pool=pool,
        failed=[name for name, status in pairs if status in {"failed", "timed_out"}],
        declined=[name for name, status in pairs if status == "declined"],
    )
    by_name = dict(zip(names, seconds, strict=True))
    took = {name: by_name[name] for name in run.order}
    longest, chain = plan.critical_path(took)
    bound = plan.lower_bound(took, pool)
    return Projection(plan, run, chain, longest, bound, sum(took.values()))


def as_plan(plan: PlanData) -> Plan:
    """A plan with its answers."""
    if isinstance(plan, Plan):
        return plan
    return Plan(**{field.name: getattr(plan, field.name) for field in fields(PlanData)})
