"""How a turn of a conversation would be written: against it shows what the provider refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolflow.errors import InternalError
from toolflow.formats.base import Format, quoted
from toolflow.formats.layout import Layout
from toolflow.formats.registry import write_turn
from toolflow.model import Call, Outcome, Turn

SETTLED = Outcome("ok", "")  # stands for results that are there already


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A turn and results for its calls as the writer of its format gives them.

    Attributes:
        assistant: The message of the model, or its items, as they stand in a list.
        calls: Its calls, read again: with ids and names that the provider takes.
        results: The result of each call, as a piece of a message; ``None`` where the form has no
            place for one (requests of a protocol without its envelope).
        holder: A message that can hold results, where they are pieces of one.
        rest: The messages that the writer puts behind the results.
    """

    assistant: list[Any]
    calls: tuple[Call, ...]
    results: list[Any]
    holder: Any
    rest: list[Any]


def rewritten(
    form: Format, layout: Layout, turn: Turn, outcomes: Sequence[Outcome] | None = None
) -> Rewritten:
    """Write a turn, and read it again.

    Args:
        form: Its format.
        layout: How results stand in it.
        turn: The turn.
        outcomes: One a call; by default results without a content.
    """
    told = [SETTLED] * len(turn.calls) if outcomes is None else outcomes
    assistant, messages = write_turn(turn, told)
    cut = [(message, layout.cut(message)) for message in messages]
    if layout.rule == "free":
        results = [pieces[0].value if pieces[0].is_result else None for _, pieces in cut]
        rest: list[Any] = []
    else:
        results = [piece.value for _, pieces in cut for piece in pieces if piece.is_result]
        rest = [message for message, pieces in cut if not any(p.is_result for p in pieces)]
    # A result of nobody's call in the middle of a response ends a turn for the reader of a list.
    turns = form.read(assistant) if turn.calls else []
    again = next((each.calls for each in reversed(turns) if each.calls), ())
    if not len(again) == len(results) == len(turn.calls):
        raise InternalError(
            f"{form.name} wrote {len(again)} calls and {len(results)} results of {len(turn.calls)}."
        )
    return Rewritten(assistant, again, results, messages[0] if messages else None, rest)


def changes_of(call: Call, now: Call) -> Iterator[tuple[str, str]]:
    """What is told of a call beside its id that is written otherwise than it was read.

    Args:
        call: The call as it was read.
        now: The call as it is written.

    Returns:
        The codes and the texts of notices.
    """
    if now.tool != call.tool:
        text = f"The name of its tool, {quoted(call.tool)}, is {quoted(now.tool)} now."
        yield "name_rewritten", text
    if call.problem is not None and now.problem is None:
        yield "arguments_dropped", "Its arguments, which cannot be read, are {} now."
