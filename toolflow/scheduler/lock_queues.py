"""The inner workings of the lock table: standing in queues, leaving them, and what follows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush

from toolflow.errors import LockCycleError, LockLostError, RunError
from toolflow.model.keys import keys_meet
from toolflow.scheduler.lock_circles import find_circle, waiters
from toolflow.scheduler.lock_homes import Homes, find_homes
from toolflow.scheduler.lock_node import Node
from toolflow.scheduler.lock_owners import Owners
from toolflow.scheduler.lock_scope import Scope
from toolflow.scheduler.lock_ticket import Ticket, lineage


class Queues:
    """The state of a lock table, and the steps that its operations are made of.

    Whatever becomes free is noted in ``_ready`` and granted by `_settle` when the queues are whole
    again, lowest number first. After that, those in ``_moved``, which came to wait for others than
    before, are looked at: whether they close a circle now, latest number first.
    """

    def __init__(self) -> None:
        self._number = 0
        self._fence = 0
        self._owners = Owners()
        self._root = Scope(owners=self._owners)
        self._waiting: dict[Hashable, dict[Ticket, None]] = {}  # by owner
        self._below: dict[Hashable, dict[Ticket, None]] = {}  # the same, by owner and ancestors
        self._ready: list[Ticket] = []  # a heap
        self._moved: list[tuple[int, Ticket]] = []  # a heap, by number descending
        self._failed: list[Ticket] = []

    # ---- standing in queues, and leaving them ----

    def _stand(self, ticket: Ticket, homes: Homes | None = None) -> None:
        """Put a ticket into the queues; one that is granted goes to the front of all of them."""
        place = ticket.standing()
        if homes is None:
            homes = find_homes(ticket, self._owners, self._root)
        for scope, keys in homes.keys.items():
            entries = scope.entries(keys)
            to_front = scope.entries(homes.forced[scope]) if scope in homes.forced else {}
            for node, value in entries.items():
                if node in to_front:
                    place.forced.add(node)
                self._enter(ticket, node, value)
                if node in place.forced or ticket.granted:
                    self._keep_apart(ticket, node.conflicting(value), homes.kin)
        for scope, name, units in homes.units:
            self._enter(ticket, scope.resource(name), units)
        place.pending += bool(place.blockers)
        place.under = homes.under
        for under in homes.under:
            under.standing().inside[ticket] = None

    def _enter(self, ticket: Ticket, node: Node, value: int) -> None:
        place = ticket.standing()
        place.entries[node] = value
        if ticket.granted or node in place.forced:
            back = node.stand_back(value, 0)
            node.force(ticket, value)
        else:
            # A ticket that stands again goes before those who asked later, if they hold nothing.
            back = node.stand_back(value, ticket.number) if ticket.number < self._number else []
            place.pending += not node.join(ticket, value)
        if back:
            node.refill()
        for other in back:
            other.standing().pending += other not in node.front

    def _keep_apart(self, ticket: Ticket, others: list[Ticket], kin: set[Ticket]) -> None:
        for other in others:
            if other is ticket or other in kin:
                continue
            if not ticket.granted:
                self._block(ticket, other)
            elif not other.granted and ticket.owner not in lineage(other):
                theirs = other.standing()
                theirs.pending += not theirs.blockers
                self._block(other, ticket)

    def _block(self, ticket: Ticket, holder: Ticket) -> None:
        ticket.standing().blockers.add(holder)
        holder.standing().blocking[ticket] = None

    def _remove(self, ticket: Ticket) -> None:
        """Take a ticket out of all queues."""
        place = ticket.standing()
        for node in place.entries:
            for freed in node.leave(ticket):
                self._one_less(freed)
            node.scope.drop(node)
        for waiter in place.blocking:
            blockers = waiter.standing().blockers
            blockers.remove(ticket)
            if not blockers:
                self._one_less(waiter)
        for blocker in place.blockers:
            del blocker.standing().blocking[ticket]
        for under in place.under:
            del under.standing().inside[ticket]
        place.leave()

    def _stand_again(self, ticket: Ticket) -> None:
        """Put a waiting ticket that was removed into the queues that are right for it now."""
        self._stand(ticket)
        if ticket.standing().pending:
            heappush(self._moved, (-ticket.number, ticket))
        else:
            heappush(self._ready, ticket)

    def _let_out(self, holder: Ticket, *, units: bool = False) -> None:
        """Remove a released ticket inside which others are: they go on without it.

        Those that are granted take its place. Those that wait do so like anybody else.

        Args:
            holder: The ticket.
            units: Whether it only gives back the units of its resources, and keeps its keys.
        """
        inner = sorted(holder.standing().inside)
        for ticket in (*inner, holder):
            self._remove(ticket)
        if units:
            holder.forget_units()
            self._stand(holder)
            if holder.poisoned:
                self._spoil(holder)
        for ticket in inner:
            if ticket.granted:
                self._stand(ticket)
                if ticket.poisoned:
                    self._spoil(ticket)
                self._draw_in(ticket)
        for ticket in inner:
            if not ticket.granted and not ticket.done:
                self._remove(ticket)  # it may have been drawn in by one of the others
                self._stand_again(ticket)
        for ticket in inner:
            if ticket.granted and ticket.owner != ticket.request.owner:
                self._look_below(ticket)

    def _look_below(self, holder: Ticket) -> None:
        """See later whether those below a lease that went over to another owner close a circle.

        They do if somebody waits for it, and they for that one.
        """
        if self._waited_for(holder):
            for below in self._below.get(holder.owner, ()):
                heappush(self._moved, (-below.number, below))

    def _one_less(self, ticket: Ticket) -> None:
        place = ticket.standing()
        place.pending -= 1
        if not place.pending:
            heappush(self._ready, ticket)

    # ---- waiting, and no longer waiting ----

    def _wait(self, ticket: Ticket) -> None:
        self._waiting.setdefault(ticket.owner, {})[ticket] = None
        for owner in lineage(ticket):
            self._below.setdefault(owner, {})[ticket] = None

    def _wait_no_more(self, ticket: Ticket) -> None:
        _take_out(self._waiting, ticket.owner, ticket)
        for owner in lineage(ticket):
            _take_out(self._below, owner, ticket)

    def _fail(self, ticket: Ticket, error: RunError) -> None:
        ticket.error = error
        ticket.done = True
        self._wait_no_more(ticket)
        self._remove(ticket)
        self._failed.append(ticket)

    def _settle(self) -> list[Ticket]:
        """Grant whatever became free; gives all tickets that were granted or failed."""
        changed: list[Ticket] = []
        while self._ready or self._moved:
            if not self._ready:
                self._look_at(heappop(self._moved)[1])
                continue
            ticket = heappop(self._ready)
            if ticket.granted or ticket.done or ticket.standing().pending:
                continue
            if ticket in self._waiting.get(ticket.owner, ()):
                self._wait_no_more(ticket)
            self._grant(ticket)
            changed.append(ticket)
            self._draw_in(ticket)
        changed += self._failed
        self._failed.clear()
        changed.sort()
        return changed

    def _look_at(self, ticket: Ticket) -> None:
        if not (ticket.done or ticket.granted):
            error = self._lost(ticket) or self._circle(ticket)
            if error is not None:
                self._fail(ticket, error)

    def _grant(self, ticket: Ticket) -> None:
        self._fence += 1
        ticket.fence = self._fence
        ticket.granted = True
        self._owners.add(ticket)

    # ---- what follows from a new holder ----

    def _draw_in(self, holder: Ticket) -> None:
        """Let waiting tickets below a new holder queue inside it, where they meet it.

        Else they would wait for their own ancestor.
        """
        for ticket in sorted(self._below.get(holder.owner, ())):
            if not ticket.done and _meet(ticket, holder):
                self._remove(ticket)
                self._stand_again(ticket)

    def _lost(self, ticket: Ticket) -> RunError | None:
        """The error of a ticket that would wait for a holder that was given up, or ``None``."""
        place = ticket.standing()
        for node in place.entries:
            if node.poisoned and ticket not in node.front:
                for holder in node.poisoned:
                    if ticket in node.held_up(holder, node.poisoned):
                        return lost(node, holder)
        for node in place.forced:
            for holder in node.poisoned & place.blockers:
                return lost(node, holder)
        return None

    def _circle(self, ticket: Ticket) -> RunError | None:
        """The error of a ticket that would close a circle by waiting, or ``None``."""
        newest = ticket.number == self._number
        circle = find_circle(ticket, self._tickets_of, self._everybody_waiting, newest=newest)
        return None if circle is None else LockCycleError(circle)

    def _tickets_of(self, owner: Hashable) -> Iterator[Ticket]:
        yield from self._owners.of(owner)
        yield from self._waiting.get(owner, ())

    def _everybody_waiting(self) -> Iterator[Ticket]:
        for tickets in self._waiting.values():
            yield from tickets

    def _spoil(self, holder: Ticket) -> None:
        """Fail everybody who waits for a holder that was given up."""
        holder.poisoned = True
        place = self._root.seat(holder)
        for node in place.entries:
            if holder in node.front:
                node.poisoned.add(holder)
        failing: dict[Ticket, RunError] = {}
        for node in place.entries:
            for waiter in node.held_up(holder, node.poisoned):
                failing.setdefault(waiter, lost(node, holder))
        for waiter in place.blocking:
            for node in waiter.standing().forced & place.entries.keys():
                failing.setdefault(waiter, lost(node, holder))
        for waiter in sorted(failing):
            self._fail(waiter, failing[waiter])

    def _waited_for(self, ticket: Ticket) -> bool:
        return next(waiters(ticket, {ticket}), None) is not None


def lost(node: Node, holder: Ticket) -> LockLostError:
    """The error of whoever would wait for a holder that never stops."""
    return LockLostError(
        f"{node.what} is held by '{holder.name}', whose end was reported while it never stopped. "
        "Wait until it has stopped, or use another key."
    )


def _meet(ticket: Ticket, holder: Ticket) -> bool:
    mine, theirs = ticket.standing(), holder.place
    keys = holder.request.keys() if theirs is None else theirs.keys
    if theirs is not None and not mine.units.keys().isdisjoint(theirs.units):
        return True
    return any(keys_meet(key, other) for key in mine.keys for other in keys)


def _take_out(index: dict[Hashable, dict[Ticket, None]], owner: Hashable, ticket: Ticket) -> None:
    tickets = index[owner]
    del tickets[ticket]
    if not tickets:
        del index[owner]
