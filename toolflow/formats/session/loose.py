"""Turns of logs whose messages are in the form of no provider.

A log that writes calls in a way of its own could be translated into some provider's message, but
then ``Turn.message`` would look like what a provider sent. The message of such a turn is a list of
plain calls; what the log holds is in ``Turn.extra`` under ``message``, verbatim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.formats import calls
from toolflow.formats.arguments import parse
from toolflow.formats.plain import text_of
from toolflow.model import Call, Notice, Turn
from toolflow.model.turn import EMPTY


def loose_call(index: int, block: Mapping[str, Any], *, call_id: str, tool: str, args: str) -> Call:
    """A call from a block of a log.

    Args:
        index: Its place among the calls of its turn.
        block: The block as the log has it.
        call_id: The field that holds the id; what is absent or no text counts as the empty id.
        tool: The field that holds the tool's name.
        args: The field that holds the arguments, as JSON text or as an object.

    Returns:
        The call; the other fields of the block are its ``extra``, and so is an id or a name that
        is no text.
    """
    parsed, raw, problem = parse(block.get(args))
    used = {key for key in (call_id, tool) if isinstance(block.get(key), str)} | {args}
    extra = {key: value for key, value in block.items() if key not in used}
    name = text_of(block.get(tool))
    return Call(index, text_of(block.get(call_id)), name, parsed, raw, problem, extra or EMPTY)


def loose_turn(
    found: Sequence[Call],
    message: Any,
    *,
    source: str = "main",
    message_id: Any = None,
    notices: Sequence[Notice] = (),
    extra: Mapping[str, Any] = EMPTY,
) -> Turn:
    """A turn from the calls of a log.

    Args:
        found: Its calls, in order.
        message: What the log holds of the message, verbatim.
        source: Whose it is.
        message_id: The id of the message; anything but text is none.
        notices: What is odd about it.
        extra: What the log tells beside the message.
    """
    return Turn(
        id="",
        calls=tuple(found),
        format=calls.NAME,
        message={"calls": [_plain(call) for call in found]},
        message_id=text_of(message_id) or None,
        source=source,
        notices=tuple(notices),
        extra={**extra, "message": message},
    )


def _plain(call: Call) -> dict[str, Any]:
    args = call.raw if call.problem else dict(call.args)
    return {"id": call.id, "tool": call.tool, "args": args}


def blocks_of(value: Any, kind: str | None = None) -> list[dict[str, Any]]:
    """The objects of a list, those of one ``type`` where it is given; else none."""
    if not isinstance(value, list):
        return []
    found = [block for block in value if isinstance(block, dict)]
    return found if kind is None else [block for block in found if block.get("type") == kind]


def list_of(value: Any) -> list[Any]:
    """The list, or an empty one for anything else."""
    return value if isinstance(value, list) else []
