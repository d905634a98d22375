"""Who holds what, by owner: where a nested call looks for the keys of its ancestors.

Tickets that have met nobody yet are not in it (see `Scope.lone`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from toolflow.model.keys import covers, is_tree, keys_meet, trees_above
from toolflow.scheduler.lock_ticket import Ticket

_FEW = 8  # up to so many tickets of one owner, looking at each is faster than an index


class Holdings:
    """The tickets of an owner that has several, found by key."""

    __slots__ = ("by_key", "tickets")

    def __init__(self) -> None:
        self.tickets: dict[int, Ticket] = {}
        self.by_key: dict[str, dict[int, Ticket]] = {}

    def add(self, ticket: Ticket) -> None:
        """Note a grant."""
        self.tickets[ticket.number] = ticket
        for key in ticket.request.keys():  # noqa: SIM118  # a method of ours, no mapping
            self.by_key.setdefault(key, {})[ticket.number] = ticket

    def remove(self, ticket: Ticket) -> None:
        """Note that a ticket is held no more."""
        del self.tickets[ticket.number]
        for key in ticket.request.keys():  # noqa: SIM118  # a method of ours, no mapping
            del self.by_key[key][ticket.number]
            if not self.by_key[key]:
                del self.by_key[key]

    def near(self, key: str) -> Iterable[Ticket]:
        """All tickets that may meet a key."""
        if len(self.tickets) <= _FEW:
            return self.tickets.values()
        keys = [key, *trees_above(key)]
        if is_tree(key):
            keys += [below for below in self.by_key if covers(key, below) and below != key]
        return {t.number: t for k in keys for t in self.by_key.get(k, {}).values()}.values()


class Owners:
    """The granted tickets of every owner that have a place, without those that were released.

    Attributes:
        held: The tickets by owner; nearly every owner has one, which then stands here itself.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: dict[Hashable, Ticket | Holdings] = {}

    def __contains__(self, owner: Hashable) -> bool:
        return owner in self.held

    def add(self, ticket: Ticket) -> None:
        """Note a grant."""
        held = self.held.setdefault(ticket.owner, ticket)
        if held is ticket:
            return
        if isinstance(held, Ticket):
            first, held = held, Holdings()
            held.add(first)
            self.held[ticket.owner] = held
        held.add(ticket)

    def remove(self, ticket: Ticket) -> None:
        """Note that an owner has a ticket no more."""
        held = self.held.pop(ticket.owner)
        if held is not ticket:
            assert isinstance(held, Holdings)
            held.remove(ticket)
            if held.tickets:
                self.held[ticket.owner] = held

    def of(self, owner: Hashable) -> tuple[Ticket, ...]:
        """The tickets of an owner."""
        held = self.held.get(owner)
        if held is None:
            return ()
        return tuple(held.tickets.values()) if isinstance(held, Holdings) else (held,)

    def everybody(self) -> Iterator[Ticket]:
        """Every granted ticket."""
        for owner in self.held:
            yield from self.of(owner)

    def meeting(self, owner: Hashable, key: str) -> list[Ticket]:
        """The tickets of an owner with a key that meets the given one."""
        held = self.held.get(owner)
        if held is None:
            return []
        near = held.near(key) if isinstance(held, Holdings) else (held,)
        return [ticket for ticket in near if any(keys_meet(mine, key) for mine in keys_of(ticket))]


def keys_of(ticket: Ticket) -> dict[str, bool]:
    """Every key of a ticket, with whether it is written."""
    return ticket.request.keys() if ticket.place is None else ticket.place.keys


def suffices(ticket: Ticket, key: str, *, write: bool) -> bool:
    """Whether who holds a ticket may use a key in this way."""
    return any(
        (written or not write) and (mine == key or covers(mine, key))
        for mine, written in keys_of(ticket).items()
    )
