"""What was found about turns, summed up as they pass, in bounded memory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from toolflow.model.batch import Kind as VerdictKind
from toolflow.model.outcome import Outcome
from toolflow.recording.audit.totals import Placed, Range, Summary, ToolLine, Totals
from toolflow.recording.audit.values import Finding, TurnAudit

WORST = 10
"""How many of the worst turns are kept."""
SHOWN = 1000
"""How many findings are kept; all are counted."""
TOOLS = 500
"""How many tools have a line of their own."""
OTHERS = "(other tools)"
SOURCES = 500
"""How many sources are told apart in the sums."""
OTHER_SOURCES = "(other sources)"


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
        self._wall = self._wall_several = self._counted = 0.0
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
            counted=self._counted,
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
        sums["keyed"] += sum(
            call.verdict.kind != "settled" and not (call.reads is None and call.writes is None)
            for call in calls
        )
        sums["together"] += any(len(node.calls) >= 2 for node in pools)
        sums["meets"] += audit.meets
        sums["meeting_turns"] += audit.meets > 0
        sums["at_once"] += audit.at_once
        sums["held_up"] += audit.held_up
        self._largest = max(self._largest, len(calls))
        self._verdicts.update(call.verdict.kind for call in calls)
        known = audit.source in self._sources or len(self._sources) < SOURCES
        self._sources[audit.source if known else OTHER_SOURCES] += 1

    def _count_time(self, audit: TurnAudit) -> None:
        time = audit.time
        if time is None:
            return
        self._sums["timed"] += 1
        self._wall += time.wall
        if audit.ran > 1:
            self._sums["several"] += 1
            self._wall_several += time.wall
            self._counted += time.counted
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
