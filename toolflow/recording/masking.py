"""What is kept of a run holds no secrets: turn, plan, outcomes, events, facts (spec 9.4).

Everything goes through the one mask of its turn before it is written, and what was committed is
told of the masked form: a replay writes the masked messages again and compares their bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolflow.compiler.masking import masked_plan
from toolflow.model.batch import CallPlan
from toolflow.model.event import Event
from toolflow.model.mask import Masks, TurnMask
from toolflow.model.recording import Fact, RecordedTurn
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.committed import committed_of, written_messages
from toolflow.runtime.approvals import Question


def masked_recorded(recorded: RecordedTurn, redactor: Masks | None) -> RecordedTurn:
    """A recorded turn as it is kept.

    Args:
        recorded: The turn.
        redactor: What masks the secrets of its policy, or ``None``.

    Returns:
        The turn without secrets; the turn itself where none are named.
    """
    if redactor is None:
        return recorded
    changed = [fact.data["call"].args for fact in recorded.facts if "call" in fact.data]
    planned = [] if recorded.plan is None else [call.args for call in recorded.plan.calls]
    mask = redactor.of(recorded.turn, recorded.outcomes, [*changed, *planned])
    masked = replace(
        recorded,
        turn=mask.turn(recorded.turn),
        outcomes=tuple(each and mask.outcome(each) for each in recorded.outcomes),
        plan=None if recorded.plan is None else masked_plan(recorded.plan),
        events=tuple(_event(event, mask) for event in recorded.events),
        facts=tuple(_fact(fact, mask) for fact in recorded.facts),
        messages=tuple(map(mask.message, recorded.messages)),
    )
    return _committed(recorded, masked, mask)


def masked_checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    """A checkpoint as it is kept; calls with masked arguments cannot run from it.

    Args:
        checkpoint: Where a run paused.
    """
    redactor = checkpoint.plan.redactor
    if redactor is None:
        return checkpoint
    plan = checkpoint.plan
    outcomes = [outcome for outcome, _ in checkpoint.outcomes.values()]
    mask = redactor.of(plan.turn, outcomes, [call.args for call in plan.calls])
    return replace(
        checkpoint,
        plan=masked_plan(plan),
        outcomes={
            index: (mask.outcome(outcome), hooked)
            for index, (outcome, hooked) in checkpoint.outcomes.items()
        },
        questions=tuple(_question(question, mask) for question in checkpoint.questions),
        answers=mask.data(checkpoint.answers),
        extra=tuple(map(mask.text, checkpoint.extra)),
        steering=tuple(map(mask.message, checkpoint.steering)),
    )


def _committed(recorded: RecordedTurn, masked: RecordedTurn, mask: TurnMask) -> RecordedTurn:
    kept = recorded.committed
    if kept is None:
        return masked
    texts = tuple(map(mask.text, kept.texts))
    steering = tuple(map(mask.message, kept.steering))
    written = written_messages(masked.turn, masked.outcomes, texts=texts, steering=steering)
    messages = written or ()
    committed = committed_of(masked.turn, masked.outcomes, messages, texts=texts, steering=steering)
    return replace(masked, messages=messages, committed=committed)


def _event(event: Event, mask: TurnMask) -> Event:
    return event._replace(data=mask.data(event.data)) if event.data else event


def _fact(fact: Fact, mask: TurnMask) -> Fact:
    data: Mapping[str, Any] = fact.data
    call = data.get("call")
    if isinstance(call, CallPlan):
        return fact._replace(data={**data, "call": mask.planned(call)})
    return fact


def _question(question: Question, mask: TurnMask) -> Question:
    return replace(question, text=mask.value(question.text), args=mask.value(question.args))
