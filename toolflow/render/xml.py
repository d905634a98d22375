"""XML, written by hand: every text and every value of an attribute is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolflow.render.labels import visible

_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_VALUE = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;"})


def text(value: str) -> str:
    """A text between tags. Line ends stay; what cannot be seen is written out."""
    return "\n".join(visible(line) for line in value.split("\n")).translate(_TEXT)


def element(
    name: str, values: Mapping[str, str | float], content: Iterable[str] | str | None = None
) -> str:
    """One element on lines of its own.

    Args:
        name: Its name, this package's own.
        values: Its attributes; numbers are written with at most two decimals.
        content: Finished XML inside it, in parts; ``None`` for an empty element.
    """
    written = "".join(f' {key}="{_value(value)}"' for key, value in values.items())
    if content is None:
        return f"<{name}{written}/>\n"
    inside = content if isinstance(content, str) else "\n" + "".join(content)
    return f"<{name}{written}>{inside}</{name}>\n"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return "\n".join(visible(line) for line in value.split("\n")).translate(_VALUE)
    return f"{value:.2f}".rstrip("0").rstrip(".")
