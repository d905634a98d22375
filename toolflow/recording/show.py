"""Values as a divergence shows them: short, on one line, cut where they differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MOST = 80
_BEFORE = 24  # characters shown before the first difference


def shown(value: Any, other: Any = None) -> str:
    """A value on one line, without control characters.

    Args:
        value: A JSON value.
        other: The value that it differs from: long text is cut around the first difference.
    """
    if isinstance(value, str):
        return _text(value, other if isinstance(other, str) else None)
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    return _text(text, None)[1:-1] if len(text) > _MOST or not text.isprintable() else text


def _text(text: str, other: str | None) -> str:
    start = 0
    if other is not None and len(text) > _MOST:
        same = 0
        for one, two in zip(text, other, strict=False):
            if one != two:
                break
            same += 1
        start = max(0, same - _BEFORE)
    part = text[start : start + _MOST]
    quoted = repr(part) if part.isprintable() else ascii(part)
    head = "..." if start else ""
    tail = "..." if start + _MOST < len(text) else ""
    return f"{quoted[0]}{head}{quoted[1:-1]}{tail}{quoted[-1]}"


def _plain(value: object) -> Any:
    return dict(value) if isinstance(value, Mapping) else f"a {type(value).__name__}"
