"""A message of a wire format inside a log: read by the format's own reader, told where it cannot.

A log is read on where a message file would be refused: a message that does not have the shape of
its format is told and left out, and the others are read. Lists of messages: see `walk`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolflow.errors import TurnError
from toolflow.formats.base import Misfit
from toolflow.formats.session.pairing import Conversation
from toolflow.model import Turn


def attempt(
    read: Callable[[], list[Turn]], talk: Conversation, message: Any, *, line: int
) -> list[Turn]:
    """What a reader of a wire format gives, or nothing where it refuses; then that is told.

    Args:
        read: Reads a message or several.
        talk: Where a message that cannot be read is told.
        message: What is read.
        line: The number of the record.
    """
    try:
        return read()
    except Misfit as misfit:
        why = misfit.flaws[0].message
    except TurnError as error:
        why = error.problems[0].message
    except RecursionError:
        why = "The message is nested too deeply."
    talk.unreadable(message, why, line=line)
    return []
