r"""Texts of a page: visible, and of a size that a page can hold (spec 11 and 16).

What nobody can see is written out as in pictures (`\x1b`, `\u202e`), but for line ends and tabs,
which a page shows as they are. Long texts lose their middle only where the whole of a turn would
be too long: a reader wants a large result whole rather than a small one without its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from toolflow.render.labels import visible_lines

LONGEST: Final = 200_000
"""Characters that one text may have."""
LARGEST: Final = 4_000_000
"""Characters that the long texts of one turn may have together."""
_SHORTEST: Final = 200


def shortened(text: str, most: int) -> str:
    """A text without its middle where it is too long; a line says how much was left out."""
    if len(text) <= most:
        return text
    tail = most // 3
    left_out = f"… {len(text) - most:,} characters left out …"
    return f"{text[: most - tail]}\n{left_out}\n{text[-tail:]}"


def value_text(value: Any) -> str:
    """A value as people read it: a text as it is, all else as JSON on several lines."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=_plain)
    except (RecursionError, TypeError, ValueError):
        return f"A {type(value).__name__} that cannot be written as JSON."


def line_text(value: Any) -> str:
    """A value on one line: a plain word as it is, all else as JSON."""
    if isinstance(value, str) and value and not re.search(r"[\s=\"]", value):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (RecursionError, TypeError, ValueError):
        return f"a {type(value).__name__}"


_ESCAPES = {mark: f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def block_json(data: Any) -> str:
    """JSON for a block of a page: nothing in it ends the block, or begins a comment."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark, escape in _ESCAPES.items():  # several times faster than `translate`
        text = text.replace(mark, escape)
    return text


def _plain(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else f"a {type(value).__name__}"


class LongTexts:
    """The long texts of one turn, which are made fit together once all are known."""

    def __init__(self) -> None:
        self._places: list[tuple[str, Callable[[str], None]]] = []

    def put(self, data: dict[str, Any], name: str, text: str | None) -> None:
        """Put a text under a name, now or once its size is settled; nothing for ``None``."""
        if text is not None:
            data[name] = ""
            self._places.append((text, lambda fit: data.update({name: fit})))

    def settle(self) -> bool:
        """Give every place its text.

        Returns:
            Whether any of them was shortened.
        """
        lengths = [len(text) for text, _ in self._places]
        most = LONGEST
        while most > _SHORTEST and sum(min(length, most) for length in lengths) > LARGEST:
            most = max(most // 2, _SHORTEST)
        for text, give in self._places:
            give(visible_lines(shortened(text, most)))
        return any(length > most for length in lengths)
