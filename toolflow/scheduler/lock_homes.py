"""Where a ticket queues: beside everybody, or inside the ticket of an ancestor (spec 6.11).

A nested call takes the keys that an ancestor holds again, in queues of their own inside that
ancestor's ticket; so it never waits for those who wait for its ancestor, and two nested calls of
one ancestor still exclude each other, in the order of asking.

Where no ancestor holds enough (it reads what the nested call wants to write, or it holds a part of
a tree that the nested call wants whole), the ticket queues in two places: inside the ancestor's
ticket, for its siblings' sake, and where the ancestor itself stands. There it is *forced* to the
front, since everybody who waits there may wait for its ancestor; it waits for those only who hold
something that it meets, the ancestor's own hold aside.

A resource that an ancestor holds is a box of that many units for its nested calls: they share
them out among themselves, so its capacity is never exceeded. What a nested call needs beyond that
comes from the queue outside, where it waits its turn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from toolflow.model.keys import keys_meet
from toolflow.scheduler.lock_node import KeyNode, Node
from toolflow.scheduler.lock_owners import Owners, suffices
from toolflow.scheduler.lock_scope import Scope, inside
from toolflow.scheduler.lock_ticket import Place, Ticket
from toolflow.scheduler.resources import ResourceNode

Matters = Callable[[Place, Node], bool]


@dataclass(slots=True)
class Homes:
    """Where a ticket queues.

    Attributes:
        keys: The keys by the queues they go to, with whether they are written.
        forced: Those of them that go to the front there.
        units: Units of resources by the queues they come from.
        under: The tickets inside which any of this is.
        kin: Tickets of ancestors that the ticket does not wait for.
    """

    keys: dict[Scope, dict[str, bool]] = field(default_factory=dict)
    forced: dict[Scope, dict[str, bool]] = field(default_factory=dict)
    units: list[tuple[Scope, str, int]] = field(default_factory=list)
    under: dict[Ticket, None] = field(default_factory=dict)
    kin: set[Ticket] = field(default_factory=set)

    def add(self, scope: Scope, key: str, *, write: bool, forced: bool) -> None:
        """Note that a key goes to these queues."""
        self.keys.setdefault(scope, {})[key] = write
        if forced:
            self.forced.setdefault(scope, {})[key] = write
        self._note(scope)

    def take(self, scope: Scope, name: str, units: int) -> None:
        """Note that units come from these queues."""
        self.units.append((scope, name, units))
        self._note(scope)

    def _note(self, scope: Scope) -> None:
        if scope.holder is not None:
            self.under[scope.holder] = None


def find_homes(ticket: Ticket, owners: Owners, root: Scope) -> Homes:
    """Work out where a ticket queues.

    Args:
        ticket: A ticket with a place, in no queue.
        owners: Who holds what.
        root: The queues of everybody.
    """
    homes, place = Homes(), ticket.standing()
    kin = [owner for owner in (ticket.request.owner, *ticket.request.ancestors) if owner in owners]
    if not kin:
        if place.keys:
            homes.keys[root] = place.keys
        homes.units = [(root, name, units) for name, units in place.units.items()]
        return homes
    for key, write in place.keys.items():
        meeting = (held for owner in kin for held in owners.meeting(owner, key))
        open_ones = _open_to(ticket, kin, meeting, partial(_is_of_key, key))
        _home_of_key(homes, open_ones, root, key, write=write)
    for name, units in place.units.items():
        holders = (held for owner in kin for held in owners.of(owner))
        open_ones = _open_to(ticket, kin, holders, partial(_is_of_resource, name))
        rest = _from_boxes(homes, open_ones, name, units)
        if rest:
            homes.take(root, name, rest)
    return homes


def _open_to(
    ticket: Ticket, kin: list[Hashable], held: Iterable[Ticket], matters: Matters
) -> Iterator[Ticket]:
    """Those tickets of ancestors inside which a ticket may queue, the innermost first.

    Of two that meet, the one that was granted later is inside the other, whoever owns them now.

    Not the later ones, if it is granted itself and only takes another place; and not a lease that
    went over to an ancestor while it is still inside the ticket of a call that is none, with what
    matters here: the key or the resource that is asked for.
    """
    for one in sorted(held, key=lambda one: one.fence, reverse=True):
        if not (ticket.granted and one.fence >= ticket.fence) and _within(one, kin, matters):
            yield one


def _within(ticket: Ticket, kin: list[Hashable], matters: Matters) -> bool:
    todo, seen = [ticket], {ticket}
    while todo:
        place = todo.pop().standing()
        for node in place.entries:
            under = node.scope.holder
            if under is None or under in seen or not matters(place, node):
                continue
            if under.owner not in kin:
                return False
            seen.add(under)
            todo.append(under)
    return True


def _is_of_key(key: str, place: Place, node: Node) -> bool:
    return node.key in place.keys and isinstance(node, KeyNode) and keys_meet(node.key, key)


def _is_of_resource(name: str, place: Place, node: Node) -> bool:  # noqa: ARG001  # see `Matters`
    return node.key == name and isinstance(node, ResourceNode)


def _home_of_key(
    homes: Homes, kin: Iterator[Ticket], root: Scope, key: str, *, write: bool
) -> None:
    scope, nearer = root, []
    for held in kin:
        root.seat(held)
        homes.kin.add(held)
        if suffices(held, key, write=write):
            scope = inside(held)
            break
        nearer.append(held)
    standing = {node.scope for held in nearer for node in held.standing().entries}
    for where in (scope, *map(inside, nearer)):
        homes.add(where, key, write=write, forced=where in standing)


def _from_boxes(homes: Homes, kin: Iterator[Ticket], name: str, units: int) -> int:
    """Take units from what ancestors hold, innermost first; gives how many more are needed."""
    passed: list[Ticket] = []
    for held in kin:
        box = 0 if held.place is None else held.place.units.get(name, 0)
        if not box:
            continue
        scope = inside(held)
        used = scope.resources[name].front if name in scope.resources else {}
        part = min(units, box - sum(used.get(other, 0) for other in passed))
        if part > 0:
            homes.take(scope, name, part)
            units -= part
        passed.append(held)
    return units
