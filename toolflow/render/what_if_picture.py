"""What another policy, pool or capacity would change, as a picture: both timelines, or both plans.

Both timelines have one scale, so that what is shorter looks shorter.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from toolflow.errors import UsageError
from toolflow.model import Outcome, RecordedTurn
from toolflow.recording.asking import WhatIf, WhatIfTurn
from toolflow.recording.projection import Projection
from toolflow.render import program as programs
from toolflow.render.cleaning import clean
from toolflow.render.dot import dot_pair
from toolflow.render.labels import duration, short
from toolflow.render.save import write_bytes
from toolflow.render.timeline import Chart, chart_of
from toolflow.render.timeline_png import drawn
from toolflow.render.timeline_svg import drawing, picture
from toolflow.render.xml import element

Shows = Literal["timelines", "plans"]
_MOST = 12


def save_what_if(report: WhatIf, path: str | Path, *, shows: Shows | None = None) -> Path:
    """Write the picture of an answer to a file.

    Args:
        report: The answer.
        path: The file; its ending is ``.svg``, ``.png`` or ``.dot``.
        shows: ``timelines`` (SVG or PNG) or ``plans`` (of one turn); by default timelines in SVG,
            else plans.

    Returns:
        The file's path.

    Raises:
        UsageError: If the ending or the number of turns does not fit.
        RenderError: If there is no program to draw with, or the file cannot be written.
    """
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind not in {"svg", "png", "dot"}:
        raise UsageError(f"{short(str(path), 80)}: the ending is {kind!r}. Use .svg, .png or .dot.")
    shows = shows or ("timelines" if kind == "svg" else "plans")
    if shows == "timelines":
        if kind == "dot":
            raise UsageError(
                f"{short(str(path), 80)}: timelines are SVG or PNG. Use the ending .svg or .png."
            )
        svg = timelines_svg(report)
        return write_bytes(path, svg.encode("utf-8") if kind == "svg" else drawn(svg))
    if len(report.turns) != 1:
        raise UsageError(
            f"There are {len(report.turns)} turns, and plans are drawn of one. Choose it (--turn)."
        )
    return write_bytes(path, _plans(report.turns[0], kind))


def timelines_svg(report: WhatIf) -> str:
    """Draw each turn over time as it was and, below that, as it would be.

    Args:
        report: The answer; at most 12 turns.

    Returns:
        One ``svg`` element; no program is needed.

    Raises:
        UsageError: If there are no turns, or too many.
    """
    if not 1 <= len(report.turns) <= _MOST:
        raise UsageError(f"There are {len(report.turns)} turns. Draw from 1 to {_MOST} of them.")
    top, parts = 0.0, []
    charts = [chart for turn in report.turns for chart in _charts(turn)]
    legend = replace(
        charts[-1],
        bars=tuple(bar for chart in charts for bar in chart.bars),
        barriers=tuple(barrier for chart in charts for barrier in chart.barriers),
    )
    for number, chart in enumerate(charts, 1):
        height, inside = drawing(chart, explained=legend if number == len(charts) else None)
        parts.append(element("g", {"transform": f"translate(0 {top:g})"}, inside))
        top += height
    return picture("; ".join(short(turn.id) for turn in report.turns), top, parts)


def _charts(turn: WhatIfTurn) -> tuple[Chart, Chart]:
    before = _chart(turn, turn.before, "before")
    after = _chart(turn, turn.after, "after")
    end = max(before.end, after.end)
    return replace(before, end=end), replace(after, end=end)


def _chart(turn: WhatIfTurn, side: Projection, word: str) -> Chart:
    outcomes = tuple(_outcome(turn, side, index) for index in range(len(side.plan.calls)))
    title = f"{short(turn.id)} {word} · pool {side.plan.limits.pool} · {duration(side.total)}"
    return chart_of(
        RecordedTurn(turn.recorded.turn, outcomes, side.simulation.times, side.plan), title
    )


def _outcome(turn: WhatIfTurn, side: Projection, index: int) -> Outcome | None:
    call, recorded = side.plan.calls[index], turn.recorded.outcomes
    if call.verdict.kind == "settled":
        return Outcome(call.verdict.status or "denied")  # type: ignore[arg-type]  # a status
    if call.name in side.simulation.skipped:
        declined = index < len(recorded) and getattr(recorded[index], "status", "") == "declined"
        return Outcome("declined" if declined else "skipped")
    found = recorded[index] if index < len(recorded) else None
    return found if found is not None and found.status in {"ok", "failed", "timed_out"} else None


def _plans(turn: WhatIfTurn, kind: str) -> bytes:
    sides = (("before", turn.before), ("after", turn.after))
    titles = tuple(
        f"{short(turn.id)} {word} · pool {side.plan.limits.pool} · {duration(side.total)}"
        for word, side in sides
    )
    dot = dot_pair(turn.before.plan, turn.after.plan, titles=(titles[0], titles[1]))
    if kind == "dot":
        return dot.encode("utf-8")
    raw = programs.draw(dot, kind)
    return raw if kind == "png" else clean(raw, titles[0]).encode("utf-8")
