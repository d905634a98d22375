"""Times as logs tell them: text in ISO 8601, or seconds or milliseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def parse_time(value: Any) -> datetime | None:
    """The time that a log tells.

    Args:
        value: ISO 8601 text (without a zone it is UTC), or seconds or milliseconds since 1970.

    Returns:
        The time, or ``None`` for anything else.
    """
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time if time.tzinfo else time.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


_MILLISECONDS = 100_000_000_000  # as seconds, the year 5138


def iso(text: Any, time: datetime) -> str:
    """The time as the log has it where that is text, else as ISO 8601 text."""
    return text if isinstance(text, str) else time.isoformat()


def seconds(zero: datetime | None, time: datetime | None) -> float | None:
    """The seconds from one time to another, not less than 0; ``None`` where one is not known."""
    if zero is None or time is None:
        return None
    return max(0.0, round((time - zero).total_seconds(), 6))
