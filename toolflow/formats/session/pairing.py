"""Results that are given to their calls (spec 3.2): of one turn, and along a conversation.

A result belongs to the latest message of its source that holds a call of its id, since ids come
back in later turns; it is paired only where exactly one call of that message has the id. Nothing
is guessed: what cannot be paired is told.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.session.base import Reading
from toolflow.formats.session.times import iso, parse_time, seconds
from toolflow.model import Notice, Outcome, RecordedTurn, Times, Turn, call_names

WINDOW = 256
"""After how many later messages of its source a turn waits for results no longer."""
LIMIT = 4096
"""How many messages of all sources are kept waiting at most, so that memory is bounded."""


@dataclass(frozen=True, slots=True)
class Result:
    """A result as it stands in the log.

    Attributes:
        outcome: What it tells.
        line: The number of its line.
        time: The time of its line, or ``None``.
    """

    outcome: Outcome
    line: int
    time: datetime | None = None


@dataclass(slots=True)
class Pending:
    """A turn while its results come in. Mutable: it lives in one reader only.

    Attributes:
        turn: The turn; its id is given when it is recorded.
        line: The number of its first line.
        began: When it began, as the log has it; anything that `parse_time` takes.
        call_times: When each call began, in call order; short or empty where that is not known.
        results: The results for its calls, by id, in the order of the log.
        interrupted: The number of the line that tells of an interrupt after it, or ``None``.
        number: Which message of its source it is, counted from 1.
        ended: Why its calls may lack results, as the log tells it: a clause such as ``the message
            ended with 'error'``; or ``None``.
        settled: The results that stand inside their calls in the log, by the index of the call.
        places: The index of each call by its id, once it was asked for; -1 where several have it.
    """

    turn: Turn
    line: int
    began: Any = None
    call_times: list[datetime | None] = field(default_factory=list)
    results: dict[str, list[Result]] = field(default_factory=dict)
    interrupted: int | None = None
    number: int = 0
    ended: str | None = None
    settled: dict[int, Result] = field(default_factory=dict)
    places: dict[str, int] | None = None

    def recorded(self) -> tuple[RecordedTurn, list[Notice]]:
        """The turn with its results, and notices about what could not be paired."""
        turn, zero = self.turn, parse_time(self.began)
        outcomes: list[Outcome | None] = []
        times: list[Times] = []
        notices = list(self._unpaired())
        for call, name in zip(turn.calls, call_names(turn.calls), strict=True):
            own = self.settled.get(call.index)
            if own is None and name == call.id and call.id in self.results:
                own = self.results[call.id][0]
            if own is None:
                notices.append(self._no_result(name))
            outcomes.append(own.outcome if own else None)
            times.append(self._times(zero, call.index, own.time if own else None))
        began = None if zero is None else iso(self.began, zero)
        return RecordedTurn(turn, tuple(outcomes), tuple(times), started_at=began), notices

    def place(self, call_id: str) -> int:
        """The index of the call that has an id, or -1 where it is not exactly one."""
        if self.places is None:
            self.places = {}
            for call in self.turn.calls:
                self.places[call.id] = -1 if call.id in self.places else call.index
        return self.places.get(call_id, -1)

    def _times(self, zero: datetime | None, index: int, time: datetime | None) -> Times:
        known = index < len(self.call_times)
        started = seconds(zero, self.call_times[index] if known else None)
        settled = seconds(zero, time)
        if started is not None and settled is not None and settled < started:
            settled = started  # the clock was set back in between
        return Times(started=started, settled=settled)

    def _no_result(self, name: str) -> Notice:
        text = f"Call {quoted(name)} has no result in the log"
        if self.interrupted is not None:
            text += f"; the user interrupted the turn (line {self.interrupted})"
        if self.ended is not None:
            text += f"; {self.ended}"
        return Notice("no_result", text + ".", line=self.line, turn=self.turn.id, call=name)

    def _unpaired(self) -> Iterator[Notice]:
        """Results that cannot be given to one call, or that came more than once."""
        holders = Counter(call.id for call in self.turn.calls)
        turn = self.turn.id
        for call_id, results in self.results.items():
            shown = quoted(call_id)
            if holders[call_id] > 1:
                count = holders[call_id]
                text = f"{count} calls have the id {shown}. Its results are given to none of them."
                yield Notice("doubled_id", text, line=results[0].line, turn=turn)
                continue
            for result in results[1:]:
                same = result.outcome == results[0].outcome
                what = "the same result again" if same else "another result"
                text = f"Call {shown} has {what}. The first one counts."
                yield Notice("doubled_result", text, line=result.line, turn=turn, call=call_id)


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
            text = f"The result for {shown} belongs to no call that stands before it in the log."
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
        for call in pending.turn.calls:
            if self._holders.get((pending.turn.source, call.id)) is pending:
                del self._holders[pending.turn.source, call.id]
        recorded, notices = pending.recorded()
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


def named(turn: Turn, name: str) -> Turn:
    """The turn under a name, which its notices get too."""
    return replace(turn, id=name, notices=tuple(replace(n, turn=name) for n in turn.notices))
