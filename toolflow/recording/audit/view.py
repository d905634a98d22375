"""A turn with its plan, as the rules of an audit look at it."""

from __future__ import annotations

from itertools import islice

from toolflow.compiler import Plan
from toolflow.model.outcome import Outcome
from toolflow.model.recording import LoggedResult, RecordedTurn
from toolflow.recording.audit.texts import Change, changes_of, plain_text

_MOST_WRITERS = 100


class TurnView:
    """A turn with its plan, as the rules look at it.

    Args:
        recorded: The turn.
        plan: Its plan.
        broken: Whether lines of its log could not be read, which may have held results.
    """

    def __init__(self, recorded: RecordedTurn, plan: Plan, *, broken: bool = False) -> None:
        self.recorded = recorded
        self.plan = plan
        self.broken = broken
        self._texts: dict[int, str] = {}
        self._changes: dict[int, tuple[Change, ...]] = {}
        self._writers: dict[str, tuple[int, ...]] = {}

    def outcome(self, call: int) -> Outcome | None:
        """How a call settled."""
        return self.recorded.outcomes[call]

    def text(self, call: int) -> str:
        """What a call's result shows."""
        if call not in self._texts:
            outcome = self.outcome(call)
            self._texts[call] = plain_text(outcome) if outcome is not None else ""
        return self._texts[call]

    def changes(self, call: int) -> tuple[Change, ...]:
        """What a call asked to be changed."""
        if call not in self._changes:
            self._changes[call] = changes_of(self.plan.calls[call].args)
        return self._changes[call]

    def writers(self, key: str) -> tuple[int, ...]:
        """The calls that write a key, in call order; the first hundred."""
        if key not in self._writers:
            calls = (call for call in self.plan.calls if key in (call.writes or ()))
            self._writers[key] = tuple(call.index for call in islice(calls, _MOST_WRITERS))
        return self._writers[key]

    def is_brought_back(self, change: Change, key: str) -> bool:
        """Whether a write of the turn brings back what a change replaced."""
        old = change.old or ""
        return any(
            old in other.new
            for call in self.writers(key)
            for other in self.changes(call)
            if other != change
        )

    def line(self, call: int | None = None) -> int | None:
        """The line of a call's result in the log, else that of the turn."""
        own = self._result(call) if call is not None else None
        return own.line if own is not None else self.recorded.line

    def before(self, call: int) -> str:
        """The text of the file before a call changed it; empty where the log does not keep it."""
        own = self._result(call)
        return (own.before or "") if own is not None else ""

    def _result(self, call: int) -> LoggedResult | None:
        results = self.recorded.results
        return results[call] if call < len(results) else None

    def ended_before(self, one: int, other: int) -> bool:
        """Whether a call's result came before that of another call; in doubt call order decides."""
        first, second = self._result(one), self._result(other)
        if first is not None and second is not None and first.line != second.line:
            return first.line < second.line
        return one < other
