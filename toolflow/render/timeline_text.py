"""The timeline of a run as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from toolflow.errors import UsageError
from toolflow.model import RecordedTurn
from toolflow.render.labels import cut, duration
from toolflow.render.timeline import Bar, Chart, chart_of, row_labels, ticks

_FANCY = {"waiting": "░", "running": "█", "late": "▒", "settled": "◆", "barrier": "┆"}
_PLAIN = {"waiting": ".", "running": "#", "late": "~", "settled": "*", "barrier": "|"}
_LEAST = 60


def timeline_text(
    turn: RecordedTurn, *, width: int = 100, plain: bool = False, title: str | None = None
) -> str:
    """Write the run of a turn over time: a line for each call, in call order.

    Args:
        turn: The recorded turn; where it has no times, lines hold only the states.
        width: Columns of the terminal, at least 60.
        plain: Whether bars are made of ASCII characters only.
        title: The first line; ``None`` for one that counts calls.

    Returns:
        Lines without control characters; no line is longer than the width, as far as can be
        known: a terminal decides how wide a character is.

    Raises:
        UsageError: If the width is too small, or there are not as many outcomes or times as calls.
    """
    if width < _LEAST:
        raise UsageError(f"width: {width} is too small. Use at least {_LEAST} columns.")
    chart = chart_of(turn, title)
    marks = _PLAIN if plain else _FANCY
    words = max((len(bar.word) for bar in chart.bars), default=0)
    left = width // 3
    room = width - left - words - 4
    lines = [cut(chart.title, width), _axis(chart, left, room)]
    for bar, label in zip(chart.bars, row_labels(chart.bars, left), strict=True):
        lines.append(f"{label}  {_cells(chart, bar, room, marks)}  {bar.word}".rstrip())
    lines += _legend(chart, marks, width)
    return "\n".join(line for line in lines if line) + "\n"


def _at(chart: Chart, time: float, room: int) -> int:
    return min(room - 1, int(time / chart.end * room)) if chart.end > 0 else 0


def _axis(chart: Chart, left: int, room: int) -> str:
    """The times above the bars, where they have room."""
    line = ""
    for at in ticks(chart.end, 5) if chart.end > 0 else ():
        where = _at(chart, at, room)
        word = duration(at) if at else "0"
        if where >= len(line) and where + len(word) <= room:
            line = f"{line.ljust(where)}{word} "
    return f"{' ' * (left + 2)}{line}".rstrip()


def _cells(chart: Chart, bar: Bar, room: int, marks: dict[str, str]) -> str:
    cells = [" "] * room
    for _, start, end in chart.barriers:
        for edge in (start, end):
            cells[_at(chart, edge, room)] = marks["barrier"]
    for kind, span in (("waiting", bar.waiting), ("late", bar.late), ("running", bar.running)):
        if span is not None and (span[1] > span[0] or kind == "running"):
            first, last = _at(chart, span[0], room), _at(chart, span[1], room)
            stop = max(last, first + 1) if span[1] < chart.end else last + 1
            cells[first:stop] = marks[kind] * (stop - first)
    if bar.running is None and bar.at is not None:
        cells[_at(chart, bar.at, room)] = marks["settled"]
    return "".join(cells)


def _legend(chart: Chart, marks: dict[str, str], width: int) -> list[str]:
    lines = [""]
    for kind, words in _occurring(chart):
        longer = f"{lines[-1]}  {marks[kind]} {words}".strip()
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(f"{marks[kind]} {words}")
    return lines


def _occurring(chart: Chart) -> Iterator[tuple[str, str]]:
    bars = chart.bars
    if any(bar.waiting and bar.waiting[1] > bar.waiting[0] for bar in bars):
        yield "waiting", "waiting"
    if any(bar.running for bar in bars):
        yield "running", "running"
    if any(bar.late and bar.late[1] > bar.late[0] for bar in bars):
        yield "late", "reported, but not yet stopped"
    if any(bar.running is None and bar.at is not None for bar in bars):
        yield "settled", "settled without running"
    if chart.barriers:
        yield "barrier", "a barrier begins or ends"
