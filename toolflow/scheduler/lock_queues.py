"""The inner workings of the lock table: standing in queues, leaving them, and what follows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heappop, heappush

from toolflow.errors import LockCycleError, LockLostError, RunError
from toolflow.model.keys import keys_meet
from toolflow.scheduler.lock_circles import find_circle, waiters
from toolflow.scheduler.lock_homes import find_homes, lineage
from toolflow.scheduler.lock_node import KeyNode, Node
from toolflow.scheduler.lock_owners import Owners
from toolflow.scheduler.lock_scope import Scope
from toolflow.scheduler.lock_ticket import Place, Ticket


class Queues:
    """The state of a lock table, and the steps that its operations are made of.

    Whatever becomes free is noted in ``_ready`` and granted by `_settle` when the queues are whole
    again, lowest number first.
    """

    def __init__(self) -> None:
        self._number = 0
        self._fence = 0
        self._root = Scope()
        self._owners = Owners()
        self._waiting: dict[Hashable, dict[Ticket, None]] = {}  # by owner
        self._below: dict[Hashable, dict[Ticket, None]] = {}  # the same, by owner and ancestors
        self._ready: list[Ticket] = []  # a heap
        self._failed: list[Ticket] = []

    # ---- standing in queues, and leaving them ----

    def _stand(self, ticket: Ticket) -> None:
        place = ticket.standing()
        homes = find_homes(ticket, self._owners, self._root)
        for scope, keys in homes.keys.items():
            entries = scope.entries(keys)
            to_front = scope.entries(homes.forced[scope]) if scope in homes.forced else {}
            for node, value in entries.items():
                place.entries[node] = value
                if node in to_front:
                    self._force(ticket, node, value, homes.kin)
                elif not node.join(ticket, value):
                    place.pending += 1
        for scope, name, units in homes.units:
            queue = scope.resource(name)
            place.entries[queue] = units
            place.pending += not queue.join(ticket, units)
        place.pending += bool(place.blockers)
        place.under = homes.under
        for under in homes.under:
            under.standing().inside[ticket] = None

    def _force(self, ticket: Ticket, node: KeyNode, value: int, kin: set[Ticket]) -> None:
        place = ticket.standing()
        for other in node.force(ticket, value):
            other.standing().pending += 1
        place.forced.add(node)
        for other in node.conflicting(value):
            if other is not ticket and other not in kin:
                place.blockers.add(other)
                other.standing().blocking[ticket] = None

    def _remove(self, ticket: Ticket) -> None:
        """Take a ticket out of all queues, and lingering ones that only it kept."""
        todo = [ticket]
        while todo:
            gone = todo.pop()
            place = gone.standing()
            for node in place.entries:
                for freed in node.leave(gone):
                    self._one_less(freed)
                node.scope.drop(node)
            for waiter in place.blocking:
                blockers = waiter.standing().blockers
                blockers.remove(gone)
                if not blockers:
                    self._one_less(waiter)
            for blocker in place.blockers:
                del blocker.standing().blocking[gone]
            for under in place.under:
                theirs = under.standing()
                del theirs.inside[gone]
                if theirs.lingering and not theirs.inside:
                    del self._owners.lingering[under]
                    todo.append(under)

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
        while self._ready:
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
                place = ticket.standing()
                ticket.place = Place(place.keys, place.units)
                self._stand(ticket)
                if not ticket.standing().pending:
                    heappush(self._ready, ticket)
                elif (error := self._lost(ticket) or self._circle(ticket)) is not None:
                    self._fail(ticket, error)

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
        circle = find_circle(ticket, self._tickets_of, newest=newest)
        return None if circle is None else LockCycleError(circle)

    def _tickets_of(self, owner: Hashable) -> Iterator[Ticket]:
        yield from self._owners.of(owner)
        yield from self._waiting.get(owner, ())

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
        for under in list(place.under):
            if under.standing().lingering:
                self._spoil(under)

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
