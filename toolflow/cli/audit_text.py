"""An audit as text: totals, a table by tool, what was found, the worst turns.

On a terminal the lines fit its width: names of tools are cut, sentences are wrapped. Elsewhere
nothing is cut, so that other programs can read it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from toolflow.model.batch import Kind
from toolflow.recording.audit import Finding, Placed, Summary, ToolLine, Totals
from toolflow.render.labels import cut, duration, visible

_SHOWN = 30
"""How many findings are told of each level; ``--output json`` has more."""
_TOOLS = 30
_COLUMNS = (
    "tool", "calls", "turns", "safe", "exclusive", "settled", "meets", "errors", "total", "median",
)  # fmt: skip
_NAME = (16, 40)  # how short and how long the column of names may be on a terminal
_LESS = ("settled", "turns", "total")
"""Columns that are left out, in this order, where a terminal is too narrow."""
_KINDS: tuple[Kind, ...] = ("safe", "exclusive", "settled")
_LEVELS = (("harm", "harm"), ("risk", "risk of harm"), ("note", "notes"))
Pictures = Sequence[tuple[Sequence[str], str | None]]


def audit_lines(
    summary: Summary, logs: Sequence[tuple[str, Totals]], pictures: Pictures, width: int | None
) -> Iterator[str]:
    """The lines of an audit.

    Args:
        summary: What was found.
        logs: The totals of each log, if there are several.
        pictures: For each of the worst turns its files, and why it could not be drawn.
        width: How many characters a line may have; ``None``: any number.
    """
    for line in _totals(summary.totals):
        yield from wrapped(line, width)
    if len(logs) > 1:
        yield ""
        yield from _log_table(logs, width)
    if summary.tools:
        yield ""
        yield from _tool_table(summary.tools, width)
    if len(logs) < 2:
        summary = _unnamed(summary)
    yield from _findings(summary, width)
    if summary.worst:
        yield ""
        yield "worst turns:"
        files = [*pictures, *[((), None)] * (len(summary.worst) - len(pictures))]
        for number, (placed, (paths, fault)) in enumerate(zip(summary.worst, files, strict=True)):
            yield from _worst(number + 1, placed, paths, fault, width)


def _unnamed(summary: Summary) -> Summary:
    """A summary of one log, which need not be named again and again."""
    return replace(
        summary,
        findings=tuple(("", finding) for _, finding in summary.findings),
        worst=tuple(replace(placed, log="") for placed in summary.worst),
    )


def wrapped(line: str, width: int | None) -> Iterator[str]:
    """A line, broken at blanks where it is too long; what follows stands two characters in."""
    line = visible(line)
    if width is None or len(line) <= width:
        yield line
        return
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    yield from textwrap.wrap(
        line, width, subsequent_indent=indent, break_on_hyphens=False, drop_whitespace=True
    )


def many(count: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"


def spread(least: float, most: float) -> str:
    """A span of time of which the least and the most are known."""
    first, last = (duration(each) if each else "0" for each in (least, most))
    return last if first == last else f"{first} to {last}"


def finding_lines(log: str, finding: Finding, width: int | None) -> Iterator[str]:
    """A finding: where, what, which calls, the words that show it."""
    where = " ".join(filter(None, (log, finding.turn)))
    line = f", line {finding.line}" if finding.line is not None else ""
    yield from wrapped(f"  {finding.kind}  {where}{line}: {finding.text}", width)
    calls = _listed(finding.calls)
    key = f"; key {finding.key}" if finding.key else ""
    yield from wrapped(f"    {'call' if len(finding.calls) == 1 else 'calls'} {calls}{key}", width)
    if finding.evidence is not None:
        seen = f"shown in {finding.seen_in}: " if finding.seen_in else "shown: "
        yield from wrapped(f"    {seen}{finding.evidence}", width)


def _totals(totals: Totals) -> Iterator[str]:
    several, largest = totals.parallel, totals.largest
    yield (
        f"{many(totals.turns, 'turn')}, {several} with two calls or more (largest {largest}); "
        f"{many(totals.calls, 'call')}, {many(totals.results, 'result')}"
    )
    if len(totals.by_source) > 1:
        others = len(set(totals.by_source) - {"main"})
        yield f"  turns of {many(others, 'source')} beside main, each kept apart"
    verdicts = ", ".join(f"{totals.verdicts.get(kind, 0)} {kind}" for kind in _KINDS)
    yield f"  under the policy: {verdicts}; calls can run together in {_turns(totals.together)}"
    yield f"  what they touch is known of {many(totals.keyed, 'call')}"
    yield (
        f"  {many(totals.meets, 'pair')} of calls {'meets' if totals.meets == 1 else 'meet'}, "
        f"in {_turns(totals.meeting_turns)}; {totals.at_once} of them open at the same time"
    )
    found = ", ".join(f"{totals.of_level(level)} {word}" for level, word in _LEVELS)
    yield f"  found: {found}"
    yield from _times(totals)


def _times(totals: Totals) -> Iterator[str]:
    if not totals.timed:
        yield "  no times: no turn has the times of all its calls that ran"
        return
    yield f"  times: of {totals.timed} of {_turns(totals.turns)}, {duration(totals.wall)} in all"
    if not totals.several:
        return
    simulated, won, lost = totals.simulated, totals.to_win, totals.to_lose
    yield f"    with several calls: {_turns(totals.several)}, {duration(totals.wall_several)}"
    yield (
        f"    after their last call: {duration(totals.counted)}; "
        f"under the policy {spread(simulated.least, simulated.most)}"
    )
    yield (
        f"    to win {spread(won.least, won.most)}, to lose {spread(lost.least, lost.most)}; "
        f"calls that meet wait {spread(totals.waited.least, totals.waited.most)}"
    )
    if totals.held_up:
        yield f"    began after a call that they could have overlapped: {totals.held_up}"


def _turns(count: int) -> str:
    return many(count, "turn")


def _log_table(logs: Sequence[tuple[str, Totals]], width: int | None) -> Iterator[str]:
    head: tuple[str, ...] = ("log", "turns", "calls", "meets", "harm", "risk", "notes", "to win")
    rows = [head]
    for name, totals in logs:
        levels = [str(totals.of_level(level)) for level, _ in _LEVELS]
        won = spread(totals.to_win.least, totals.to_win.most) if totals.several else "-"
        counts = (totals.turns, totals.calls, totals.meets)
        rows.append((visible(name), *map(str, counts), *levels, won))
    yield from _table(rows, width)


def _tool_table(tools: Sequence[ToolLine], width: int | None) -> Iterator[str]:
    shown = tools if width is None else tools[:_TOOLS]
    yield from _table([_COLUMNS, *map(_tool_row, shown)], width)
    if len(shown) < len(tools):
        yield f"and {many(len(tools) - len(shown), 'more tool')}; --output json has all"


def _tool_row(line: ToolLine) -> tuple[str, ...]:
    safe, exclusive, settled = (line.verdicts.get(kind, 0) for kind in _KINDS)
    numbers = (line.calls, line.turns, safe, exclusive, settled, line.meets, line.errors)
    seconds = "-" if line.median is None else duration(line.seconds)
    middle = "-" if line.median is None else duration(line.median)
    return (visible(line.tool), *map(str, numbers), seconds, middle)


def _table(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """Columns: the first is text and gives way, the others are numbers."""
    least, most = _NAME
    rows, room = _narrowed(rows, None if width is None else width - least)
    if width is not None:
        left = width - sum(room[1:]) - 2 * (len(room) - 1)
        room[0] = min(room[0], most, max(least, left))
    for row in rows:
        cells = (cell.rjust(wide) for cell, wide in zip(row[1:], room[1:], strict=True))
        yield "  ".join((cut(row[0], room[0]).ljust(room[0]), *cells)).rstrip()


def _narrowed(
    rows: Sequence[Sequence[str]], space: int | None
) -> tuple[Sequence[Sequence[str]], list[int]]:
    """The rows without the columns for which there is no space, and how wide each column is."""
    left_out = list(_LESS)
    while True:
        room = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        if space is None or sum(room[1:]) + 2 * (len(room) - 1) <= space or not left_out:
            return rows, room
        name = left_out.pop(0)
        if name in rows[0]:
            at = rows[0].index(name)
            rows = [(*row[:at], *row[at + 1 :]) for row in rows]


def _findings(summary: Summary, width: int | None) -> Iterator[str]:
    for level, word in _LEVELS[:2]:
        found = [each for each in summary.findings if each[1].level == level]
        if not found:
            continue
        yield ""
        yield f"{word}:"
        for log, finding in found[:_SHOWN]:
            yield from finding_lines(log, finding, width)
        more = summary.totals.of_level(level) - min(len(found), _SHOWN)
        if more:
            yield f"  and {more} more; --output json has the first thousand findings"
    notes = {kind: n for (kind, level), n in summary.totals.found.items() if level == "note"}
    if notes:
        yield ""
        kinds = ", ".join(f"{kind} {count}" for kind, count in notes.items())
        yield from wrapped(f"notes: {kinds}", width)


def _worst(
    number: int, placed: Placed, paths: Sequence[str], fault: str | None, width: int | None
) -> Iterator[str]:
    audit = placed.audit
    where = " ".join(filter(None, (placed.log, audit.id)))
    source = f" of {audit.source}" if audit.source != "main" else ""
    levels = audit.levels
    said = [f"{levels[level]} {level}" for level in ("harm", "risk") if levels[level]]
    if audit.meets:
        said.append(many(audit.meets, "pair meets", "pairs meet"))
    if audit.time is not None:
        least, most = audit.time.of("to_win")
        said.append(f"{duration(audit.time.wall)}, to win {spread(least, most)}")
    calls = many(len(audit.plan.calls), "call")
    yield from wrapped(f"  {number:>2}. {where}{source}, {calls}: {'; '.join(said)}", width)
    for path in paths:
        yield f"      {path}"
    if fault is not None:
        yield from wrapped(f"      no picture: {fault}", width)


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
