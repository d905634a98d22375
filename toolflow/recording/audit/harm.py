"""Signs of harm in one turn: only what its calls and results tell.

Each rule is told in ``docs/reference/audit.md``, with what it cannot see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from toolflow.compiler import Plan
from toolflow.model.outcome import Outcome
from toolflow.model.recording import RecordedTurn
from toolflow.recording.audit.texts import (
    CANCELLED,
    CHANGED_MEANWHILE,
    NO_FILE,
    NOT_FOUND,
    Change,
    changes_of,
    evidence,
    is_partial,
    plain_text,
    shows_new,
    shows_old,
)
from toolflow.recording.audit.values import Finding, Kind, Level, Meeting

_MOST_WRITERS = 100
ORDER: dict[Level, int] = {"harm": 0, "risk": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Seen:
    """A sign of harm between two calls that meet, before those of one key are put together."""

    kind: Kind
    level: Level
    key: str
    calls: tuple[int, int]
    evidence: str | None = None
    line: int | None = None


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
        lines = self.recorded.result_lines
        own = lines[call] if call is not None and call < len(lines) else None
        return own if own is not None else self.recorded.line

    def ended_before(self, one: int, other: int) -> bool:
        """Whether a call's result came before that of another call; in doubt call order decides."""
        lines = self.recorded.result_lines
        if one < len(lines) and other < len(lines):
            first, second = lines[one], lines[other]
            if first is not None and second is not None and first != second:
                return first < second
        return one < other


def findings_of(view: TurnView, meetings: Sequence[Meeting]) -> list[Finding]:
    """What is found about one turn, without what later turns show.

    Args:
        view: The turn.
        meetings: Its pairs of calls that meet.
    """
    pairs = (_of_pair(view, meeting) for meeting in meetings)
    seen = [pair for pair in pairs if pair is not None]
    found = [*_together(view, seen), *_cancelled(view), *_unanswered(view), *_out_of_order(view)]
    return sorted(found, key=lambda finding: ORDER[finding.level])


def _of_pair(view: TurnView, pair: Meeting) -> Seen | None:
    answered = view.outcome(pair.first) is not None and view.outcome(pair.second) is not None
    if answered and pair.key == pair.other:
        if pair.both_write and _ok(view, pair.first) and _ok(view, pair.second):
            return _of_writes(view, pair)
        found = _of_refused(view, pair) if pair.both_write else _of_read(view, pair)
        if found is not None:
            return found
    if pair.at_once:
        return Seen("overlap", "risk", pair.key, (pair.first, pair.second))
    return None


def _of_writes(view: TurnView, pair: Meeting) -> Seen | None:
    """Two writes of one key that both said success: one was lost, perhaps, or none."""
    calls = (pair.first, pair.second)
    one, other = calls if view.ended_before(*calls) else calls[::-1]
    for change in view.changes(one):
        if shows_old(view.text(other), change) and not view.is_brought_back(change, pair.key):
            shown = evidence(view.text(other), change.old or "")
            return Seen("lost_update", "harm", pair.key, calls, shown, view.line(other))
    same = view.plan.calls[one].args == view.plan.calls[other].args
    seen = any(shows_new(view.text(other), change) for change in view.changes(one))
    if pair.at_once is False or same or seen:
        return None
    return Seen("lost_update", "risk", pair.key, calls, None, view.line(other))


def _of_refused(view: TurnView, pair: Meeting) -> Seen | None:
    """Two writes of one key, one of which failed: because of the other one?"""
    calls = (pair.first, pair.second)
    for refused, winner in (calls, calls[::-1]):
        if (why := _refusal(view, refused, winner)) is not None:
            return Seen("conflict", "harm", pair.key, calls, why, view.line(refused))
    return None


def _refusal(view: TurnView, refused: int, winner: int) -> str | None:
    """The words with which a write was refused because of another one."""
    outcome = view.outcome(refused)
    if outcome is None or outcome.status != "failed" or not _ok(view, winner):
        return None
    text = outcome.text[:1000]
    if CHANGED_MEANWHILE.search(text):
        return evidence(text)
    if NOT_FOUND.search(text) and view.ended_before(winner, refused):
        replaced = [change.old for change in view.changes(winner) if change.old]
        wanted = [change.old for change in view.changes(refused) if change.old]
        if any(a in b or b in a for a in replaced for b in wanted):
            return evidence(text)
    return None


def _of_read(view: TurnView, pair: Meeting) -> Seen | None:
    """A read beside a write: the order of the calls says which state it has to show."""
    calls = (pair.first, pair.second)
    writes_first = pair.accesses[0] == "write"
    write, read = calls if writes_first else calls[::-1]
    if not _ok(view, write):
        return None
    outcome = view.outcome(read)
    if outcome is not None and outcome.status == "failed":
        text = outcome.text[:1000]
        if writes_first and view.changes(write) and NO_FILE.search(text):
            return Seen("stale_read", "harm", pair.key, calls, evidence(text), view.line(read))
        return None
    text = view.text(read) if _ok(view, read) else ""
    for change in view.changes(write):
        old = change.old or ""
        if writes_first:
            wrong, part = shows_old(text, change), old
            wrong = wrong and not view.is_brought_back(change, pair.key)
        else:  # a part of the file may hold the new text elsewhere
            whole = not is_partial(view.plan.calls[read].args)
            wrong, part = bool(old) and whole and shows_new(text, change), change.new
        if wrong:
            shown = evidence(text, part)
            return Seen("stale_read", "harm", pair.key, calls, shown, view.line(read))
    return None


def _ok(view: TurnView, call: int) -> bool:
    outcome = view.outcome(call)
    return outcome is not None and outcome.ok


def _together(view: TurnView, seen: Sequence[Seen]) -> Iterator[Finding]:
    """One finding for each kind, level and key, with all calls."""
    groups: dict[tuple[str, str, str], list[Seen]] = {}
    for each in seen:
        groups.setdefault((each.kind, each.level, each.key), []).append(each)
    for members in groups.values():
        first = members[0]
        calls = sorted({call for each in members for call in each.calls})
        names = tuple(view.plan.calls[call].name for call in calls)
        yield Finding(
            first.kind,
            first.level,
            view.recorded.turn.id,
            names,
            _sentence(first, len(calls)),
            first.key,
            first.evidence,
            first.line if first.line is not None else view.line(),
        )


def _sentence(seen: Seen, count: int) -> str:
    if seen.kind == "stale_read":
        return "A read shows another state of the file than the order of the calls says."
    if seen.kind == "conflict":
        return "A write was refused, because another call of the turn had changed the file."
    if seen.kind == "overlap":
        return f"{count} calls that meet were open at the same time."
    if seen.level == "harm":
        return "All said success, but what one of them wrote is not there after the other."
    return f"{count} calls wrote at once, and all said success; whether one was lost is not told."


def _cancelled(view: TurnView) -> Iterator[Finding]:
    lost = [
        at
        for at, outcome in enumerate(view.recorded.outcomes)
        if outcome is not None
        and outcome.status in {"skipped", "failed", "aborted"}
        and CANCELLED.search(outcome.text[:200])
    ]
    if not lost:
        return
    cause = next(
        (
            at
            for at, outcome in enumerate(view.recorded.outcomes)
            if outcome is not None and outcome.status == "failed" and at not in lost
        ),
        None,
    )
    names = [view.plan.calls[at].name for at in lost]
    why = "another one failed" if cause is None else f"{view.plan.calls[cause].name} failed"
    text = f"{_many(len(lost), 'call was', 'calls were')} cancelled, because {why}."
    said = evidence(view.text(lost[0] if cause is None else cause))
    yield Finding(
        "cancelled", "harm", view.recorded.turn.id, tuple(names), text, None, said,
        view.line(lost[0]),
    )  # fmt: skip


def _unanswered(view: TurnView) -> Iterator[Finding]:
    outcomes = view.recorded.outcomes
    names = tuple(
        view.plan.calls[at].name for at, outcome in enumerate(outcomes) if outcome is None
    )
    if not names:
        return
    some = len(names) < len(outcomes)
    what = f"{_many(len(names), 'call has', 'calls have')} no result, though others of the turn do"
    text = what if some else "No call of the turn has a result"
    level: Level = "risk" if some and not view.broken else "note"
    text += "; lines of the log could not be read." if view.broken else "."
    yield Finding("unanswered", level, view.recorded.turn.id, names, text, line=view.line())


def _out_of_order(view: TurnView) -> Iterator[Finding]:
    """Results that stand in another order than their calls: that is how they came."""
    lines = view.recorded.result_lines
    came = [(line, at) for at, line in enumerate(lines) if line is not None]
    late = [at for (one, _), (other, at) in pairwise(came) if other < one]
    if late:
        names = tuple(view.plan.calls[at].name for at in late)
        text = f"{_many(len(late), 'result', 'results')} came before that of the call before."
        yield Finding("out_of_order", "note", view.recorded.turn.id, names, text, line=view.line())


def _many(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"
