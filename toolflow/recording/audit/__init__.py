"""The audit: what a log of real turns says about safety and speed (spec 10.5).

The way of a turn: `auditing` compiles it under the policy and asks `meeting` (which calls meet),
`order` (which were open at once, which were not though they might), `timing` (how long it took,
and would have taken), `harm` and `answers` (signs of harm in the turn itself) and `suspects` (what
later turns show); `texts` reads arguments and results for them. `summary` adds up, `forms` writes
JSON values. Nothing here runs a tool or reads a file that the log names.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolflow.model.recording import Recording
from toolflow.policy import Policy
from toolflow.recording.audit.auditing import audit_turns
from toolflow.recording.audit.summary import Collector, summed
from toolflow.recording.audit.totals import Placed, Range, Summary, ToolLine, Totals
from toolflow.recording.audit.values import Finding, Meeting, Reading, Serial, TurnAudit, TurnTime

__all__ = [
    "Audit",
    "Collector",
    "Finding",
    "Meeting",
    "Placed",
    "Range",
    "Reading",
    "Serial",
    "Summary",
    "ToolLine",
    "Totals",
    "TurnAudit",
    "TurnTime",
    "audit",
    "audit_turns",
    "summed",
]


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found about a recording.

    Attributes:
        turns: What was found about each turn, in order.
        summary: The sums.
    """

    turns: tuple[TurnAudit, ...]
    summary: Summary


def audit(
    recording: Recording, policy: Policy | None, *, pool: int | None = None, cwd: str | None = None
) -> Audit:
    """Say what a recording tells of safety and speed under a policy.

    Args:
        recording: The recording, of our own or read from a log.
        policy: The policy; ``None``: turns are judged by the plans that they ran with.
        pool: How many calls of a turn run at once; ``None`` for the policy's own limit.
        cwd: The folder that relative paths start from. By default the one that a turn tells, else
            the recording's, else the process's own.

    Returns:
        What was found. Nothing is run, and no file that the recording names is read; only links
        are followed where such a path is there.

    Raises:
        UsageError: If the pool is not an integer of at least 1, or a turn has no plan and there is
            no policy.
        PlanError: If a turn cannot be compiled.
    """
    found = audit_turns(recording.turns, policy, pool=pool, cwd=cwd, about=lambda: recording.source)
    turns = tuple(found)
    return Audit(turns, summed(turns))
