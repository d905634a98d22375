"""What of two recordings is not the same: their plans, and what became of their calls (spec 12).

Times are not compared: no two runs have the same. The order in which calls started is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolflow.compiler import Change, PlanDiff, diff_plans
from toolflow.compiler.diff import matched
from toolflow.errors import UsageError
from toolflow.model.outcome import Outcome
from toolflow.model.plan import PlanData
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.recording.committed import message_digest
from toolflow.recording.facts import facts_of
from toolflow.recording.forms import outcome_data


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One side of a comparison: a plan, and the run of it where there is one."""

    plan: PlanData
    recorded: RecordedTurn | None = None


@dataclass(frozen=True, slots=True)
class TurnDiff:
    """The differences of one turn.

    Attributes:
        turn: Its name, in the first one where both have it.
        mark: ``~`` both have the turn, ``+`` only the second, ``-`` only the first.
        changes: What is not the same in it.
    """

    turn: str
    mark: str
    changes: tuple[Change, ...]

    @property
    def same(self) -> bool:
        """Whether both have the turn, without a difference."""
        return self.mark == "~" and not self.changes


@dataclass(frozen=True, slots=True)
class RecordingDiff:
    """The differences of two recordings, turn by turn in the order of the first."""

    turns: tuple[TurnDiff, ...]

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return all(turn.same for turn in self.turns)

    def data(self) -> dict[str, Any]:
        """The differences as JSON values; turns without any are counted only."""
        turns = [
            {"turn": each.turn, "mark": each.mark, "changes": [c.data() for c in each.changes]}
            for each in self.turns
            if not each.same
        ]
        return {"same": self.same, "compared": len(self.turns), "turns": turns}

    def __str__(self) -> str:
        """A line a difference, under a line a turn where there are several."""
        if self.same:
            count = len(self.turns)
            return f"no difference in {count} {'turn' if count == 1 else 'turns'}"
        several = len(self.turns) > 1
        return "\n".join(
            line
            for turn in self.turns
            if not turn.same
            for line in _turn_lines(turn, several=several)
        )


def diff_recordings(before: Recording, after: Recording, *, words: bool = False) -> RecordingDiff:
    """Compare two recordings.

    Args:
        before: The first recording.
        after: The second recording.
        words: As for `diff_plans`.

    Returns:
        What is not the same of plans, outcomes and the order of starts, turn by turn.

    Raises:
        UsageError: If a turn has no plan, as in an imported log: plan it first.
    """
    return diff_turns(_planned(before), _planned(after), words=words)


def diff_turns(
    before: Sequence[PlannedTurn], after: Sequence[PlannedTurn], *, words: bool = False
) -> RecordingDiff:
    """Compare turns with their plans. Turns are told apart by name; a single one goes with any.

    Args:
        before: The turns of the first one.
        after: The turns of the second one.
        words: As for `diff_plans`.

    Returns:
        What is not the same. Outcomes are compared where both turns have been run.
    """
    found = []
    for one, other in _pairs(before, after):
        if one is None or other is None:
            turn = one or other
            assert turn is not None
            head = Change("-" if other is None else "+", "turn", turn.plan.turn_id)
            found.append(TurnDiff(turn.plan.turn_id, head.mark, (head,)))
        else:
            plans = diff_plans(one.plan, other.plan, words=words)
            changes = (*plans.changes, *_run_changes(one, other, plans))
            found.append(TurnDiff(one.plan.turn_id, "~", changes))
    return RecordingDiff(tuple(found))


def _planned(recording: Recording) -> list[PlannedTurn]:
    found = []
    for recorded in recording.turns:
        if recorded.plan is None:
            raise UsageError(
                f"Turn {recorded.turn.id!r} of the recording has no plan: it is of an imported "
                "log. Plan its turns with a policy, and compare these."
            )
        found.append(PlannedTurn(recorded.plan, recorded))
    return found


def _pairs(
    before: Sequence[PlannedTurn], after: Sequence[PlannedTurn]
) -> Iterator[tuple[PlannedTurn | None, PlannedTurn | None]]:
    if len(before) == len(after) == 1:
        yield before[0], after[0]
        return
    left = dict(zip(_names(after), after, strict=True))
    for name, turn in zip(_names(before), before, strict=True):
        yield turn, left.pop(name, None)
    for turn in left.values():
        yield None, turn


def _names(turns: Iterable[PlannedTurn]) -> Iterator[tuple[str, int]]:
    """A run that paused and the run that resumed it are two turns of one name."""
    seen: Counter[str] = Counter()
    for turn in turns:
        seen[turn.plan.turn_id] += 1
        yield turn.plan.turn_id, seen[turn.plan.turn_id]


def _run_changes(one: PlannedTurn, other: PlannedTurn, plans: PlanDiff) -> Iterator[Change]:
    if one.recorded is None or other.recorded is None:
        return
    pairs = [(a, b) for a, b in matched(one.plan.calls, other.plan.calls) if a and b]
    names = {b.name: a.name for a, b in pairs}
    outcomes = [
        change
        for a, b in pairs
        for change in _outcome_changes(
            a.name, _at(one.recorded, a.index), _at(other.recorded, b.index)
        )
    ]
    yield from outcomes
    yield from _order_changes(one, other, names)
    digests = [_committed(side.recorded) for side in (one, other)]
    if plans.same and not outcomes and digests[0] != digests[1]:
        yield Change("~", "messages", "", "committed", digests[0], digests[1])


def _at(recorded: RecordedTurn, index: int) -> Outcome | None:
    return recorded.outcomes[index] if index < len(recorded.outcomes) else None


def _outcome_changes(name: str, before: Outcome | None, after: Outcome | None) -> Iterator[Change]:
    if before is None or after is None:
        if before is not None:
            yield Change("-", "outcome", name, "", before.status)
        elif after is not None:
            yield Change("+", "outcome", name, "", None, after.status)
        return
    if before == after:
        return
    ours, theirs = outcome_data(before), outcome_data(after)
    for field in dict.fromkeys((*ours, *theirs)):
        one, other = ours.get(field), theirs.get(field)
        if one != other:
            yield Change("~", "outcome", name, field, one, other)


def _order_changes(
    one: PlannedTurn, other: PlannedTurn, names: Mapping[str, str]
) -> Iterator[Change]:
    """The order of starts, of the calls that both have."""
    shared = set(names.values())
    before = [name for name in _starts(one) if name in shared]
    after = [names[name] for name in _starts(other) if name in names]
    if before == after:
        return
    place = next(
        (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    was, now = (
        f"{starts[place]!r}" if place < len(starts) else "nothing" for starts in (before, after)
    )
    why = f"start {place + 1} is of {was}, then of {now}"
    yield Change("~", "order", "", "of starts", before, after, why)


def _starts(side: PlannedTurn) -> list[str]:
    assert side.recorded is not None
    calls = side.plan.calls
    return [calls[f.call].name for f in facts_of(side.recorded) if f.kind == "started"]


def _committed(recorded: RecordedTurn | None) -> str | None:
    if recorded is None or not (recorded.committed or recorded.messages):
        return None
    kept = recorded.committed
    return kept.digest if kept is not None else message_digest(recorded.messages)


def _turn_lines(turn: TurnDiff, *, several: bool) -> Iterator[str]:
    if not several or turn.mark != "~":
        yield from map(str, turn.changes)
        return
    yield f"~ turn {turn.turn}"
    yield from (f"  {change}" for change in turn.changes)
