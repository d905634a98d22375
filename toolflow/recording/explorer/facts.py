"""Which facts may come up next in a world, and what the driver learns from each.

The facts are those that the executor reports, in every order that it can report them in and some
in which it does not: hooks may end out of turn here, and grants may come late for every call.
"""

from __future__ import annotations

from collections.abc import Iterator

from toolflow.model.batch import CallPlan
from toolflow.recording.explorer.oracle import bodies, meet
from toolflow.recording.explorer.world import (
    ACQUIRING,
    HOOKING,
    IDLE,
    LINGERING,
    PREPARED,
    PREPARING,
    RUNNING,
    Fact,
    World,
)


def first_facts(world: World) -> Iterator[Fact]:
    """Every way in which a run may begin.

    Args:
        world: A moment with a fresh scheduler.
    """
    yield Fact("begin")
    if world.halts and world.pausable:
        yield Fact("begin", -1, "halted")
    if world.aborts:
        yield Fact("begin", -1, "aborted")


def possible_facts(world: World) -> Iterator[Fact]:
    """Every fact that may come up next, the ones that nobody can rely on last.

    Args:
        world: A moment in which all decisions were carried out.
    """
    if world.ended == "crash":
        return
    if world.ended:
        yield from _late_facts(world)
        return
    for index in range(len(world.calls)):
        yield from _facts_of(world, index)
    for index in sorted(world.questions):
        yield Fact("answered", index, "yes")
        yield Fact("answered", index, "no")
    if world.halts and not world.halted and not world.aborted and world.pausable:
        yield Fact("halt")
    if world.aborts and not world.aborted:
        yield Fact("abort")
    if world.faults and not world.broken:
        yield Fact("fail")
    if world.crashes:
        yield Fact("crash")


def must_go_on(fact: Fact, world: World) -> bool:
    """Whether a run may rely on this fact to come: a stuck body may never stop."""
    if fact.kind in {"halt", "abort", "fail", "crash", "changed"}:
        return False
    return not (fact.kind == "stopped" and fact.call in world.stuck)


def _late_facts(world: World) -> Iterator[Fact]:
    """What still happens when the run has ended: reported bodies stop, or they do not."""
    for index in bodies(world):
        yield Fact("stopped", index, "failed")
        if world.possible.deaf:
            yield Fact("grace_over", index)


def _facts_of(world: World, index: int) -> Iterator[Fact]:
    stage, possible = world.stage[index], world.possible
    if stage == PREPARING:
        yield from _hook_facts(world, index)
    elif stage == ACQUIRING:
        if index in world.cancelled:
            yield Fact("gave_up", index)
        elif any(meet(world.calls[index], world.calls[body]) for body in world.foreign):
            yield Fact("refused", index, "held")  # a body of an earlier run has the key
        else:
            yield Fact("started", index)
        if possible.refusals:
            yield Fact("refused", index, "by the lock store")
    elif stage == RUNNING:
        yield from _body_facts(world, index)
    elif stage == LINGERING:
        yield Fact("stopped", index, "failed")
        if possible.deaf and index not in world.stuck:
            yield Fact("grace_over", index)
    if world.after[index] == HOOKING:
        yield Fact("after_done", index)
        if _matters(world, index) and world.known[index] == "ok":
            yield Fact("after_done", index, "failed")
    if stage in {IDLE, PREPARING, PREPARED, ACQUIRING} and not world.settled(index):
        yield from _tool_facts(world, index)


def _tool_facts(world: World, index: int) -> Iterator[Fact]:
    """What a new tool set makes of a call that has not started."""
    for number, form in enumerate(world.possible.live_changes.get(index, ())):
        fact = Fact("changed", index, str(number))
        if form.verdict.kind == "settled":
            yield Fact("refused", index, "gone")
        elif fact not in world.spent and _may_become(world.calls[index], form):
            yield fact


def _hook_facts(world: World, index: int) -> Iterator[Fact]:
    yield Fact("prepared", index)
    if world.possible.denials:
        yield Fact("refused", index, "denied")
        yield Fact("refused", index, "hook failed")
    # A hook that runs again after a pause sees the arguments that it left, and leaves them now.
    if index not in world.cancelled and Fact("prepared", index) not in world.spent:
        for number, form in enumerate(world.possible.hook_changes.get(index, ())):
            if _may_become(world.calls[index], form):
                yield Fact("prepared", index, str(number))


def _may_become(call: CallPlan, form: CallPlan) -> bool:
    """Classifying a call again never makes an exclusive one safe (spec 6.4)."""
    return form.verdict.kind == "exclusive" or call.verdict.kind != "exclusive"


def _body_facts(world: World, index: int) -> Iterator[Fact]:
    call, possible = world.calls[index], world.possible
    if not (index in world.cancelled and _matters(world, index)):
        yield Fact("stopped", index)
    if _matters(world, index):
        yield Fact("stopped", index, "failed")
    if call.terms.timeout is not None or index in world.cancelled:
        yield Fact("reported", index)
    asked = Fact("interrupted", index)
    may_ask = index in possible.asking and world.pausable and not world.aborted
    if may_ask and asked not in world.spent:
        yield asked


def _matters(world: World, index: int) -> bool:
    """Whether it makes a difference to the scheduler how this call ends."""
    return world.possible.failures and world.calls[index].terms.on_error == "stop"
