"""The replay of one turn: read, classified, compiled, driven and written again (spec 10.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from toolflow.compiler import Plan
from toolflow.errors import DivergenceError, TurnError, UsageError
from toolflow.formats import FORMATS, read_turn
from toolflow.model.outcome import Outcome
from toolflow.model.plan import PlanData
from toolflow.model.recording import Fact, RecordedTurn
from toolflow.recording.committed import compare_messages, written_messages
from toolflow.recording.compare import limits_text, plan_differences, turn_differences
from toolflow.recording.drive import Drive, diverged, facts_scheduler, told
from toolflow.recording.durations import durations_of
from toolflow.recording.facts import facts_of
from toolflow.recording.leniency import Judge, times_differences
from toolflow.recording.replaying import ReplayedTurn
from toolflow.recording.rules import Rules
from toolflow.recording.show import shown
from toolflow.recording.simulator import simulate
from toolflow.runtime.record import settled_outcome
from toolflow.scheduler import Decision


class TurnReplay:
    """The replay of one turn.

    Args:
        recorded: The turn.
        rules: How it is classified now.
        judge: What counts as a difference.
    """

    def __init__(self, recorded: RecordedTurn, rules: Rules, judge: Judge) -> None:
        self._recorded = recorded
        self._rules = rules
        self._judge = judge
        self._plan: Plan | None = None
        self._compared: list[str] = []
        self._drive: Drive | None = None
        self._starts: tuple[str, ...] = ()
        self._unused: tuple[str, ...] = ()

    def run(self) -> ReplayedTurn:
        """Replay the turn up to its first divergence."""
        recorded = self._recorded
        try:
            self._read_again()
            self._plan = plan = self._rules.plan(recorded)
            outcomes = self._outcomes(plan)
            facts = facts_of(recorded)
            if recorded.plan is not None:
                self._judge.look(plan_differences(recorded.plan, plan))
                self._compared.append("plan")
                self._judge.look(times_differences(recorded))
            if not facts:
                return self._simulated(plan, outcomes)
            self._run_again(recorded.plan or plan, plan, facts, outcomes)
            messages = self._write_again(outcomes)
            return replace(self._result(plan), messages=messages)
        except DivergenceError as error:
            return replace(self._result(self._plan), divergence=error)

    def _result(self, plan: Plan | None) -> ReplayedTurn:
        starts = self._starts
        if self._drive is not None and plan is not None:
            starts = tuple(plan.calls[index].name for index in self._drive.starts)
        recorded = self._recorded
        return ReplayedTurn(
            recorded.turn.id,
            plan,
            tuple(self._compared),
            starts,
            unused=self._unused,
            ignored=tuple(self._judge.passed),
        )

    def _read_again(self) -> None:
        """The calls must be what the message says; a log's reader may know more than that."""
        turn = self._recorded.turn
        if self._recorded.plan is None or turn.message is None or turn.format not in FORMATS:
            return
        try:
            now = read_turn(turn.message, format=turn.format, turn_id=turn.id)
        except TurnError as error:
            raise diverged(
                None, "a message", f"it cannot be read ({error.problems[0].message.rstrip('.')})"
            ) from error
        if len(now.calls) < len(turn.calls):
            gone = turn.calls[len(now.calls) :]
            self._unused = tuple(call.id for call in gone)
        self._judge.look(turn_differences(turn, now))

    def _outcomes(self, plan: PlanData) -> tuple[Outcome | None, ...]:
        """The recorded outcomes; those of calls that the plan settles come from the plan."""
        found = []
        unused = list(self._unused)
        for call, outcome in zip(plan.calls, self._recorded.outcomes, strict=False):
            now = outcome
            if call.verdict.kind == "settled":
                now = settled_outcome(call)
                if outcome is not None and outcome.status != now.status:
                    unused.append(call.name)
                elif outcome is not None and "text" in self._judge.ignore:
                    now = outcome
            found.append(now)
        self._unused = tuple(unused)
        return tuple(found)

    def _simulated(self, plan: Plan, outcomes: Sequence[Outcome | None]) -> ReplayedTurn:
        run = simulate(plan, durations_of(self._recorded, plan))
        self._starts = run.order
        messages = () if self._compared else self._written(outcomes)
        return replace(self._result(plan), simulation=run, messages=messages)

    def _run_again(
        self,
        recorded: PlanData,
        plan: Plan,
        facts: Sequence[Fact],
        outcomes: Sequence[Outcome | None],
    ) -> None:
        for call, before, now in zip(plan.calls, self._recorded.outcomes, outcomes, strict=False):
            if call.verdict.kind == "settled" and before != now:
                said = f"outcome {_outcome_text(before)}"
                raise diverged(call.name, said, _outcome_text(now))
        self._drive = drive = Drive(
            recorded, facts, self._recorded.outcomes, self._waited(recorded), self._judge.look
        )
        same_limits = recorded.limits == plan.limits and recorded.approvals == plan.approvals
        other = None if same_limits else facts_scheduler(plan, facts)
        for fact in facts:
            if fact.kind == "setup":
                continue
            self._judge.look(self._rules.change_differences(self._recorded, fact, drive.calls))
            decisions = drive.tell(fact)
            if other is not None:
                again = told(other, fact)
                differences = list(self._decided_otherwise(recorded, plan, decisions, again))
                self._judge.look(differences)
                other = None if differences else other  # from here on it is another run
        if not any(fact.kind == "fail" for fact in facts):
            drive.finish(paused=any(e.kind == "run_paused" for e in self._recorded.events))
        self._compared.append("run")

    def _decided_otherwise(
        self, recorded: PlanData, plan: Plan, before: Sequence[Decision], now: Sequence[Decision]
    ) -> Iterator[DivergenceError]:
        """Limits changed: the run is the same as long as the scheduler decides the same."""
        old, new = limits_text(recorded, plan), limits_text(plan, recorded)
        for one, other in _pairs(before, now):
            if one != other:
                index = min(each.call for each in (one, other) if each is not None)
                name = plan.calls[index].name if index >= 0 else None
                words = f"{_decided(one)} ({old})", f"{_decided(other)} ({new})"
                yield diverged(name, *words, kind="limits")
                return

    def _waited(self, plan: PlanData) -> set[int]:
        """Calls that did not start at once when they were told to: keys were held by others."""
        queued = {event.call for event in self._recorded.events if event.kind == "call_queued"}
        found = set()
        for call in plan.calls:
            if call.reads or call.writes or call.terms.uses:
                times = self._recorded.times[call.index] if self._recorded.times else None
                late = times is not None and times.granted != times.queued
                if late or call.name in queued:
                    found.add(call.index)
        return found

    def _written(self, outcomes: Sequence[Outcome | None]) -> tuple[object, ...]:
        kept = self._recorded.committed
        texts, steering = (kept.texts, kept.steering) if kept is not None else ((), ())
        try:
            return (
                written_messages(self._recorded.turn, outcomes, texts=texts, steering=steering)
                or ()
            )
        except UsageError:
            return ()

    def _write_again(self, outcomes: Sequence[Outcome | None]) -> tuple[object, ...]:
        recorded = self._recorded
        if not recorded.messages and recorded.committed is None:
            return ()
        messages = self._written(outcomes)
        difference = compare_messages(recorded, messages, outcomes)
        self._judge.look([] if difference is None else [difference])
        self._compared.append("messages")
        return messages


def _pairs(
    before: Sequence[Decision], now: Sequence[Decision]
) -> Iterator[tuple[Decision | None, Decision | None]]:
    for place in range(max(len(before), len(now))):
        yield (
            before[place] if place < len(before) else None,
            now[place] if place < len(now) else None,
        )


def _decided(decision: Decision | None) -> str:
    if decision is None:
        return "no start"
    return {"start": "it starts", "settle": f"it settles as {decision.status}"}.get(
        decision.kind, decision.kind
    )


def _outcome_text(outcome: Outcome | None) -> str:
    if outcome is None:
        return "none"
    return f"{outcome.status} {shown(outcome.text)}"
