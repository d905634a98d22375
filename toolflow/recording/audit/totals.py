"""The sums of an audit, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolflow.model.batch import Kind as VerdictKind
from toolflow.recording.audit.values import Finding, TurnAudit


@dataclass(frozen=True, slots=True)
class Placed:
    """A turn with the log that it comes from.

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
        keyed: Of how many calls that run the policy says what they touch. Others meet nobody here,
            since nobody knows.
        together: How many turns have calls that could run together under the policy.
        meets: How many pairs of calls meet.
        meeting_turns: In how many turns.
        at_once: How many of these pairs were open at once (of each turn, of the first thousand).
        held_up: How many calls began only after one that they could have overlapped.
        timed: In how many turns all calls that ran have their times.
        wall: Seconds that these turns took, from the first call to the last result.
        several: How many of the timed turns have more than one call that ran.
        wall_several: Seconds that those took.
        counted: Seconds of these that the policy is compared with (see `TurnTime.counted`).
        simulated: Seconds that those take under the policy.
        to_win: By how many seconds those would have been shorter.
        to_lose: By how many seconds those would have been longer.
        waited: Seconds that calls wait for calls that they meet, under the policy.
        found: How many findings there are of each kind and level.
        by_source: How many turns each source has: ``main`` and the sub-agents; of many sources
            the first five hundred, and all others together.
    """

    turns: int = 0
    parallel: int = 0
    largest: int = 0
    calls: int = 0
    results: int = 0
    verdicts: Mapping[str, int] = field(default_factory=dict)
    keyed: int = 0
    together: int = 0
    meets: int = 0
    meeting_turns: int = 0
    at_once: int = 0
    held_up: int = 0
    timed: int = 0
    wall: float = 0.0
    several: int = 0
    wall_several: float = 0.0
    counted: float = 0.0
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
