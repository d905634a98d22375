"""The world: a scheduler together with what the driver of a real run would know.

Everything that the rules judge by is kept here from facts and decisions alone, so that a fault of
the scheduler cannot hide in its own fields. Worlds are mutable and copied before each fact: that
was faster than replaying the facts from the beginning, even for turns of three calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from toolflow.compiler import Plan
from toolflow.model.batch import CallPlan
from toolflow.recording.explorer.copies import copied, copy_scheduler, field_values
from toolflow.recording.explorer.store import Store
from toolflow.scheduler import Scheduler

# Where a call is, as its driver sees it.
IDLE: Final = 0  # nothing happened to it yet
PREPARING: Final = 1  # its before-hook runs
PREPARED: Final = 2  # its before-hook is done, or it gave up its place
ACQUIRING: Final = 3  # it has a permit and waits for keys
RUNNING: Final = 4  # its body runs
LINGERING: Final = 5  # its outcome was reported, its body goes on
RAN: Final = 6  # its body has ended
DEAD: Final = 7  # it settled without running
ASKING: Final = 8  # its body asked a person and ended
STAGES: Final = (
    "idle", "preparing", "prepared", "acquiring", "running", "lingering", "ran", "dead", "asking",
)  # fmt: skip

# What becomes of its after-hook.
NO_HOOK: Final = 0
DUE: Final = 1
HOOKING: Final = 2
HOOKED: Final = 3


class Fact(NamedTuple):
    """One thing that happens.

    Attributes:
        kind: The method of the scheduler that is told, or ``resume`` for a new run after a pause.
        call: The index of the call, or -1.
        detail: What else is told, for example ``failed`` or ``exclusive``.
    """

    kind: str
    call: int = -1
    detail: str = ""

    def __str__(self) -> str:
        where = f"({self.call}{', ' if self.detail else ''}" if self.call >= 0 else "("
        return f"{self.kind}{where}{self.detail})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """What may happen while a plan is explored, beside bodies that start and end well.

    Attributes:
        hooks: Whether there are hooks.
        approver: Whether somebody answers questions, with yes or with no.
        pausable: Whether the run may pause; if so it is resumed, with every answer.
        stops: Indexes of calls before which the run stops, beside those of the plan.
        late_grants: Whether a call may wait between permit and body also where it needs no key.
        failures: Whether bodies may fail. It makes a difference for ``on_error: stop`` only.
        deaf: Whether a body that timed out may outlast its grace time.
        asking: Indexes of calls whose bodies may ask a person, once each.
        denials: Whether before-hooks may deny a call, or fail.
        hook_changes: By index, the calls that a before-hook may make of a call.
        live_changes: By index, what a new tool set may make of a call that has not started.
        refusals: Whether the lock store may refuse a call.
        halts: How many times the run may be interrupted from outside.
        aborts: How many times it may be aborted; a second abort is always tried.
        faults: How many times the driver may break.
        crashes: How many times its process may die; the run goes on from its journal.
        prompt: Whether a wait that is cancelled, and a hook that is asked for or cancelled, ends
            at once, while decisions that were made together with that are still to be carried out.
        otherwise: Whether a paused run may be resumed with other options, once.
    """

    hooks: bool = False
    approver: bool = False
    pausable: bool = True
    stops: frozenset[int] = frozenset()
    late_grants: bool = True
    failures: bool = True
    deaf: bool = True
    asking: frozenset[int] = frozenset()
    denials: bool = False
    hook_changes: Mapping[int, tuple[CallPlan, ...]] = field(default_factory=dict)
    live_changes: Mapping[int, tuple[CallPlan, ...]] = field(default_factory=dict)
    refusals: bool = False
    halts: int = 0
    aborts: int = 0
    faults: int = 0
    crashes: int = 0
    prompt: bool = False
    otherwise: bool = False


class World:
    """One moment of an exploration.

    Args:
        plan: The plan.
        possible: What may happen.
    """

    def __init__(self, plan: Plan, possible: Possible) -> None:
        count = len(plan.calls)
        self.plan = plan
        self.possible = possible
        self.hooks, self.approver = possible.hooks, possible.approver
        self.pausable, self.stops = possible.pausable, possible.stops
        self.pool = plan.limits.pool
        self.store = Store(all_forms(plan, possible))
        self.calls = list(plan.calls)
        self.stage = [IDLE] * count
        self.known = [""] * count  # "", "ok" or a word for how it settled
        self.after = [NO_HOOK] * count
        self.cancelled: set[int] = set()
        self.questions: set[int] = set()
        self.approved: set[int] = set()
        self.declined: set[int] = set()  # calls that were declined while their before-hook runs
        self.stuck: set[int] = set()  # lingering bodies that outlasted their grace time
        self.foreign: set[int] = set()  # bodies that an earlier run left behind
        self.passed: frozenset[int] = frozenset()
        self.before: frozenset[int] = frozenset()  # calls that settled in an earlier run
        self.prepared: frozenset[int] = frozenset()  # those whose before-hook has run in one
        self.spent: set[Fact] = set()  # changes and questions that happen only once
        self.changed_live = False
        self.halted = self.aborted = self.broken = False
        self.ended = ""
        self.skip_after = count
        self.halts, self.aborts, self.faults = possible.halts, possible.aborts, possible.faults
        self.crashes, self.otherwise = possible.crashes, possible.otherwise
        self.hooked: set[int] = set()  # calls whose before-hook has begun
        self.last_hook = -1  # the call whose before-hook began last in this run
        self.crashed = False
        self.unknown: set[int] = set()  # entered when the process died; a person decides
        self.uses: dict[int, Mapping[str, int]] = {}  # what each call took when it got its permit
        self.cells: dict[str, int] = {}
        self.seen = [0] * count
        for call in plan.calls:
            if call.verdict.kind == "settled":
                self.die(call.index, call.verdict.status or "failed", hooked=False)
        self.scheduler = self.new_scheduler()

    def new_scheduler(self) -> Scheduler:
        """A scheduler that goes on from here."""
        settled = {i: self.done(i) for i in self.before}
        return Scheduler(
            self.plan,
            hooks=self.hooks,
            approver=self.approver,
            pausable=self.pausable,
            stops=self.stops,
            passed=self.passed,
            approved=self.approved,
            settled=settled,
            failed=[i for i in settled if self.known[i] != "ok"],
            prepared=self.prepared,
            asking=[i for i, stage in enumerate(self.stage) if stage == ASKING],
        )

    # ---- what is asked of a world ----

    def settled(self, index: int) -> bool:
        """Whether the outcome of a call is known."""
        return self.known[index] != ""

    def done(self, index: int) -> bool:
        """Whether its outcome is known and no after-hook is to see it any more."""
        return self.known[index] != "" and self.after[index] in {NO_HOOK, HOOKED}

    def ran(self, index: int) -> bool:
        """Whether its body was entered, for all we know for good."""
        return self.stage[index] in {RUNNING, LINGERING, RAN}

    @property
    def stop_calls(self) -> list[int]:
        """Calls before or after which there may be a stop point, ascending."""
        return [
            call.index
            for call in self.calls
            if call.terms.stop is not None or call.ask is not None or call.index in self.stops
        ]

    @property
    def active(self) -> list[int]:
        """Calls that hold a permit."""
        return [i for i, stage in enumerate(self.stage) if ACQUIRING <= stage <= LINGERING]

    @property
    def overlapping(self) -> list[int]:
        """Calls whose bodies run now, also those that were reported."""
        return [i for i, stage in enumerate(self.stage) if stage in {RUNNING, LINGERING}]

    @property
    def under_way(self) -> list[int]:
        """Calls for which something goes on that the driver will tell the scheduler of."""
        return [
            i
            for i, stage in enumerate(self.stage)
            if stage in {PREPARING, ACQUIRING, RUNNING} or self.after[i] == HOOKING
        ]

    # ---- what happens to calls ----

    def learn(self, index: int, how: str, *, hooked: bool = True) -> None:
        """The outcome of a call is known."""
        self.known[index] = how
        if hooked and self.hooks and not (self.aborted or self.broken):
            self.after[index] = DUE
        if how != "ok":
            self.fail(index)

    def die(self, index: int, how: str, *, hooked: bool) -> None:
        """A call settles without running."""
        self.stage[index] = DEAD
        self.questions.discard(index)
        self.cancelled.discard(index)
        self.learn(index, how, hooked=hooked)

    def fail(self, index: int) -> None:
        """A call has failed: with ``on_error: stop`` later ones are skipped."""
        if self.calls[index].terms.on_error == "stop":
            self.skip_after = min(self.skip_after, index)

    # ---- copies and equality ----

    def copy(self) -> World:
        """A copy that shares nothing that changes."""
        other: World = copied(self)
        other.scheduler = copy_scheduler(self.scheduler)
        return other

    def key(self) -> tuple[object, ...]:
        """Equal for worlds in which the same can happen from here on."""
        scheduler = self.scheduler
        state = scheduler.__dict__
        return (
            *map(id, self.calls),
            *map(id, scheduler.calls),
            *field_values(self),
            *field_values(scheduler),
            *field_values(state["_starts"]),
            *field_values(state["_waits"]),
        )


def all_forms(plan: Plan, possible: Possible) -> Iterable[CallPlan]:
    """Every form that a call of the plan may take."""
    yield from plan.calls
    for changes in (possible.hook_changes, possible.live_changes):
        for forms in changes.values():
            yield from forms
