"""What an audit finds, as values (spec 10.5)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from toolflow.compiler import Plan
from toolflow.model.recording import RecordedTurn

Access = Literal["read", "write"]
Level = Literal["harm", "risk", "note"]
Kind = Literal[
    "lost_update",  # what a call wrote is not there, or two wrote and nobody knows which stayed
    "stale_read",  # a read shows another state than the order of the calls says
    "conflict",  # a write was refused, because another call of the turn had changed the file
    "cancelled",  # calls were cancelled, because another one failed
    "overlap",  # calls that meet were open at the same time
    "unanswered",  # calls without a result
    "out_of_order",  # results in another order than their calls
]
Clock = Literal["run", "log"]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two calls of one turn whose keys meet, and one of which writes.

    Attributes:
        first: The index of the earlier call.
        second: The index of the later call.
        key: The key of the earlier call.
        other: The key of the later call; the same, or one covers the other.
        accesses: What the earlier and the later call do with it.
        at_once: Whether both were open at the same time in the recording; ``None``: not known.
    """

    first: int
    second: int
    key: str
    other: str
    accesses: tuple[Access, Access]
    at_once: bool | None = None

    @property
    def both_write(self) -> bool:
        """Whether both write."""
        return self.accesses == ("write", "write")


@dataclass(frozen=True, slots=True)
class Finding:
    """A sign of harm that the recording shows, or of what may go wrong.

    Attributes:
        kind: What it is.
        level: ``harm``: the recording shows it. ``risk``: it may have happened, and the recording
            cannot tell. ``note``: it is odd, and no harm by itself.
        turn: The id of the turn.
        calls: The names of the calls, in call order.
        text: A sentence.
        key: The lock key, or ``None`` where it is not about one.
        evidence: The words of the recording that show it, cut and without control characters.
        line: The line of the log where the evidence stands (else that of the turn), if known.
        seen_in: The id of the later turn whose call shows it, or ``None`` for the turn itself.
    """

    kind: Kind
    level: Level
    turn: str
    calls: tuple[str, ...]
    text: str
    key: str | None = None
    evidence: str | None = None
    line: int | None = None
    seen_in: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What the times of a turn say, under one reading of them. All in seconds.

    Attributes:
        work: The sum of the calls' durations: how long they take one after the other.
        critical: The critical path of the plan.
        bound: The lower bound of the plan at the pool: no run of it is shorter.
        simulated: How long the turn takes under the policy.
        waited: How long calls wait for calls that they meet, in the simulated run.
        to_win: By how much the turn would have been shorter, or 0.
        to_lose: By how much the turn would have been longer, or 0.
    """

    work: float
    critical: float
    bound: float
    simulated: float
    waited: float
    to_win: float
    to_lose: float


@dataclass(frozen=True, slots=True)
class TurnTime:
    """The time of a turn, where every call that ran has its times.

    Attributes:
        clock: ``run``: begin and end of each body were measured. ``log``: there are only the times
            of the lines of call and result, which include all waiting between.
        wall: Seconds from the begin of the first call to the end of the last one.
        counted: How many of them the policy is compared with: in a log those after the last call,
            when the message of the model was there as a whole (see `timing`).
        whole: Each call took from its line to its result: the most that it can have taken.
        own: Each call began when the result before it had come, as if one ran after the other. Of
            measured bodies, and of single calls, both readings are the same value.
    """

    clock: Clock
    wall: float
    counted: float
    whole: Reading
    own: Reading

    def of(self, name: str) -> tuple[float, float]:
        """The least and the most that the two readings say.

        Args:
            name: The name of an attribute of `Reading`.
        """
        one, other = getattr(self.whole, name), getattr(self.own, name)
        return min(one, other), max(one, other)


@dataclass(frozen=True, slots=True)
class Serial:
    """A call that began only after another had ended, though both may overlap under the policy.

    Attributes:
        call: The index of the call.
        after: The index of the call that had ended.
    """

    call: int
    after: int


@dataclass(frozen=True, slots=True)
class TurnAudit:
    """What was found about one turn.

    Attributes:
        recorded: The turn as it was recorded.
        plan: Its plan under the policy.
        meetings: Pairs of calls that meet, by the later call, then the earlier one; the first
            thousand.
        meets: How many pairs meet: all of them.
        serial: Calls that ran after a call that they could have overlapped; the first hundred.
        held_up: How many calls did so: all of them.
        ran: How many calls ran, as far as the recording tells.
        timed: How many of these have both of their times.
        seconds: How long each call took, in call order; ``None`` where that is not known.
        time: The times of the turn, or ``None`` where a call that ran lacks them.
        findings: What was found, the worst first.
    """

    recorded: RecordedTurn
    plan: Plan
    meetings: tuple[Meeting, ...] = ()
    meets: int = 0
    serial: tuple[Serial, ...] = ()
    held_up: int = 0
    ran: int = 0
    timed: int = 0
    seconds: tuple[float | None, ...] = ()
    time: TurnTime | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def id(self) -> str:
        """The turn's id."""
        return self.recorded.turn.id

    @property
    def source(self) -> str:
        """``main``, or the sub-agent that the turn belongs to."""
        return self.recorded.turn.source

    @property
    def levels(self) -> Counter[str]:
        """How many findings there are of each level."""
        return Counter(finding.level for finding in self.findings)

    @property
    def at_once(self) -> int:
        """How many of the meetings were open at the same time."""
        return sum(meeting.at_once is True for meeting in self.meetings)

    @property
    def badness(self) -> tuple[int, int, float, int]:
        """What turns are ranked by: harm, then risk, then time to win, then pairs that meet."""
        levels = self.levels
        to_win = self.time.of("to_win")[1] if self.time is not None else 0.0
        return levels["harm"], levels["risk"], to_win, self.meets
