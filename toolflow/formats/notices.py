"""Notices that several formats give: the same oddity is told in the same words everywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from toolflow.model import Call, Notice


def ending(
    ended: Any,
    calls: Sequence[Call],
    *,
    for_calls: AbstractSet[str] = frozenset(),
    at_limit: AbstractSet[str],
) -> Iterator[Notice]:
    """Tell where the calls of a message are not what its end says.

    Args:
        ended: Why it ended, as the provider says it; anything but text says nothing.
        calls: Its calls.
        for_calls: What the provider says of a message that ended for its calls.
        at_limit: What it says of one that was cut off at its token limit.
    """
    if not isinstance(ended, str):
        return
    if ended in for_calls and not calls:
        text = f"The message ended with {ended!r}, but holds no calls. There is nothing to run."
        yield Notice("no_calls", text)
    if ended in at_limit and calls:
        text = "The message was cut off at its token limit. Its last call may lack arguments."
        yield Notice("cut_off", text)


def more_choices(count: int, noun: str) -> Iterator[Notice]:
    """Tell of a response with more than one message to choose from.

    Args:
        count: How many it has.
        noun: What the provider calls them.
    """
    if count > 1:
        text = f"The response has {count} {noun}. The first is read, the others are kept."
        yield Notice("more_choices", text)
