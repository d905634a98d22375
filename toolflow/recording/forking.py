"""A new run from the middle of a recorded one: with other answers, or other arguments (spec 10.4).

Pure: what comes out is a checkpoint, which the engine resumes like that of any paused run. What
had settled when the call started keeps its outcome; all else, what ran just then included, runs
again. Files, servers and the like are not part of a recording: tools find the world as it is now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolflow.compiler import Plan, recompile
from toolflow.errors import UsageError
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.tool import Catalog
from toolflow.policy import Policy
from toolflow.recording.asking import planned
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.durations import whole_turns
from toolflow.recording.facts import facts_of
from toolflow.recording.naming import find_call
from toolflow.recording.rules import Rules
from toolflow.recording.walking import Walk
from toolflow.runtime.approvals import Answer, call_digest

_ABOUT = ("started", "refused", "answered")  # a call that never started had its turn then


def fork_at(
    recording: Recording,
    call: str,
    *,
    args: Mapping[str, Mapping[str, Any]] | None = None,
    answers: Mapping[str, Any] | None = None,
    policy: Policy | None = None,
    tools: Catalog | None = None,
    cwd: str | None = None,
) -> Checkpoint:
    """Make the checkpoint from which a recorded run goes on in another way.

    Args:
        recording: The recording.
        call: The call at which it goes another way: ``CALL`` or ``TURN/CALL``.
        args: Other arguments, by the name of the call; such calls are classified and keyed again,
            as after a before-hook: an exclusive one stays exclusive, and an approval holds no more.
        answers: Answers by the name of the call: to the question of a rule ``True``, ``False`` or
            an `Answer`, to a question of a body any JSON value.
        policy: The policy to classify with; ``None`` for the recording's own.
        tools: The tools; see `replay`.
        cwd: The folder that relative paths start from; the recording's own by default.

    Returns:
        The checkpoint, for `Engine.resume`.

    Raises:
        UsageError: If there is no such call; if a call that keeps its outcome is to have other
            arguments or answers, or one whose arguments are masked is to run with those; if
            arguments are no mapping, or an answer is none; or if the
            recording knows no policy with which to classify other arguments.
        PlanError: If a call with other arguments needs more of a resource than there is.
    """
    recorded, index = find_call(recording, call)
    parts = [t for t in recording.turns if _key(t) == _key(recorded)]
    *_, whole = whole_turns(parts)
    rules = Rules(recording, policy, tools, cwd=cwd, pool=None)
    plan = planned(rules, recorded)
    kept = _kept(parts, whole, index)
    given, replies = dict(args or {}), dict(answers or {})
    _check_names(plan, kept, index, {**given, **replies})
    plan = _changed(rules, recorded, plan, given)
    plan = _unmasked(recorded, plan, kept, given)
    approved = _approved_then(parts, plan) - kept
    outcomes = {i: (outcome, True) for i in kept if (outcome := whole.outcomes[i]) is not None}
    interrupts: dict[str, tuple[Any, ...]] = {}
    for name, value in replies.items():
        one = plan.call(name)
        if one.ask is None:
            interrupts[name] = (value,)
        elif (decision := _decision(name, value)).approved:
            approved.add(one.index)
        else:
            outcomes[one.index] = (_declined(decision), False)
    return Checkpoint(
        plan=plan,
        outcomes=dict(sorted(outcomes.items())),
        approved=frozenset(approved.difference(outcomes)),
        answers=interrupts,
        passed=frozenset(range(index + 1)),
    )


def _key(recorded: RecordedTurn) -> tuple[str, str, int]:
    return recorded.turn.id, recorded.turn.source, len(recorded.turn.calls)


def _kept(parts: Sequence[RecordedTurn], whole: RecordedTurn, index: int) -> set[int]:
    """The calls that had settled when a call came to its turn."""
    ran = [part for part in parts if part.plan is not None and facts_of(part)]
    if not ran:  # a log tells no order: what stands before it had settled
        return {at for at in range(index) if whole.outcomes[at] is not None}
    part, kind = next(
        (
            (part, kind)
            for kind in _ABOUT
            for part in ran
            if any((fact.kind, fact.call) == (kind, index) for fact in facts_of(part))
        ),
        (ran[-1], ""),
    )
    walk = Walk(part)
    while (fact := walk.next) is not None and (fact.kind, fact.call) != (kind, index):
        walk.step()
        if not kind and index in walk.settled:
            break  # it was answered without running
    return {at for at in walk.settled if whole.outcomes[at] is not None} - {index}


def _check_names(plan: Plan, kept: set[int], index: int, given: Mapping[str, Any]) -> None:
    at = plan.calls[index].name
    for name in given:
        if plan.call(name).index in kept:
            raise UsageError(
                f"Call {name!r} had settled before {at!r} started, and keeps its outcome. "
                f"Fork at {name!r}, or leave it out."
            )


def _changed(rules: Rules, recorded: RecordedTurn, plan: Plan, given: Mapping[str, object]) -> Plan:
    if not given:
        return plan
    calls = list(plan.calls)
    for name, args in given.items():
        if not isinstance(args, Mapping) or not all(isinstance(key, str) for key in args):
            raise UsageError(f"The arguments of {name!r} are {args!r}. Use a mapping of names.")
        call = plan.call(name)
        if call.verdict.kind == "settled":
            raise UsageError(
                f"Call {name!r} was answered without running: {call.verdict.reason} "
                "Other arguments do not make it run."
            )
        calls[call.index] = rules.changed(recorded, call, args)
    return recompile(plan, calls)


def _unmasked(
    recorded: RecordedTurn, plan: Plan, kept: set[int], given: Mapping[str, object]
) -> Plan:
    """The plan, with the names of the calls whose arguments are masked in the recording."""
    masked = recorded.plan.masked if recorded.plan is not None else ()
    left = tuple(name for name in masked if name not in given)
    for name in left:
        call = plan.call(name)
        if call.index not in kept and call.verdict.kind != "settled":
            raise UsageError(
                f"The arguments of {name!r} are masked in the recording (redact), so it cannot "
                "run again. Give it arguments, or fork behind it."
            )
    return plan if left == plan.masked else replace(plan, masked=left)


def _approved_then(parts: Sequence[RecordedTurn], plan: Plan) -> set[int]:
    """Calls that a person approved in the record, for the same tool and arguments."""
    found: set[int] = set()
    for part in parts:
        for fact in facts_of(part):
            if fact.kind == "setup":
                found.update(fact.data.get("approved", ()))
            elif fact.kind == "started" or (fact.kind == "answered" and fact.data["approved"]):
                found.add(fact.call)
    last = next((part.plan for part in reversed(parts) if part.plan is not None), None)
    if last is None:
        return set()
    return {i for i in found if _asks_the_same(last.calls[i], plan.calls[i])}


def _asks_the_same(then: CallPlan, now: CallPlan) -> bool:
    return now.ask is not None and call_digest(then) == call_digest(now)


def _decision(name: str, value: object) -> Answer:
    if isinstance(value, Answer):
        return value
    if isinstance(value, bool):
        return Answer(approved=value)
    raise UsageError(f"The answer for {name!r} is {value!r}. It is asked for a yes or a no.")


def _declined(decision: Answer) -> Outcome:
    reason = f": {decision.reason}" if decision.reason else "."
    return Outcome("declined", error=f"Declined by the approver{reason}")
