"""The queue of one lock key: who is at the front, who stands behind.

Every entry of a node has a class. *Own* entries are tickets on the node's key itself; *member*
entries exist in the nodes of tree keys only: tickets on keys below. Two entries go together if
both are reads or both are members (members meet, if they do, in a node further down):

====================  ======  ======  =====  =====  =====
                      MEMBER  MEMBER  OWN    OWN    MIXED
                      _READ   _WRITE  _READ  _WRITE
====================  ======  ======  =====  =====  =====
MEMBER_READ           yes     yes     yes    no     yes
MEMBER_WRITE          yes     yes     no     no     no
OWN_READ              yes     no      yes    no     no
OWN_WRITE             no      no      no     no     no
MIXED                 yes     no      no     no     no
====================  ======  ======  =====  =====  =====

(``MIXED``: one ticket reads the tree and writes something in it.) An entry is at the front once
it goes together with every earlier one. There is one line of waiting entries per class, so that
whoever becomes free stands at the head of a line: taking an entry away costs a few comparisons
for each entry that it frees, and never a walk along the queue. A simpler single line was given up
because in trees the entries that become free do not stand together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Collection, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolflow.scheduler.lock_scope import Scope
    from toolflow.scheduler.lock_ticket import Ticket

MEMBER_READ: Final = 0
MEMBER_WRITE: Final = 1
OWN_READ: Final = 2
OWN_WRITE: Final = 3
MIXED: Final = 4

CONFLICTS: Final = (
    (OWN_WRITE,),
    (OWN_READ, OWN_WRITE, MIXED),
    (MEMBER_WRITE, OWN_WRITE, MIXED),
    (MEMBER_READ, MEMBER_WRITE, OWN_READ, OWN_WRITE, MIXED),
    (MEMBER_WRITE, OWN_READ, OWN_WRITE, MIXED),
)

# A ticket with several keys may come to one node in several ways; these flags are collected.
READS_BELOW: Final = 1
WRITES_BELOW: Final = 2
READS: Final = 4
WRITES: Final = 8


def class_of(flags: int) -> int:
    """The class of a ticket that comes to a node in these ways."""
    if flags & WRITES:
        return OWN_WRITE
    if flags & READS:
        return MIXED if flags & WRITES_BELOW else OWN_READ
    return MEMBER_WRITE if flags & WRITES_BELOW else MEMBER_READ


Line = OrderedDict["Ticket", int]


def queue(line: Line, ticket: Ticket, value: int) -> None:
    """Put an entry into a line in the order of ticket numbers; nearly always at the end."""
    if not line or next(reversed(line)).number < ticket.number:
        line[ticket] = value
        return
    later = [other for other in line if other.number > ticket.number]
    line[ticket] = value
    if len(later) == len(line) - 1:
        line.move_to_end(ticket, last=False)
    else:
        for other in later:
            line.move_to_end(other)


class Node(ABC):
    """One queue. Made by its scope when first needed, dropped with its last own entry.

    Attributes:
        key: The lock key, or the name of the resource.
        scope: The queues to which it belongs.
        front: The entries at the front, with their class or units.
        poisoned: Entries at the front whose holder was given up.
    """

    __slots__ = ("front", "key", "poisoned", "scope")

    def __init__(self, key: str, scope: Scope) -> None:
        self.key = key
        self.scope = scope
        self.front: dict[Ticket, int] = {}
        self.poisoned: set[Ticket] = set()

    @abstractmethod
    def join(self, ticket: Ticket, value: int) -> bool:
        """Add an entry; tells whether it is at the front."""

    @abstractmethod
    def force(self, ticket: Ticket, value: int) -> None:
        """Add an entry at the front, whatever is there."""

    @abstractmethod
    def stand_back(self, value: int, after: int) -> list[Ticket]:
        """Take entries from the front that hold nothing yet, for the sake of one that comes.

        Args:
            value: The class or the units of the one that comes.
            after: Only tickets with larger numbers stand back.

        Returns:
            Their tickets. Some of them may come to the front again at the next `refill`.
        """

    def refill(self) -> None:  # noqa: B027  # most queues have nothing to do here
        """Let those come back to the front for whom there is still room."""

    @abstractmethod
    def leave(self, ticket: Ticket) -> list[Ticket]:
        """Take an entry out; gives the tickets whose entries came to the front with that."""

    @abstractmethod
    def in_the_way(self, ticket: Ticket) -> Iterator[Ticket]:
        """What an entry that is not at the front waits for, holders first."""

    @abstractmethod
    def held_up(self, ticket: Ticket, stuck: Collection[Ticket]) -> list[Ticket]:
        """The entries that cannot come to the front if this one, and others, never leave.

        Args:
            ticket: An entry that never leaves.
            stuck: Everything that never leaves; holds the ticket as well.
        """

    @property
    @abstractmethod
    def what(self) -> str:
        """How messages name it."""


class KeyNode(Node):
    """The queue of a lock key."""

    __slots__ = ("counts", "lines", "own")

    def __init__(self, key: str, scope: Scope) -> None:
        super().__init__(key, scope)
        self.counts = [0, 0, 0, 0, 0]  # entries at the front, by class
        self.lines: dict[int, Line] = {}  # entries behind, by class
        self.own = 0  # entries of the key itself, anywhere

    @property
    def what(self) -> str:
        """How messages name it."""
        return f"key {self.key!r}"

    def join(self, ticket: Ticket, value: int) -> bool:
        """Add an entry; tells whether it is at the front."""
        self.own += value >= OWN_READ
        if self._free(value, ticket):
            self._advance(ticket, value)
            return True
        queue(self.lines.setdefault(value, OrderedDict()), ticket, value)
        return False

    def force(self, ticket: Ticket, value: int) -> None:
        """Add an entry at the front, whatever is there."""
        self.own += value >= OWN_READ
        self._advance(ticket, value)

    def stand_back(self, value: int, after: int) -> list[Ticket]:
        """Take entries from the front that hold nothing yet and do not go together with one."""
        back = [
            other
            for other in self.conflicting(value)
            if other.number > after and not fixed(other, self)
        ]
        for other in sorted(back, reverse=True):
            theirs = self.front.pop(other)
            self.counts[theirs] -= 1
            queue(self.lines.setdefault(theirs, OrderedDict()), other, theirs)
        return back

    def leave(self, ticket: Ticket) -> list[Ticket]:
        """Take an entry out; gives the tickets whose entries came to the front with that."""
        value = self.front.pop(ticket, None)
        if value is not None:
            self.counts[value] -= 1
            self.poisoned.discard(ticket)
        else:
            value = ticket.standing().entries[self]
            del self.lines[value][ticket]
        self.own -= value >= OWN_READ
        return self._refill(value) if self.lines and not self.counts[value] else []

    def conflicting(self, value: int) -> list[Ticket]:
        """Entries at the front that an entry of a class does not go together with."""
        classes = [other for other in CONFLICTS[value] if self.counts[other]]
        if not classes:
            return []
        return [ticket for ticket, theirs in self.front.items() if theirs in classes]

    def in_the_way(self, ticket: Ticket) -> Iterator[Ticket]:
        """What an entry that is not at the front waits for, holders first."""
        classes = CONFLICTS[ticket.standing().entries[self]]
        if any(self.counts[other] for other in classes):
            for holder, value in self.front.items():
                if value in classes:
                    yield holder
        for other in classes:
            for earlier in self.lines.get(other, ()):
                if earlier.number >= ticket.number:
                    break
                yield earlier

    def held_up(self, ticket: Ticket, stuck: Collection[Ticket]) -> list[Ticket]:  # noqa: ARG002  # keys are never shared out in units
        """The entries that cannot come to the front if this one never leaves."""
        lines = (self.lines.get(other) for other in CONFLICTS[ticket.standing().entries[self]])
        if ticket in self.front:
            return [later for line in lines if line for later in line]
        found: list[Ticket] = []
        for line in lines:
            # From the end: behind a ticket that has just come there is nobody to look at.
            found += takewhile(lambda later: later.number > ticket.number, reversed(line or ()))
        return found

    def own_entries(self) -> Iterator[tuple[Ticket, int]]:
        """Every entry of the key itself, with its class."""
        for entries in (self.front, *self.lines.values()):
            for ticket, value in entries.items():
                if value >= OWN_READ:
                    yield ticket, value

    def _free(self, value: int, ticket: Ticket) -> bool:
        counts, lines = self.counts, self.lines
        for other in CONFLICTS[value]:
            if counts[other]:
                return False
            line = lines.get(other)
            if line and next(iter(line)).number < ticket.number:
                return False
        return True

    def _advance(self, ticket: Ticket, value: int) -> None:
        self.front[ticket] = value
        self.counts[value] += 1

    def _refill(self, left: int) -> list[Ticket]:
        freed: list[Ticket] = []
        for value in CONFLICTS[left]:
            line = self.lines.get(value)
            while line:
                ticket = next(iter(line))
                if not self._free(value, ticket):
                    break
                del line[ticket]
                self._advance(ticket, value)
                freed.append(ticket)
        return freed


def fixed(ticket: Ticket, node: Node) -> bool:
    """Whether an entry at the front cannot be asked to stand back."""
    return ticket.granted or node in ticket.standing().forced
