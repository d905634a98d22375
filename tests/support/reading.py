"""What may become of any value that is given to be read."""

from __future__ import annotations

from typing import Any

from toolflow.errors import TurnError
from toolflow.formats import read_turns, write_turn
from toolflow.model import Outcome


def read_or_refused(value: Any, form: str | None) -> None:
    """Check that a value is refused in plain lines, or read, and written with results."""
    try:
        turns = read_turns(value, format=form)
    except TurnError as error:
        for problem in error.problems:
            assert str(problem).isprintable()
    else:
        for turn in turns:
            write_turn(turn, [Outcome("ok", "x")] * len(turn.calls))
