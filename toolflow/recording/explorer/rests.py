"""The rules that hold in every state at rest (spec 6 and 8, conformance 154)."""

from __future__ import annotations

from toolflow.recording.explorer.broken import need
from toolflow.recording.explorer.facts import must_go_on, possible_facts
from toolflow.recording.explorer.oracle import exclusive, hold, meet, prepare_hold, startable
from toolflow.recording.explorer.world import (
    ACQUIRING,
    ASKING,
    DUE,
    HOOKING,
    IDLE,
    LINGERING,
    PREPARED,
    PREPARING,
    STAGES,
    World,
)


def check_rest(world: World) -> None:
    """Check a state in which all decisions were carried out.

    Args:
        world: The moment.

    Raises:
        Broken: If something that must not be is, or something that could go on does not.
    """
    _overlaps(world)
    if world.ended:
        return
    _one_hook_at_a_time(world)
    _tells_what_is_open(world)
    go_on = any(must_go_on(fact, world) for fact in possible_facts(world))
    need(go_on, "progress", f"nothing goes on: {[STAGES[s] for s in world.stage]}")
    for index in range(len(world.calls)):
        _not_forgotten(world, index)
    no_hook_due(world)
    not_idle(world)


def _one_hook_at_a_time(world: World) -> None:
    """Hooks before calls run one after the other, and so do hooks after calls (spec 6.4)."""
    for which, doing, what in (("before", PREPARING, world.stage), ("after", HOOKING, world.after)):
        need(what.count(doing) <= 1, f"{which}-hook", "two of them run at once")


def _tells_what_is_open(world: World) -> None:
    """What the scheduler says when it is asked is what its driver knows."""
    asked, left = world.scheduler.open_questions, world.scheduler.lingering
    need(set(asked) == world.questions, "told", f"the questions of {asked} are open, it says")
    bodies = {i for i, stage in enumerate(world.stage) if stage == LINGERING}
    need(set(left) == bodies, "told", f"the bodies of {left} go on, it says")


def _overlaps(world: World) -> None:
    """What the rules say of bodies, whoever started them (conformance 154)."""
    running = world.overlapping
    need(len(running) <= world.pool, "pool", f"{running} run at once, of {world.pool}")
    for place, one in enumerate(running):
        for other in running[place + 1 :]:
            alone = exclusive(world, one) or exclusive(world, other)
            need(not alone, "barrier", f"{one} and {other} overlap")
            keys = meet(world.calls[one], world.calls[other])
            need(not keys, "keys", f"{one} and {other} overlap, and their keys meet")
    for name, capacity in world.plan.limits.resources.items():
        taken = sum(world.calls[index].terms.uses.get(name, 0) for index in running)
        need(taken <= capacity, "resources", f"{running} use {taken} {name} of {capacity}")


def _not_forgotten(world: World, index: int) -> None:
    """What must have been settled, cancelled or asked for by now."""
    stage = world.stage[index]
    cancelled = index in world.cancelled
    if world.aborted or index > world.skip_after:
        why = "the abort" if world.aborted else f"the failure of {world.skip_after}"
        waits = stage in {IDLE, PREPARED, ASKING} and not world.settled(index)
        need(not waits, "settle", f"{index} still waits after {why}")
    if world.aborted:
        need(cancelled or index not in world.under_way, "cancel", f"{index} goes on after an abort")
    stops = world.halted or world.aborted or world.broken or index > world.skip_after
    need(not (stops and stage == ACQUIRING) or cancelled, "cancel", f"{index} still waits for keys")
    asks = world.calls[index].ask is not None and index not in world.approved | world.declined
    if asks and stage != ASKING and world.approver and not (world.aborted or world.broken):
        known = world.settled(index) or index in world.questions
        need(known, "question", f"nobody was asked for {index}")


def no_hook_due(world: World) -> None:
    """An after-hook runs when everything before its call is done."""
    first = next((i for i in range(len(world.calls)) if not world.done(i)), -1)
    need(first < 0 or world.after[first] != DUE, "after-hook", f"that of {first} does not run")


def not_idle(world: World) -> None:
    """A call starts, or is prepared, as soon as it may (spec 6.1)."""
    for index in range(len(world.calls)):
        if startable(world, index):
            need(hold(world, index), "as soon as it may", f"{index} does not start")
        elif world.stage[index] == IDLE and world.hooks and not world.settled(index):
            reason = prepare_hold(world, index)
            need(reason, "as soon as it may", f"the before-hook of {index} does not run")
