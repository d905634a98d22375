"""Calls whose arguments were masked when they were written do not run: ``***`` is no password.

A plan or a checkpoint from a file holds no secrets, so whoever has the turn gives it again; it must
be the same turn but for what was masked.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolflow.compiler import Plan
from toolflow.errors import UsageError
from toolflow.model.batch import CallPlan
from toolflow.policy import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping


def runnable(plan: Plan, ended: Collection[int], redactor: Redactor) -> Plan:
    """A plan that may run: no call of it has other arguments than the model sent.

    Args:
        plan: The plan.
        ended: Indexes of calls that do not run any more.
        redactor: What masks the secrets of the policy that it runs under.

    Returns:
        The plan; one that was read from a file masks from now on what the policy says.

    Raises:
        UsageError: If such a call would run.
    """
    if plan.redactor is None and redactor:
        plan = replace(plan, redactor=redactor)
    if not plan.masked:
        return plan
    names = [
        call.name
        for call in plan.calls
        if call.name in plan.masked and call.index not in ended and call.verdict.kind != "settled"
    ]
    if names:
        raise UsageError(
            f"The arguments of {', '.join(map(repr, names))} were masked when the plan was "
            "written (redact), so they cannot run from it. Give the turn itself."
        )
    return plan


def with_turn(plan: Plan, fresh: Plan) -> Plan:
    """A plan with the arguments that were masked in it.

    Args:
        plan: The plan as it was read.
        fresh: The plan of the same turn with all its arguments.

    Raises:
        UsageError: If it is another turn.
    """
    if fresh.redactor is None or len(fresh.calls) != len(plan.calls):
        raise UsageError("The plan was not made of this turn. Give the turn that was paused.")
    mask = fresh.redactor.of(fresh.turn, values=[call.args for call in fresh.calls])
    calls = list(plan.calls)
    for was, now in zip(plan.calls, fresh.calls, strict=True):
        if was.name in plan.masked:
            calls[was.index] = _restored(was, now, mask.value(now.args))
    return replace(plan, calls=tuple(calls), turn=fresh.turn, masked=())


def _restored(was: CallPlan, now: CallPlan, masked: Mapping[str, Any]) -> CallPlan:
    if (was.name, was.tool) != (now.name, now.tool) or dict(was.args) != masked:
        raise UsageError(
            f"Call {was.name!r} has other arguments in the plan than in this turn, beside what "
            "was masked. Give the turn that was paused."
        )
    return replace(was, args=now.args, parsed=now.parsed)
