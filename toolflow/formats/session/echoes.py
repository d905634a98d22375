"""Conversations that are sent again with every request, found again and not doubled.

A request repeats all that was said before. A message of the model in it is one that is known if it
has the ids of a known one, or, where one of both has no ids, its tools and arguments; messages keep
their order, so of several that fit, the next one after the last that was found is taken. A message
with calls that is not known was put there by the program that sent the request, and is a message of
its own. A result goes to the call at the same place of the message
that was found; the first result of a call counts, since later requests may carry shortened ones.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from toolflow.formats.base import Answer
from toolflow.formats.session.pairing import Conversation, Pending
from toolflow.model import Turn

_Key = tuple[str, ...]
_LOOKED_BACK = 8


class Echoes:
    """The messages of a conversation that are known. Mutable; lives in one reading only.

    Args:
        talk: Where messages and results go.
    """

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk
        self._known: list[Pending] = []
        self._places: dict[_Key, list[int]] = {}
        self._strays: set[str] = set()
        self._of_call: dict[str, Pending] = {}
        self._begun = False

    def message(self, turn: Turn, *, line: int, time: Any = None) -> Pending:
        """Take a message of the model that is new."""
        self._begun = True
        pending = self._talk.message(turn, line=line, time=time)
        if turn.calls:
            for key in _known_by(turn):
                self._places.setdefault(key, []).append(len(self._known))
            self._known.append(pending)
            self._of_call.update((call.id, pending) for call in turn.calls if call.id)
        return pending

    def history(self, steps: Sequence[Turn | Answer], *, line: int, time: Any = None) -> None:
        """Take the conversation that a request repeats.

        Args:
            steps: Its messages and results, in order.
            line: The number of the request's record.
            time: The time of the request, as the log has it.
        """
        last, first, self._begun = -1, not self._begun, True
        used: set[int] = set()
        holders: dict[str, tuple[int, Pending]] = {}
        for step in steps:
            if isinstance(step, Answer):
                self._result(step, holders.get(step.call_id), line=line, time=time)
            elif step.calls:
                place = self._find(step, last, used)
                pending = self.message(step, line=line) if place is None else self._known[place]
                if place is not None:
                    last = place
                    used.add(place)
                holders.update(_holders(step, pending))
            elif first:
                self.message(step, line=line)

    def _find(self, turn: Turn, last: int, used: set[int]) -> int | None:
        for key in _sought_by(turn):
            places = self._places.get(key, [])
            after = bisect_right(places, last)
            if after < len(places):
                return places[after]
            # A program may put a message of its own before one that is known already.
            free = next((place for place in places[:_LOOKED_BACK] if place not in used), None)
            if free is not None:
                return free
        return None

    def _result(
        self, answer: Answer, holder: tuple[int, Pending] | None, *, line: int, time: Any
    ) -> None:
        call_id, outcome = answer.call_id, answer.outcome
        if holder is None and call_id in self._of_call:  # an earlier request or response has it
            earlier = self._of_call[call_id]
            holder = earlier.place(call_id), earlier
        if holder is None:
            if call_id in self._strays:
                return
            self._strays.add(call_id)
        elif holder[0] >= 0:
            index, pending = holder
            self._talk.own_result(pending, index, outcome, line=line, time=time)
            return
        elif call_id in holder[1].results:  # a doubled id, which is told once
            return
        self._talk.result(call_id, outcome, line=line, time=time)


def _holders(turn: Turn, pending: Pending) -> dict[str, tuple[int, Pending]]:
    """Where the result of each id belongs: to no place where several calls have it."""
    found: dict[str, tuple[int, Pending]] = {}
    for call in turn.calls:
        found[call.id] = (-1 if call.id in found else call.index), pending
    return found


def _known_by(turn: Turn) -> tuple[_Key, ...]:
    """What a message is known by: its ids where they are whole, and what it asks for."""
    ids, asked = _ids(turn), _asked(turn)
    if ids is not None:
        return ("ids", *ids), ("any", *asked)
    return ("without ids", *asked), ("any", *asked)


def _sought_by(turn: Turn) -> tuple[_Key, ...]:
    """What a message is sought by. One with ids is never one that has other ids."""
    ids, asked = _ids(turn), _asked(turn)
    if ids is not None:
        return ("ids", *ids), ("without ids", *asked)
    return (("any", *asked),)


def _ids(turn: Turn) -> _Key | None:
    ids = tuple(call.id for call in turn.calls)
    whole = turn.carries_ids and all(ids) and len(set(ids)) == len(ids)
    return ids if whole else None


def _asked(turn: Turn) -> _Key:
    return tuple(
        json.dumps([call.tool, call.raw if call.problem else dict(call.args)], sort_keys=True)
        for call in turn.calls
    )
