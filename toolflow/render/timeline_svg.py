"""The timeline of a run as a Gantt picture: plain SVG, made without any program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolflow.model import RecordedTurn
from toolflow.render import style
from toolflow.render.cleaning import FONTS, SVG
from toolflow.render.labels import cut, duration, ems, short, visible
from toolflow.render.timeline import Bar, Chart, chart_of, ticks
from toolflow.render.xml import element, text

_LEFT, _WIDE, _RIGHT = 220.0, 560.0, 150.0
_TOP, _ROW, _BAR = 66.0, 26.0, 14.0
_WAITING = "#cfd8e0"


def timeline_svg(turn: RecordedTurn, *, title: str | None = None, legend: bool = True) -> str:
    """Draw the run of a turn over time: a row for each call, in call order.

    Args:
        turn: The recorded turn; where it has no times, rows are empty but for the states.
        title: The picture's title; ``None`` for one that counts calls.
        legend: Whether to say what bars and lines mean, for those that occur.

    Returns:
        One ``svg`` element without scripts, links or references; it opens offline.

    Raises:
        UsageError: If there are not as many outcomes or times as calls.
    """
    chart = chart_of(turn, title)
    height, parts = drawing(chart, explained=chart if legend else None)
    return picture(chart.title, height, parts)


def drawing(chart: Chart, *, explained: Chart | None) -> tuple[float, list[str]]:
    """The parts of the picture of a chart, for whoever puts several into one picture.

    Args:
        chart: The chart; its end is the right end of the picture.
        explained: What the legend below it is about, such as the chart itself; ``None``: none.

    Returns:
        The height, and the parts, from the upper left corner on.
    """
    bottom = _TOP + _ROW * len(chart.bars)
    parts = [
        _text(chart.title, 12.0, 24.0, size=14.0, weight="bold"),
        *_rules(chart, bottom),
        *_barriers(chart, bottom),
        *(part for at, bar in enumerate(chart.bars) for part in _row(chart, bar, at)),
        *(_legend(explained, bottom) if explained is not None else ()),
    ]
    return bottom + (12 if explained is None else 34), parts


def picture(title: str, height: float, parts: Iterable[str]) -> str:
    """Parts as one ``svg`` element.

    Args:
        title: The title for those who cannot see it.
        height: How high it is.
        parts: The finished parts.
    """
    width = _LEFT + _WIDE + _RIGHT
    values: dict[str, str | float] = {
        "xmlns": SVG, "role": "img", "width": width, "height": height,
        "viewBox": f"0 0 {width:g} {height:g}", "font-family": FONTS, "font-size": 11.0,
        "fill": style.INK,
    }  # fmt: skip
    background = element("rect", {"width": width, "height": height, "fill": style.PAPER})
    return element("svg", values, [element("title", {}, text(title)), background, *parts])


def _x(chart: Chart, at: float) -> float:
    return _LEFT + _WIDE * (at / chart.end if chart.end > 0 else 0.0)


def _text(
    words: str, x: float, y: float, *, size: float = 11.0, weight: str = "normal",
    anchor: str = "start", fill: str = style.INK,
) -> str:  # fmt: skip
    values: dict[str, str | float] = {"x": x, "y": y}
    values |= {"font-size": size} if size != 11.0 else {}
    values |= {"font-weight": weight} if weight != "normal" else {}
    values |= {"text-anchor": anchor} if anchor != "start" else {}
    values |= {"fill": fill} if fill != style.INK else {}
    return element("text", values, text(words))


def _rules(chart: Chart, bottom: float) -> Iterator[str]:
    """Upright lines at round points in time, with the time above."""
    for at in ticks(chart.end, 7):
        x = _x(chart, at)
        yield element("line", {"x1": x, "x2": x, "y1": _TOP - 4, "y2": bottom, "stroke": "#e3e8ec"})
        yield _text(
            duration(at) if at else "0", x, _TOP - 9, size=9.0, anchor="middle", fill=style.FAINT
        )


def _barriers(chart: Chart, bottom: float) -> Iterator[str]:
    """A shaded band with dashed edges where a barrier ran, its name above."""
    for name, start, end in chart.barriers:
        left, right = _x(chart, start), _x(chart, end)
        band: dict[str, str | float] = {"x": left, "y": _TOP - 4, "width": right - left}
        yield element("rect", {**band, "height": bottom - _TOP + 4, "fill": style.BARRIER_FILL})
        for x in (left, right):
            yield element("line", {
                "x1": x, "x2": x, "y1": _TOP - 4, "y2": bottom, "stroke": style.INK,
                "stroke-dasharray": "4 3",
            })  # fmt: skip
        yield _text(name, (left + right) / 2, _TOP - 22, size=9.0, anchor="middle", weight="bold")


def _row(chart: Chart, bar: Bar, at: int) -> Iterator[str]:
    y = _TOP + _ROW * at
    state = style.state_of(bar.status)
    name = cut(short(bar.name, 80), 12)
    label = _fitting(visible(" ".join(bar.label[:400].split())), _LEFT - 32 - 9 * ems(name))
    parts = [
        element("title", {}, text(f"{short(bar.label, 300)}\n{short(bar.name, 100)}: {bar.word}")),
        _text(label, 12.0, y + 17),
        _text(name, _LEFT - 12, y + 17, size=9.0, anchor="end", fill=style.FAINT),
    ]
    for span, look in (
        (bar.waiting, {"fill": _WAITING}),
        (bar.running, {"fill": state.line}),
        (bar.late, {"fill": style.PAPER, "stroke": state.line, "stroke-dasharray": "2 2"}),
    ):
        if span is not None and (span[1] > span[0] or span is bar.running):
            left, right = _x(chart, span[0]), _x(chart, span[1])
            box: dict[str, str | float] = {"x": left, "y": y + 6, "width": max(right - left, 1.5)}
            parts.append(element("rect", {**box, "height": _BAR, **look}))
    if bar.running is None and bar.at is not None:
        parts.append(_diamond(_x(chart, bar.at), y + 6 + _BAR / 2, state.line))
    parts.append(_text(bar.word, _LEFT + _WIDE + 10, y + 17))
    yield element("g", {"class": f"call call-{at + 1}"}, parts)


def _fitting(label: str, room: float) -> str:
    """A label that leaves room for the name at the right."""
    limit = 30
    while limit > 8 and 11 * ems(cut(label, limit)) > room:
        limit -= 1
    return cut(label, limit)


def _diamond(x: float, y: float, line: str) -> str:
    corners = ((x - 5, y), (x, y - 5), (x + 5, y), (x, y + 5))
    points = " ".join(f"{left:.2f},{top:.2f}" for left, top in corners)
    return element("polygon", {"points": points, "fill": style.PAPER, "stroke": line})


def _legend(chart: Chart, bottom: float) -> Iterator[str]:
    entries = (
        (
            any(bar.waiting and bar.waiting[1] > bar.waiting[0] for bar in chart.bars),
            "Light bar: waiting.",
        ),
        (any(bar.running for bar in chart.bars), "Solid bar: running."),
        (
            any(bar.late and bar.late[1] > bar.late[0] for bar in chart.bars),
            "Dashed bar: reported, but not yet stopped.",
        ),
        (
            any(bar.running is None and bar.at is not None for bar in chart.bars),
            "Diamond: settled without running.",
        ),
        (bool(chart.barriers), "Shaded: a barrier; its call runs alone."),
    )
    words = "  ".join(words for occurs, words in entries if occurs)
    yield _text(words, 12.0, bottom + 22, size=9.0, fill=style.FAINT)
