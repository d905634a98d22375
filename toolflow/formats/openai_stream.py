"""What is odd about a stream of the OpenAI family, once a kind: a stream may hold much that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolflow.formats.base import quoted, shown
from toolflow.formats.plain import plain
from toolflow.model import Notice

LOST = "\x1a"
"""Stands in the text of arguments where an event was lost: the character for what is not known.

JSON allows it nowhere, so a text with it in it is told as broken, now and whenever the message is
read again, though what is left of it might be an object.
"""


def torn_events(numbers: Sequence[int]) -> tuple[Notice, ...]:
    """The notice for events that are no JSON, as torn ones are not; none where there are none.

    Args:
        numbers: Their places in the stream, counted from 0.
    """
    if not numbers:
        return ()
    first = numbers[0] + 1
    if len(numbers) == 1:
        text = f"Event {first} of the stream is no JSON. It is left out."
    else:
        text = f"{len(numbers)} events of the stream are no JSON, the first is event {first}."
        text += " They are left out."
    return (Notice("torn_event", text),)


def no_end(mark: str) -> Notice:
    """The notice for a stream that has no end.

    Args:
        mark: What is missing.
    """
    text = (
        f"The stream has no end (no {mark}), so it may have been cut off."
        " Calls, or arguments of the last one, may be missing."
    )
    return Notice("no_end", text)


def second_start(unit: str, number: int, left_out: int) -> Notice:
    """The notice for a stream in which a second response begins.

    Args:
        unit: What the stream consists of: ``chunk`` or ``event``.
        number: Where it begins, counted from 0.
        left_out: How many stand before it.
    """
    text = f"The stream starts again at {unit} {number + 1}. The {left_out} before it are left out."
    return Notice("second_start", text)


def stream_error(error: Any) -> Notice:
    """The notice for an error that a server told in the middle of a stream.

    Args:
        error: What it told: a text, or an object with a message.
    """
    error = plain(error)
    told = error.get("message", error.get("code")) if isinstance(error, dict) else error
    said = quoted(told) if isinstance(told, str) else shown(told)
    return Notice("stream_error", f"The stream holds an error: {said}.")
