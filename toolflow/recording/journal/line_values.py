"""Values in the lines of a journal, read with care: every file is untrusted input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from toolflow.model.outcome import Outcome, Times
from toolflow.recording.forms import outcome_from

OUTCOME: Final = ("status", "value", "error", "images", "note")
Line = Mapping[str, Any]


def seconds(value: Any) -> float:
    """A time that a line tells."""
    if type(value) not in {int, float} or not 0 <= value < math.inf:
        raise ValueError(f"{value!r} is no time")
    return round(float(value), 6)  # as recordings have them


def times_in(value: Any) -> Times:
    """The five times of a call."""
    return Times(*(None if each is None else seconds(each) for each in value))


def outcome_in(line: Line) -> Outcome:
    """The outcome that a line tells."""
    value = line.get("value")
    if (
        line["status"] == "ok"
        and type(value) is str
        and not line.keys() & {"error", "images", "note"}
    ):
        return Outcome("ok", value)
    return outcome_from({name: line[name] for name in OUTCOME if name in line})
