"""What later turns show of two writes that may have met: that one was lost, or that both are there.

A turn in which calls wrote one file at once is a suspect: all said success, and nobody knows. The
turns after it know more: a read shows the text that a lost edit had replaced; an edit finds that
text again; an edit does not find what was written. Only the next turns of the same source are
asked, and of one file only until something writes it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from toolflow.model.batch import CallPlan
from toolflow.recording.audit.texts import (
    NOT_FOUND,
    Change,
    evidence,
    proves,
    shows_new,
    shows_old,
)
from toolflow.recording.audit.values import Finding
from toolflow.recording.audit.view import TurnView

WINDOW = 50
"""How many later turns of its source are asked about a suspect."""
MOST = 200
"""How many suspects of one source are kept; the oldest go first."""

_LOST = "All said success, but a later call shows that what one of them wrote is not there."
_UNSURE = "A later call shows that what one of them wrote is not there, or no longer."
_FOUND = "Calls wrote at once, and all said success; a later read shows what all of them wrote."


@dataclass(slots=True)
class Suspect:
    """Writes that may have met. Mutable: it lives in one audit.

    Attributes:
        finding: The risk that was found.
        changes: What the calls wrote.
        left: How many turns are still asked.
        unsure: Whether a call has run since that may have changed anything.
    """

    finding: Finding
    changes: tuple[Change, ...]
    left: int = WINDOW
    unsure: bool = False


@dataclass(slots=True)
class Suspects:
    """The suspects of one source. Mutable: they come and go as turns pass."""

    _by_key: dict[str, Suspect] = field(default_factory=dict)

    def live(self) -> Iterator[Finding]:
        """The findings that may still change."""
        return (suspect.finding for suspect in self._by_key.values())

    def add(self, view: TurnView, findings: Sequence[Finding]) -> None:
        """Take the suspects of a turn, after `look`."""
        for finding in findings:
            if finding.kind == "lost_update" and finding.level == "risk" and finding.key:
                names = set(finding.calls)
                calls = [call.index for call in view.plan.calls if call.name in names]
                changes = tuple(change for at in calls for change in view.changes(at))
                self._by_key.pop(finding.key, None)
                self._by_key[finding.key] = Suspect(finding, changes)
        while len(self._by_key) > MOST:
            del self._by_key[next(iter(self._by_key))]

    def look(self, view: TurnView) -> list[tuple[Finding, Finding]]:
        """Ask a later turn.

        Args:
            view: The turn.

        Returns:
            Each finding that is known better now, with what is known.
        """
        if not self._by_key:
            return []
        changed = [
            (suspect.finding, found)
            for call in view.plan.calls
            for key, suspect in self._touched(call)
            if (found := self._ask(view, call, key, suspect)) is not None
        ]
        for key, suspect in list(self._by_key.items()):
            suspect.left -= 1
            if suspect.left <= 0:
                del self._by_key[key]
        return changed

    def _touched(self, call: CallPlan) -> list[tuple[str, Suspect]]:
        if call.verdict.kind == "exclusive" and call.reads is None and call.writes is None:
            for suspect in self._by_key.values():
                suspect.unsure = True
        keys = (*(call.reads or ()), *(call.writes or ()))
        return [(key, self._by_key[key]) for key in keys if key in self._by_key]

    def _ask(self, view: TurnView, call: CallPlan, key: str, suspect: Suspect) -> Finding | None:
        outcome = view.outcome(call.index)
        if outcome is None:
            return None
        if key not in (call.writes or ()):
            return self._read(view, call, key, suspect) if outcome.ok else None
        lost = _missed(view, call, suspect.changes)
        if outcome.ok or lost is not None:
            del self._by_key[key]  # from now on it is another text
        return None if lost is None else _known(view, call, suspect, lost)

    def _read(self, view: TurnView, call: CallPlan, key: str, suspect: Suspect) -> Finding | None:
        text, changes = view.text(call.index), suspect.changes
        for change in changes:
            if shows_old(text, change) and not _is_back(change, changes):
                del self._by_key[key]
                return _known(view, call, suspect, evidence(text, change.old or ""))
        if changes and all(shows_new(text, change) for change in changes):
            del self._by_key[key]
            found = replace(suspect.finding, level="note", text=_FOUND)
            return _seen(view, call, found, evidence(text, changes[0].new))
        return None


def _missed(view: TurnView, call: CallPlan, changes: Sequence[Change]) -> str | None:
    """What shows in an edit that an earlier change was lost."""
    outcome = view.outcome(call.index)
    for mine in view.changes(call.index):
        if mine.old is None or outcome is None:
            continue
        for change in changes:
            old, new = change.old, change.new
            found_again = old is not None and proves(old) and old in mine.old
            if outcome.ok and found_again and new not in mine.old and not _is_back(change, changes):
                return evidence(mine.old, old or "")
            gone = outcome.status == "failed" and NOT_FOUND.search(outcome.text[:1000])
            if gone and proves(new) and new in mine.old and not _is_replaced(change, changes):
                return evidence(outcome.text)
    return None


def _is_back(change: Change, changes: Sequence[Change]) -> bool:
    """Whether one of the changes writes what another one replaced."""
    return any((change.old or "") in other.new for other in changes if other != change)


def _is_replaced(change: Change, changes: Sequence[Change]) -> bool:
    """Whether one of the changes replaces (part of) what another one wrote."""
    others = (other.old for other in changes if other != change)
    return any(old is None or old in change.new or change.new in old for old in others)


def _known(view: TurnView, call: CallPlan, suspect: Suspect, shown: str) -> Finding:
    if suspect.unsure:
        return _seen(view, call, replace(suspect.finding, text=_UNSURE), shown)
    return _seen(view, call, replace(suspect.finding, level="harm", text=_LOST), shown)


def _seen(view: TurnView, call: CallPlan, finding: Finding, shown: str) -> Finding:
    turn, line = view.recorded.turn.id, view.line(call.index)
    return replace(finding, evidence=shown, line=line, seen_in=turn)
