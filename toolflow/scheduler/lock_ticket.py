"""The values of the lock table: what is asked for, and the ticket that stands in the queues."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from toolflow.errors import RunError, UsageError
from toolflow.model.turn import EMPTY

if TYPE_CHECKING:
    from toolflow.scheduler.lock_node import Node
    from toolflow.scheduler.lock_scope import Scope


class LockRequest(NamedTuple):
    """What a call, or code outside tools, asks for. All of it is queued in one step (spec 7.2).

    A named tuple: every call with keys makes one.

    Attributes:
        owner: Who will hold the lease: any hashable value that is the call's own.
        reads: Keys taken shared.
        writes: Keys taken exclusively. A key that is in both is written.
        ancestors: The lineage of the owner, nearest first: the parent call, its turn, its run ...
            All of it, so that an ancestor's ancestors are in it as well.
        uses: Units of scarce resources, by name.
        capacities: How many units there are, as the asker knows it. A resource that is not
            listed is counted and has no bound.
        label: The name that people see in messages and statistics; the owner's text by default.
    """

    owner: Hashable
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    ancestors: tuple[Hashable, ...] = ()
    uses: Mapping[str, int] = EMPTY
    capacities: Mapping[str, int] = EMPTY
    label: str = ""

    def keys(self) -> dict[str, bool]:
        """Every key once, with whether it is written."""
        wanted = dict.fromkeys(self.reads, False)
        for key in self.writes:
            wanted[key] = True
        return wanted

    def units(self) -> dict[str, int]:
        """The units of every resource of which any are needed.

        Raises:
            UsageError: If a number is not an integer of at least 0, or exceeds the capacity.
        """
        for name, units in self.uses.items():
            bound = self.capacities.get(name)
            if type(units) is not int or units < 0:
                raise UsageError(f"uses: {name} is {units!r}. Use an integer of at least 0.")
            if bound is not None and units > bound:
                raise UsageError(
                    f"uses: {name} is {units}, but there are {bound} units of it. Use at most that."
                )
        return {name: units for name, units in self.uses.items() if units}


class Asker(Hashable, Protocol):
    """Who asks for one key, and says in full what it asked for when somebody wants to see that."""

    @property
    def owner(self) -> Hashable:
        """Itself."""

    @property
    def request(self) -> LockRequest:
        """What was asked for."""


class Place:
    """Where a ticket stands. A ticket that met nobody has none (see `LockTable`).

    Attributes:
        keys: Every key of the ticket, with whether it is written.
        entries: The nodes that it is queued in, with its class there (keys) or its units.
        pending: How many of these entries are not at the front, plus one if it has blockers.
        forced: Nodes in which it went before those who wait (see `LockTable`).
        blockers: Holders that a forced ticket waits for.
        blocking: Forced tickets that wait for this one.
        inner: The queues inside this ticket, where nested calls take its keys again.
        inside: Live tickets that are queued in there.
        under: Tickets inside which this one is queued.
        units: Its units of each resource.
    """

    __slots__ = (
        "blockers",
        "blocking",
        "entries",
        "forced",
        "inner",
        "inside",
        "keys",
        "pending",
        "under",
        "units",
    )

    def __init__(self, keys: dict[str, bool], units: dict[str, int]) -> None:
        self.keys = keys
        self.units = units
        self.entries: dict[Node, int] = {}
        self.pending = 0
        self.forced: set[Node] = set()
        self.blockers: set[Ticket] = set()
        self.blocking: dict[Ticket, None] = {}
        self.inner: Scope | None = None
        self.inside: dict[Ticket, None] = {}
        self.under: dict[Ticket, None] = {}

    def leave(self) -> None:
        """Note that the ticket stands nowhere any more; what is inside it stays inside."""
        self.entries = {}
        self.pending = 0
        self.forced = set()
        self.blockers = set()
        self.blocking = {}
        self.under = {}


class Ticket:
    """A request in the queues, and after the grant the lease. Only the lock table changes it.

    Args:
        number: Counted up over the whole table: the order of asking.
        asked: What is asked for, or who can tell.
        owner: Who asks, where that is known already.

    Attributes:
        number: See above.
        owner: Who holds it; another one than asked after a `LockTable.hand_over`.
        granted: Whether it holds its keys and resources.
        fence: A number that is larger than that of every earlier grant; 0 before the grant.
        done: Whether it was released, was cancelled or failed.
        poisoned: Whether its holder was given up (see `LockTable.poison`).
        error: Why it failed while it waited, or ``None``.
        since: When it was granted, or else queued: for the store, which has a clock.
        waiter: For the store: what to wake.
        alone: While it is granted and has no place: its key, or its keys. Else ``None``.
    """

    # Defaults stand in the class: most tickets never need most of them, and making a ticket is a
    # good part of what an uncontended key costs.
    fence = 0
    granted = False
    done = False
    poisoned = False
    error: RunError | None = None
    place: Place | None = None
    since = 0.0
    waiter: object = None
    alone: str | tuple[str, ...] | None = None

    def __init__(
        self, number: int, asked: LockRequest | Asker, owner: Hashable | None = None
    ) -> None:
        self.number = number
        self.owner = asked.owner if owner is None else owner
        self._asked = asked

    @property
    def request(self) -> LockRequest:
        """What was asked for."""
        asked = self._asked
        if not isinstance(asked, LockRequest):
            asked = self._asked = asked.request
        return asked

    @property
    def name(self) -> str:
        """What people see: the label, else the owner as text."""
        return self.request.label or str(self.owner)

    def forget_units(self) -> None:
        """Note that the units of its resources were given back, and the keys were not."""
        self._asked = self.request._replace(uses=EMPTY, capacities=EMPTY)
        self.standing().units = {}

    def standing(self) -> Place:
        """Its place, for a ticket that is known to have one."""
        assert self.place is not None
        return self.place

    def __lt__(self, other: Ticket) -> bool:
        """Order of asking."""
        return self.number < other.number

    def __repr__(self) -> str:
        state = "done" if self.done else "granted" if self.granted else "waiting"
        return f"<Ticket {self.number} of {self.name}: {state}>"


def lineage(ticket: Ticket) -> tuple[Hashable, ...]:
    """The owner of a ticket and its ancestors, nearest first, each once."""
    return tuple(dict.fromkeys((ticket.owner, *ticket.request.ancestors)))
