"""Results that are given to their calls (spec 3.2): of one turn, and along a conversation.

A result belongs to the latest message of its source that holds a call of its id, since ids come
back in later turns; it is paired only where exactly one call of that message has the id. Nothing
is guessed: what cannot be paired is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.session.base import Reading
from toolflow.formats.session.pending import Pending, Result, named
from toolflow.formats.session.times import parse_time
from toolflow.model import Notice, Outcome, RecordedTurn, Turn

__all__ = ["LIMIT", "WINDOW", "Conversation", "Pending", "Result", "named"]

WINDOW = 256
"""After how many later messages of its source a turn waits for results no longer."""
LIMIT = 4096
"""How many messages of all sources are kept waiting at most, so that memory is bounded."""


class Conversation:
    """Pairs the results of one log, for logs in which one record is one whole message.

    A reader gives messages and results in the order of the log, and takes out with `finished` the
    turns that nothing can change any more; at the end, with `rest`, those that are left.

    Args:
        reading: Where oddities are told, and messages counted.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._waiting: deque[Pending] = deque()
        self._holders: dict[tuple[str, str], Pending] = {}
        self._latest: dict[str, Pending] = {}
        self._by_source: dict[str, int] = {}
        self._given = 0

    def message(
        self,
        turn: Turn,
        *,
        line: int,
        time: Any = None,
        call_times: Sequence[Any] | None = None,
        ended: str | None = None,
    ) -> Pending:
        """Take a message of the model, with calls or without.

        Args:
            turn: What was read of it; ``source`` says whose it is.
            line: The number of its line.
            time: When it came, as the log has it; anything that `parse_time` takes.
            call_times: When each call began; by default at the time of the message.
            ended: Why its calls may lack results (see `Pending`).

        Returns:
            The turn while it waits for its results, for `own_result`.
        """
        if call_times is None:
            times = [parse_time(time)] * len(turn.calls)
        else:
            times = [parse_time(each) for each in call_times]
        pending = Pending(turn, line, time, times, ended=ended)
        self._reading.messages += 1
        number = self._by_source[turn.source] = self._by_source.get(turn.source, 0) + 1
        self._latest[turn.source] = pending
        if turn.calls:
            pending.number = number
            self._waiting.append(pending)
        else:  # it is given to nobody: what is odd about it is told for the log
            found = (replace(n, line=n.line or line, turn=None) for n in turn.notices)
            self._reading.oddities += found
        for call in turn.calls:
            if call.id:
                self._holders[turn.source, call.id] = pending
        return pending

    def result(
        self,
        call_id: Any,
        outcome: Outcome,
        *,
        line: int,
        time: Any = None,
        source: str = "main",
    ) -> None:
        """Take a result; one whose call is not known is told.

        Args:
            call_id: The id of its call as the log has it; anything but text is no id.
            outcome: What it tells.
            line: The number of its line.
            time: When it came, as the log has it.
            source: Whose it is.
        """
        holder = self._holders.get((source, call_id)) if isinstance(call_id, str) else None
        if holder is None:
            shown = quoted(call_id) if isinstance(call_id, str) and call_id else "no id"
            text = f"The result for {shown} belongs to no call that waits for it."
            self._reading.oddities.append(Notice("result_without_call", text, line=line))
            return
        holder.results.setdefault(call_id, []).append(Result(outcome, line, parse_time(time)))

    def unreadable(self, message: Any, why: str, *, line: int, source: str = "main") -> None:
        """Tell of a message of the model that cannot be read.

        A result for one of its ids is given to nobody: ids come back, and an earlier call that had
        the same id and no result must not get the result of another one.

        Args:
            message: The message as the log has it.
            why: A sentence.
            line: The number of its line.
            source: Whose it is.
        """
        text = f"The message cannot be read: {why}"
        self._reading.oddities.append(Notice("unreadable", text, line=line))
        self._reading.messages += 1
        for call_id in _ids_in(message):
            self._holders.pop((source, call_id), None)

    @staticmethod
    def own_result(
        pending: Pending, index: int, outcome: Outcome, *, line: int, time: Any = None
    ) -> None:
        """Take a result whose call is known by turn and index, whatever the ids are.

        Args:
            pending: The turn, as `message` gave it.
            index: The index of the call.
            outcome: What it tells; the first one counts.
            line: The number of its line.
            time: When it came, as the log has it.
        """
        pending.settled.setdefault(index, Result(outcome, line, parse_time(time)))

    def began(self, call_id: Any, *, time: Any, source: str = "main") -> bool:
        """Take the time at which a call began, for logs that tell it apart from its message.

        Args:
            call_id: The id of the call as the log has it.
            time: When it began, as the log has it.
            source: Whose it is.

        Returns:
            Whether a message before it holds a call of that id. Where several of its calls have
            it, the time is given to none of them.
        """
        holder = self._holders.get((source, call_id)) if isinstance(call_id, str) else None
        if holder is None:
            return False
        index, began = holder.place(call_id), parse_time(time)
        if 0 <= index < len(holder.call_times) and began is not None:
            holder.call_times[index] = began
        return True

    def latest(self, source: str = "main") -> Turn | None:
        """The latest message of a source, for logs whose results name no call."""
        pending = self._latest.get(source)
        return None if pending is None else pending.turn

    def interrupted(self, *, line: int, source: str = "main") -> None:
        """Tell that the user interrupted what the latest message of a source began."""
        if source in self._latest:
            self._latest[source].interrupted = line

    def finished(self) -> Iterator[RecordedTurn]:
        """The turns, in order, that are waited for no longer."""
        while self._waiting and self._is_over(self._waiting[0]):
            yield self._give(self._waiting.popleft())

    def rest(self) -> Iterator[RecordedTurn]:
        """The turns that are left, at the end of the log."""
        while self._waiting:
            yield self._give(self._waiting.popleft())

    def _is_over(self, pending: Pending) -> bool:
        if len(self._waiting) > LIMIT:
            return True
        return self._by_source[pending.turn.source] - pending.number >= WINDOW

    def _give(self, pending: Pending) -> RecordedTurn:
        self._given += 1
        pending.turn = named(pending.turn, f"turn-{self._given}")
        source, holders = pending.turn.source, self._holders
        for call in pending.turn.calls:
            if holders.get((source, call.id)) is pending:
                del holders[source, call.id]
        recorded, notices = pending.recorded()
        if notices:
            self._reading.oddities += notices
        return recorded


def _ids_in(value: Any) -> Iterator[str]:
    """Every text in a message that can be the id of a call, at any depth."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield from (v for k, v in value.items() if k in _ID_FIELDS and isinstance(v, str))
            left += value.values()
        elif isinstance(value, list):
            left += value


_ID_FIELDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"})
