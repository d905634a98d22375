"""The explorer: every order in which the facts of a small turn can come, and the race finder.

It drives the pure scheduler, the same class that decides in a real run, through all orders of
completions, hooks, answers, timeouts, interrupts, aborts and crashes, depth first, and visits each
state once. The rules of `toolflow.recording.explorer.rules` must hold at every decision, those of
`toolflow.recording.explorer.rests` in every state.

Random walks were the alternative; they find most faults of large turns, and there is one in the
tests. For small turns all orders can be seen, which random walks cannot promise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from toolflow.compiler import Plan
from toolflow.errors import InternalError
from toolflow.recording.explorer.broken import Broken
from toolflow.recording.explorer.facts import first_facts, possible_facts
from toolflow.recording.explorer.rests import check_rest
from toolflow.recording.explorer.resume import crash, resume, resume_facts
from toolflow.recording.explorer.rules import carry_out
from toolflow.recording.explorer.telling import tell
from toolflow.recording.explorer.world import Fact, Possible, World

__all__ = [
    "Exploration",
    "Fact",
    "Possible",
    "Race",
    "Violation",
    "World",
    "advance",
    "examine",
    "explore",
    "next_facts",
    "races",
]

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


@dataclass(frozen=True, slots=True)
class Race:
    """Two calls that the plan lets overlap.

    Attributes:
        first: The name of the earlier call.
        second: The name of the later call.
        undeclared: Those of the two of which nobody said what they touch: if the two do get into
            each other's way, here is why the plan does not know.
    """

    first: str
    second: str
    undeclared: tuple[str, ...] = ()


def races(plan: Plan) -> Iterator[Race]:
    """Find the pairs of calls that may overlap in some order of completion.

    The pairs come from the edges of the plan, so plans of any size will do. Permits count; stop
    points, questions and hooks do not, for the run may pass them in time.

    Args:
        plan: The plan.

    Yields:
        One race a pair, in call order.
    """
    if plan.limits.pool < 2:
        return
    index = {call.name: call.index for call in plan.calls}
    for call in plan.calls:
        for other in sorted(index[name] for name in plan.beside(call.name)):
            if other > call.index and _enough(plan, call.index, other):
                pair = (call, plan.calls[other])
                silent = tuple(c.name for c in pair if c.reads is None and c.writes is None)
                yield Race(call.name, plan.calls[other].name, silent)


def _enough(plan: Plan, one: int, other: int) -> bool:
    """Whether there is enough of every resource for two calls at once."""
    first, second = plan.calls[one].terms.uses, plan.calls[other].terms.uses
    limits = plan.limits.resources
    return all(
        units + second.get(name, 0) <= limits.get(name, units) for name, units in first.items()
    )


def explore(
    plan: Plan,
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
    found = _Search(plan, possible, check).run(limit, shortest=False)
    if found.violation is not None:
        found = _Search(plan, possible, check).run(None, shortest=True)
    return found


@dataclass(slots=True)
class _Way:
    """The facts that lead to a state; ways share their beginnings."""

    before: _Way | None
    fact: Fact

    def facts(self) -> tuple[Fact, ...]:
        facts: list[Fact] = []
        way: _Way | None = self
        while way is not None:
            facts.append(way.fact)
            way = way.before
        return tuple(reversed(facts))


@dataclass(slots=True)
class _Search:
    plan: Plan
    possible: Possible
    check: Check | None
    transitions: int = 0
    finishes: int = 0
    pauses: int = 0
    overlaps: set[tuple[int, int]] = field(default_factory=set)
    seen: set[tuple[object, ...]] = field(default_factory=set)
    todo: deque[tuple[World, _Way]] = field(default_factory=deque)

    def run(self, limit: int | None, *, shortest: bool) -> Exploration:
        """Visit all states, depth first; or breadth first, which finds the shortest way."""
        world = World(self.plan, self.possible)
        way = _Way(None, Fact("begin"))
        try:
            for fact in first_facts(world):
                way = _Way(None, fact)
                self._reach(world.copy(), way)
            while self.todo:
                if limit is not None and len(self.seen) >= limit:
                    return self._result(complete=False)
                world, before = self.todo.popleft() if shortest else self.todo.pop()
                for fact in next_facts(world):
                    way = _Way(before, fact)
                    self._reach(world.copy(), way)
        except (Broken, InternalError) as error:
            rule = error.rule if isinstance(error, Broken) else "progress"
            message = error.message if isinstance(error, Broken) else str(error)
            return self._result(Violation(rule, message, way.facts()), complete=False)
        return self._result()

    def _reach(self, world: World, way: _Way) -> None:
        advance(world, way.fact)
        self.transitions += 1
        key = world.key()
        if key not in self.seen:
            self.seen.add(key)
            self._visit(world)
            self.todo.append((world, way))

    def _visit(self, world: World) -> None:
        examine(world)
        self.finishes += world.ended == "finish"
        self.pauses += world.ended == "pause"
        if len(running := world.overlapping) > 1:
            self.overlaps.update(combinations(running, 2))
        if self.check is not None and (message := self.check(world)):
            raise Broken("check", message)

    def _result(self, violation: Violation | None = None, *, complete: bool = True) -> Exploration:
        names = [call.name for call in self.plan.calls]
        return Exploration(
            states=len(self.seen),
            transitions=self.transitions,
            finishes=self.finishes,
            pauses=self.pauses,
            overlaps=frozenset((names[a], names[b]) for a, b in self.overlaps),
            violation=violation,
            complete=complete,
        )


def next_facts(world: World) -> Iterator[Fact]:
    """Every fact that may come next, a resume after a pause included.

    Args:
        world: A moment in which all decisions were carried out.
    """
    yield from possible_facts(world)
    if world.ended in {"pause", "crash"}:
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
    {"resume": resume, "crash": crash}.get(fact.kind, tell)(world, fact)
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
    if world.ended == "crash":
        return
    scheduler = world.scheduler
    if world.aborted or world.ended:
        scheduler.abort()
        if scheduler.take():
            raise Broken("abort", "a second abort, or one after the end, decides something")
    if world.halted or world.aborted or world.ended:
        scheduler.halt()
        if scheduler.take():
            raise Broken("halt", "a second interrupt, or one after the end, decides something")
