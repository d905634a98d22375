"""Results that are given to their calls (spec 3.2): of one turn, and along a conversation.

A result belongs to the latest message of its source that holds a call of its id, since ids come
back in later turns; it is paired only where exactly one call of that message has the id. Nothing
is guessed: what cannot be paired is told.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.session.base import Reading
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
    """

    turn: Turn
    line: int
    began: Any = None
    call_times: Sequence[datetime | None] = ()
    results: dict[str, list[Result]] = field(default_factory=dict)
    interrupted: int | None = None
    number: int = 0

    def recorded(self) -> tuple[RecordedTurn, list[Notice]]:
        """The turn with its results, and notices about what could not be paired."""
        turn, zero = self.turn, parse_time(self.began)
        outcomes: list[Outcome | None] = []
        times: list[Times] = []
        notices = list(self._unpaired())
        for call, name in zip(turn.calls, call_names(turn.calls), strict=True):
            own = self.results.get(call.id, []) if name == call.id else []
            if not own:
                notices.append(self._no_result(name))
            outcomes.append(own[0].outcome if own else None)
            times.append(self._times(zero, call.index, own[0].time if own else None))
        began = None if zero is None else _iso(self.began, zero)
        return RecordedTurn(turn, tuple(outcomes), tuple(times), started_at=began), notices

    def _times(self, zero: datetime | None, index: int, time: datetime | None) -> Times:
        known = index < len(self.call_times)
        started = _seconds(zero, self.call_times[index] if known else None)
        settled = _seconds(zero, time)
        if started is not None and settled is not None and settled < started:
            settled = started  # the clock was set back in between
        return Times(started=started, settled=settled)

    def _no_result(self, name: str) -> Notice:
        text = f"Call {quoted(name)} has no result in the log"
        if self.interrupted is not None:
            text += f"; the user interrupted the turn (line {self.interrupted})"
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
    ) -> None:
        """Take a message of the model, with calls or without.

        Args:
            turn: What was read of it; ``source`` says whose it is.
            line: The number of its line.
            time: When it came, as the log has it; anything that `parse_time` takes.
            call_times: When each call began; by default at the time of the message.
        """
        if call_times is None:
            times = [parse_time(time)] * len(turn.calls)
        else:
            times = [parse_time(each) for each in call_times]
        pending = Pending(turn, line, time, times)
        self._reading.messages += 1
        number = self._by_source[turn.source] = self._by_source.get(turn.source, 0) + 1
        self._latest[turn.source] = pending
        if not turn.calls:
            return
        pending.number = number
        self._waiting.append(pending)
        for call in turn.calls:
            if call.id:
                self._holders[turn.source, call.id] = pending

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


def named(turn: Turn, name: str) -> Turn:
    """The turn under a name, which its notices get too."""
    return replace(turn, id=name, notices=tuple(replace(n, turn=name) for n in turn.notices))


def parse_time(value: Any) -> datetime | None:
    """The time that a log tells.

    Args:
        value: ISO 8601 text (without a zone it is UTC), or seconds or milliseconds since 1970.

    Returns:
        The time, or ``None`` for anything else.
    """
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time if time.tzinfo else time.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


_MILLISECONDS = 100_000_000_000  # as seconds, the year 5138


def _iso(text: Any, time: datetime) -> str:
    return text if isinstance(text, str) else time.isoformat()


def _seconds(zero: datetime | None, time: datetime | None) -> float | None:
    if zero is None or time is None:
        return None
    return max(0.0, round((time - zero).total_seconds(), 6))
