"""The queue of one scarce resource: units in use, and who waits for some (spec 4, 6.3).

First come, first served among those who need the resource; who does not need it never stands in
this queue. A ticket that is at the front has its units set aside, also while it still waits for a
key: anything else would let a stream of small takers starve it.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Hashable, Iterator
from typing import TYPE_CHECKING

from toolflow.scheduler.lock_node import Line, Node, fixed, queue
from toolflow.scheduler.lock_ticket import Ticket, lineage

if TYPE_CHECKING:
    from toolflow.scheduler.lock_scope import Scope


class ResourceNode(Node):
    """The queue of a resource.

    Args:
        key: The resource's name.
        scope: The queues to which it belongs.
        box: Inside a holder's ticket: how many units that holder has. ``None``: the capacity is
            what each asker says it is.
    """

    __slots__ = ("box", "in_use", "line")

    def __init__(self, key: str, scope: Scope, box: int | None) -> None:
        super().__init__(key, scope)
        self.box = box
        self.in_use = 0
        self.line: Line = OrderedDict()

    @property
    def what(self) -> str:
        """How messages name it."""
        return f"resource {self.key!r}"

    def join(self, ticket: Ticket, value: int) -> bool:
        """Add an entry; tells whether it is at the front."""
        first = next(iter(self.line), None)
        if (first is None or first.number > ticket.number) and self.fits(
            ticket, self.in_use + value
        ):
            self._advance(ticket, value)
            return True
        queue(self.line, ticket, value)
        return False

    def force(self, ticket: Ticket, value: int) -> None:
        """Add an entry at the front, whatever is there."""
        self._advance(ticket, value)

    def stand_back(self, value: int, after: int) -> list[Ticket]:  # noqa: ARG002  # all do, some come back
        """Take entries from the front that hold nothing yet."""
        back = [other for other in self.front if other.number > after and not fixed(other, self)]
        for other in sorted(back, reverse=True):
            units = self.front.pop(other)
            self.in_use -= units
            queue(self.line, other, units)
        return back

    def refill(self) -> None:
        """Let those come back to the front for whom there is still room."""
        self._refill()

    def leave(self, ticket: Ticket) -> list[Ticket]:
        """Take an entry out; gives the tickets whose entries came to the front with that."""
        units = self.front.pop(ticket, None)
        if units is None:
            del self.line[ticket]
        else:
            self.in_use -= units
            self.poisoned.discard(ticket)
        return self._refill()

    def in_the_way(self, ticket: Ticket) -> Iterator[Ticket]:
        """What an entry that is not at the front waits for, holders first."""
        yield from self.front
        for earlier in self.line:
            if earlier is ticket:
                break
            yield earlier

    def held_up(self, ticket: Ticket, stuck: Collection[Ticket]) -> list[Ticket]:  # noqa: ARG002  # no single one does
        """The entries that cannot come to the front if all of these never leave.

        One holder that never leaves holds nobody up as long as the others give back enough. What
        an ancestor of a waiting one holds is not given back before that one has ended.
        """
        kept, others = 0, defaultdict[Hashable, int](int)
        for holder, units in self.front.items():
            if holder in stuck:
                kept += units
            else:
                others[holder.owner] += units
        waiting = list(self.line.items())
        for place, (waiter, units) in enumerate(waiting):
            bound = self._bound(waiter)
            own = sum(others.get(owner, 0) for owner in lineage(waiter))
            if bound is not None and kept + own + units > bound:
                return [later for later, _ in waiting[place:]]
            if waiter in stuck:
                return [later for later, _ in waiting[place + 1 :]]
        return []

    def _refill(self) -> list[Ticket]:
        freed: list[Ticket] = []
        while self.line:
            first, needed = next(iter(self.line.items()))
            if not self.fits(first, self.in_use + needed):
                break
            del self.line[first]
            self._advance(first, needed)
            freed.append(first)
        return freed

    def fits(self, ticket: Ticket, in_use: int) -> bool:
        """Whether so many units may be in use, as far as a ticket knows."""
        bound = self._bound(ticket)
        return bound is None or in_use <= bound

    def _bound(self, ticket: Ticket) -> int | None:
        return ticket.request.capacities.get(self.key) if self.box is None else self.box

    def _advance(self, ticket: Ticket, units: int) -> None:
        self.front[ticket] = units
        self.in_use += units
