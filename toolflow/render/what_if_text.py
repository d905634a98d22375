"""What another policy, pool or capacity would change, as text for a terminal.

A few turns are shown one by one: what of the plan changes, both plans side by side, and when each
call starts. Of many turns, each is one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolflow.model import Times
from toolflow.recording.asking import WhatIf, WhatIfTurn
from toolflow.recording.projection import Projection
from toolflow.recording.sweeping import PAYS, Sweep
from toolflow.render.facts import count
from toolflow.render.labels import columns, cut, cut_right, duration, short, visible

_DETAILED = 3
_LEAST = 76
_ROWS, _CHANGES = 60, 40


def what_if_text(report: WhatIf, *, width: int = 100) -> str:
    """Write the answer for a terminal.

    Args:
        report: The answer.
        width: Columns of the terminal; fewer than 76 count as 76.

    Returns:
        Lines without control characters. Turns that stay as they are get one line.
    """
    width = max(width, _LEAST)
    if len(report.turns) > _DETAILED:
        lines = [*_table(report, width)]
    else:
        lines = [line for turn in report.turns for line in (*_turn(turn, width), "")]
    return "\n".join([*lines, *_whole(report)]) + "\n"


def sweep_text(sweep: Sweep) -> str:
    """Write a table over pool sizes for a terminal.

    Args:
        sweep: The figures.
    """
    head = ("pool", "total", "speed-up", "in use", "waiting", "")
    rows = [head]
    for row in sweep.rows:
        mark = "enough" if row.pool == sweep.enough else ""
        used = f"{row.utilisation * 100:.0f} %"
        rows.append(
            (
                str(row.pool),
                duration(row.total),
                f"{row.speedup:.2f}",
                used,
                _brief(row.waiting),
                mark,
            )
        )
    wide = [max(columns(row[at]) for row in rows) for at in range(len(head))]
    lines = [
        "  ".join(cell.rjust(wide[at]) if at < 5 else cell for at, cell in enumerate(row)).rstrip()
        for row in rows
    ]
    lines += ["", *_verdict(sweep)]
    return "\n".join(lines) + "\n"


def _verdict(sweep: Sweep) -> Iterator[str]:
    best = min(sweep.rows, key=lambda row: row.total)
    enough = next(row for row in sweep.rows if row.pool == sweep.enough)
    if enough.total <= sweep.critical_seconds * (1 + PAYS):
        yield f"A pool of {enough.pool} is enough: no pool is faster than the critical paths."
    elif enough.pool < sweep.rows[-1].pool:
        yield (
            f"A pool of {enough.pool} is enough: no wider one here is faster by more than 1 % "
            f"({duration(enough.total)}, best {duration(best.total)})."
        )
    else:
        yield f"A wider pool than {enough.pool} may still pay."
    yield (
        f"One at a time {duration(sweep.serial)}; "
        f"critical paths {duration(sweep.critical_seconds)}, which no pool can beat."
    )
    if sweep.unknown:
        yield f"{count(sweep.unknown, 'call')} without a recorded time."


def _whole(report: WhatIf) -> Iterator[str]:
    changed = sum(not turn.same for turn in report.turns)
    turns = count(len(report.turns), "turn")
    if not changed:
        yield f"{turns}: nothing changes, {duration(report.before)}."
    elif len(report.turns) > 1:
        yield f"{turns}, {changed} of them change: {_gain(report.before, report.after)}."
    missing = sum(len(turn.missing) for turn in report.turns)
    if missing:
        fill = "0 s" if report.missing == "zero" else "the median time of their tool"
        yield f"{count(missing, 'call')} without a recorded time, counted as {fill}."


def _gain(before: float, after: float) -> str:
    words = f"{duration(before)} before, {duration(after)} after"
    if before <= 0 or after <= 0 or abs(after - before) <= 0.001 * before:
        return words
    if after < before:
        return f"{words}, {before / after:.2f} times as fast"
    return f"{words}, {after / before:.2f} times as slow"


def _table(report: WhatIf, width: int) -> Iterator[str]:
    names = [short(turn.id, 40) for turn in report.turns]
    wide = max(map(columns, names))
    yield f"{'turn'.ljust(wide)}  {'before':>9}  {'after':>9}  {'bound':>9}  changes"
    for name, turn in zip(names, report.turns, strict=True):
        times = (turn.before.total, turn.after.total, turn.after.lower_bound)
        cells = "  ".join(f"{duration(each):>9}" for each in times)
        what = "-" if turn.same else _kinds(turn)
        yield cut_right(f"{name}{' ' * (wide - columns(name))}  {cells}  {what}", width)
    yield ""


def _kinds(turn: WhatIfTurn) -> str:
    """What changes, counted: ``verdict 2, node 1, order``."""
    counts: dict[str, int] = {}
    for change in turn.diff.changes:
        kind = change.field if change.kind == "call" and change.field else change.kind
        kind = kind.partition(".")[0]
        counts[kind] = counts.get(kind, 0) + 1
    words = [f"{kind} {number}" for kind, number in counts.items()]
    if turn.before.simulation.order != turn.after.simulation.order:
        words.append("order")
    return ", ".join(words) or "times"


def _turn(turn: WhatIfTurn, width: int) -> Iterator[str]:
    name = short(turn.id, 60)
    calls = count(len(turn.before.plan.calls), "call")
    if turn.same:
        yield f"{name}: {calls}, nothing changes, {duration(turn.before.total)}"
        return
    yield f"{name}: {calls}, {_gain(turn.before.total, turn.after.total)}"
    changes = turn.diff.changes
    yield from (f"  {cut_right(visible(str(change)), width - 2)}" for change in changes[:_CHANGES])
    if len(changes) > _CHANGES:
        yield f"  … {len(changes) - _CHANGES} more changes of the plan"
    yield ""
    yield from _sides(turn, width)
    yield ""
    yield from _calls(turn, width)


def _sides(turn: WhatIfTurn, width: int) -> Iterator[str]:
    """Both plans and their figures in two columns."""
    column = (width - 18) // 2
    left, right = _facts(turn.before, column), _facts(turn.after, column)
    yield f"  {'':<14}{'before':<{column}}after"
    for head in left:
        ones, others = left[head], right[head]
        for at in range(max(len(ones), len(others))):
            one = ones[at] if at < len(ones) else ""
            other = others[at] if at < len(others) else ""
            gap = " " * (column - columns(one))
            yield f"  {head if at == 0 else '':<14}{one}{gap}{other}".rstrip()
    if turn.seconds is not None:
        yield f"  {'as recorded':<14}{duration(turn.seconds)}"


def _facts(side: Projection, column: int) -> dict[str, list[str]]:
    names = [short(call.name, 24) for call in side.plan.calls]
    nodes = [
        _listed(f"{short(node.id, 20)}:", [names[index] for index in node.calls], column - 2)
        for node in side.plan.nodes
    ]
    if len(nodes) > 12:
        nodes = [*nodes[:11], f"… {len(nodes) - 11} more"]
    chain = [short(name, 24) for name in side.critical_path]
    order = [short(name, 24) for name in side.simulation.order]
    limits = side.plan.limits
    scarce = [f"{short(name, 16)} {units}" for name, units in sorted(limits.resources.items())]
    return {
        "plan": nodes,
        "limits": [cut(", ".join([f"pool {limits.pool}", *scarce]), column - 2)],
        "total": [duration(side.total)],
        "lower bound": [duration(side.lower_bound)],
        "critical path": [
            _listed("", chain, column - 12) + f" ({duration(side.critical_seconds)})"
        ],
        "waiting": [_brief(side.waiting)],
        "starts": [_listed("", order, column - 2)],
    }


def _listed(head: str, names: Sequence[str], room: int) -> str:
    """Names as far as they fit; how many there are in all where they do not."""
    text = head
    for place, name in enumerate(names):
        longer = f"{text} {name}".strip()
        rest = len(names) - place - 1
        if columns(longer) + (len(f" … {len(names)} in all") if rest else 0) > room and place:
            return f"{text} … {len(names)} in all"
        text = longer
    return text or "none"


def _calls(turn: WhatIfTurn, width: int) -> Iterator[str]:
    """When each call starts and ends, and how long it waits for a permit or a resource."""
    before, after = turn.before.simulation, turn.after.simulation
    names = [cut(short(name, 60), max(8, width - 62)) for name in before.names]
    wide = max([4, *map(columns, names)])
    head = f"{'starts':>8}  {'ends':>8}  {'waits':>8}"
    yield f"  {'call'.ljust(wide)}  {head}    {head}"
    rows = list(range(len(names)))
    for index in rows[:_ROWS]:
        cells = "    ".join(_cells(run.times[index]) for run in (before, after))
        mark = " *" if before.names[index] in turn.missing else ""
        yield f"  {names[index]}{' ' * (wide - columns(names[index]))}  {cells}{mark}".rstrip()
    if len(rows) > _ROWS:
        yield f"  … {len(rows) - _ROWS} more calls"
    if turn.missing:
        yield "  * without a recorded time"


def _cells(times: Times) -> str:
    start, end = times.started, times.stopped
    if start is None or end is None:
        return f"{'-':>8}  {'-':>8}  {'-':>8}"
    waits = start - (times.queued or 0.0)
    return "  ".join(f"{_brief(each):>8}" for each in (start, end, waits))


def _brief(seconds: float) -> str:
    return "0" if seconds == 0 else duration(seconds)
