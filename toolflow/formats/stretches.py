"""A list of messages, cut at its turns, with every result given to the call that it is for.

A result belongs to the latest turn before it that holds a call of its id, since ids come back; its
own turn, the latest of all, comes first. That is the rule by which logs are paired, too. Results
for an id that several calls of a turn have are given out in order where there are as many as calls,
else to none: nobody can tell whose they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from toolflow.errors import InternalError, Problem, TurnError
from toolflow.formats.base import Answer, Format, Misfit
from toolflow.formats.layout import Layout, Piece
from toolflow.formats.plain import plain
from toolflow.formats.registry import FORMATS
from toolflow.formats.watched import Watched
from toolflow.model import Turn


class Spot(NamedTuple):
    """A result in a list of messages.

    Attributes:
        place: The index of its message.
        at: The index of its piece in the message.
        call_id: The id of its call, as the reader names it.
        value: The piece as it is.
        stretch: The index of the stretch that it stands in.
    """

    place: int
    at: int
    call_id: str
    value: Any
    stretch: int


@dataclass(slots=True)
class Stretch:
    """A message of the model and what follows it, up to the next one. Mutable while it is filled.

    Attributes:
        turn: The message; ``None`` for what stands before the first one. Those with calls are
            named ``turn-1``, ``turn-2`` ...
        places: The indexes of its message or, in Responses, of its items.
        heard: The pieces of each message that follows, by its index, in order.
        others: Of each of these messages the index of the first piece that is no result.
        gap: The index of the first of these messages that holds anything but results.
        answers: For each of its calls its result, wherever it stands, or ``None``.
        surplus: Results for its calls that are one too many.
        unclear: Results of which nobody can tell whose they are, since several calls have the id.
        strays: Results that stand here and belong to no call before them.
    """

    turn: Turn | None
    places: tuple[int, ...] = ()
    heard: dict[int, list[Piece]] = field(default_factory=dict)
    others: dict[int, int] = field(default_factory=dict)
    gap: int | None = None
    answers: list[Spot | None] = field(default_factory=list)
    surplus: list[Spot] = field(default_factory=list)
    unclear: list[Spot] = field(default_factory=list)
    strays: list[Spot] = field(default_factory=list)

    def hear(self, place: int, pieces: list[Piece]) -> None:
        """Take the next message that follows."""
        other = next((at for at, piece in enumerate(pieces) if not piece.is_result), len(pieces))
        self.heard[place], self.others[place] = pieces, other
        if self.gap is None and other < len(pieces):
            self.gap = place


@dataclass(frozen=True, slots=True)
class Conversation:
    """A list of messages that was looked through.

    Attributes:
        form: Its format.
        layout: How results stand in it.
        items: The messages, plain and of nobody else.
        stretches: What stands before the first message of the model, then one for each.
    """

    form: Format
    layout: Layout
    items: list[Any]
    stretches: list[Stretch]

    def is_open(self, stretch: Stretch) -> bool:
        """Whether nothing follows a turn: it is the one to be run next."""
        return stretch is self.stretches[-1] and not stretch.heard


def laid_out(form: Format, layout: Layout, messages: Sequence[Any]) -> Conversation:
    """Look through a list of messages.

    Args:
        form: Its format; one with `Format.steps`.
        layout: How results stand in it.
        messages: The messages, as JSON-like values or SDK objects.

    Raises:
        TurnError: If a message does not have the shape of the format.
    """
    source = f"<{form.name}>"
    try:
        items = [fresh(message) for message in messages]
        said, answers = _walked(form, items)
    except Misfit as misfit:
        raise TurnError([Problem(flaw.message, source) for flaw in misfit.flaws]) from None
    except RecursionError:
        raise TurnError(Problem("A message is nested too deeply.", source)) from None
    stretches = _cut(said, items, layout)
    _give(stretches, answers, form)
    return Conversation(form, layout, items, stretches)


def fresh(value: Any) -> Any:
    """A plain copy of a value, in which no part stands twice as the same object."""
    value = plain(value)
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    return [fresh(item) for item in value] if isinstance(value, list) else value


def _walked(
    form: Format, items: list[Any]
) -> tuple[list[tuple[Turn, tuple[int, ...]]], dict[int, list[str]]]:
    """Each turn with its places, and the ids of the results by the index of their message."""
    assert form.steps is not None
    watched, own = Watched(items), {id(item): place for place, item in enumerate(items)}
    said: list[tuple[Turn, tuple[int, ...]]] = []
    answers: dict[int, list[str]] = {}
    number = 0
    for step in form.steps(watched):
        if isinstance(step, Answer):
            answers.setdefault(step.place, []).append(step.call_id)
            continue
        number += bool(step.calls)
        turn = replace(step, id=f"turn-{number}") if step.calls else step
        said.append((turn, _places(step, own) or (watched.at,)))
    return said, answers


def _places(turn: Turn, own: Mapping[int, int]) -> tuple[int, ...]:
    """Where the message of a turn stands in the list, if it or its items are of the list."""
    parts = turn.message if isinstance(turn.message, list) else [turn.message]
    return tuple(own[id(part)] for part in parts if id(part) in own)


def _cut(
    said: Sequence[tuple[Turn, tuple[int, ...]]], items: list[Any], layout: Layout
) -> list[Stretch]:
    stretches = [Stretch(None), *(Stretch(turn, places) for turn, places in said)]
    taken = {place for stretch in stretches for place in stretch.places}
    starts = {places[0]: index for index, (_, places) in enumerate(said, 1)}
    current = 0
    for place, item in enumerate(items):
        current = starts.get(place, current)
        if place not in taken:
            stretches[current].hear(place, layout.cut(item))
    return stretches


def _give(stretches: list[Stretch], answers: Mapping[int, list[str]], form: Format) -> None:
    """Give each result to a call, or say that it has none."""
    latest: dict[str, int] = {}
    owned: list[dict[str, list[Spot]]] = [{} for _ in stretches]
    for index, stretch in enumerate(stretches):
        turn = stretch.turn
        own = {call.id for call in turn.calls} if turn is not None else set()
        if turn is not None and turn.carries_ids:
            latest.update(dict.fromkeys(own - {""}, index))
        for spot in _spots(index, stretch, answers, form):
            owner = index if spot.call_id in own else latest.get(spot.call_id)
            if owner is None:
                stretch.strays.append(spot)
            else:
                owned[owner].setdefault(spot.call_id, []).append(spot)
    for stretch, results in zip(stretches, owned, strict=True):
        if stretch.turn is not None:
            _match(stretch, stretch.turn, results)


def _spots(
    index: int, stretch: Stretch, answers: Mapping[int, list[str]], form: Format
) -> Iterator[Spot]:
    for place, pieces in stretch.heard.items():
        found = [(at, piece.value) for at, piece in enumerate(pieces) if piece.is_result]
        ids = answers.get(place, [])
        if len(ids) != len(found):
            told = f"{form.name} tells {len(ids)} results of a message and cuts {len(found)}."
            if form.name in FORMATS:
                raise InternalError(told)
            raise TurnError(Problem(told, f"<{form.name}>"))  # another package's fault
        for (at, value), call_id in zip(found, ids, strict=True):
            yield Spot(place, at, call_id, value, index)


def _match(stretch: Stretch, turn: Turn, results: Mapping[str, list[Spot]]) -> None:
    holders: dict[str, list[int]] = {}
    for call in turn.calls:
        holders.setdefault(call.id, []).append(call.index)
    stretch.answers = [None] * len(turn.calls)
    for call_id, spots in results.items():
        calls = holders[call_id]
        if len(calls) == 1:
            stretch.answers[calls[0]] = spots[0]
            stretch.surplus += spots[1:]
        elif len(calls) == len(spots):
            for index, spot in zip(calls, spots, strict=True):
                stretch.answers[index] = spot
        else:
            stretch.unclear += spots
