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
from itertools import chain
from typing import NamedTuple

from toolflow.scheduler.lock_homes import lineage, lingering_above
from toolflow.scheduler.lock_node import Node
from toolflow.scheduler.lock_ticket import Ticket


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
    for held in (ticket, *lingering_above(ticket)):
        place = held.place
        if place is None:
            continue
        for node in place.entries:
            for waiter in node.held_up(held, stuck):
                yield Step(waiter, node, ticket)
        for waiter in place.blocking:
            yield Step(waiter, None, ticket)


def find_circle(
    ticket: Ticket, tickets_of: Callable[[Hashable], Iterator[Ticket]], *, newest: bool
) -> str | None:
    """Tell which circle a waiting ticket closes.

    Args:
        ticket: A ticket that stands in the queues and waits.
        tickets_of: Gives the live tickets of an owner, waiting ones included.
        newest: Whether it is the latest ticket, so that nobody stands behind it.

    Returns:
        A sentence that names the calls and keys of the circle, or ``None`` where there is none.
    """
    reached: dict[Hashable, Step | None] = dict.fromkeys(lineage(ticket))
    todo, stuck = list(reached), set[Ticket]()
    alone = newest and not ticket.standing().forced
    found: Iterable[Ticket] = () if alone else (ticket,)
    while todo:
        for held in chain(found, tickets_of(todo.pop())):
            if held in stuck or (alone and held is ticket):
                continue
            stuck.add(held)
            for step in waiters(held, stuck):
                owners = lineage(step.waiter)
                if not held.granted and held.owner in owners:
                    continue  # once that is granted, the waiter will queue inside it
                if step.waiter is ticket:
                    return _sentence(step, reached)
                for owner in owners:
                    if owner not in reached:
                        reached[owner] = step
                        todo.append(owner)
        found = ()
    return None


def _sentence(last: Step, reached: dict[Hashable, Step | None]) -> str:
    steps, step = [last], reached[last.held.owner]
    while step is not None:
        steps.append(step)
        step = reached[step.held.owner]
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
