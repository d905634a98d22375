"""The answer to a what-if as JSON values."""

from __future__ import annotations

from typing import Any

from toolflow.recording.asking import WhatIf, WhatIfTurn
from toolflow.recording.projection import Projection


def what_if_data(report: WhatIf) -> dict[str, Any]:
    """Write an answer as JSON values; seconds have six decimals.

    Args:
        report: The answer.
    """
    return {
        "before": _round(report.before),
        "after": _round(report.after),
        "missing_counted_as": report.missing,
        "turns": [_turn(turn) for turn in report.turns],
    }


def _turn(turn: WhatIfTurn) -> dict[str, Any]:
    return {
        "turn": turn.id,
        "same": turn.same,
        "recorded": None if turn.seconds is None else _round(turn.seconds),
        "without_time": list(turn.missing),
        "changes": turn.diff.data(),
        "before": _side(turn.before),
        "after": _side(turn.after),
    }


def _side(side: Projection) -> dict[str, Any]:
    names = [call.name for call in side.plan.calls]
    limits = side.plan.limits
    return {
        "pool": limits.pool,
        "resources": dict(sorted(limits.resources.items())),
        "nodes": [
            {"id": node.id, "kind": node.kind, "calls": [names[index] for index in node.calls]}
            for node in side.plan.nodes
        ],
        "total": _round(side.total),
        "lower_bound": _round(side.lower_bound),
        "critical_path": {
            "seconds": _round(side.critical_seconds),
            "calls": list(side.critical_path),
        },
        "work": _round(side.work),
        "waiting": _round(side.waiting),
        "starts": list(side.simulation.order),
        "calls": [
            {
                "call": name,
                "started": None if times.started is None else _round(times.started),
                "stopped": None if times.stopped is None else _round(times.stopped),
                "waited": _round((times.started or 0.0) - (times.queued or 0.0)),
            }
            for name, times in zip(names, side.simulation.times, strict=True)
        ],
    }


def _round(seconds: float) -> float:
    return round(seconds, 6)
