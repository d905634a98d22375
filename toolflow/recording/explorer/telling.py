"""What a fact changes: the driver notes it and tells the scheduler."""

from __future__ import annotations

from collections.abc import Callable

from toolflow.recording.explorer.world import (
    ACQUIRING,
    ASKING,
    DUE,
    HOOKED,
    LINGERING,
    NO_HOOK,
    PREPARED,
    PREPARING,
    RAN,
    RUNNING,
    Fact,
    World,
)


def tell(world: World, fact: Fact) -> None:
    """A fact comes up: the driver notes it and tells the scheduler.

    Args:
        world: The moment; it is changed.
        fact: One of `possible_facts`, or ``begin``.
    """
    _TELL[fact.kind](world, fact)


def _begin(world: World, fact: Fact) -> None:
    begin(world, fact.detail)


def begin(world: World, before: str = "") -> None:
    """The run begins; it may have been interrupted or aborted before it does.

    Args:
        world: A moment with a fresh scheduler.
        before: ``halted``, ``aborted``, or an empty text.
    """
    if before == "halted":
        _halt(world, Fact("halt"))
    elif before == "aborted":
        _abort(world, Fact("abort"))
    if not world.scheduler.ended:
        world.scheduler.begin()


def _prepared(world: World, fact: Fact) -> None:
    index = fact.call
    world.stage[index] = PREPARED
    world.cancelled.discard(index)
    if index in world.declined:
        world.die(index, "declined", hooked=True)
    if world.possible.hook_changes.get(index):
        world.spent.add(Fact("prepared", index))
    if not fact.detail:
        world.scheduler.prepared(index)
        return
    call = world.possible.hook_changes[index][int(fact.detail)]
    again = call.ask is not None and call.args != world.calls[index].args
    world.calls[index] = call
    if again:
        world.approved.discard(index)
    if call.ask is None:
        world.questions.discard(index)
    world.scheduler.prepared(index, call, ask_again=again)


def _refused(world: World, fact: Fact) -> None:
    hooked = fact.detail not in {"hook failed", "gone"}
    world.die(fact.call, fact.detail, hooked=hooked)
    world.scheduler.refused(fact.call, hooked=hooked)


def _answered(world: World, fact: Fact) -> None:
    index = fact.call
    world.questions.discard(index)
    approved = fact.detail == "yes"
    if approved:
        world.approved.add(index)
    elif world.stage[index] in {PREPARING, ACQUIRING}:
        world.declined.add(index)  # it settles when its hook is done, or it gave up its place
    else:
        world.die(index, "declined", hooked=True)
    world.scheduler.answered(index, approved=approved)


def _changed(world: World, fact: Fact) -> None:
    index = fact.call
    world.spent.add(fact)
    world.changed_live = True
    call = world.possible.live_changes[index][int(fact.detail)]
    world.calls[index] = call
    if call.ask is None:
        world.questions.discard(index)
    world.scheduler.changed(index, call)


def _started(world: World, fact: Fact) -> None:
    enter(world, fact.call)


def enter(world: World, index: int) -> None:
    """A body is entered: it sees the store as it is now."""
    world.stage[index] = RUNNING
    world.seen[index] = world.store.read(world.calls[index], world.cells)
    world.scheduler.started(index)


def _gave_up(world: World, fact: Fact) -> None:
    world.stage[fact.call] = PREPARED
    world.cancelled.discard(fact.call)
    if fact.call in world.declined:
        world.die(fact.call, "declined", hooked=True)
    world.scheduler.gave_up(fact.call)


def _reported(world: World, fact: Fact) -> None:
    world.stage[fact.call] = LINGERING
    world.learn(fact.call, "timed_out")
    world.scheduler.reported(fact.call)


def _stopped(world: World, fact: Fact) -> None:
    index = fact.call
    lingered = world.stage[index] == LINGERING
    world.stage[index] = RAN
    world.stuck.discard(index)
    world.cells = world.store.write(world.calls[index], world.seen[index], world.cells)
    if not lingered:
        world.cancelled.discard(index)
        world.learn(index, fact.detail or "ok")
    world.scheduler.stopped(index, failed=fact.detail == "failed")


def _interrupted(world: World, fact: Fact) -> None:
    world.spent.add(fact)
    world.stage[fact.call] = ASKING
    world.halted = world.halted or fact.call < world.skip_after
    world.scheduler.interrupted(fact.call)


def _after_done(world: World, fact: Fact) -> None:
    world.after[fact.call] = HOOKED
    world.cancelled.discard(fact.call)
    if fact.detail:
        world.known[fact.call] = "hook failed"
        world.fail(fact.call)
    world.scheduler.after_done(fact.call, failed=bool(fact.detail))


def _grace_over(world: World, fact: Fact) -> None:
    world.stuck.add(fact.call)
    world.scheduler.grace_over(fact.call)


def _halt(world: World, _fact: Fact) -> None:
    world.halts -= 1
    world.halted = True
    world.scheduler.halt()


def _abort(world: World, _fact: Fact) -> None:
    world.aborts -= 1
    world.aborted = True
    world.questions.clear()
    _no_more_hooks(world)
    world.scheduler.abort()


def _fail(world: World, _fact: Fact) -> None:
    world.faults -= 1
    world.broken = True
    _no_more_hooks(world)
    world.scheduler.fail()


def _no_more_hooks(world: World) -> None:
    world.after = [NO_HOOK if due == DUE else due for due in world.after]


_TELL: dict[str, Callable[[World, Fact], None]] = {
    "begin": _begin,
    "prepared": _prepared,
    "refused": _refused,
    "answered": _answered,
    "changed": _changed,
    "started": _started,
    "gave_up": _gave_up,
    "reported": _reported,
    "stopped": _stopped,
    "interrupted": _interrupted,
    "after_done": _after_done,
    "grace_over": _grace_over,
    "halt": _halt,
    "abort": _abort,
    "fail": _fail,
}
