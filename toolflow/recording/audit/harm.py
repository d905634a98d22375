"""Signs of harm in one turn: only what its calls and results tell.

Each rule is told in ``docs/reference/audit.md``, with what it cannot see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolflow.recording.audit.answers import cancelled, out_of_order, unanswered
from toolflow.recording.audit.meeting import is_everything
from toolflow.recording.audit.texts import (
    CHANGED_MEANWHILE,
    NO_FILE,
    NOT_FOUND,
    evidence,
    is_partial,
    shows_new,
    shows_old,
)
from toolflow.recording.audit.values import Finding, Kind, Level, Meeting
from toolflow.recording.audit.view import TurnView

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


def findings_of(view: TurnView, meetings: Sequence[Meeting]) -> list[Finding]:
    """What is found about one turn, without what later turns show.

    Args:
        view: The turn.
        meetings: Its pairs of calls that meet.
    """
    pairs = (_of_pair(view, meeting) for meeting in meetings)
    seen = [pair for pair in pairs if pair is not None]
    found = [*_together(view, seen), *cancelled(view), *unanswered(view), *out_of_order(view)]
    return sorted(found, key=lambda finding: ORDER[finding.level])


def _of_pair(view: TurnView, pair: Meeting) -> Seen | None:
    answered = view.outcome(pair.first) is not None and view.outcome(pair.second) is not None
    if answered and pair.key == pair.other:
        if pair.both_write and all(_has_written(view, call) for call in (pair.first, pair.second)):
            return _of_writes(view, pair)
        found = _of_refused(view, pair) if pair.both_write else _of_read(view, pair)
        if found is not None:
            return found
    if pair.at_once:
        level: Level = "note" if is_everything(pair.key) or is_everything(pair.other) else "risk"
        return Seen("overlap", level, pair.key, (pair.first, pair.second))
    return None


def _has_written(view: TurnView, call: int) -> bool:
    """Whether a call says that it wrote a text that is known."""
    return _ok(view, call) and bool(view.changes(call))


def _of_writes(view: TurnView, pair: Meeting) -> Seen | None:
    """Two writes of one key that both said success: one was lost, perhaps, or none."""
    calls = (pair.first, pair.second)
    one, other = calls if view.ended_before(*calls) else calls[::-1]
    if _saw(view, other, one) or _saw(view, one, other):
        return None
    for text in (view.text(other), view.before(other)):
        for change in view.changes(one):
            if shows_old(text, change) and not view.is_brought_back(change, pair.key):
                shown = evidence(text, change.old or "")
                return Seen("lost_update", "harm", pair.key, calls, shown, view.line(other))
    same = view.plan.calls[one].args == view.plan.calls[other].args
    if pair.at_once is False or same:
        return None
    return Seen("lost_update", "risk", pair.key, calls, None, view.line(other))


def _saw(view: TurnView, call: int, other: int) -> bool:
    """Whether a write shows that it came upon what another one had written."""
    texts = view.text(call), view.before(call)
    return any(shows_new(text, change) for text in texts for change in view.changes(other))


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
    if seen.kind == "overlap" and seen.level == "note":
        return f"{count} calls were open at the same time, some of which may change anything."
    if seen.kind == "overlap":
        return f"{count} calls that meet were open at the same time."
    if seen.level == "harm":
        return "All said success, but what one of them wrote is not there after the other."
    return f"{count} calls wrote at once, and all said success; whether one was lost is not told."
