"""The lock table: who holds which keys and resources, and who waits for whom (spec 7).

It is pure, as the scheduler is: plain calls with plain results, no clock, no waiting, no threads.
Whoever asks gets a *ticket*, which stands in the queues of all its keys and resources at once. The
ticket is granted when it is at the front of all of them. Every operation tells which other tickets
were granted (or failed) by it; waking who waits for them is the business of a store.

How it stays fast: a ticket whose keys nobody else asks for stands in no queue at all. It is noted
by its keys (`Scope.lone`), and is seated in real queues when the first one comes that may meet it.
In the queues, every operation costs a constant time per key and per ticket that it frees.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping

from toolflow.model.keys import TREE
from toolflow.model.turn import EMPTY
from toolflow.scheduler.lock_queues import Queues
from toolflow.scheduler.lock_statistics import LockStatistics, obstacles, statistics_of
from toolflow.scheduler.lock_ticket import Asker, LockRequest, Place, Ticket


class LockTable(Queues):
    """Grants keys and resources: first come, first served; readers share; nobody starves.

    Attributes:
        late: Tickets of others that an `ask` granted or failed; its caller takes them out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.late: list[Ticket] = []

    def request(
        self,
        owner: Hashable,
        reads: Iterable[str] = (),
        writes: Iterable[str] = (),
        *,
        ancestors: Iterable[Hashable] = (),
        uses: Mapping[str, int] = EMPTY,
        capacities: Mapping[str, int] = EMPTY,
        label: str = "",
    ) -> Ticket:
        """Queue for keys and resources, all in one step. See `LockRequest` and `ask`.

        Returns:
            The ticket; `Ticket.granted` tells whether it is granted already.
        """
        return self.ask(
            LockRequest(
                owner, tuple(reads), tuple(writes), tuple(ancestors), uses, capacities, label
            )
        )

    def ask(self, request: LockRequest, *, wait: bool = True) -> Ticket:
        """Queue for keys and resources, all in one step (spec 7.2).

        Args:
            request: What is asked for.
            wait: Whether the ticket may stay in the queues. If not, and something is in its way,
                it is taken out again, and the ticket is done without having been granted.

        Returns:
            The ticket; `Ticket.granted` tells whether it is granted already.

        Raises:
            LockCycleError: If waiting would close a circle of calls. Nothing is queued.
            LockLostError: If it would wait for a holder that was given up. Nothing is queued.
            UsageError: If it needs more units than there are.
        """
        owner, reads, writes, _, uses, _, _ = request
        ticket = None
        if not uses:
            if len(writes) == 1 and not reads:
                ticket = self.take(owner, request, writes[0])
            else:
                ticket = self._take_all(owner, request, reads + writes)
        if ticket is None:
            self._number = number = self._number + 1
            ticket = Ticket(number, request, owner)
            self._queue(ticket, wait=wait)
        return ticket

    def take(self, owner: Hashable, asked: LockRequest | Asker, key: str) -> Ticket | None:
        """Take one key exclusively if nobody else has anything to do with it.

        Nearly every request ends here, so it is written out for speed. Whether an ancestor of the
        owner holds anything need not be known: as long as no tree key is in use, an ancestor that
        holds something that meets a key holds that very key.

        Args:
            owner: Who asks.
            asked: What is asked for, or who can tell that.
            key: The key.

        Returns:
            The ticket, granted and without a place; ``None`` where it takes more to tell, and then
            nothing has happened.
        """
        root = self._root
        lone = root.lone
        if key in lone or key in root.nodes or root.trees or key[-3:] == TREE:
            return None
        self._number = number = self._number + 1
        lone[key] = ticket = Ticket(number, asked, owner)
        ticket.alone = key
        ticket.granted = True
        self._fence = ticket.fence = self._fence + 1
        return ticket

    def take_late(self) -> list[Ticket]:
        """Take what `late` holds."""
        late, self.late = self.late, []
        return late

    def release(self, ticket: Ticket) -> list[Ticket]:
        """Give a lease back; once is enough, more does no harm.

        Nested calls that still hold some of its keys go on holding them. Nested calls that still
        wait for its keys wait like anybody else from then on (spec 6.11).

        Returns:
            The tickets of others that were granted (or failed) by that, by ascending number.
        """
        alone = ticket.alone
        if alone is not None:
            ticket.alone = None
            ticket.done = True
            lone = self._root.lone
            if type(alone) is str:
                del lone[alone]
            else:
                for key in alone:
                    lone.pop(key, None)  # it may be both read and written
            return []
        if ticket.done or not ticket.granted:
            return []
        ticket.done = True
        self._owners.remove(ticket)
        place = ticket.standing()
        if place.inside:
            self._let_out(ticket)
        else:
            self._remove(ticket)
        return self._settle()

    def cancel(self, ticket: Ticket) -> list[Ticket]:
        """Give up waiting; nothing happens to a ticket that is granted, or done.

        Returns:
            The tickets of others that were granted by that, by ascending number.
        """
        if ticket.done or ticket.granted:
            return []
        ticket.done = True
        self._wait_no_more(ticket)
        self._remove(ticket)
        return self._settle()

    def hand_over(self, ticket: Ticket, owner: Hashable) -> list[Ticket]:
        """Let a lease go on under another owner (``hold: turn`` or ``run``, spec 7.5).

        The lease goes on with its keys. Units of resources are given back: they count what runs.

        Args:
            ticket: A granted ticket; nothing happens to another one.
            owner: The turn or run, an ancestor of the owner so far.

        Returns:
            The tickets that were granted by that (calls of the new owner take its keys again) or
            that failed with a `LockCycleError` (the longer lease closed a circle).
        """
        if ticket.done or not ticket.granted:
            return []
        if ticket.alone is not None:  # nobody has anything to do with it
            ticket.owner = owner
            return []
        self._owners.remove(ticket)
        ticket.owner = owner
        self._owners.add(ticket)
        if ticket.standing().units:
            self._let_out(ticket, units=True)
        self._draw_in(ticket)
        self._look_below(ticket)
        return self._settle()

    def poison(self, ticket: Ticket) -> list[Ticket]:
        """Give a holder up that never stops (spec 6.7): nobody shall wait for it.

        Until it is released after all, requests that would have to wait for it fail at once.

        Args:
            ticket: A granted ticket; nothing happens to another one.

        Returns:
            The tickets that failed with a `LockLostError`, and those that were granted because
            others failed, by ascending number.
        """
        if ticket.done or not ticket.granted:
            return []
        self._spoil(ticket)
        return self._settle()

    def obstacles(self, ticket: Ticket) -> tuple[str, ...]:
        """What a ticket waits for, as phrases for people; a few, where there are many."""
        return obstacles(ticket)

    def statistics(self) -> LockStatistics:
        """Who holds what, and who waits for whom, at this moment."""
        return statistics_of(self._live())

    def _take_all(
        self, owner: Hashable, request: LockRequest, keys: tuple[str, ...]
    ) -> Ticket | None:
        """Do what `take` does with any number of keys, some of them perhaps only read."""
        root = self._root
        if root.trees or not keys:
            return None
        lone, nodes = root.lone, root.nodes
        for key in keys:
            if key in lone or key in nodes or key[-3:] == TREE:
                return None
        self._number = number = self._number + 1
        ticket = Ticket(number, request, owner)
        for key in keys:
            lone[key] = ticket
        ticket.alone = keys
        ticket.granted = True
        self._fence = ticket.fence = self._fence + 1
        return ticket

    def _live(self) -> Iterator[Ticket]:
        yield from dict.fromkeys(self._root.lone.values())
        yield from self._owners.everybody()
        yield from self._everybody_waiting()

    def _queue(self, ticket: Ticket, *, wait: bool) -> None:
        ticket.place = Place(ticket.request.keys(), ticket.request.units())
        self._root.seat_meeting(ticket.place.keys)
        self._stand(ticket)
        error = None
        if not ticket.place.pending:
            self._ready.append(ticket)
        else:
            error = self._lost(ticket) or (self._circle(ticket) if wait else None)
            if wait and error is None:
                self._wait(ticket)
            else:
                ticket.done = True
                self._remove(ticket)
        # Only by a grant of this ticket can others have become free: those that wait below it.
        self.late += [other for other in self._settle() if other is not ticket]
        if error is not None:
            raise error
