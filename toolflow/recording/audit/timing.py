"""How long the calls of a turn took, and how long the turn would have taken under a policy.

A recording of our own holds the begin and the end of each body. The log of another program mostly
holds the time of the line of a call and that of the line of its result. What lies between is more
than the body: the rest of the message was still being written, a person was asked, other calls were
waited for. Nothing of that can be told apart, so such a log is read in two ways, and what comes out
is a range:

* **whole**: each call took all the time from its line to its result. True where the calls ran side
  by side; too much where they ran one after the other.
* **own**: each call began when the result before it had come. True where the calls ran one after
  the other; too little where they ran side by side.

One more thing is no time of a call: from the first call of a message to its last one the model is
still writing. Where no result came before the last call, all calls count from the last one on;
else each counts from its own line, and what would have taken less than a call's line came later
is not counted as won.

Some logs have measured some bodies. What a call took is then that (`seconds_of`); the two readings
do not use it, since nobody knows what the rest of the time was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolflow.compiler import Plan
from toolflow.model.batch import Limits
from toolflow.model.outcome import Outcome, Times
from toolflow.model.recording import RecordedTurn
from toolflow.recording.audit.order import Span
from toolflow.recording.audit.values import Clock, Reading, TurnTime
from toolflow.recording.simulator import Simulation, simulate

_RAN = frozenset({"ok", "failed", "timed_out", "aborted", "running"})


def has_run(outcome: Outcome | None) -> bool:
    """Whether an outcome says that a body was entered, and that it ended or was left alone."""
    return outcome is not None and outcome.status in _RAN


def clock_of(recorded: RecordedTurn) -> Clock:
    """What the times of a turn are: those of bodies, or those of lines of a log."""
    bodies = any(times.stopped is not None for times in recorded.times)
    return "run" if bodies or recorded.events else "log"


def spans_of(recorded: RecordedTurn) -> tuple[Span | None, ...]:
    """When each call was open, in seconds since the turn began.

    Args:
        recorded: The turn.

    Returns:
        One entry a call; ``None`` where it did not run, or one of its times is not known.
    """
    known = len(recorded.times) == len(recorded.outcomes)
    times = recorded.times if known else (Times(),) * len(recorded.outcomes)
    return tuple(
        _span(each) if has_run(outcome) else None
        for each, outcome in zip(times, recorded.outcomes, strict=True)
    )


def seconds_of(recorded: RecordedTurn, spans: Sequence[Span | None]) -> tuple[float | None, ...]:
    """How long each call took: as its log has measured it, else as long as it was open.

    Args:
        recorded: The turn.
        spans: What `spans_of` gives for it.

    Returns:
        One entry a call; ``None`` where it did not run, or that is not known.
    """
    results = enumerate(recorded.results)
    known = {at: each.seconds for at, each in results if each and each.seconds is not None}
    return tuple(
        None if span is None else known.get(at, span[1] - span[0]) for at, span in enumerate(spans)
    )


def time_of(recorded: RecordedTurn, plan: Plan, spans: Sequence[Span | None]) -> TurnTime | None:
    """The time of a turn.

    Args:
        recorded: The turn.
        plan: Its plan under the policy.
        spans: What `spans_of` gives for it.

    Returns:
        Its time; ``None`` where no call ran, or one that did has not both of its times. Calls that
        the policy answers without running are left out.
    """
    ran = [call for call in plan.calls if has_run(recorded.outcomes[call.index])]
    ran = [call for call in ran if call.verdict.kind != "settled"]
    open_ = {call.index: span for call in ran if (span := spans[call.index]) is not None}
    if not ran or len(open_) < len(ran):
        return None
    clock = clock_of(recorded)
    begins = _begins(open_) if clock == "log" else {at: span[0] for at, span in open_.items()}
    end = max(span[1] for span in open_.values())
    wall, zero = end - min(span[0] for span in open_.values()), min(begins.values())
    if clock == "run":
        begins = dict.fromkeys(
            begins, zero
        )  # a call that started late was not yet to be waited for
        seconds = {at: span[1] - span[0] for at, span in open_.items()}
        exact = _reading(plan, seconds, begins, end)
        return TurnTime(clock, wall, wall, exact, exact)
    most, least = {at: open_[at][1] - begins[at] for at in open_}, _own(open_, begins)
    whole = _reading(plan, most, begins, end)
    own = _reading(plan, least, begins, end) if least != most else whole
    return TurnTime(clock, wall, end - zero, whole, own)


def _span(times: Times) -> Span | None:
    end = times.settled if times.stopped is None else times.stopped
    if times.started is None or end is None:
        return None
    sane = math.isfinite(times.started) and math.isfinite(end) and times.started <= end
    return (times.started, end) if sane else None


def _begins(spans: dict[int, Span]) -> dict[int, float]:
    """From when on each call counts: the last call's line, unless a result came before it."""
    last = max(span[0] for span in spans.values())
    if all(span[1] >= last for span in spans.values()):
        return dict.fromkeys(spans, last)
    return {at: span[0] for at, span in spans.items()}


def _own(spans: dict[int, Span], begins: dict[int, float]) -> dict[int, float]:
    """How long each call took if it began when the result before it had come."""
    seconds, before = {}, 0.0
    for end, at in sorted((span[1], at) for at, span in spans.items()):
        seconds[at] = end - min(end, max(begins[at], before))
        before = end
    return seconds


def _reading(
    plan: Plan, seconds: dict[int, float], begins: dict[int, float], end: float
) -> Reading:
    """Simulate the turn with these durations, counted from its first begin."""
    zero = min(begins.values())
    wall, work = end - zero, math.fsum(seconds.values())
    if len(seconds) == 1:
        return Reading(work, work, work, work, 0.0, max(0.0, wall - work), 0.0)
    named = {plan.calls[at].name: each for at, each in seconds.items()}
    critical, _ = plan.critical_path(named)
    bound = max(critical, work / plan.limits.pool)
    simulated, waited = (critical, 0.0) if _is_free(plan) else _simulated(plan, named)
    # No plan answers a call before its line is there.
    least = max(begins[at] - zero + each for at, each in seconds.items())
    total = max(simulated, least)
    won = round(wall - total, 6)
    return Reading(work, critical, bound, total, waited, max(0.0, won), max(0.0, -won))


def _is_free(plan: Plan) -> bool:
    """Whether nobody waits but for barriers: then a run takes what the critical path says."""
    pool = plan.limits.pool
    crowded = any(node.kind == "pool" and len(node.calls) > pool for node in plan.nodes)
    uses = any(call.terms.uses for call in plan.calls)
    return not crowded and not uses and not any(edge.kind == "key" for edge in plan.edges)


def _simulated(plan: Plan, seconds: Mapping[str, float]) -> tuple[float, float]:
    """How long a run takes, and how long calls wait in it for calls that they meet."""
    run = simulate(plan, seconds)
    return run.total, round(_waited(plan, run), 6)


def _waited(plan: Plan, run: Simulation) -> float:
    """How long calls waited for calls that they meet: after their node had begun."""
    if not any(edge.kind == "key" for edge in plan.edges):
        return 0.0
    total, begin = 0.0, 0.0
    for node in plan.nodes:
        times = [run.times[at] for at in node.calls if node.kind != "settled"]
        total += sum(each.queued - begin for each in times if each.queued is not None)
        begin = max([begin, *(each.stopped for each in times if each.stopped is not None)])
    return total


def with_pool(plan: Plan, pool: int | None) -> Plan:
    """The plan with another pool; the limits that it was compiled with stay otherwise."""
    return plan if pool is None else replace(plan, limits=Limits(pool, plan.limits.resources))
