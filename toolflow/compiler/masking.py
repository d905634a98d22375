"""A plan as it is kept and shown: without the secrets that its policy names (spec 9.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from toolflow.compiler.fingerprint import turn_digest
from toolflow.model.plan import PlanData

P = TypeVar("P", bound=PlanData)


def masked_plan(plan: P) -> P:
    """A plan without secrets: the plan itself where its policy names none.

    Args:
        plan: The plan.

    Returns:
        The same plan with masked arguments and texts. ``masked`` names the calls whose arguments
        are not what they were; such calls cannot be run.
    """
    if plan.redactor is None:
        return plan
    mask = plan.redactor.of(plan.turn, values=[call.args for call in plan.calls])
    calls = tuple(map(mask.planned, plan.calls))
    changed = [now.name for was, now in zip(plan.calls, calls, strict=True) if now.args != was.args]
    turn = None if plan.turn is None else mask.turn(plan.turn)
    return replace(
        plan,
        calls=calls,
        turn=turn,
        turn_digest=plan.turn_digest if turn is None else turn_digest(turn),
        notices=mask.notices(plan.notices),
        masked=tuple(dict.fromkeys((*plan.masked, *changed))),
        redactor=None,
    )
