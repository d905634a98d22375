"""A new run after a pause: what was answered, and a plan for the calls as they are now."""

from __future__ import annotations

from collections.abc import Iterator

from toolflow.compiler.compile import recompile
from toolflow.recording.explorer.oracle import bodies
from toolflow.recording.explorer.world import (
    ASKING,
    DEAD,
    IDLE,
    LINGERING,
    PREPARED,
    Fact,
    World,
)


def resume_facts(world: World) -> Iterator[Fact]:
    """The ways in which a paused run may go on: every answer to what it waits for.

    Approvals are answered one at a time: the first one with yes and with no, and the last one,
    which may stand far behind the stop point, with no. Bodies that asked get their answers all at
    once, or only the last one of them, or none, and then the others go on.
    """
    if bodies(world):
        return  # the report of a paused run waits until they have stopped or outlasted their grace
    asked = [i for i, stage in enumerate(world.stage) if stage == ASKING]
    if asked:
        yield Fact("resume", -1, "all answered")
        yield Fact("resume", asked[-1], "answered")
    open_ = open_questions(world)
    if open_:
        yield Fact("resume", open_[0], "yes")
        yield Fact("resume", open_[0], "no")
        yield Fact("resume", open_[-1], "no")
    if asked or not open_ or world.possible.approver:
        yield Fact("resume")


def open_questions(world: World) -> list[int]:
    """Calls that need an approval which nobody gave."""
    return [
        call.index
        for call in world.calls
        if call.ask is not None
        and call.index not in world.approved
        and not world.settled(call.index)
    ]


def resume(world: World, fact: Fact) -> None:
    """Go on with a new scheduler.

    Args:
        world: A world that has paused; it is changed.
        fact: One of `resume_facts`.
    """
    if world.scheduler.stop_point >= 0:
        world.passed |= {world.scheduler.stop_point}
    world.foreign |= {i for i, stage in enumerate(world.stage) if stage == LINGERING}
    if world.possible.hooks:
        world.prepared = world.scheduler.prepared_calls
    for index, stage in enumerate(world.stage):
        answered = fact.detail == "all answered" or fact == ("resume", index, "answered")
        if index in world.foreign:
            world.stage[index] = DEAD
        elif stage == PREPARED or (stage == ASKING and answered):
            world.stage[index] = PREPARED if index in world.prepared else IDLE
    world.halted, world.ended = False, ""
    world.questions, world.stuck, world.cancelled = set(), set(), set()
    world.declined = set()
    if fact.detail == "yes":
        world.approved.add(fact.call)
    elif fact.detail == "no":
        world.die(fact.call, "declined", hooked=True)
    world.before = frozenset(i for i in range(len(world.calls)) if world.settled(i))
    pairs = zip(world.calls, world.plan.calls, strict=True)
    if any(call is not planned for call, planned in pairs):
        world.plan = recompile(world.plan, world.calls)
    world.scheduler = world.new_scheduler()
    world.scheduler.begin()
