"""The explorer: every order in which the facts of a small turn can come.

It drives the pure scheduler, the same class that decides in a real run, through all orders of
completions, hooks, answers, timeouts, interrupts and aborts, depth first, and visits each state
once. In every state the rules of `toolflow.recording.explorer.rules` must hold.

Random walks were the alternative; they find most faults of large turns, and there is one in the
tests. For up to six calls all orders can be seen, which random walks cannot promise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from toolflow.errors import InternalError
from toolflow.model.plan import PlanData
from toolflow.recording.explorer.facts import possible_facts, tell
from toolflow.recording.explorer.resume import resume, resume_facts
from toolflow.recording.explorer.rules import Broken, carry_out, check_rest
from toolflow.recording.explorer.world import Fact, Possible, World

__all__ = ["Exploration", "Fact", "Possible", "Violation", "World", "explore"]

Check = Callable[[World], "str | None"]


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that does not hold, and how to get there.

    Attributes:
        rule: A short name of the rule.
        message: What is wrong; calls are named by their index.
        facts: The facts that lead there from the beginning; as few as possible.
    """

    rule: str
    message: str
    facts: tuple[Fact, ...]

    def __str__(self) -> str:
        return f"{self.rule}: {self.message} after {', '.join(map(str, self.facts))}"


@dataclass(frozen=True, slots=True)
class Exploration:
    """What was found.

    Attributes:
        states: How many different states were seen.
        transitions: How many facts were told.
        finishes: How many states were the end of a run.
        pauses: How many states were a pause.
        overlaps: Pairs of names of calls whose bodies ran at the same time in some state.
        violation: The first rule that did not hold, or ``None``.
        complete: Whether all orders were seen; not so with a violation, or past the limit.
    """

    states: int
    transitions: int
    finishes: int
    pauses: int
    overlaps: frozenset[tuple[str, str]]
    violation: Violation | None = None
    complete: bool = True


@dataclass(slots=True)
class _Count:
    transitions: int = 0
    finishes: int = 0
    pauses: int = 0
    overlaps: set[tuple[int, int]] = field(default_factory=set)


def explore(
    plan: PlanData,
    *,
    possible: Possible | None = None,
    check: Check | None = None,
    limit: int | None = None,
) -> Exploration:
    """Drive the scheduler through every order of facts (conformance 154 to 156).

    Args:
        plan: The plan of a small turn: the states grow exponentially with its calls.
        possible: What may happen; by default bodies end well in any order, and nothing else.
        check: Called with every state beside the rules; a sentence that it returns is a violation.
        limit: How many states to visit at the most; ``None`` for all.

    Returns:
        Counts, overlaps, and the shortest way to the first violation, if there is one.
    """
    possible = possible or Possible()
    found = _search(plan, possible, check, limit, shortest=False)
    if found.violation is not None:
        found = _search(plan, possible, check, None, shortest=True)
    return found


def _search(
    plan: PlanData,
    possible: Possible,
    check: Check | None,
    limit: int | None,
    *,
    shortest: bool,
) -> Exploration:
    count = _Count()
    seen: set[tuple[object, ...]] = set()
    todo: deque[tuple[World, _Way]] = deque()
    way: _Way = (None, Fact("begin"))
    complete = True
    try:
        world = World(plan, possible)
        advance(world, way[1])
        _visit(world, check, count)
        seen.add(world.key())
        todo.append((world, way))
        while todo:
            if limit is not None and len(seen) >= limit:
                complete = False
                break
            world, way_here = todo.popleft() if shortest else todo.pop()
            for fact in next_facts(world):
                way = (way_here, fact)
                fresh = world.copy()
                advance(fresh, fact)
                count.transitions += 1
                key = fresh.key()
                if key not in seen:
                    seen.add(key)
                    _visit(fresh, check, count)
                    todo.append((fresh, way))
    except (Broken, InternalError) as error:
        rule = error.rule if isinstance(error, Broken) else "progress"
        message = error.message if isinstance(error, Broken) else str(error)
        violation = Violation(rule, message, tuple(_facts(way)))
        return _result(plan, seen, count, violation=violation, complete=False)
    return _result(plan, seen, count, complete=complete)


_Way = tuple["_Way | None", Fact]  # type: ignore[misc]  # the facts so far, shared by their tails


def _facts(way: _Way | None) -> list[Fact]:
    facts: list[Fact] = []
    while way is not None:
        facts.append(way[1])
        way = way[0]
    return facts[::-1]


def next_facts(world: World) -> Iterator[Fact]:
    """Every fact that may come next, a resume after a pause included."""
    yield from possible_facts(world)
    if world.ended == "pause":
        yield from resume_facts(world)


def advance(world: World, fact: Fact) -> None:
    """Tell a world a fact and carry out what the scheduler decides; `examine` it then.

    Args:
        world: The moment; it is changed.
        fact: What happens.

    Raises:
        Broken: If a rule does not hold.
        InternalError: If the scheduler itself sees that it cannot go on.
    """
    (resume if fact.kind == "resume" else tell)(world, fact)
    while decisions := world.scheduler.take():
        for decision in decisions:
            carry_out(world, decision)


def examine(world: World) -> None:
    """Check what must hold in a world at rest.

    Args:
        world: The moment.

    Raises:
        Broken: If a rule does not hold.
    """
    check_rest(world)
    _same_again(world)


def _same_again(world: World) -> None:
    """A second abort, and what comes after the end, changes nothing (spec 6.9)."""
    scheduler = world.scheduler
    if world.aborted or world.ended:
        scheduler.abort()
        if scheduler.take():
            raise Broken("abort", "a second abort, or one after the end, decides something")
    if world.halted or world.aborted or world.ended:
        scheduler.halt()
        if scheduler.take():
            raise Broken("halt", "a second interrupt, or one after the end, decides something")


def _visit(world: World, check: Check | None, count: _Count) -> None:
    """See a state for the first time."""
    examine(world)
    count.finishes += world.ended == "finish"
    count.pauses += world.ended == "pause"
    if len(running := world.overlapping) > 1:
        count.overlaps.update(combinations(running, 2))
    if check is not None and (message := check(world)):
        raise Broken("check", message)


def _result(
    plan: PlanData,
    seen: set[tuple[object, ...]],
    count: _Count,
    *,
    violation: Violation | None = None,
    complete: bool,
) -> Exploration:
    names = [call.name for call in plan.calls]
    return Exploration(
        len(seen),
        count.transitions,
        count.finishes,
        count.pauses,
        frozenset((names[a], names[b]) for a, b in count.overlaps),
        violation,
        complete,
    )
