"""Mends a conversation: adds what is missing, moves results, leaves out what belongs to nothing.

Messages are taken apart only where something in them has to change; everything else is the same as
it was, in the order in which it was. So a valid conversation comes back as it is, and mending what
was mended changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from toolflow.formats.base import quoted
from toolflow.formats.doctor import misplaced, opened, place_of, report_of
from toolflow.formats.edits import Edits
from toolflow.formats.rewritten import SETTLED, Rewritten, changes_of, rewritten
from toolflow.formats.stretches import Conversation, Spot, Stretch
from toolflow.model import Call, Notice, Outcome, Turn, call_names

LOST = Outcome(
    "outcome_unknown",
    error="The call was interrupted. Nobody knows whether it ran or how it ended: look before you"
    " repeat it.",
)
"""What is written for a call without a result."""
_MORE: Final = 3  # passes after the first one


@dataclass(frozen=True, slots=True)
class Repaired:
    """A conversation that was mended.

    Attributes:
        messages: Its messages; equal to those that were given where nothing had to change.
        changes: What was done, in the order of the messages as they were given, which ``line``
            counts from 1.
        left: What is still wrong with it (see `Report.findings`): arguments that cannot be read,
            and the ids of a last turn that is still to be run.
    """

    messages: list[Any]
    changes: tuple[Notice, ...] = ()
    left: tuple[Notice, ...] = ()


def repair(
    messages: Any,
    *,
    format: str | None = None,  # noqa: A002  # the option's name everywhere
    whole: bool = False,
) -> Repaired:
    """Make a valid copy of a conversation that adds only what is missing.

    A call without a result gets one that says that nobody knows how it ended. Results are moved to
    where the provider wants them, in call order; those of no call, and those that are one too many,
    are left out. Ids and names that the provider refuses are rewritten on both sides (spec 3.4).
    The last turn is left alone where nothing follows it: it is the one to be run next.

    Args:
        messages: A list of messages, the body of a request that has one, or one message. It is
            not changed.
        format: The name of the wire format; detected where it is not given.
        whole: Whether the last turn gets results too.

    Returns:
        The copy, what was done, and what could not be.

    Raises:
        TurnError: If the format cannot be told, or a message does not have its shape.
        UsageError: If there is no format of that name, or it knows no conversations.
    """
    conversation = opened(messages, format)
    mended, changes = _pass(conversation, whole=whole)
    left = _left(conversation, mended, whole=whole)
    for _ in range(_MORE):
        if not (changes and left):
            break  # the common case: one pass mends it all
        mended, more = _pass(opened(mended, conversation.form.name), whole=whole)
        if not more:
            break
        changes += [replace(notice, line=None) for notice in more]
        left = _left(conversation, mended, whole=whole)
    return Repaired(mended, tuple(changes), left)


def _pass(conversation: Conversation, *, whole: bool) -> tuple[list[Any], list[Notice]]:
    """Mend what can be seen; what a message that is rewritten holds is seen by the next one."""
    edits, changes = Edits(conversation), list[Notice]()
    for stretch in conversation.stretches:
        changes += _mend(conversation, stretch, edits, whole=whole)
    return edits.applied(), sorted(changes, key=lambda notice: notice.line or 0)


def _left(conversation: Conversation, mended: list[Any], *, whole: bool) -> tuple[Notice, ...]:
    if not mended:
        return ()
    return report_of(opened(mended, conversation.form.name), whole=whole).findings


def _mend(
    conversation: Conversation, stretch: Stretch, edits: Edits, *, whole: bool
) -> Iterator[Notice]:
    turn = stretch.turn
    having = turn if turn is not None and turn.calls else None
    name = None if having is None else having.id
    for spot in (*stretch.strays, *stretch.unclear):
        edits.remove(spot)
        text = f"A result for {quoted(spot.call_id)}, which is of no call, was left out."
        yield Notice("result_left_out", text, line=spot.place + 1, turn=name)
    if having is None or (conversation.is_open(stretch) and not whole):
        return
    own = {call.id: name for call, name in _named(having)}
    for spot in stretch.surplus:
        edits.remove(spot)
        text, call = "A further result of it was left out.", own[spot.call_id]
        yield Notice("result_left_out", text, line=spot.place + 1, turn=name, call=call)
    yield from _mend_turn(conversation, stretch, having, edits)


def _mend_turn(
    conversation: Conversation, stretch: Stretch, turn: Turn, edits: Edits
) -> Iterator[Notice]:
    outcomes = [LOST if spot is None else SETTLED for spot in stretch.answers]
    fresh = rewritten(conversation.form, conversation.layout, turn, outcomes)
    changed = list(_changed_calls(turn, stretch, fresh))
    if changed:
        edits.say(stretch, fresh.assistant)
        yield from changed
    rewritten_calls = {notice.call for notice in changed}
    values: list[Any] = []
    moves: list[Notice] = []
    for call, name in _named(turn):
        spot, written = stretch.answers[call.index], fresh.results[call.index]
        if spot is None and written is None:
            continue
        if spot is None:
            values.append(written)
            text = "A result was added that says that nobody knows how it ended."
            place = place_of(turn, stretch, call.index)
            moves.append(Notice("result_added", text, place + 1, turn.id, name))
            continue
        value = _with_id(conversation, spot, written)
        if value is not spot.value:
            edits.replace(spot, value)
            if name not in rewritten_calls:
                text = "The id of its result is that of the call now."
                yield Notice("id_rewritten", text, spot.place + 1, turn.id, name)
        values.append(value)
        codes = [code for code, _ in misplaced(conversation, stretch, spot, written)]
        if "results_apart" in codes or "results_not_first" in codes:
            text = "Its result was moved straight behind the turn."
            moves.append(Notice("result_moved", text, spot.place + 1, turn.id, name))
    if moves:
        edits.lay(stretch, values, fresh)
        yield from moves


def _named(turn: Turn) -> Iterator[tuple[Call, str]]:
    yield from zip(turn.calls, call_names(turn.calls), strict=True)


def _with_id(conversation: Conversation, spot: Spot, written: Any) -> Any:
    """The result with the id that its call is written with; the same object where it has it."""
    layout = conversation.layout
    wanted = None if written is None else layout.id_of(written)
    if wanted is None or layout.id_of(spot.value) == wanted:
        return spot.value
    return layout.with_id(spot.value, wanted)


def _changed_calls(turn: Turn, stretch: Stretch, fresh: Rewritten) -> Iterator[Notice]:
    """What is told of the calls that the provider would refuse as they are."""
    for (call, name), again in zip(_named(turn), fresh.calls, strict=True):
        texts: list[tuple[str, str]] = []
        if turn.carries_ids and again.id != call.id:
            text = f"Its id {quoted(call.id)} is {quoted(again.id)} now, in its result too."
            texts.append(("id_rewritten", text))
        texts += changes_of(call, again)
        line = place_of(turn, stretch, call.index) + 1
        yield from (Notice(code, text, line, turn.id, name) for code, text in texts)
