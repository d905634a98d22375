"""What may happen next by the rules of spec 6 and 8, worked out from scratch.

`hold` is the one question: why may this call not start now? A scheduler is right if it starts no
call for which there is an answer, and leaves none unstarted for which there is none. The oracle is
slow and simple on purpose: it shares no code with the scheduler but the meeting of two keys.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from toolflow.model.batch import CallPlan
from toolflow.model.keys import keys_meet
from toolflow.recording.explorer.world import (
    ACQUIRING,
    ASKING,
    DEAD,
    IDLE,
    LINGERING,
    PREPARED,
    PREPARING,
    World,
)

NOBODY: AbstractSet[int] = frozenset()


def meet(one: CallPlan, other: CallPlan) -> bool:
    """Whether two calls may not overlap for their keys' sake (spec 4.5)."""
    mine, theirs = one.writes or (), other.writes or ()
    return (
        any(keys_meet(a, b) for a in mine for b in (*theirs, *(other.reads or ())))
        or any(keys_meet(a, b) for a in one.reads or () for b in theirs)
    )  # fmt: skip


def exclusive(world: World, index: int) -> bool:
    """Whether a call must run alone."""
    return world.calls[index].verdict.kind == "exclusive"


def hold(
    world: World, index: int, *, ignore: AbstractSet[int] = NOBODY, leaving: bool = True
) -> str:
    """Why a call may not start now.

    Args:
        world: The moment.
        index: A prepared call that has not started.
        ignore: Bodies that are not to count.
        leaving: Whether calls count that were told to give up their place and have not done so.

    Returns:
        A reason, or an empty text where it may start.
    """
    return (
        stopped(world, index)
        or _question(world, index)
        or _earlier(world, index)
        or _beside(world, index, ignore, leaving=leaving)
        or _scarce(world, index, ignore)
    )


def stopped(world: World, index: int) -> str:
    """Why nothing at or behind this place may start or be prepared, or an empty text."""
    if world.halted or world.aborted or world.broken or world.ended:
        return "the run stops"
    if index > world.skip_after:
        return f"call {world.skip_after} failed"
    if world.plan.approvals == "first" and world.questions:
        return "questions come first"
    for before in world.stop_calls:
        if before <= index and stops_before(world, before) and not world.settled(before):
            return f"stop point before {before}"
        if before < index and stops_after(world, before):
            return f"stop point after {before}"
    return ""


def stops_before(world: World, index: int) -> bool:
    """Whether the run stops before a call that has not started."""
    if not world.pausable or world.stage[index] >= ACQUIRING:
        return False
    call = world.calls[index]
    if call.ask is not None and not world.approver and index not in world.approved:
        return True
    if index in world.passed:
        return False
    return index in world.stops or call.terms.stop == "before"


def stops_after(world: World, index: int) -> bool:
    """Whether later calls wait for a call with ``stop: after``, and for the resume after it."""
    if world.calls[index].terms.stop != "after" or index in world.before:
        return False
    return world.pausable and world.stage[index] != DEAD


def _question(world: World, index: int) -> str:
    if index in world.questions:
        return "its question is open"
    asks = world.calls[index].ask is not None and index not in world.approved
    return "it was not approved" if asks else ""


def _earlier(world: World, index: int) -> str:
    """What earlier calls have against it: barriers, and meeting calls that have not started."""
    alone = exclusive(world, index)
    for before in range(index):
        if world.hooks and world.stage[before] < PREPARED and not world.settled(before):
            return f"{before} is not prepared"
        if alone and not world.done(before):
            return f"it runs alone, and {before} is not done"
        if world.done(before):
            continue
        if exclusive(world, before) and world.stage[before] != DEAD:
            return f"{before} runs alone"
        idle = world.stage[before] < ACQUIRING or world.stage[before] == ASKING
        if idle and not world.settled(before) and meet(world.calls[before], world.calls[index]):
            return f"it meets {before}, which has not run"
    return ""


def _beside(world: World, index: int, ignore: AbstractSet[int], *, leaving: bool) -> str:
    """What running calls have against it, reported ones included."""
    active = [other for other in world.active if other != index and other not in ignore]
    if len(active) >= world.pool:
        return "no permit is free"
    for other in active:
        if not leaving and world.stage[other] == ACQUIRING and other in world.cancelled:
            continue
        if exclusive(world, index) or exclusive(world, other):
            return f"{other} runs"
        if meet(world.calls[index], world.calls[other]):
            return f"it meets {other}, which runs"
    return ""


def _scarce(world: World, index: int, ignore: AbstractSet[int]) -> str:
    for name, units in world.calls[index].terms.uses.items():
        others = [i for i in world.active if i != index and i not in ignore]
        taken = sum(world.uses[other].get(name, 0) for other in others)
        if taken + units > world.plan.limits.resources.get(name, taken + units):
            return f"too little {name} is free"
    return ""


def prepare_hold(world: World, index: int, *, ignore: AbstractSet[int] = NOBODY) -> str:
    """Why the before-hook of a call may not run now, or an empty text where it may."""
    if reason := stopped(world, index):
        return reason
    for before in range(index):
        if world.stage[before] == PREPARING:
            return f"the hook of {before} runs"
        if world.stage[before] == IDLE and not world.settled(before):
            return f"{before} is not prepared"
        if exclusive(world, before) and not world.done(before) and world.stage[before] != DEAD:
            return f"{before} runs alone"
        if exclusive(world, index) and not world.done(before):
            return f"it runs alone, and {before} is not done"
    active = [other for other in world.active if other not in ignore]
    if alone := [other for other in active if exclusive(world, other) or exclusive(world, index)]:
        return f"{alone[0]} runs, and one of them runs alone"
    return "no permit is free" if len(active) >= world.pool else ""


def startable(world: World, index: int) -> bool:
    """Whether a call is where it could start from, if nothing holds it."""
    stage = world.stage[index]
    return not world.settled(index) and (stage == PREPARED or (stage == IDLE and not world.hooks))


def bodies(world: World) -> list[int]:
    """Calls whose bodies run although their outcome was reported, and that nobody gave up yet."""
    return [i for i, stage in enumerate(world.stage) if stage == LINGERING and i not in world.stuck]
