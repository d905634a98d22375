"""Messages of a wire format, given to the conversation of a log; what cannot be read is left out.

The walk of a format (`Format.steps`) refuses a list with one message that it cannot read. A log is
read on: then each message is tried alone, those that fail are told and left out, and what stands
between them is walked again. That is two more passes however many fail, so that a spoiled log is
read in linear time too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolflow.errors import TurnError
from toolflow.formats.base import Answer, Format, Misfit
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.watched import Watched
from toolflow.model import Turn

Item = tuple[int, Any]
"""A message with the number that it is told by."""
Steps = list[tuple[Turn | Answer, int]]
"""Turns and results with the numbers of their messages."""
Tell = Callable[[Any, str, int], None]
"""Takes a message that cannot be read, the sentence why, and its number."""


def walk(form: Format, items: Sequence[Item], conversation: Conversation, *, source: str) -> None:
    """Give the messages and results of a list to a conversation.

    Args:
        form: Their wire format; one with `Format.steps`.
        items: The messages with their numbers.
        conversation: Where they go.
        source: Whose they are.
    """

    def tell(message: Any, why: str, number: int) -> None:
        conversation.unreadable(message, why, line=number, source=source)

    for step, number in readable(form, items, tell):
        if isinstance(step, Turn):
            conversation.message(replace(step, source=source), line=number)
        else:
            conversation.result(step.call_id, step.outcome, line=number, source=source)


def readable(
    form: Format, items: Sequence[Item], tell: Tell
) -> Iterator[tuple[Turn | Answer, int]]:
    """The messages and results of a list, with their numbers; those that cannot be read are told.

    They are told in their place: after the steps before them were given, and before the next.

    Args:
        form: Their wire format; one with `Format.steps`.
        items: The messages with their numbers.
        tell: Takes a message that cannot be read, why, and its number.
    """
    steps = _steps(form, items)
    if not isinstance(steps, str):
        yield from steps
        return
    for piece in _pieces(form, items, tell):
        steps = _steps(form, piece)
        if isinstance(steps, str):  # each alone is right, but not all of them together
            tell([message for _, message in piece], steps, piece[0][0])
        else:
            yield from steps


def _pieces(form: Format, items: Sequence[Item], tell: Tell) -> Iterator[list[Item]]:
    """What stands between the messages that cannot be read, which are told.

    A format without ids pairs by place: what follows such a message must not be taken for results
    of the one before it.
    """
    piece: list[Item] = []
    for number, message in items:
        alone = _steps(form, [(number, message)])
        if not isinstance(alone, str):
            piece.append((number, message))
            continue
        if piece:
            yield piece
        tell(message, alone, number)
        piece = []
    if piece:
        yield piece


def kinds(form: Format, item: Any) -> set[type]:
    """What a message is by itself: a `Turn`, an `Answer`, both, or nothing of that."""
    steps = _steps(form, [(0, item)])
    return set() if isinstance(steps, str) else {type(step) for step, _ in steps}


def _steps(form: Format, items: Sequence[Item]) -> Steps | str:
    """The steps with their numbers, or the sentence about why they cannot be made."""
    assert form.steps is not None
    watched = Watched([item for _, item in items])
    numbers = [number for number, _ in items]
    own = {id(item): number for number, item in items}
    found: Steps = []
    try:
        for step in form.steps(watched):
            place = watched.at if isinstance(step, Turn) else step.place
            number = numbers[min(max(place, 0), len(numbers) - 1)]
            found.append((step, _own_number(step, own, number)))
    except Misfit as misfit:
        return misfit.flaws[0].message
    except TurnError as error:
        return error.problems[0].message
    except RecursionError:
        return "The message is nested too deeply."
    return found


def _own_number(step: Turn | Answer, own: dict[int, int], number: int) -> int:
    """The number of a turn's message where that is an item itself, or a list that begins with one.

    Else it is the number of the item that was looked at when the turn was there.
    """
    message = step.message if isinstance(step, Turn) else None
    first = message[0] if isinstance(message, list) and message else message
    return own.get(id(first), number)
