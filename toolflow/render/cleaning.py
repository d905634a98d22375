"""A program's SVG, made safe and self-contained (spec 11 and 16).

The programs write what is asked of them, and that holds no link; still, what comes from outside is
read as XML and written anew with only the elements and attributes of the two lists below. That
drops links, scripts, references and whatever a later version of a program may add; it also turns
tooltips, which the programs write as links without a target, into titles.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from toolflow.errors import RenderError
from toolflow.render.xml import element, text

SVG = "http://www.w3.org/2000/svg"
FONTS = "Helvetica, Arial, sans-serif"
_ELEMENTS = {"g", "path", "polygon", "polyline", "ellipse", "circle", "rect", "line", "text"}
_ATTRIBUTES = {
    "class", "cx", "cy", "d", "fill", "fill-opacity", "font-size", "font-weight", "height",
    "points", "r", "rx", "ry", "stroke", "stroke-dasharray", "stroke-opacity", "stroke-width",
    "text-anchor", "transform", "width", "x", "x1", "x2", "y", "y1", "y2",
}  # fmt: skip


def clean(raw: bytes, title: str) -> str:
    """Write a program's SVG anew: drawing and text only, with a title.

    Args:
        raw: What the program wrote.
        title: What the picture is called by those who cannot see it.

    Returns:
        One ``svg`` element, which opens by itself in a browser or stands inside a page.

    Raises:
        RenderError: If it is no SVG.
    """
    root = _parsed(raw)
    values: dict[str, str | float] = {"xmlns": SVG, "role": "img"}
    values |= {
        name: root.attrib[name] for name in ("width", "height", "viewBox") if name in root.attrib
    }
    return element("svg", values, _inside(root, title))


def _parsed(raw: bytes) -> ET.Element:
    try:
        # The program's own output, from a graph that this package wrote; expat refuses the
        # known bombs of entities.
        root = ET.fromstring(raw)  # noqa: S314  # see above
    except (ET.ParseError, ValueError, RecursionError) as error:
        raise RenderError(f"The program wrote no SVG that can be read: {error}.") from error
    if root.tag != f"{{{SVG}}}svg":
        raise RenderError("The program wrote no SVG. Use one that knows `-Tsvg`.")
    return root


def _inside(parent: ET.Element, title: str) -> Iterator[str]:
    """The content of a group: its title first, then what is drawn."""
    if title:
        yield element("title", {}, text(title))
    for child in _unwrapped(parent):
        name = _name(child)
        if name in _ELEMENTS:
            yield _written(child, name)


def _unwrapped(parent: ET.Element) -> Iterator[ET.Element]:
    """The children of a group, with those of links and of groups around links in their place."""
    for child in parent:
        if _name(child) == "a" or any(_name(one) == "a" for one in child):
            yield from _unwrapped(child)
        else:
            yield child


def _written(node: ET.Element, name: str) -> str:
    values: dict[str, str | float] = {
        key: value
        for key, value in node.attrib.items()
        if key == "transform" or (key in _ATTRIBUTES and "(" not in value)
    }
    for key in ("fill", "stroke"):
        if values.get(key) == "transparent":  # Graphviz' word, unknown to SVG 1.1
            values[key] = "none"
    if name == "text":
        values |= {"font-family": FONTS, "xml:space": "preserve"}
        return element(name, values, text("".join(node.itertext())))
    if name != "g":
        return element(name, values)
    return element(name, values, _inside(node, _tooltip(node)))


def _tooltip(group: ET.Element) -> str:
    """What a program wrote as the title of a link without a target."""
    links = (link for child in group for link in (child, *child) if _name(link) == "a")
    for link in links:
        for key, value in link.attrib.items():
            if key.endswith("}title"):
                return str(value).strip()
    return ""


def _name(node: ET.Element) -> str:
    return str(node.tag).removeprefix(f"{{{SVG}}}")
