"""A lock table that can be written down, and put together again from what was written.

Written down are the live tickets with the queues that they stand in, and not the queues: who is at
the front of them, and who waits for whom, follows from the order of the grants and of asking. A
ticket's queues are written since they tell of the past: a nested call that took a key before its
ancestor did stands beside it, where a newcomer would stand inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappush
from typing import NamedTuple

from toolflow.errors import UsageError
from toolflow.scheduler.lock_homes import Homes
from toolflow.scheduler.lock_scope import Scope, inside
from toolflow.scheduler.lock_table import LockTable
from toolflow.scheduler.lock_ticket import LockRequest, Place, Ticket
from toolflow.scheduler.resources import ResourceNode


class Standing(NamedTuple):
    """Where a ticket stands, by the numbers of the tickets inside which that is; 0 is outside.

    Attributes:
        keys: For every queue of a key: inside which ticket, which key, whether it was forced to
            the front there.
        units: For every queue of a resource: inside which ticket, which resource, how many units.
        blockers: The holders that a forced ticket waits for.
    """

    keys: tuple[tuple[int, str, bool], ...] = ()
    units: tuple[tuple[int, str, int], ...] = ()
    blockers: tuple[int, ...] = ()


class DurableTable(LockTable):
    """A lock table with tickets that are numbered from outside."""

    @property
    def fence(self) -> int:
        """The number of the latest lease."""
        return self._fence

    def raise_fence(self, least: int) -> None:
        """Let every later lease have a larger number than this one."""
        self._fence = max(self._fence, least)

    def ask_as(self, number: int, request: LockRequest, *, wait: bool) -> Ticket:
        """Do what `ask` does, with a given number.

        Args:
            number: Larger than those of all earlier tickets.
            request: What is asked for.
            wait: See `ask`.

        Raises:
            LockCycleError: See `ask`.
            LockLostError: See `ask`.
            UsageError: See `ask`.
        """
        self._number = number - 1
        return self.ask(request, wait=wait)

    def standing_of(self, ticket: Ticket) -> Standing:
        """Where a live ticket stands."""
        place = ticket.place
        if place is None:
            keys = ticket.request.keys()
            return Standing(tuple((0, key, False) for key in sorted(keys)))
        own = [node for node in place.entries if not isinstance(node, ResourceNode)]
        return Standing(
            tuple(
                sorted(
                    (_number(node.scope), node.key, node in place.forced)
                    for node in own
                    if node.key in place.keys
                )
            ),
            tuple(
                sorted(
                    (_number(node.scope), node.key, units)
                    for node, units in place.entries.items()
                    if isinstance(node, ResourceNode)
                )
            ),
            tuple(sorted(holder.number for holder in place.blockers)),
        )

    def put_together(
        self, tickets: Mapping[Ticket, Standing], *, number: int, fence: int
    ) -> list[Ticket]:
        """Become the table of these tickets.

        Args:
            tickets: All that are granted or wait, with where they stand.
            number: At least the largest number of a ticket so far.
            fence: At least the number of the latest lease so far.

        Returns:
            Tickets that were granted by that; none where the table was whole.

        Raises:
            ValueError: If the tickets do not fit together.
        """
        self.__init__()  # type: ignore[misc]  # becomes another table in place
        self._number, self._fence = number, fence
        known = {ticket.number: ticket for ticket in tickets}
        granted = sorted((one for one in tickets if one.granted), key=lambda one: one.fence)
        waiting = sorted(one for one in tickets if not one.granted)
        try:
            for ticket in tickets:
                ticket.place = Place(ticket.request.keys(), ticket.request.units())
            for ticket in (*granted, *waiting):
                self._restore(ticket, tickets[ticket], known)
        except (LookupError, AttributeError, AssertionError, UsageError) as error:
            raise ValueError("its tickets do not fit together") from error
        return self._settle()

    def _restore(self, ticket: Ticket, standing: Standing, known: Mapping[int, Ticket]) -> None:
        place = ticket.standing()
        homes = Homes(kin=set(known.values()))  # whom it waits for is written down
        for under, key, forced in standing.keys:
            homes.add(self._scope(under, known), key, write=place.keys[key], forced=forced)
        for under, name, units in standing.units:
            homes.take(self._scope(under, known), name, units)
        self._stand(ticket, homes)
        if ticket.granted:
            self._owners.add(ticket)
            if ticket.poisoned:
                self._spoil(ticket)
            return
        for holder in standing.blockers:
            self._block(ticket, known[holder])
        place.pending += bool(standing.blockers)
        self._wait(ticket)
        if not place.pending:
            heappush(self._ready, ticket)

    def _scope(self, number: int, known: Mapping[int, Ticket]) -> Scope:
        return inside(known[number]) if number else self._root


def _number(scope: Scope) -> int:
    return 0 if scope.holder is None else scope.holder.number
