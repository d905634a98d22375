"""An audit as JSON values, for ``--output json`` and ``yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from toolflow.recording.audit.totals import Range, Summary, ToolLine, Totals
from toolflow.recording.audit.values import Finding, Meeting, Reading, TurnAudit, TurnTime

_DIGITS = 6


def summary_data(summary: Summary) -> dict[str, Any]:
    """The sums of an audit.

    Args:
        summary: The sums.
    """
    totals = summary.totals
    shown = [
        {**({"log": log} if log else {}), **finding_data(finding)}
        for log, finding in summary.findings
    ]
    return {
        "totals": totals_data(totals),
        "tools": [_tool_data(line) for line in summary.tools],
        "findings": shown,
        "worst": [
            {**({"log": placed.log} if placed.log else {}), **turn_data(placed.audit)}
            for placed in summary.worst
        ],
    }


def totals_data(totals: Totals) -> dict[str, Any]:
    """What was counted over turns."""
    data: dict[str, Any] = {
        "turns": totals.turns,
        "parallel_turns": totals.parallel,
        "largest": totals.largest,
        "calls": totals.calls,
        "results": totals.results,
        "verdicts": dict(totals.verdicts),
        "calls_with_known_keys": totals.keyed,
        "turns_with_calls_together": totals.together,
        "pairs_that_meet": totals.meets,
        "turns_with_calls_that_meet": totals.meeting_turns,
        "pairs_open_at_once": totals.at_once,
        "calls_held_up": totals.held_up,
        "harm": totals.of_level("harm"),
        "risk": totals.of_level("risk"),
        "notes": totals.of_level("note"),
        "found": [
            {"kind": kind, "level": level, "count": count}
            for (kind, level), count in totals.found.items()
        ],
    }
    data["time"] = {
        "timed_turns": totals.timed,
        "wall": _rounded(totals.wall),
        "timed_turns_with_several_calls": totals.several,
        "wall_with_several_calls": _rounded(totals.wall_several),
        "counted": _rounded(totals.counted),
        "simulated": _range_data(totals.simulated),
        "to_win": _range_data(totals.to_win),
        "to_lose": _range_data(totals.to_lose),
        "waited": _range_data(totals.waited),
    }
    if set(totals.by_source) - {"main"}:
        data["turns_by_source"] = dict(totals.by_source)
    return data


def turn_data(audit: TurnAudit) -> dict[str, Any]:
    """What was found about one turn.

    Args:
        audit: What was found.
    """
    levels = audit.levels
    return {
        "turn": audit.id,
        "source": audit.source,
        "line": audit.recorded.line,
        "harm": levels["harm"],
        "risk": levels["risk"],
        "nodes": [
            {"id": node.id, "calls": [audit.plan.calls[at].name for at in node.calls]}
            for node in audit.plan.nodes
        ],
        "calls": [_call_data(audit, at) for at in range(len(audit.plan.calls))],
        "pairs_that_meet": audit.meets,
        "meets": [_meeting_data(audit, meeting) for meeting in audit.meetings],
        "calls_held_up": audit.held_up,
        "held_up": [
            {
                "call": audit.plan.calls[each.call].name,
                "after": audit.plan.calls[each.after].name,
            }
            for each in audit.serial
        ],
        "time": None if audit.time is None else _time_data(audit.time),
        "findings": [finding_data(finding) for finding in audit.findings],
    }


def finding_data(finding: Finding) -> dict[str, Any]:
    """A finding; what it does not have is left out."""
    data = {name: value for name, value in asdict(finding).items() if value is not None}
    return {**data, "calls": list(finding.calls)}


def _call_data(audit: TurnAudit, at: int) -> dict[str, Any]:
    call, outcome, seconds = audit.plan.calls[at], audit.recorded.outcomes[at], audit.seconds[at]
    return {
        "name": call.name,
        "tool": call.tool,
        "label": call.label,
        "verdict": call.verdict.kind,
        "status": None if outcome is None else outcome.status,
        "seconds": None if seconds is None else _rounded(seconds),
    }


def _meeting_data(audit: TurnAudit, meeting: Meeting) -> dict[str, Any]:
    calls = audit.plan.calls
    data: dict[str, Any] = {
        "calls": [calls[meeting.first].name, calls[meeting.second].name],
        "accesses": list(meeting.accesses),
        "key": meeting.key,
    }
    if meeting.other != meeting.key:
        data["other_key"] = meeting.other
    return {**data, "at_once": meeting.at_once}


def _time_data(time: TurnTime) -> dict[str, Any]:
    data: dict[str, Any] = {"clock": time.clock, "wall": _rounded(time.wall)}
    data["counted"] = _rounded(time.counted)
    if time.whole == time.own:
        return {**data, **_reading_data(time.whole)}
    return {**data, "whole": _reading_data(time.whole), "own": _reading_data(time.own)}


def _reading_data(reading: Reading) -> Mapping[str, float]:
    return {name: _rounded(value) for name, value in asdict(reading).items()}


def _tool_data(line: ToolLine) -> dict[str, Any]:
    return {
        "tool": line.tool,
        "calls": line.calls,
        "turns": line.turns,
        "verdicts": dict(line.verdicts),
        "pairs_that_meet": line.meets,
        "timed": line.timed,
        "seconds": _rounded(line.seconds),
        "median": None if line.median is None else _rounded(line.median),
        "errors": line.errors,
    }


def _range_data(value: Range) -> dict[str, float]:
    return {"least": _rounded(value.least), "most": _rounded(value.most)}


def _rounded(seconds: float) -> float:
    return round(seconds, _DIGITS)
