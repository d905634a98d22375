"""Which facts may come up next in a world, and what the driver learns from each.

The facts are those that the executor reports, in every order that it can report them in and some
in which it does not: hooks may end out of turn here, and grants may come late for every call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from toolflow.model.batch import CallPlan
from toolflow.recording.explorer.oracle import bodies
from toolflow.recording.explorer.world import (
    ACQUIRING,
    ASKING,
    DUE,
    HOOKED,
    HOOKING,
    IDLE,
    LINGERING,
    NO_HOOK,
    PREPARED,
    PREPARING,
    RAN,
    RUNNING,
    Fact,
    World,
)


def possible_facts(world: World) -> Iterator[Fact]:
    """Every fact that may come up next, the ones that nobody can rely on last.

    Args:
        world: A moment in which all decisions were carried out.
    """
    if world.ended:
        yield from _late_facts(world)
        return
    for index in range(len(world.calls)):
        yield from _facts_of(world, index)
    for index in sorted(world.questions):
        yield Fact("answered", index, "yes")
        yield Fact("answered", index, "no")
    if world.halts and not world.halted and not world.aborted and world.possible.pausable:
        yield Fact("halt")
    if world.aborts and not world.aborted:
        yield Fact("abort")
    if world.faults and not world.broken:
        yield Fact("fail")


def must_go_on(fact: Fact, world: World) -> bool:
    """Whether a run may rely on this fact to come: a stuck body may never stop."""
    if fact.kind in {"halt", "abort", "fail", "changed"}:
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
    if stage in {IDLE, PREPARED, ACQUIRING} and not world.settled(index):
        yield from _tool_facts(world, index)


def _tool_facts(world: World, index: int) -> Iterator[Fact]:
    """What a new tool set makes of a call that has not started."""
    for number, form in enumerate(world.possible.live_changes.get(index, ())):
        fact = Fact("changed", index, str(number))
        if form.verdict.kind == "settled":
            if world.stage[index] != ACQUIRING:
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
    may_ask = index in possible.asking and possible.pausable and not world.aborted
    if may_ask and asked not in world.spent:
        yield asked


def _matters(world: World, index: int) -> bool:
    """Whether it makes a difference to the scheduler how this call ends."""
    return world.possible.failures and world.calls[index].terms.on_error == "stop"


# ---- what a fact changes ----


def tell(world: World, fact: Fact) -> None:
    """A fact comes up: the driver notes it and tells the scheduler.

    Args:
        world: The moment; it is changed.
        fact: One of `possible_facts`, or ``begin``.
    """
    _TELL[fact.kind](world, fact)


def _begin(world: World, _fact: Fact) -> None:
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
