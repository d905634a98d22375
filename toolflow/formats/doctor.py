"""The doctor for conversations: does every call have its one result, where the provider wants it?

A provider refuses a whole history for one call without a result, and says so in a later request,
far from the cause. `examine` finds every such place, turn by turn and call by call; `repair` in the
module beside it mends them. Both work on the messages themselves and not on turns, so that what is
right stays as it is, to the last field.

The readers tell some of it in notices of their turns; they look at one turn as it is about to be
run. Here the conversation as a whole counts: a result may stand behind a later turn than its own,
and a turn may be followed at once by the next one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolflow.errors import UsageError
from toolflow.formats.base import quoted
from toolflow.formats.plain import plain
from toolflow.formats.registry import find_format, request_list
from toolflow.formats.rewritten import Rewritten, rewritten
from toolflow.formats.stretches import Conversation, Spot, Stretch, laid_out
from toolflow.model import Notice, Turn, call_names


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in a conversation.

    Attributes:
        format: Its wire format.
        messages: How many messages it has.
        turns: How many of them are messages of the model with calls.
        calls: How many calls they have.
        results: How many results there are.
        findings: What is wrong. ``line`` is the number of a message, counted from 1; ``turn`` and
            ``call`` are names, such as ``turn-2``.
    """

    format: str
    messages: int
    turns: int
    calls: int
    results: int
    findings: tuple[Notice, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


def examine(
    messages: Any,
    *,
    format: str | None = None,  # noqa: A002  # the option's name everywhere
    whole: bool = False,
) -> Report:
    """Look whether every call of a conversation has its one result, where it has to be.

    The last turn may lack results where nothing follows it: it is the one to be run next.

    Args:
        messages: A list of messages, the body of a request that has one, or one message; as
            JSON-like values or objects of a provider's SDK. It is not changed.
        format: The name of the wire format; detected where it is not given.
        whole: Whether the last turn has to have its results too.

    Returns:
        What was found.

    Raises:
        TurnError: If the format cannot be told, or a message does not have its shape.
        UsageError: If there is no format of that name, or it knows no conversations.
    """
    return report_of(opened(messages, format), whole=whole)


def opened(messages: Any, name: str | None) -> Conversation:
    """The conversation that messages are, looked through (see `examine`)."""
    data = plain(messages)
    if (inside := request_list(data)) is not None:
        data = plain(data[inside])
    form = find_format(data, name)
    if form.steps is None or form.layout is None:
        raise UsageError(f"format {quoted(form.name)} knows no conversations. Use another one.")
    return laid_out(form, form.layout, data if isinstance(data, list) else [data])


def report_of(conversation: Conversation, *, whole: bool) -> Report:
    """What is wrong with a conversation (see `examine`)."""
    turns = [s.turn for s in conversation.stretches if s.turn is not None and s.turn.calls]
    pieces = [p for s in conversation.stretches for heard in s.heard.values() for p in heard]
    found = [
        notice
        for stretch in conversation.stretches
        for notice in _findings(conversation, stretch, whole=whole)
    ]
    return Report(
        conversation.form.name,
        len(conversation.items),
        len(turns),
        sum(len(turn.calls) for turn in turns),
        sum(piece.is_result for piece in pieces),
        tuple(sorted(found, key=lambda notice: notice.line or 0)),
    )


def _findings(conversation: Conversation, stretch: Stretch, *, whole: bool) -> Iterator[Notice]:
    turn = stretch.turn
    for spot in stretch.strays:
        name = turn.id if turn is not None and turn.calls else None
        text = f"A result for {quoted(spot.call_id)} belongs to no call before it. Leave it out."
        yield Notice("result_without_call", text, line=spot.place + 1, turn=name)
    if turn is None or not turn.calls:
        return
    fresh = rewritten(conversation.form, conversation.layout, turn)
    yield from _of_calls(turn, stretch, fresh)
    if whole or not conversation.is_open(stretch):
        yield from _missing(turn, stretch, fresh)
    names = call_names(turn.calls)
    for name, answer, written in zip(names, stretch.answers, fresh.results, strict=True):
        if answer is not None:
            for code, text in misplaced(conversation, stretch, answer, written):
                yield Notice(code, text, line=answer.place + 1, turn=turn.id, call=name)
    own = {call.id: name for call, name in zip(turn.calls, names, strict=True)}
    for spot in stretch.surplus:
        text = "It has another result here. Give each call exactly one; the first counts."
        line, name = spot.place + 1, own[spot.call_id]
        yield Notice("doubled_result", text, line=line, turn=turn.id, call=name)
    for spot in stretch.unclear:
        text = (
            f"Several calls have the id {quoted(spot.call_id)}, and there are not as many results:"
            " whose this is cannot be told. Leave it out."
        )
        yield Notice("result_without_call", text, line=spot.place + 1, turn=turn.id)


def _of_calls(turn: Turn, stretch: Stretch, fresh: Rewritten) -> Iterator[Notice]:
    """What is wrong with the calls themselves: their ids, names and arguments."""
    holders = Counter(call.id for call in turn.calls)
    names = call_names(turn.calls)
    for call, name, again in zip(turn.calls, names, fresh.calls, strict=True):
        found: list[tuple[str, str]] = []
        if call.id and holders[call.id] > 1:
            text = f"{holders[call.id]} calls of the turn have the id {quoted(call.id)}."
            found.append(("doubled_id", f"{text} Give each its own."))
        elif turn.carries_ids and again.id != call.id:
            what = f"Its id is {quoted(call.id)}" if call.id else "It has no id"
            text = f"{what}, which the provider refuses. It would take {quoted(again.id)}."
            found.append(("refused_id", text))
        if again.tool != call.tool:
            text = f"The provider refuses the tool's name {quoted(call.tool)}."
            found.append(("refused_name", f"{text} It would take {quoted(again.tool)}."))
        if call.problem is not None:
            found.append(("unreadable_arguments", call.problem))
        line = place_of(turn, stretch, call.index) + 1
        for code, text in found:
            yield Notice(code, text, line=line, turn=turn.id, call=name)


def _missing(turn: Turn, stretch: Stretch, fresh: Rewritten) -> Iterator[Notice]:
    for index, name in enumerate(call_names(turn.calls)):
        if stretch.answers[index] is None and fresh.results[index] is not None:
            line = place_of(turn, stretch, index) + 1
            text = "It has no result. Give exactly one, straight after the turn."
            yield Notice("no_result", text, line=line, turn=turn.id, call=name)


def place_of(turn: Turn, stretch: Stretch, index: int) -> int:
    """The index of the message with a call; of its turn's first item where that is not known."""
    if len(stretch.places) == 1:
        return stretch.places[0]
    if len(stretch.places) == len(turn.calls):
        return stretch.places[index]
    return stretch.places[0]


def misplaced(
    conversation: Conversation, stretch: Stretch, spot: Spot, written: Any
) -> Iterator[tuple[str, str]]:
    """What is wrong with the place of a result, and with its id.

    Args:
        conversation: The conversation.
        stretch: That of the call.
        spot: Its result.
        written: The result as it would be written.

    Yields:
        A code and a sentence each.
    """
    layout = conversation.layout
    if layout.rule != "free" and (text := _apart(conversation, stretch, spot)):
        yield "results_apart", text
    elif layout.rule == "first" and stretch.others[spot.place] < spot.at:
        text = "Its result stands behind other content of this message. Put results first."
        yield "results_not_first", text
    given = layout.id_of(spot.value)
    wanted = None if written is None else layout.id_of(written)
    if wanted is not None and given not in (wanted, spot.call_id):
        text = f"Its result has the id {quoted(given)}. Use that of the call, {quoted(wanted)}."
        yield "other_id", text


def _apart(conversation: Conversation, stretch: Stretch, spot: Spot) -> str | None:
    """A sentence where a result does not stand straight after its turn, with the others."""
    if conversation.stretches[spot.stretch] is not stretch:
        return "Its result stands here, behind a later message of the model. Put it after its turn."
    if conversation.layout.rule == "first":
        if spot.place == next(iter(stretch.heard)):
            return None
        return "Its result stands here, not in the message straight after the turn. Put it there."
    if stretch.gap is None or spot.place < stretch.gap:
        return None
    return "Its result stands here, behind another message. Put it straight after the turn."
