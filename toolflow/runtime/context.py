"""What a tool's body can know and do while it runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from toolflow.locks.blocks import Hold, Holding, Inside, inside
from toolflow.locks.keeper import Keeper
from toolflow.model.batch import CallPlan
from toolflow.model.event import Event
from toolflow.model.turn import EMPTY
from toolflow.runtime.bodies import own_copy

if TYPE_CHECKING:
    from toolflow.model.plan import PlanData
    from toolflow.runtime.approvals import Approver
    from toolflow.runtime.journaling import RunJournal
    from toolflow.runtime.options import RunOptions
    from toolflow.runtime.toolbox import Toolbox


class Interrupted(BaseException):  # not an error: a tool asks a person
    """A body asks a person and ends. Not an `Exception`, so that tools do not swallow it.

    Args:
        question: What is asked; any JSON value.
    """

    def __init__(self, question: Any) -> None:
        super().__init__(question)
        self.question = question


class Surroundings:
    """What all calls of one run share.

    Attributes:
        turn: The turn's name.
        run: The run's name.
        source: ``main``, or the path of parent calls of a nested turn.
        messages: The committed transcript and the turn's own message.
        lineage: The owners of keys above the calls of this run, nearest first.
        answers: Answers to interrupts, by the call's name, in the order asked.
        pausable: Whether the run can pause.
        approver: Who answers questions, also those of nested turns.
        pinned: The toolbox and what it held when the outermost run began.
        outer: What the run itself is inside of.
        journal: Where the run is written; turns nested in it are written there, too.
        keeper: What keeps the leases of ``hold: run``: that of the outermost run, or of a flow.
        relay: Shows events of nested turns to the observers of this run; ``None``: there are none.
    """

    __slots__ = (
        "answers",
        "approver",
        "journal",
        "keeper",
        "lineage",
        "messages",
        "outer",
        "pausable",
        "pinned",
        "relay",
        "run",
        "source",
        "turn",
    )

    def __init__(
        self,
        *,
        turn: str,
        run: str,
        source: str = "main",
        messages: Sequence[Any] = (),
        lineage: tuple[Hashable, ...] = (),
        answers: Mapping[str, Sequence[Any]] = EMPTY,
        pausable: bool = False,
        approver: Approver | None = None,
        pinned: tuple[Toolbox, Toolbox] | None = None,
        journal: RunJournal | None = None,
    ) -> None:
        self.turn = turn
        self.run = run
        self.source = source
        self.messages = messages
        self.lineage = lineage
        self.answers = answers
        self.pausable = pausable
        self.approver = approver
        self.pinned = pinned
        self.journal = journal
        self.outer = inside.get()
        self.keeper = keeper_around(self.outer) or Keeper((run,))
        self.relay: Callable[[Event], None] | None = None

    def living(self, owners: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Leave out of a lineage the calls around this run that have ended."""
        return owners if self.outer is None else self.outer.living(owners)


def surroundings_of(plan: PlanData, options: RunOptions, tools: Toolbox) -> Surroundings:
    """What all calls of a run of a plan share."""
    return Surroundings(
        turn=plan.turn_id,
        run=options.run,
        source=options.source,
        messages=options.messages,
        lineage=options.lineage,
        answers=options.answers,
        pausable=options.pausable,
        approver=options.approver,
        pinned=options.pinned or (tools, tools.snapshot()),
        journal=options.journal,
    )


class Context:
    """The surroundings of one execution of one call. Every execution gets its own.

    Attributes:
        name: The call's unique name in its turn.
        id: The provider's id of the call.
        tool: The tool's name.
        fence: The fencing number of the call's lease on its keys, or ``None`` without keys. It
            grows from lease to lease, so a store that remembers the largest can refuse a late
            writer.
        attempt: 1, or how many times the body was entered with this one.
        partial: What `keep` was given last.
        alive: Whether the call still runs.
        turns: How many nested turns its body has begun.
    """

    __slots__ = (
        "_asked",
        "_call",
        "_surroundings",
        "alive",
        "attempt",
        "fence",
        "id",
        "name",
        "partial",
        "tool",
        "turns",
    )

    def __init__(
        self, call: CallPlan, surroundings: Surroundings, fence: int | None, attempt: int
    ) -> None:
        self.name = call.name
        self.id = call.id
        self.tool = call.tool
        self.fence = fence
        self.attempt = attempt
        self.partial: Any = None
        self.alive = True
        self.turns = 0
        self._call = call
        self._surroundings = surroundings
        self._asked = 0

    @property
    def args(self) -> dict[str, Any]:
        """The arguments as JSON values; a copy, so that changing it changes nothing else."""
        return deepcopy(dict(self._call.args))

    @property
    def turn(self) -> str:
        """The turn's name."""
        return self._surroundings.turn

    @property
    def run(self) -> str:
        """The run's name."""
        return self._surroundings.run

    @property
    def source(self) -> str:
        """``main``, or the path of parent calls of a nested turn."""
        return self._surroundings.source

    @property
    def messages(self) -> Sequence[Any]:
        """What every call of this turn sees (spec 9.2).

        The committed transcript and the turn's own message, never a sibling's result; a copy, so
        that what the body does to it reaches nobody.
        """
        return own_copy(tuple(self._surroundings.messages))  # type: ignore[no-any-return]  # a tuple

    @property
    def surroundings(self) -> Surroundings:
        """What all calls of the run share; a nested turn takes over a part of it."""
        return self._surroundings

    @property
    def lineage(self) -> tuple[Hashable, ...]:
        """The owners of keys that a nested turn may take again, nearest first."""
        run = self._surroundings.run
        return ((run, self._call.index), (run,), *self._surroundings.lineage)

    def living(self, owners: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Leave out the owners that count no more since this call, or one around it, ended."""
        if not self.alive:
            own = self.lineage[:2]
            owners = tuple(owner for owner in owners if owner not in own)
        return self._surroundings.living(owners)

    def interrupt(self, question: Any) -> Any:
        """Ask a person. The run pauses; the body runs again from its start once there is an answer.

        Args:
            question: What is asked; any JSON value.

        Returns:
            The answer, when the body runs again: the first call of `interrupt` in it gets the
            first answer, the second the second.

        Raises:
            Interrupted: While there is no answer; let it pass.
            RuntimeError: If this run cannot pause, so nobody could ever answer.
        """
        answers = self._surroundings.answers.get(self.name, ())
        place = self._asked
        self._asked += 1
        if place < len(answers):
            return answers[place]
        if not self._surroundings.pausable:
            raise RuntimeError("The tool asks a person, but this run cannot pause.")
        raise Interrupted(question)

    def keep(self, partial: Any) -> None:
        """Keep what there is so far, as the result in case the call is cut off.

        Args:
            partial: Output or changes so far; it is recorded if the call is aborted or times out.
        """
        self.partial = partial


def _body(here: Inside | None) -> Context | None:
    while isinstance(here, Hold | Holding | Keeper):
        here = here.outer
    return here if isinstance(here, Context) else None


def keeper_around(here: Inside | None) -> Keeper | None:
    """What keeps the leases of ``hold: run``, where there is something around that does."""
    while isinstance(here, Hold | Holding):
        here = here.outer
    if isinstance(here, Context):
        return here.surroundings.keeper
    return here if isinstance(here, Keeper) else None


def current_context() -> Context | None:
    """The context of the call whose body runs here, or ``None`` outside of one.

    A task that a body left running after its call ended is outside (spec 6.11).
    """
    here = _body(inside.get())
    return here if here is not None and here.alive else None


def enter_context(context: Context) -> None:
    """Make a context the current one; called inside the body's own copy of the variables.

    What the body calls takes the keys of its call again without waiting (spec 6.11), be it a
    nested turn or code that asks for keys itself.
    """
    inside.set(context)
