"""A timeline as PNG: its own SVG, drawn by the program that draws plans.

Graphviz draws what has a fixed place as it is told (``neato -n``), so the parts of a timeline
become vertices with places, and the program that is installed for plans anyway makes a PNG of
them, with fonts of its own. A package that draws SVG (`resvg-py` is a good one) was the
alternative: one more to install, which takes its letters from the system, where there may be none.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from toolflow.errors import RenderError
from toolflow.model import RecordedTurn
from toolflow.render import program as programs
from toolflow.render import style
from toolflow.render.cleaning import SVG
from toolflow.render.dotwriter import attributes
from toolflow.render.looks import BOLD, FONT, Look
from toolflow.render.timeline_svg import timeline_svg

_LEADING = 0.34  # how far the middle of letters is above their baseline, in units of their size
_DPI = 72.0


def timeline_png(
    turn: RecordedTurn,
    *,
    title: str | None = None,
    legend: bool = True,
    program: str | None = None,
    timeout: float = programs.TIMEOUT,
) -> bytes:
    """Draw the run of a turn over time as PNG with 144 dots an inch.

    Args:
        turn: The recorded turn.
        title: The picture's title; ``None`` for one that counts calls.
        legend: Whether to say what bars and lines mean, for those that occur.
        program: The program that draws it; ``None`` takes ``dot``, else ``graphviz-pure``.
        timeout: How many seconds the program may take.

    Returns:
        The bytes of the picture.

    Raises:
        UsageError: If there are not as many outcomes or times as calls.
        RenderError: If there is no program to draw with, or it fails or takes too long.
    """
    return drawn(timeline_svg(turn, title=title, legend=legend), program=program, timeout=timeout)


def drawn(svg: str, *, program: str | None = None, timeout: float = programs.TIMEOUT) -> bytes:
    """Draw the SVG of one or more timelines as PNG; see `timeline_png`."""
    return programs.draw(pinned(svg), "png", program=program, timeout=timeout, pinned=True)


def pinned(svg: str) -> str:
    """Write a timeline's SVG as DOT with a place for everything.

    Args:
        svg: What `toolflow.render.timeline_svg` writes: boxes, lines, diamonds and text.

    Returns:
        The text of a graph without edges, for ``neato -n``. One point is one unit of the SVG.

    Raises:
        RenderError: If there is something else in it.
    """
    # Our own text, in which every character that XML gives a meaning to is escaped.
    root = ET.fromstring(svg)  # noqa: S314  # see above
    height, width = float(root.attrib["height"]), float(root.attrib["width"])
    head: Look = {
        "layout": "neato",
        "bgcolor": style.PAPER,
        "pad": 0.0,
        "outputorder": "nodesfirst",
    }
    node: Look = {"shape": "box", "fixedsize": "true", "label": "", "margin": "0,0"}
    lines = [f"graph {attributes(head)}", f"node {attributes(node)}"]
    looks = (look for part in root for look in _looks(part, 0.0, width, height))
    lines += [f"part_{at} {attributes(look)}" for at, look in enumerate(looks, 1)]
    return "\n".join(["digraph timeline {", *(f"  {line}" for line in lines), "}", ""])


def _looks(part: ET.Element, down: float, width: float, height: float) -> Iterator[Look]:
    """The vertices of one part of the picture, in the order in which they are drawn."""
    name, values = part.tag.removeprefix(f"{{{SVG}}}"), part.attrib
    if name == "g":
        moved = values.get("transform", "translate(0 0)").split()[-1].rstrip(")")
        for child in part:
            yield from _looks(child, down + float(moved), width, height)
    elif name == "rect":
        x, y = float(values.get("x", 0)), float(values.get("y", 0)) + down
        yield _box(x, y, float(values["width"]), float(values["height"]), height, values)
    elif name == "line":
        x, y, bottom = (float(values[key]) for key in ("x1", "y1", "y2"))
        # Both long sides of the box lie in one place, so each is half as thick.
        yield _box(x, y + down, 0.01, bottom - y, height, values) | {"penwidth": 0.5}
    elif name == "polygon":
        corners = [corner.split(",") for corner in values["points"].split()]
        xs, ys = ([float(corner[at]) for corner in corners] for at in (0, 1))
        left, top = min(xs), min(ys) + down
        look = _box(left, top, max(xs) - left, max(ys) + down - top, height, values)
        yield look | {"shape": "diamond"}
    elif name == "text":
        yield _text(part, down, width, height)
    elif name != "title":
        raise RenderError(f"timeline: there is no way to draw {name} as PNG.")


def _box(  # noqa: PLR0917  # a rectangle is four numbers
    x: float, y: float, width: float, height: float, whole: float, values: dict[str, str]
) -> Look:
    dashed = "stroke-dasharray" in values
    fill, line = values.get("fill"), values.get("stroke")
    return {
        "pos": _place(x + width / 2, y + height / 2, whole),
        "width": round(width / _DPI, 4),
        "height": round(height / _DPI, 4),
        "style": ",".join(("filled", *(["dashed"] if dashed else []))),
        "fillcolor": fill or line or style.PAPER,
        "color": line or fill or style.PAPER,
        "penwidth": 1.0 if line else 0.0,
    }


def _text(part: ET.Element, down: float, width: float, height: float) -> Look:
    """A text in a box that reaches from its anchor to the edge of the picture."""
    values = part.attrib
    x, size = float(values["x"]), float(values.get("font-size", 11.0))
    words = "".join(part.itertext())
    anchor = values.get("text-anchor", "start")
    room = {"start": width - x, "end": x, "middle": 2 * min(x, width - x)}[anchor]
    middle = {"start": x + room / 2, "end": x - room / 2, "middle": x}[anchor]
    side = {"start": "label_left", "end": "label_right", "middle": "label"}[anchor]
    return {
        "shape": "plaintext",
        "pos": _place(middle, float(values["y"]) + down - _LEADING * size, height),
        "width": round(room / _DPI, 4),
        "height": round(size * 1.2 / _DPI, 4),
        "fontsize": size,
        "fontname": BOLD if values.get("font-weight") == "bold" else FONT,
        "fontcolor": values.get("fill", style.INK),
        side: words,
    }


def _place(x: float, y: float, height: float) -> str:
    """A place as Graphviz counts it: upwards."""
    return f"{x:.2f},{height - y:.2f}!"
