"""How text becomes DOT: quoting and attributes."""

from __future__ import annotations

from collections.abc import Mapping

from toolflow.render.labels import visible

# A backslash starts an escape in labels (`\N` is the vertex's own name), and an ampersand may
# start an entity (`&lt;`), so both are written such that they mean themselves. A text in quotes
# is never taken for markup, whatever it holds.
_MEANINGS = str.maketrans({"\\": r"\\", '"': r"\"", "&": "&amp;"})


def quote(text: str, *, end: str = r"\n") -> str:
    r"""Write a text as a quoted string of DOT that shows exactly this text.

    Args:
        text: Any text. Its line ends become escapes; what cannot be seen is written out.
        end: The escape for a line end: ``\n`` for lines in the middle, ``\l`` for lines at the
            left, which must also follow the last line.
    """
    lines = [visible(line).translate(_MEANINGS) for line in text.split("\n")]
    last = end if end != r"\n" else ""
    return f'"{end.join(lines)}{last}"'


_SIDES = {"label_left": r"\l", "label_right": r"\r"}


def attributes(values: Mapping[str, str | float | None]) -> str:
    r"""Write attributes in brackets; text is quoted, ``None`` left out.

    Names and the values of all but ``label`` and tooltips are this package's own. A label is set
    at the left where its name is written ``label_left``, at the right for ``label_right``.
    """
    parts = []
    for name, value in values.items():
        if value is None:
            continue
        if name in _SIDES:
            parts.append(f"label={quote(str(value), end=_SIDES[name])}")
        else:
            text = f"{value:g}" if isinstance(value, float) else str(value)
            parts.append(f"{name}={quote(text)}")
    return f"[{', '.join(parts)}]"
