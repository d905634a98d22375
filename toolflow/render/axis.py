"""Where on one axis of time the turns of a recording lie."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MOST = 2**53  # whole microseconds that JSON's numbers keep exactly: 285 years


def micro(seconds: float) -> int:
    """Seconds as whole microseconds; what is no time at all is 0."""
    return round(min(seconds * 1e6, float(_MOST))) if seconds > 0 else 0


@dataclass(slots=True)
class Axis:
    """Lays turns out, one by one; the first begins at 0.

    Attributes:
        end: Where the last of them ends, in microseconds.
        epoch: What time of day is at 0, as soon as a turn has told.
    """

    end: int = 0
    epoch: datetime | None = None

    def place(self, started_at: str | None, length: int) -> int:
        """Lay a turn out.

        Args:
            started_at: When it began, as ISO 8601 text. A turn without one, or with one that
                cannot be read, begins where all before it have ended.
            length: How many microseconds it takes.

        Returns:
            Where it begins, in microseconds.
        """
        began = _moment(started_at)
        base = self.end
        if began is not None and self.epoch is not None:
            base = max(0, (began - self.epoch) // timedelta(microseconds=1))
        elif began is not None:
            try:
                self.epoch = began - timedelta(microseconds=self.end)
            except OverflowError:
                self.epoch = began
        self.end = min(max(self.end, base + length), _MOST)
        return min(base, _MOST)


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
