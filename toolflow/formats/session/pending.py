"""A turn of a log while its results come in, and what becomes of it (see `pairing`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.session.times import iso, parse_time, seconds
from toolflow.model import LoggedResult, Notice, Outcome, RecordedTurn, Times, Turn, call_names
from toolflow.model.value import quick

_UNKNOWN = Times()


@quick
@dataclass(frozen=True, slots=True)
class Result:
    """A result as it stands in the log.

    Attributes:
        outcome: What it tells.
        line: The number of its line.
        time: The time of its line, or ``None``.
        seconds: How long the body took, where the log tells that.
        before: The text of the file before the call changed it, where the log keeps it.
    """

    outcome: Outcome
    line: int
    time: datetime | None = None
    seconds: float | None = None
    before: str | None = None


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
        ids = [call.id for call in turn.calls]
        single = len(set(ids)) == len(ids)
        names = ids if single and all(ids) else call_names(turn.calls)
        outcomes: list[Outcome | None] = []
        times: list[Times] = []
        told: list[LoggedResult | None] = []
        once = single and all(len(results) == 1 for results in self.results.values())
        notices = [] if once else list(self._unpaired())
        for call, name in zip(turn.calls, names, strict=True):
            own = self.settled.get(call.index) if self.settled else None
            if own is None and name == call.id and call.id in self.results:
                own = self.results[call.id][0]
            if own is None:
                notices.append(self._no_result(name))
            outcomes.append(own.outcome if own else None)
            times.append(self._times(zero, call.index, own.time if own else None))
            told.append(LoggedResult(own.line, own.seconds, own.before) if own else None)
        began = None if zero is None else iso(self.began, zero)
        recorded = RecordedTurn(
            turn,
            tuple(outcomes),
            tuple(times),
            started_at=began,
            line=self.line,
            results=tuple(told),
        )
        return recorded, notices

    def place(self, call_id: str) -> int:
        """The index of the call that has an id, or -1 where it is not exactly one."""
        if self.places is None:
            self.places = {}
            for call in self.turn.calls:
                self.places[call.id] = -1 if call.id in self.places else call.index
        return self.places.get(call_id, -1)

    def _times(self, zero: datetime | None, index: int, time: datetime | None) -> Times:
        if zero is None:
            return _UNKNOWN
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


def named(turn: Turn, name: str) -> Turn:
    """The turn under a name, which its notices get too."""
    if not turn.notices:
        return replace(turn, id=name)
    return replace(turn, id=name, notices=tuple(replace(n, turn=name) for n in turn.notices))
