"""What can be asked of a lock table at any time: holders, waiters, and who waits for whom."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType

from toolflow.scheduler.lock_ticket import Ticket

_FEW = 4  # so many obstacles are named one by one


@dataclass(frozen=True, slots=True)
class Stand:
    """Somebody who holds or waits for a key or a resource.

    Attributes:
        owner: The owner.
        name: What people see for it.
        write: Whether the key is written; ``False`` for a resource.
        units: Units of the resource; 0 for a key.
        fence: The lease's fencing number; 0 while it waits.
        since: When it was granted, or else queued, by the store's clock; 0.0 without a clock.
        stopped: ``False`` if its end was reported while it never stopped.
        pid: The id of its process, where the store serves several; else 0.
        process: The name of that process' program.
    """

    owner: Hashable
    name: str
    write: bool = False
    units: int = 0
    fence: int = 0
    since: float = 0.0
    stopped: bool = True
    pid: int = 0
    process: str = ""


@dataclass(frozen=True, slots=True)
class QueueStatistics:
    """One key or resource.

    Attributes:
        holders: Who holds it, in the order of asking; nested calls too.
        waiters: Who waits for it, or for something else together with it, in the order of asking.
    """

    holders: tuple[Stand, ...] = ()
    waiters: tuple[Stand, ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """Somebody who waits.

    Attributes:
        owner: The owner.
        name: What people see for it.
        since: When it began to wait, by the store's clock.
        behind: Phrases that say what is held or was asked for earlier, and by whom; a few.
        pid: The id of its process, where the store serves several; else 0.
        process: The name of that process' program.
    """

    owner: Hashable
    name: str
    since: float
    behind: tuple[str, ...]
    pid: int = 0
    process: str = ""


@dataclass(frozen=True, slots=True)
class LockStatistics:
    """A lock table at one moment.

    Attributes:
        keys: Every key in use, sorted.
        resources: Every resource in use, sorted.
        waits: Everybody who waits, in the order of asking.
        at: The moment, by the store's clock; 0.0 without a clock.
    """

    keys: Mapping[str, QueueStatistics] = field(default_factory=dict)
    resources: Mapping[str, QueueStatistics] = field(default_factory=dict)
    waits: tuple[Wait, ...] = ()
    at: float = 0.0


def obstacles(ticket: Ticket) -> tuple[str, ...]:
    """What a ticket waits for, as phrases for people; a few, where there are many."""
    place = ticket.place
    if place is None or ticket.granted or ticket.done:
        return ()
    found: dict[str, None] = {}
    for node in place.entries:
        if ticket not in node.front:
            for other in islice(node.in_the_way(ticket), _FEW):
                found[_phrase(node.what, other)] = None
    for other in islice(sorted(place.blockers), _FEW):
        what = ", ".join(sorted(node.what for node in place.forced if other in node.front))
        found[_phrase(what, other)] = None
    return tuple(islice(found, _FEW))


def statistics_of(tickets: Iterable[Ticket]) -> LockStatistics:
    """Describe the state of these tickets."""
    live = sorted(tickets)
    keys: dict[str, tuple[list[Stand], list[Stand]]] = {}
    resources: dict[str, tuple[list[Stand], list[Stand]]] = {}
    for ticket in live:
        wanted = ticket.request.keys() if ticket.place is None else ticket.place.keys
        for key, write in wanted.items():
            keys.setdefault(key, ([], []))[not ticket.granted].append(_stand(ticket, write=write))
        for name, units in ({} if ticket.place is None else ticket.place.units).items():
            lists = resources.setdefault(name, ([], []))
            lists[not ticket.granted].append(_stand(ticket, units=units))
    return LockStatistics(
        _frozen(keys),
        _frozen(resources),
        tuple(
            Wait(ticket.owner, ticket.name, ticket.since, obstacles(ticket))
            for ticket in live
            if not ticket.granted
        ),
    )


def _frozen(lists: dict[str, tuple[list[Stand], list[Stand]]]) -> Mapping[str, QueueStatistics]:
    return MappingProxyType(
        {
            name: QueueStatistics(tuple(holders), tuple(waiting))
            for name, (holders, waiting) in sorted(lists.items())
        }
    )


def _stand(ticket: Ticket, *, write: bool = False, units: int = 0) -> Stand:
    return Stand(
        ticket.owner,
        ticket.name,
        write,
        units,
        ticket.fence,
        ticket.since,
        stopped=not ticket.poisoned,
    )


def _phrase(what: str, other: Ticket) -> str:
    if not other.granted:
        return f"{what} asked for earlier by '{other.name}'"
    return f"{what} held by '{other.name}'" + (
        ", whose end was reported while it never stopped" if other.poisoned else ""
    )
