"""Turns of logs: of a Chat message that a log keeps beside fields of its own, and of bare calls.

A log keeps a call in one of two ways. Where it holds the provider's own message, the turn has that
message and the provider's format, so that it can be written back; the fields that the log has added
go to ``extra``, since a provider would refuse them. Where the log has a form of its own, the turn
has the format ``calls``: its message is a list of calls made of what the log says, and what the log
says is in ``extra``, verbatim.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolflow.formats import calls, openai_chat
from toolflow.formats.base import Misfit
from toolflow.formats.session.pairing import Conversation
from toolflow.model import Turn
from toolflow.model.turn import EMPTY


def chat_turn(
    message: Mapping[str, Any], own: Collection[str] = (), *, extra: Mapping[str, Any] = EMPTY
) -> Turn | Misfit:
    """The turn of one Chat message in a log.

    Args:
        message: The message, with the fields of the log.
        own: The names of those fields.
        extra: What else belongs into ``Turn.extra``.

    Returns:
        The turn, or why it is no assistant message of Chat.
    """
    bare = {key: value for key, value in message.items() if key not in own}
    added = {key: value for key, value in message.items() if key in own}
    try:
        turn = openai_chat.FORMAT.read(bare)[0]
    except Misfit as misfit:
        return misfit
    return replace(turn, extra={**turn.extra, **added, **extra})


def calls_turn(
    items: Sequence[Any], *, extra: Mapping[str, Any] = EMPTY, carries_ids: bool = True
) -> Turn | Misfit:
    """The turn of calls that a log tells in a form of its own.

    Args:
        items: One a call: ``tool``, ``args`` (an object or JSON text), and ``id`` if there is one.
        extra: What the log says, for ``Turn.extra``.
        carries_ids: Whether the log has ids; else they are made from the place.

    Returns:
        The turn, or why it cannot be read: a tool or an id that is no text.
    """
    try:
        turn = calls.FORMAT.read({"calls": list(items)})[0]
    except Misfit as misfit:
        return misfit
    return replace(turn, extra=extra, carries_ids=carries_ids)


def sentence(misfit: Misfit) -> str:
    """What is wrong with a message, as one sentence: the first flaw and how many more there are."""
    more = len(misfit.flaws) - 1
    return f"{misfit.flaws[0].message}{f' ({more} more)' if more else ''}"


def take(
    conversation: Conversation,
    turn: Turn | Misfit,
    message: Any,
    *,
    line: int,
    time: Any = None,
    call_times: Sequence[Any] | None = None,
    source: str = "main",
) -> None:
    """Give a message of the model to a conversation, also one that cannot be read.

    Args:
        conversation: The conversation.
        turn: What was read of the message, or why it cannot be read.
        message: The message as the log has it.
        line: The number of its line.
        time: When it came.
        call_times: When each call began.
        source: Whose it is.
    """
    if isinstance(turn, Misfit):
        conversation.unreadable(message, sentence(turn), line=line, source=source)
        return
    conversation.message(replace(turn, source=source), line=line, time=time, call_times=call_times)
