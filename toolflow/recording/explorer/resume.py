"""A new run after a pause or a crash: what was answered, and a plan for the calls of now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolflow.compiler.compile import recompile
from toolflow.recording.explorer.oracle import bodies
from toolflow.recording.explorer.telling import begin
from toolflow.recording.explorer.world import (
    ASKING,
    DEAD,
    DUE,
    IDLE,
    LINGERING,
    NO_HOOK,
    PREPARED,
    RAN,
    RUNNING,
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
    if world.unknown:
        yield Fact("resume", max(world.unknown), "not again")
    if asked or not open_ or world.approver:
        yield Fact("resume")
    if world.halts and world.pausable:
        yield Fact("resume", -1, "halted")
    if world.aborts:
        yield Fact("resume", -1, "aborted")
    if world.otherwise:
        for option in ("hooks", "approver", "pausable", "stops", "pool"):
            yield Fact("resume", -1, f"other {option}")


def open_questions(world: World) -> list[int]:
    """Calls that need an approval which nobody gave."""
    return [
        call.index
        for call in world.calls
        if call.ask is not None
        and call.index not in world.approved
        and not world.settled(call.index)
        and world.stage[call.index] != ASKING
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
    prepared = world.scheduler.prepared_calls
    world.prepared = prepared if world.hooks else prepared & world.prepared
    _set_options(world, fact)
    for index, stage in enumerate(world.stage):
        answered = fact.detail == "all answered" or fact == ("resume", index, "answered")
        if index in world.foreign:
            world.stage[index] = DEAD
        elif stage == PREPARED or (stage == ASKING and answered):
            world.stage[index] = PREPARED if index in world.prepared else IDLE
            if index in world.unknown and world.calls[index].ask is not None:
                world.approved.add(index)
    world.halted, world.ended, world.last_hook = False, "", -1
    world.questions, world.stuck, world.cancelled = set(), set(), set()
    world.declined = set()
    world.unknown = {i for i in world.unknown if world.stage[i] == ASKING}
    if fact.detail == "yes":
        world.approved.add(fact.call)
    elif fact.detail == "not again":
        world.unknown.discard(fact.call)
        world.die(fact.call, "outcome_unknown", hooked=True)
    elif fact.detail == "no":
        world.die(fact.call, "declined", hooked=True)
    world.before = frozenset(i for i in range(len(world.calls)) if world.settled(i))
    pairs = zip(world.calls, world.plan.calls, strict=True)
    if any(call is not planned for call, planned in pairs):
        world.plan = recompile(world.plan, world.calls)
    world.scheduler = world.new_scheduler()
    begin(world, fact.detail)


def _set_options(world: World, fact: Fact) -> None:
    """Whoever resumes may run the rest with other options."""
    if fact.detail.startswith("other "):
        world.otherwise = False
    if fact.detail == "other stops":
        world.stops = frozenset(range(len(world.calls)))
    elif fact.detail == "other pool":
        world.pool = 2 if world.pool == 1 else 1
        limits = replace(world.plan.limits, pool=world.pool)
        world.plan = replace(world.plan, limits=limits)
    elif fact.detail == "other hooks":
        world.hooks = not world.hooks
        world.after = [NO_HOOK if due == DUE else due for due in world.after]
    elif fact.detail == "other approver":
        world.approver = not world.approver
    elif fact.detail == "other pausable":
        world.pausable = not world.pausable


def crash(world: World, _fact: Fact) -> None:
    """The process dies: what its journal holds is left, as `after_crash` makes use of it.

    A body that was entered and whose call has not settled is unknown: it may run again where its
    call is idempotent, else a person is asked. What hooks had changed is lost, and so are answers
    to questions of calls that are no more.
    """
    world.crashes -= 1
    entered = {i for i, stage in enumerate(world.stage) if stage in {RUNNING, LINGERING, RAN}}
    entered |= world.foreign
    world.calls = list(world.plan.calls)
    for index, call in enumerate(world.calls):
        if call.verdict.kind == "settled" or world.done(index):
            continue
        world.known[index], world.after[index] = "", NO_HOOK
        asked = index in world.unknown or (index in entered and not call.terms.idempotent)
        world.stage[index] = ASKING if asked else IDLE
        if asked:
            world.unknown.add(index)
    last = max(entered, default=-1)
    _pass_over(world, entered, last)
    world.spent = {fact for fact in world.spent if fact.kind != "prepared"}
    world.aborted = world.broken = world.halted = False
    world.crashed = True
    world.cells, world.uses, world.foreign = {}, {}, set()
    world.prepared, world.hooked, world.before = frozenset(), set(), frozenset()
    world.skip_after = len(world.calls)
    for index in range(len(world.calls)):
        if world.settled(index) and world.known[index] != "ok":
            world.fail(index)
    world.scheduler = world.new_scheduler()
    world.ended = "crash"


def _pass_over(world: World, entered: set[int], last: int) -> None:
    """Stop points and questions of calls that were entered count no more."""
    world.passed = frozenset(range(last + 1))
    asks = {i for i, call in enumerate(world.calls) if call.ask is not None}
    world.approved = ((world.approved | entered) & asks) - world.unknown
    world.stops = frozenset()
    if last >= 0 and world.calls[last].terms.stop == "after" and world.settled(last):
        open_ = [i for i in range(last, len(world.calls)) if not world.settled(i)]
        world.stops = frozenset(open_[:1])
