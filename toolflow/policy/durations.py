"""Durations as people write them: ``500ms``, ``30s``, ``2m``, ``1h``, or seconds (spec 4.4)."""

from __future__ import annotations

import math
import re
from typing import Final

DURATION_PATTERN: Final = r"[0-9]+(\.[0-9]+)?(ms|s|m|h)"
_DURATION = re.compile(DURATION_PATTERN)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_ALLOWED = "Use a duration above 0 such as 500ms, 30s, 2m or 1h, or a number of seconds."


def duration(value: object) -> float:
    """The seconds of a duration.

    Args:
        value: A number of seconds, or text with a unit.

    Returns:
        Seconds, above 0 and finite.

    Raises:
        ValueError: If it is none, with a sentence that says what is allowed.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _positive(value)
    if isinstance(value, str) and (match := _DURATION.fullmatch(value)):
        return _positive(float(value.removesuffix(match[2])) * _SECONDS[match[2]])
    raise ValueError(_ALLOWED)


def _positive(value: float) -> float:
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    if not 0 < seconds < math.inf:
        raise ValueError(_ALLOWED)
    return round(seconds, 9)  # 0.001 has no exact binary form; 500ms is 0.5 for certain
