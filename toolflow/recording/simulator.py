"""What a run of a plan would look like, given how long each call takes: virtual time, no loop.

The scheduler that decides in real runs decides here too; this module only keeps a heap of the ends
of running calls. Nothing is random: equal ends come in the order in which the calls started.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from toolflow.errors import UsageError
from toolflow.model.batch import Limits
from toolflow.model.outcome import Times
from toolflow.model.plan import PlanData
from toolflow.scheduler import Decision, Scheduler


@dataclass(frozen=True, slots=True)
class Simulation:
    """A run of a plan in virtual time.

    Attributes:
        names: The names of the calls, in call order.
        times: When things happen to each call, in seconds: ``queued`` when nothing but a permit
            or a resource keeps it from starting, ``started`` when it starts, ``stopped`` when it
            ends. Calls that do not run have only ``settled``, or nothing.
        order: Names in the order in which the calls start.
        finished: Names in the order in which the calls end.
        skipped: Names of calls that settle without running, in call order; calls that the plan
            settles are not among them.
        total: Seconds from the begin of the run to the end of the last call.
    """

    names: tuple[str, ...]
    times: tuple[Times, ...]
    order: tuple[str, ...]
    finished: tuple[str, ...]
    skipped: tuple[str, ...]
    total: float

    @property
    def starts(self) -> Mapping[str, float]:
        """When each call that runs starts, in the order in which they start."""
        by_name = dict(zip(self.names, self.times, strict=True))
        return {name: by_name[name].started or 0.0 for name in self.order}

    @property
    def ends(self) -> Mapping[str, float]:
        """When each call that runs ends, in the order in which they end."""
        by_name = dict(zip(self.names, self.times, strict=True))
        return {name: by_name[name].stopped or 0.0 for name in self.finished}

    @property
    def waiting(self) -> Mapping[str, float]:
        """How long each call that runs waits for a permit or a resource, in call order."""
        return {
            name: times.started - (times.queued or 0.0)
            for name, times in zip(self.names, self.times, strict=True)
            if times.started is not None
        }


def simulate(
    plan: PlanData,
    durations: Mapping[str, float],
    *,
    pool: int | None = None,
    failed: Collection[str] = (),
    declined: Collection[str] = (),
) -> Simulation:
    """Run a plan in virtual time.

    Questions are answered at once, stop points are passed, and no key is held by another run. The
    cost grows with n log n for n calls.

    Args:
        plan: The plan.
        durations: Seconds that each call takes, by its name; calls not named take none.
        pool: How many calls run at once; ``None`` for the plan's own limit.
        failed: Names of calls that fail; it counts where ``on_error: stop`` stands.
        declined: Names of calls whose question is answered with no.

    Returns:
        Who starts and ends when, and in which order.

    Raises:
        UsageError: If a name is unknown, a duration is not a number of at least 0, or the pool is
            not an integer of at least 1.
    """
    index = {call.name: call.index for call in plan.calls}
    for name in (*durations, *failed, *declined):
        if name not in index:
            raise UsageError(f"{name!r} is no call of {plan.turn_id!r}. Use {_listed(index)}.")
    seconds = [0.0] * len(plan.calls)
    for name, value in durations.items():
        seconds[index[name]] = _seconds(name, value)
    if pool is not None:
        plan = replace(plan, limits=Limits(pool, plan.limits.resources))
    run = _Run(plan, seconds, {index[name] for name in failed}, {index[n] for n in declined})
    return run.simulation()


class _Run:
    """The state of one simulation."""

    def __init__(
        self, plan: PlanData, seconds: list[float], failed: set[int], declined: set[int]
    ) -> None:
        self._plan = plan
        self._seconds = seconds
        self._failed = failed
        self._declined = declined
        self._scheduler = Scheduler(plan, approver=True)
        self._heap: list[tuple[float, int, int]] = []
        self._now = 0.0
        self._started: dict[int, float] = {}
        self._ended: dict[int, float] = {}
        self._settled: dict[int, float] = {}

    def simulation(self) -> Simulation:
        """Run to the end."""
        self._scheduler.begin()
        self._carry_out()
        while self._heap:
            self._now, _, index = heappop(self._heap)
            self._ended[index] = self._now
            self._scheduler.stopped(index, failed=index in self._failed)
            self._carry_out()
        names = tuple(call.name for call in self._plan.calls)
        return Simulation(
            names,
            self._times(),
            tuple(names[i] for i in self._started),
            tuple(names[i] for i in self._ended),
            tuple(names[i] for i in sorted(self._settled)),
            max(self._ended.values(), default=0.0),
        )

    def _carry_out(self) -> None:
        while decisions := self._scheduler.take():
            for decision in decisions:
                self._one(decision)

    def _one(self, decision: Decision) -> None:
        index = decision.call
        if decision.kind == "start":
            self._scheduler.started(index)
            end = self._now + self._seconds[index]
            heappush(self._heap, (end, len(self._started), index))
            self._started[index] = self._now
        elif decision.kind == "settle":
            self._settled[index] = self._now
        elif decision.kind == "ask":
            approved = index not in self._declined
            if not approved:
                self._settled[index] = self._now
            self._scheduler.answered(index, approved=approved)

    def _times(self) -> tuple[Times, ...]:
        ready = _ready(self._plan, self._ended)
        found = []
        for index in range(len(self._plan.calls)):
            start, end = self._started.get(index), self._ended.get(index)
            if start is None:
                found.append(Times(settled=self._settled.get(index)))
            else:
                found.append(Times(ready[index], start, start, end, end))
        return tuple(found)


def _ready(plan: PlanData, ended: Mapping[int, float]) -> list[float]:
    """When everything that each call waits for in the plan has ended."""
    ready = [0.0] * len(plan.calls)
    last = 0.0
    for node in plan.nodes:
        if node.kind != "settled":
            for index in node.calls:
                ready[index] = last
            last = max([last, *(ended.get(index, 0.0) for index in node.calls)])
    index_of = {call.name: call.index for call in plan.calls}
    opens = {gate.name: 0.0 for gate in plan.gates}
    for before, after in _key_edges(plan):
        end = opens[before] if before in opens else ended.get(index_of[before], 0.0)
        if after in opens:
            opens[after] = max(opens[after], end)
        else:
            ready[index_of[after]] = max(ready[index_of[after]], end)
    return ready


def _key_edges(plan: PlanData) -> list[tuple[str, str]]:
    """The key edges, those into gates first, and of two gates the one before first."""
    place = {gate.name: number for number, gate in enumerate(plan.gates)}
    pairs = [(edge.before, edge.after) for edge in plan.edges if edge.kind == "key"]
    into = [pair for pair in pairs if pair[1] in place]
    rest = [pair for pair in pairs if pair[1] not in place]
    return [*sorted(into, key=lambda pair: place[pair[1]]), *rest]


def _seconds(name: str, value: object) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value < float("inf"):  # type: ignore[operator]  # a number by now
        raise UsageError(f"durations: {name!r} is {value!r}. Use seconds, at least 0.")
    return float(value)  # type: ignore[arg-type]  # as above


def _listed(index: Mapping[str, int]) -> str:
    return ", ".join(map(repr, index)) or "no names: it has no calls"
