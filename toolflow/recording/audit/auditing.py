"""The audit of a recording, turn by turn (spec 10.5).

Turns pass one by one, so that a log of any size can be audited: of each source only those of the
last turns are kept of which a later turn may still tell more (see `suspects`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from toolflow.compiler import Plan, compile_plan
from toolflow.errors import UsageError
from toolflow.model.recording import RecordedTurn
from toolflow.policy import Policy
from toolflow.recording.audit.harm import ORDER, findings_of
from toolflow.recording.audit.meeting import described, meetings
from toolflow.recording.audit.order import Span, at_once, held_up
from toolflow.recording.audit.suspects import Suspects
from toolflow.recording.audit.timing import (
    has_run,
    seconds_of,
    spans_of,
    time_of,
    with_pool,
)
from toolflow.recording.audit.values import Finding, Meeting, TurnAudit
from toolflow.recording.audit.view import TurnView
from toolflow.recording.durations import whole_turns

HELD = 1000
"""How many turns are held back at most, because a later one may tell more about one of them."""

About = Callable[[], Mapping[str, Any]]


def audit_turns(
    turns: Iterable[RecordedTurn],
    policy: Policy | None,
    *,
    pool: int | None = None,
    cwd: str | None = None,
    about: About | None = None,
) -> Iterator[TurnAudit]:
    """Audit turns as they come.

    Args:
        turns: The turns of one recording, in order.
        policy: The policy; ``None``: turns are judged by the plans that they ran with.
        pool: How many calls of a turn run at once; ``None`` for the policy's own limit.
        cwd: The folder that relative paths start from. By default the one that the turn tells,
            else the one that ``about`` tells, else the process's own.
        about: Gives what ``Recording.source`` holds, as far as it is known by then.

    Yields:
        What was found about each turn, in the same order. A turn that paused and went on is one
        turn, which stands where it went on last; one that did not go on stands at the end.

    Raises:
        UsageError: If the pool is not an integer of at least 1, there is no current folder, a turn
            has not as many outcomes as calls, or neither a plan nor a policy is there.
        PlanError: If a turn cannot be compiled.
    """
    auditor = _Auditor(policy, pool, cwd, about or dict)
    for recorded in whole_turns(turns):
        auditor.take(recorded)
        yield from auditor.ready()
    yield from auditor.rest()


class _Auditor:
    """Takes turns, gives what was found. Mutable; lives for one recording."""

    def __init__(
        self, policy: Policy | None, pool: int | None, cwd: str | None, about: About
    ) -> None:
        self._policy, self._pool, self._cwd, self._about = policy, pool, cwd, about
        self._held: deque[TurnAudit] = deque()
        self._suspects: dict[str, Suspects] = {}

    def take(self, recorded: RecordedTurn) -> None:
        """Take the next turn."""
        calls, outcomes = len(recorded.turn.calls), len(recorded.outcomes)
        if calls != outcomes:
            said = f"{recorded.turn.id!r} has {calls} calls and {outcomes} outcomes"
            raise UsageError(f"{said}. Give one outcome a call, None where there is none.")
        plan = self._plan(recorded)
        view = TurnView(recorded, plan, broken=bool(self._about().get("broken_lines")))
        source = recorded.turn.source
        suspects = self._suspects.pop(source, None) or Suspects()
        for before, now in suspects.look(view):
            self._mend(before, now)
        audit = audit_turn(view)
        suspects.add(view, audit.findings)
        if any(suspects.live()):
            self._suspects[source] = suspects
        self._held.append(audit)

    def ready(self) -> Iterator[TurnAudit]:
        """The turns about which nothing more can be told."""
        held = self._held
        while held and (len(held) > HELD or self._is_over(held[0])):
            yield held.popleft()

    def rest(self) -> Iterator[TurnAudit]:
        """The turns that are left at the end."""
        while self._held:
            yield self._held.popleft()

    def _is_over(self, audit: TurnAudit) -> bool:
        if not audit.findings:
            return True
        suspects = self._suspects.get(audit.source)
        live = () if suspects is None else suspects.live()
        return not any(finding is own for finding in live for own in audit.findings)

    def _mend(self, before: Finding, now: Finding) -> None:
        """Put what is known now in the place of what was found before."""
        for place, audit in enumerate(self._held):
            if any(finding is before for finding in audit.findings):
                found = [now if finding is before else finding for finding in audit.findings]
                found.sort(key=lambda finding: ORDER[finding.level])
                self._held[place] = replace(audit, findings=tuple(found))
                return

    def _plan(self, recorded: RecordedTurn) -> Plan:
        if self._policy is not None:
            batch = self._policy.classify(recorded.turn, cwd=self._folder(recorded))
            return with_pool(compile_plan(batch), self._pool)
        if not isinstance(recorded.plan, Plan):
            raise UsageError(f"{recorded.turn.id!r} has no plan to be judged by. Give a policy.")
        return with_pool(recorded.plan, self._pool)

    def _folder(self, recorded: RecordedTurn) -> str | None:
        if self._cwd is not None:
            return self._cwd
        told = recorded.turn.extra.get("cwd") or self._about().get("cwd")
        return told if isinstance(told, str) and _is_path(told) else None


def _is_path(text: str) -> bool:
    """Whether a text from a log can be the name of a folder at all."""
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def audit_turn(view: TurnView) -> TurnAudit:
    """Audit one turn by itself: what later turns show of it is left out.

    Args:
        view: The turn with its plan.
    """
    recorded, plan = view.recorded, view.plan
    spans = spans_of(recorded)
    pairs, meets = meetings(plan.calls)
    found = tuple(_meeting(plan, spans, *pair) for pair in pairs)
    met = tuple(meeting for meeting in found if meeting is not None)
    serial, count = held_up(plan, spans)
    ran = sum(has_run(outcome) for outcome in recorded.outcomes)
    return TurnAudit(
        recorded,
        plan,
        met,
        meets,
        serial,
        count,
        ran,
        sum(span is not None for span in spans),
        seconds_of(recorded, spans),
        time_of(recorded, plan, spans),
        tuple(findings_of(view, met)),
    )


def _meeting(plan: Plan, spans: tuple[Span | None, ...], first: int, second: int) -> Meeting | None:
    met = described(plan.calls[first], plan.calls[second])
    return None if met is None else replace(met, at_once=at_once(spans[first], spans[second]))
