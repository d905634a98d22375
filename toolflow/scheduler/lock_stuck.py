"""Who could never be granted anything: where units of resources are waited for (spec 7.4).

A circle through keys leads from each ticket to one other, and `lock_circles` follows it. Units are
given back by any holder: who waits for them is stuck only if too many of all holders are, and each
of these may be so only because of the others. So it is decided from the other end. Whoever waits
for nothing ends one day, and is taken away; then whoever could be granted is, and ends as well; and
so on. Who is left waits for ever. That looks at everybody who waits, so it is only done where the
search for circles came by a resource that is waited for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from toolflow.scheduler.lock_node import Node
from toolflow.scheduler.lock_ticket import Ticket, lineage
from toolflow.scheduler.resources import ResourceNode


def is_stuck(ticket: Ticket, tickets: Iterable[Ticket]) -> bool:
    """Whether a waiting ticket can never be granted, if nobody gives up.

    Args:
        ticket: A ticket that stands in the queues and waits.
        tickets: Everybody who waits; may hold this one.
    """
    future = _Future({*tickets, ticket})
    while future.go_on():
        if ticket not in future.waiting:
            return False
    return True


class _Future:
    """What becomes of those who wait, if everybody else ends."""

    def __init__(self, waiting: set[Ticket]) -> None:
        self.waiting = waiting
        self.granted: set[Ticket] = set()
        self.below: Counter[Hashable] = Counter()  # how many wait below an owner
        for one in waiting:
            self.below.update(lineage(one))

    def go_on(self) -> bool:
        """Grant whoever can be granted; whether there was anybody."""
        able = [one for one in sorted(self.waiting) if self._is_free(one)]
        for one in able:
            self.waiting.discard(one)
            self.granted.add(one)
            self.below.subtract(lineage(one))
        return bool(able)

    def _is_free(self, ticket: Ticket) -> bool:
        place = ticket.standing()
        return all(map(self._has_gone, place.blockers)) and all(
            ticket in node.front or self._lets_by(node, ticket) for node in place.entries
        )

    def _lets_by(self, node: Node, ticket: Ticket) -> bool:
        if not isinstance(node, ResourceNode):
            return all(map(self._has_gone, node.in_the_way(ticket)))
        in_use = sum(units for one, units in node.front.items() if not self._has_gone(one))
        for earlier, units in node.line.items():
            if earlier is ticket:
                return node.fits(ticket, in_use + units)
            if earlier in self.waiting:
                return False
            in_use += 0 if self._has_gone(earlier) else units
        return True

    def _has_gone(self, ticket: Ticket) -> bool:
        """Whether a ticket is given back by then: its owner has nothing more to wait for."""
        return (ticket.granted or ticket in self.granted) and not self.below[ticket.owner]
