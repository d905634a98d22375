"""The sums of an audit: totals, a line a tool, the worst turns, in bounded memory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from toolflow.model.batch import Kind as VerdictKind
from toolflow.model.outcome import Outcome
from toolflow.recording.audit.values import Finding, TurnAudit

WORST = 10
"""How many of the worst turns are kept."""
SHOWN = 1000
"""How many findings are kept; all are counted."""
TOOLS = 500
"""How many tools have a line of their own."""
OTHERS = "(other tools)"


@dataclass(frozen=True, slots=True)
class Placed:
    """A turn or a finding with the log that it comes from.

    Attributes:
        log: The name of the log, as people see it.
        audit: What was found about the turn.
    """

    log: str
    audit: TurnAudit


@dataclass(frozen=True, slots=True)
class ToolLine:
    """What the calls of one tool did.

    Attributes:
        tool: Its name.
        calls: How many calls it has.
        turns: In how many turns.
        verdicts: How many of its calls are ``safe``, ``exclusive`` or ``settled``.
        meets: In how many pairs of calls that meet it takes part.
        timed: Of how many calls the time is known.
        seconds: How long these took together.
        median: How long the middle one of them took; ``None`` where no time is known.
        errors: How many did not do what they were asked to do.
    """

    tool: str
    calls: int
    turns: int
    verdicts: Mapping[VerdictKind, int]
    meets: int
    timed: int
    seconds: float
    median: float | None
    errors: int


@dataclass(frozen=True, slots=True)
class Range:
    """A sum of seconds of which only the least and the most are known."""

    least: float = 0.0
    most: float = 0.0

    def __add__(self, other: tuple[float, float]) -> Range:
        return Range(self.least + other[0], self.most + other[1])


@dataclass(frozen=True, slots=True)
class Totals:
    """What was counted over turns.

    Attributes:
        turns: How many turns have calls.
        parallel: How many of them have two calls or more.
        largest: The most calls of one turn.
        calls: How many calls there are.
        results: How many of them have a result.
        verdicts: How many calls are ``safe``, ``exclusive`` or ``settled`` under the policy.
        together: How many turns have calls that could run together under the policy.
        meets: How many pairs of calls meet.
        meeting_turns: In how many turns.
        at_once: How many of these pairs were open at once (of each turn, of the first thousand).
        held_up: How many calls began only after one that they could have overlapped.
        timed: In how many turns all calls that ran have their times.
        wall: Seconds that these turns took, from the first call to the last result.
        several: How many of the timed turns have more than one call that ran.
        wall_several: Seconds that those took.
        simulated: Seconds that those take under the policy.
        to_win: By how many seconds those would have been shorter.
        to_lose: By how many seconds those would have been longer.
        waited: Seconds that calls wait for calls that they meet, under the policy.
        found: How many findings there are of each kind and level.
        by_source: How many turns each source has: ``main`` and the sub-agents.
    """

    turns: int = 0
    parallel: int = 0
    largest: int = 0
    calls: int = 0
    results: int = 0
    verdicts: Mapping[str, int] = field(default_factory=dict)
    together: int = 0
    meets: int = 0
    meeting_turns: int = 0
    at_once: int = 0
    held_up: int = 0
    timed: int = 0
    wall: float = 0.0
    several: int = 0
    wall_several: float = 0.0
    simulated: Range = Range()
    to_win: Range = Range()
    to_lose: Range = Range()
    waited: Range = Range()
    found: Mapping[tuple[str, str], int] = field(default_factory=dict)
    by_source: Mapping[str, int] = field(default_factory=dict)

    def of_level(self, level: str) -> int:
        """How many findings there are of a level."""
        return sum(count for (_, own), count in self.found.items() if own == level)

    @property
    def is_clean(self) -> bool:
        """Whether neither harm nor a risk of it was found."""
        return not (self.of_level("harm") or self.of_level("risk"))


@dataclass(frozen=True, slots=True)
class Summary:
    """The sums of an audit.

    Attributes:
        totals: What was counted.
        tools: A line a tool, those with most calls first.
        worst: The worst turns: by harm, then risk, then time to win, then pairs that meet.
        findings: The first thousand findings, each with the name of its log, in the order of the
            turns.
    """

    totals: Totals
    tools: tuple[ToolLine, ...]
    worst: tuple[Placed, ...]
    findings: tuple[tuple[str, Finding], ...]


@dataclass(slots=True)
class _Tool:
    calls: int = 0
    turns: int = 0
    meets: int = 0
    errors: int = 0
    verdicts: Counter[VerdictKind] = field(default_factory=Counter)
    seconds: array[float] = field(default_factory=lambda: array("d"))

    def line(self, name: str) -> ToolLine:
        seconds = self.seconds
        return ToolLine(
            name,
            self.calls,
            self.turns,
            dict(sorted(self.verdicts.items())),
            self.meets,
            len(seconds),
            sum(seconds),
            median(seconds) if seconds else None,
            self.errors,
        )


class Collector:
    """Takes what was found about each turn, and sums it up. Mutable; lives for one audit."""

    def __init__(self) -> None:
        self._sums: Counter[str] = Counter()
        self._largest = 0
        self._wall = self._wall_several = 0.0
        self._simulated = self._to_win = self._to_lose = self._waited = Range()
        self._found: Counter[tuple[str, str]] = Counter()
        self._sources: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._tools: dict[str, _Tool] = {}
        self._worst: list[tuple[tuple[float, ...], Placed]] = []
        self._findings: list[tuple[str, Finding]] = []

    def add(self, audit: TurnAudit, log: str = "") -> None:
        """Take a turn.

        Args:
            audit: What was found about it.
            log: The name of its log.
        """
        self._count(audit)
        self._count_time(audit)
        self._count_tools(audit)
        for finding in audit.findings:
            self._found[finding.kind, finding.level] += 1
            if len(self._findings) < SHOWN:
                self._findings.append((log, finding))
        rank = audit.badness
        if any(rank) and (len(self._worst) < WORST or rank > self._worst[-1][0]):
            self._worst.append((rank, Placed(log, audit)))
            self._worst.sort(key=lambda item: item[0], reverse=True)  # equal ones stay in order
            del self._worst[WORST:]

    def summary(self) -> Summary:
        """What was found so far."""
        lines = [tool.line(name) for name, tool in self._tools.items()]
        lines.sort(key=lambda line: (line.tool == OTHERS, -line.calls, line.tool))
        worst = tuple(placed for _, placed in self._worst)
        return Summary(self._totals(), tuple(lines), worst, tuple(self._findings))

    def _totals(self) -> Totals:
        return Totals(
            **self._sums,
            largest=self._largest,
            verdicts=dict(sorted(self._verdicts.items())),
            wall=self._wall,
            wall_several=self._wall_several,
            simulated=self._simulated,
            to_win=self._to_win,
            to_lose=self._to_lose,
            waited=self._waited,
            found=dict(sorted(self._found.items())),
            by_source=dict(sorted(self._sources.items())),
        )

    def _count(self, audit: TurnAudit) -> None:
        calls, sums = audit.plan.calls, self._sums
        pools = (node for node in audit.plan.nodes if node.kind == "pool")
        sums["turns"] += 1
        sums["parallel"] += len(calls) >= 2
        sums["calls"] += len(calls)
        sums["results"] += sum(outcome is not None for outcome in audit.recorded.outcomes)
        sums["together"] += any(len(node.calls) >= 2 for node in pools)
        sums["meets"] += audit.meets
        sums["meeting_turns"] += audit.meets > 0
        sums["at_once"] += audit.at_once
        sums["held_up"] += audit.held_up
        self._largest = max(self._largest, len(calls))
        self._verdicts.update(call.verdict.kind for call in calls)
        self._sources[audit.source] += 1

    def _count_time(self, audit: TurnAudit) -> None:
        time = audit.time
        if time is None:
            return
        self._sums["timed"] += 1
        self._wall += time.wall
        if audit.ran > 1:
            self._sums["several"] += 1
            self._wall_several += time.wall
            self._simulated += time.of("simulated")
            self._to_win += time.of("to_win")
            self._to_lose += time.of("to_lose")
            self._waited += time.of("waited")

    def _count_tools(self, audit: TurnAudit) -> None:
        calls, outcomes = audit.plan.calls, audit.recorded.outcomes
        for call in calls:
            line = self._tool(call.tool)
            line.calls += 1
            line.verdicts[call.verdict.kind] += 1
            line.errors += _is_error(outcomes[call.index])
            if (seconds := audit.seconds[call.index]) is not None:
                line.seconds.append(seconds)
        for name in {call.tool for call in calls}:
            self._tool(name).turns += 1
        for pair in audit.meetings:
            for name in {calls[pair.first].tool, calls[pair.second].tool}:
                self._tool(name).meets += 1

    def _tool(self, name: str) -> _Tool:
        found = self._tools.get(name)
        if found is None:
            if len(self._tools) >= TOOLS:
                name = OTHERS
            found = self._tools.setdefault(name, _Tool())
        return found


def _is_error(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.status not in {"ok", "running"}


def summed(audits: Iterable[TurnAudit]) -> Summary:
    """The sums of several turns.

    Args:
        audits: What was found about each.
    """
    collector = Collector()
    for audit in audits:
        collector.add(audit)
    return collector.summary()
