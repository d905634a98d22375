"""The rules that hold at every decision (spec 6 and 8, conformance 154)."""

from __future__ import annotations

from collections.abc import Callable

from toolflow.recording.explorer.broken import need
from toolflow.recording.explorer.oracle import (
    bodies,
    hold,
    meet,
    prepare_hold,
    startable,
    stops_after,
    stops_before,
)
from toolflow.recording.explorer.rests import no_hook_due, not_idle
from toolflow.recording.explorer.telling import enter, tell
from toolflow.recording.explorer.world import (
    ACQUIRING,
    ASKING,
    DUE,
    HOOKING,
    IDLE,
    PREPARED,
    PREPARING,
    STAGES,
    Fact,
    World,
)
from toolflow.scheduler import Decision


def carry_out(world: World, decision: Decision) -> None:
    """Do what the scheduler decided, as a driver would, if the rules allow it.

    Args:
        world: The moment; it is changed.
        decision: The decision.

    Raises:
        Broken: If they do not.
    """
    need(not world.ended, "end", f"{decision.kind} of {decision.call} after {world.ended}")
    _CARRY_OUT[decision.kind](world, decision)


def _ask(world: World, decision: Decision) -> None:
    index = decision.call
    call = world.calls[index]
    need(world.approver, "question", f"{index} is asked for, and nobody is there")
    need(call.ask is not None, "question", f"{index} has no question")
    need(index not in world.approved, "question", f"{index} was approved")
    need(not world.settled(index), "question", f"{index} has settled")
    need(not (world.aborted or world.broken), "question", f"{index} is asked for too late")
    world.questions.add(index)


def _prepare(world: World, decision: Decision) -> None:
    index = decision.call
    need(world.hooks, "before-hook", "there are no hooks")
    where = world.stage[index]
    need(where == IDLE, "before-hook", f"{index} is {STAGES[where]}")
    need(not world.settled(index), "before-hook", f"{index} has settled")
    need(index not in world.hooked, "before-hook", f"that of {index} runs twice")
    before = world.last_hook
    need(before < index, "before-hook", f"that of {index} runs after that of {before}")
    reason = prepare_hold(world, index)
    need(not reason, "before-hook", f"that of {index} runs, but {reason}")
    world.stage[index] = PREPARING
    world.hooked.add(index)
    world.last_hook = index
    if world.possible.prompt:
        tell(world, Fact("prepared", index))


def _start(world: World, decision: Decision) -> None:
    index = decision.call
    where = world.stage[index]
    need(startable(world, index), "start", f"{index} starts, and is {STAGES[where]}")
    reason = hold(world, index, leaving=False)
    need(not reason, "start", f"{index} starts, but {reason}")
    for before in range(index):
        if startable(world, before) and not (world.possible.prompt and world.changed_live):
            need(hold(world, before), "call order", f"{index} starts before {before}, which may")
    world.stage[index] = ACQUIRING
    call = world.calls[index]
    world.uses[index] = call.terms.uses
    if not (world.possible.late_grants or call.reads or call.writes or call.terms.uses):
        enter(world, index)


def _settle(world: World, decision: Decision) -> None:
    index, status, cause = decision.call, decision.status, decision.cause
    where = world.stage[index]
    need(not world.settled(index), "one outcome", f"{index} settles twice, now {status}")
    told = f"{index} settles as {status}"
    need(where in {IDLE, PREPARED, ASKING}, "settle", f"{told}, and is {STAGES[where]}")
    if status == "not_started":
        need(world.aborted, "settle", f"{told}, and the run was not aborted")
    elif status == "skipped":
        need(cause == world.skip_after < index, "settle", f"{told} for {cause}, which did not fail")
    elif status == "declined":
        asks = world.stage[index] == ASKING
        nobody = not world.pausable and (asks or not world.approver)
        need(nobody and (asks or world.calls[index].ask is not None), "settle", told)
    else:
        need(status == "held", "settle", told)
        _held(world, index, cause)
    world.die(index, status, hooked=False)


def _held(world: World, index: int, cause: int) -> None:
    """Only what bodies keep from starting that will never stop settles as held."""
    need(cause in world.stuck, "held", f"{index} is held by {cause}, which is not stuck")
    behind = next((i for i in range(index + 1) if stops_before(world, i) or _ends(world, i)), -1)
    need(behind < 0, "held", f"{index} is held, and stands behind the stop point {behind}")
    need(not world.halted, "held", f"{index} is held while the run stops")
    if any(meet(world.calls[index], world.calls[stuck]) for stuck in world.stuck):
        return
    ready = startable(world, index)
    reason = (hold if ready else prepare_hold)(world, index, ignore=world.stuck)
    need(not reason, "held", f"{index} is held by {cause}, but {reason}")


def _ends(world: World, index: int) -> bool:
    return world.done(index) and stops_after(world, index)


def _after(world: World, decision: Decision) -> None:
    index = decision.call
    need(world.after[index] == DUE, "after-hook", f"that of {index} is not due")
    need(not (world.aborted or world.broken), "after-hook", f"that of {index} comes too late")
    open_ = [before for before in range(index) if not world.done(before)]
    need(not open_, "after-hook", f"that of {index} comes before {open_[:1]} is done")
    world.after[index] = HOOKING
    if world.possible.prompt:
        tell(world, Fact("after_done", index))


def _cancel(world: World, decision: Decision) -> None:
    index = decision.call
    need(index in world.under_way, "cancel", f"{index} is cancelled, and is not under way")
    stops = world.aborted or world.broken or world.halted or index > world.skip_after
    need(stops or world.changed_live, "cancel", f"{index} is cancelled without need")
    world.cancelled.add(index)
    if world.possible.prompt:
        _end_at_once(world, index)


def _end_at_once(world: World, index: int) -> None:
    if world.stage[index] == ACQUIRING:
        tell(world, Fact("gave_up", index))
    elif world.stage[index] == PREPARING:
        tell(world, Fact("prepared", index))
    elif world.after[index] == HOOKING:
        tell(world, Fact("after_done", index))


def _pause(world: World, _decision: Decision) -> None:
    need(world.pausable, "pause", "the run may not pause")
    need(not world.under_way, "pause", f"it pauses while {world.under_way} are under way")
    need(not (world.aborted or world.broken), "pause", "it pauses instead of ending")
    point = world.scheduler.stop_point
    open_ = [i for i in range(len(world.calls)) if not world.done(i)]
    need(open_, "pause", "it pauses, and everything is done")
    if point >= 0:
        early = [i for i in range(point) if not world.settled(i)]
        need(not early, "pause", f"it pauses at {point}, and {early} have not settled")
        need(stops_before(world, point) or _ends(world, point), "pause", f"{point} is no stop")
        earlier = [i for i in range(point) if _ends(world, i)]
        need(not earlier, "pause", f"it pauses at {point}, and {earlier} stop it before")
    if not world.halted:
        asks = ASKING in world.stage
        need(point >= 0 or asks, "pause", "it pauses without a stop point or a question")
        need(not world.questions, "pause", f"it pauses while {world.questions} are asked for")
        need(not bodies(world), "pause", f"it pauses while the bodies of {bodies(world)} go on")
        not_idle(world)
    no_hook_due(world)
    prepared = {i for i in world.hooked | world.prepared if not world.settled(i)}
    told = world.scheduler.prepared_calls
    need(not world.hooks or told == prepared, "pause", f"{told} are told as prepared")
    world.ended = "pause"


def _finish(world: World, _decision: Decision) -> None:
    need(not world.under_way, "finish", f"it ends while {world.under_way} are under way")
    if not world.broken:
        open_ = [i for i in range(len(world.calls)) if not world.done(i)]
        need(not open_, "finish", f"it ends, and {open_} are not done")
    world.ended = "finish"
    if world.changed_live or world.foreign or world.crashed:
        return  # a later call may have started before an earlier one changed
    ran = [i for i in range(len(world.calls)) if f"={i}" in world.cells]
    expected = world.store.serial(world.calls, ran)
    need(world.cells == expected, "serial", f"{world.cells} instead of {expected}")


_CARRY_OUT: dict[str, Callable[[World, Decision], None]] = {
    "ask": _ask,
    "prepare": _prepare,
    "start": _start,
    "settle": _settle,
    "after": _after,
    "cancel": _cancel,
    "pause": _pause,
    "finish": _finish,
}
