"""Messages of a wire format inside a log: read by the format's own reader, told where it cannot.

A log is read on where a message file would be refused: one message that does not have the shape of
its format is skipped and told, and the others are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from toolflow.errors import TurnError
from toolflow.formats.base import Answer, Format, Misfit
from toolflow.formats.session.base import Reading
from toolflow.formats.session.pairing import Conversation
from toolflow.model import Notice

Read = TypeVar("Read")


def attempt(read: Callable[[], Read], reading: Reading, *, line: int) -> Read | None:
    """What a reader of a wire format gives, or ``None`` where it refuses; then that is told.

    Args:
        read: Reads a message or several.
        reading: Where oddities are told.
        line: The number of the record.
    """
    try:
        return read()
    except Misfit as misfit:
        told = misfit.flaws[0].message
    except TurnError as error:
        told = error.problems[0].message
    except RecursionError:
        told = "The message is nested too deeply."
    text = f"A message of record {line} could not be read: {told}"
    reading.oddities.append(Notice("unreadable", text, line=line))
    return None


def told_steps(
    form: Format, messages: Sequence[Any], talk: Conversation, reading: Reading, *, line: int
) -> None:
    """Give the messages and the results of a conversation in a wire format to a log's own.

    Args:
        form: The wire format.
        messages: The conversation.
        talk: Where they go.
        reading: Where oddities are told.
        line: The number of the record that holds it.
    """
    walk = form.steps
    if walk is None:
        return
    for step in attempt(lambda: list(walk(messages)), reading, line=line) or ():
        if isinstance(step, Answer):
            talk.result(step.call_id, step.outcome, line=line)
        else:
            talk.message(step, line=line)
