"""Changes to a list of messages that are collected first and made in one pass."""

from __future__ import annotations

from typing import Any

from toolflow.formats.rewritten import Rewritten
from toolflow.formats.stretches import Conversation, Spot, Stretch

_LISTS = frozenset({"content", "parts", "tool_calls"})  # what a message itself has ...
_AROUND = frozenset({"candidates", "choices", "message", "output"})  # ... and what stands around it
_LEFT_OUT = "(A result of no call was left out here.)"


class Edits:
    """What is to change in a conversation. Mutable; made once.

    Args:
        conversation: The conversation; it is not changed.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._talk = conversation
        self._heard = {k: v for stretch in conversation.stretches for k, v in stretch.heard.items()}
        self._said: dict[int, list[Any]] = {}
        self._gone: set[tuple[int, int]] = set()
        self._values: dict[tuple[int, int], Any] = {}
        self._first: dict[int, list[Any]] = {}
        self._behind: dict[int, list[Any]] = {}

    def say(self, stretch: Stretch, assistant: list[Any]) -> None:
        """Put a message of the model, or its items, in the place of what it was read from."""
        if len(stretch.places) > 1 and len(assistant) == 1 and isinstance(assistant[0], list):
            assistant = assistant[0]  # requests of one turn that stand one by one
        if len(assistant) != len(stretch.places):
            self._said[stretch.places[0]] = assistant
            return
        for place, written in zip(stretch.places, assistant, strict=True):
            before = self._talk.items[place]
            self._said[place] = [{**before, **written} if _is_message(before) else written]

    def remove(self, spot: Spot) -> None:
        """Leave a result out."""
        self._gone.add((spot.place, spot.at))

    def replace(self, spot: Spot, value: Any) -> None:
        """Put another result in the place of one."""
        self._values[spot.place, spot.at] = value

    def lay(self, stretch: Stretch, values: list[Any], fresh: Rewritten) -> None:
        """Put the results of a turn where they belong.

        Args:
            stretch: The turn.
            values: Its results, in call order; those that stand somewhere are taken from there.
            fresh: The turn as it would be written.
        """
        layout, last = self._talk.layout, max(stretch.places)
        if layout.rule == "free":
            added = [
                value
                for value, spot in zip(values, self._kept(stretch, fresh), strict=True)
                if spot is None
            ]
            self._behind[last] = added
            return
        for spot in stretch.answers:
            if spot is not None:
                self.remove(spot)
        if layout.rule == "row":
            self._behind[last] = [*values, *fresh.rest]
            return
        first = next(iter(stretch.heard), None)
        if first is not None and self._takes(stretch, first):
            self._first[first] = values
        else:
            self._behind[last] = [layout.joined(fresh.holder, values)]
        self._behind.setdefault(last, []).extend(fresh.rest)

    def _kept(self, stretch: Stretch, fresh: Rewritten) -> list[Spot | None]:
        """For each call that has a result or gets one: the spot where it is."""
        pairs = zip(stretch.answers, fresh.results, strict=True)
        return [spot for spot, written in pairs if not (spot is None and written is None)]

    def _takes(self, stretch: Stretch, place: int) -> bool:
        """Whether the results go into the first message behind the turn, before all else in it."""
        layout, pieces = self._talk.layout, stretch.heard[place]
        only = all(piece.is_result for piece in pieces)
        return layout.takes(self._talk.items[place]) and (only or not layout.alone)

    def applied(self) -> list[Any]:
        """The messages with all the changes."""
        mended: list[Any] = []
        for place, item in enumerate(self._talk.items):
            mended += self._said.get(place) or self._message(place, item)
            mended += self._behind.get(place, ())
        return mended

    def _message(self, place: int, item: Any) -> list[Any]:
        layout, pieces = self._talk.layout, self._heard.get(place, [])
        spots = [(place, at) for at in range(len(pieces))]
        values = [
            self._values.get(spot, piece.value)
            for spot, piece in zip(spots, pieces, strict=True)
            if spot not in self._gone
        ]
        if place in self._first:
            return [layout.joined(item, [*self._first[place], *values])]
        if self._gone.isdisjoint(spots) and self._values.keys().isdisjoint(spots):
            return [item]
        if not values and layout.text is not None and self._is_between(place):
            values = [layout.text(_LEFT_OUT)]
        return [layout.joined(item, values)] if values else []

    def _is_between(self, place: int) -> bool:
        """Whether nothing but this message stands between two messages of the model."""
        if not 0 < place < len(self._talk.items) - 1 or place - 1 in self._behind:
            return False
        return place - 1 not in self._heard and place + 1 not in self._heard


def _is_message(value: Any) -> bool:
    """Whether it is a message itself, whose other fields are kept, and no response around one."""
    if not isinstance(value, dict) or value.keys().isdisjoint(_LISTS):
        return False
    return value.keys().isdisjoint(_AROUND)
