"""Circles of calls that would wait for each other for ever (spec 7.4).

The vertices are owners, that is: calls with their parents, and turns or runs where leases go on
under them. An owner waits if a ticket of it or of anything below it waits, since it ends only
after those; it waits for the owners of the tickets that stand in the way.

A new ticket can close a circle only if somebody waits for its lineage. So the search goes
backwards, from the tickets of the lineage to those who wait for them: nearly always there are
none, and the search ends where it begins, however long the queues are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import NamedTuple

from toolflow.scheduler.lock_node import Node
from toolflow.scheduler.lock_statistics import obstacles
from toolflow.scheduler.lock_stuck import is_stuck
from toolflow.scheduler.lock_ticket import Ticket, lineage
from toolflow.scheduler.resources import ResourceNode


class Step(NamedTuple):
    """Somebody who waits.

    Attributes:
        waiter: The ticket that waits.
        node: The queue in which it does; ``None`` for a forced ticket.
        held: The ticket that is in its way.
    """

    waiter: Ticket
    node: Node | None
    held: Ticket


def waiters(ticket: Ticket, stuck: set[Ticket]) -> Iterator[Step]:
    """Everybody who cannot go on if a ticket is never given back.

    Args:
        ticket: The ticket.
        stuck: All tickets that are never given back; holds this one.
    """
    place = ticket.place
    if place is None:
        return
    for node in place.entries:
        for waiter in node.held_up(ticket, stuck):
            yield Step(waiter, node, ticket)
    for waiter in place.blocking:
        yield Step(waiter, None, ticket)


def find_circle(
    ticket: Ticket,
    tickets_of: Callable[[Hashable], Iterator[Ticket]],
    waiting: Callable[[], Iterable[Ticket]],
    *,
    newest: bool,
) -> str | None:
    """Tell which circle a waiting ticket closes.

    Args:
        ticket: A ticket that stands in the queues and waits.
        tickets_of: Gives the live tickets of an owner, waiting ones included.
        waiting: Gives everybody who waits.
        newest: Whether it is the latest ticket, so that nobody stands behind it.

    Returns:
        A sentence that names the calls and keys of the circle, or ``None`` where there is none.
    """
    search = _Search(tickets_of)
    search.reach(lineage(ticket), None)
    if not newest or ticket.standing().forced:
        search.todo.append((ticket, True))
    circle = search.run(ticket)
    if circle is None and search.came_by_units and is_stuck(ticket, waiting()):
        return (
            f"Waiting would close a circle: {'; '.join(obstacles(ticket))}; and whoever could give "
            f"something back waits for others of them, or for '{ticket.name}'."
        )
    return circle


class _Search:
    """What is known to be stuck, if one ticket waits.

    A granted ticket is stuck for sure if its owner is. A waiting ticket of such an owner may still
    be granted; then it holds up all others, but not those below its owner, for they will queue
    inside it. It is stuck for sure once something that is stuck holds it up.
    """

    def __init__(self, tickets_of: Callable[[Hashable], Iterator[Ticket]]) -> None:
        self.tickets_of = tickets_of
        self.todo: list[tuple[Ticket, bool]] = []  # stuck tickets, and whether for sure
        self.seen: set[tuple[Ticket, bool]] = set()
        self.sure: set[Ticket] = set()
        self.owners: dict[Hashable, Step | None] = {}  # why they are stuck
        self.waiting: dict[Ticket, Step] = {}  # the same
        self.came_by_units = False  # of a resource that is waited for

    def reach(self, owners: Iterable[Hashable], why: Step | None) -> None:
        """Note that owners are stuck."""
        for owner in owners:
            if owner not in self.owners:
                self.owners[owner] = why
                self.todo += ((held, held.granted) for held in self.tickets_of(owner))

    def run(self, ticket: Ticket) -> str | None:
        """Go on until the ticket is found to hold itself up, or all is known."""
        while self.todo:
            held, sure = self.todo.pop()
            if held in self.sure or (held, sure) in self.seen:
                continue
            self.seen.add((held, sure))
            if sure:
                self.sure.add(held)
            place = held.place
            self.came_by_units |= place is not None and any(
                isinstance(node, ResourceNode) and node.line for node in place.entries
            )
            for step in list(waiters(held, self.sure if sure else self.sure | {held})):
                owners = lineage(step.waiter)
                if not sure and held.owner in owners:
                    continue
                if step.waiter is ticket:
                    return self._sentence(step)
                self.waiting.setdefault(step.waiter, step)
                self.todo.append((step.waiter, True))
                self.reach(owners, step)
        return None

    def _sentence(self, last: Step) -> str:
        steps: list[Step] = []
        step: Step | None = last
        while step is not None and step not in steps:
            steps.append(step)
            step = self.waiting.get(step.held) or self.owners.get(step.held.owner)
        parts, before = [], steps[-1].held
        for step in steps:
            who = f"'{step.waiter.name}'"
            if step.waiter.owner != before.owner:
                who += f" inside '{before.name}'"
            how = "held by" if step.held.granted else "asked for earlier by"
            parts.append(f"{who} waits for {_what(step)}, {how} '{step.held.name}'")
            before = step.held
        return f"Waiting for {_what(last)} would close a circle: {'; '.join(parts)}."


def _what(step: Step) -> str:
    if step.node is not None:
        return step.node.what
    return "key " + ", ".join(f"{key!r}" for key in step.waiter.standing().keys)
