"""One set of queues: those that everybody stands in, or those inside one ticket.

Tickets on tree keys meet everything below, so a tree key has a node in which all tickets below it
stand as *members*. Such nodes exist only while a ticket on that very tree key lives: its first
ticket looks through all keys once; from then on, tickets that come later enlist themselves in the
tree nodes above their keys. Where no tree key is in use, nothing of this costs anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolflow.model.keys import covers, is_tree, trees_above
from toolflow.scheduler.lock_node import (
    MEMBER_READ,
    MEMBER_WRITE,
    OWN_WRITE,
    READS,
    READS_BELOW,
    WRITES,
    WRITES_BELOW,
    KeyNode,
    Node,
    class_of,
)
from toolflow.scheduler.lock_owners import Owners
from toolflow.scheduler.lock_ticket import Place, Ticket
from toolflow.scheduler.resources import ResourceNode


def inside(ticket: Ticket) -> Scope:
    """The queues inside a ticket that has a place."""
    place = ticket.standing()
    if place.inner is None:
        place.inner = Scope(ticket)
    return place.inner


class Scope:
    """The nodes of one set of queues.

    Args:
        holder: The ticket inside which these queues are, or ``None`` for those of everybody.
        owners: For the latter: where holders are noted by owner.

    Attributes:
        lone: Tickets that met nobody when they came and stand in no node yet, by key. Most
            tickets stay so until they are released.
        nodes: The nodes of keys that more than that is known of.
        resources: The nodes of resources in use.
        trees: How many of the nodes are those of tree keys.
    """

    __slots__ = ("holder", "lone", "nodes", "owners", "resources", "trees")

    def __init__(self, holder: Ticket | None = None, owners: Owners | None = None) -> None:
        self.holder = holder
        self.owners = owners
        self.lone: dict[str, Ticket] = {}
        self.nodes: dict[str, KeyNode] = {}
        self.resources: dict[str, ResourceNode] = {}
        self.trees = 0

    def node(self, key: str) -> KeyNode:
        """The node of a key, made if need be."""
        node = self.nodes.get(key)
        if node is None and (lone := self.lone.get(key)) is not None:
            self.seat(lone)
            node = self.nodes[key]
        if node is None:
            node = KeyNode(key, self)
            if is_tree(key):
                self._enlist(node)
                self.trees += 1
            self.nodes[key] = node
        return node

    def resource(self, name: str) -> ResourceNode:
        """The node of a resource, made if need be."""
        node = self.resources.get(name)
        if node is None:
            box = None if self.holder is None else self.holder.standing().units.get(name)
            node = self.resources[name] = ResourceNode(name, self, box)
        return node

    def entries(self, keys: Mapping[str, bool]) -> dict[KeyNode, int]:
        """The nodes in which a ticket on these keys stands, with its class in each."""
        flags: dict[KeyNode, int] = {}
        for key, write in keys.items():
            node = self.node(key)
            flags[node] = flags.get(node, 0) | (WRITES if write else READS)
        if self.trees:
            for key, write in keys.items():
                for tree in trees_above(key):
                    if (above := self.nodes.get(tree)) is not None:
                        below = WRITES_BELOW if write else READS_BELOW
                        flags[above] = flags.get(above, 0) | below
        return {node: class_of(ways) for node, ways in flags.items()}

    def seat(self, ticket: Ticket) -> Place:
        """Put a lone ticket into nodes, since somebody has come who may meet it.

        Only now it is noted by its owner: who never meets anybody need not be found there.
        """
        if ticket.place is not None:
            return ticket.place
        place = ticket.place = Place(ticket.request.keys(), {})
        ticket.alone = None
        for key in place.keys:
            del self.lone[key]
        for node, value in self.entries(place.keys).items():
            place.entries[node] = value
            node.join(ticket, value)
        if self.owners is not None:
            self.owners.add(ticket)
        return place

    def seat_meeting(self, keys: Iterable[str]) -> None:
        """Put the lone tickets that meet any of these keys into nodes."""
        for key in keys:
            if (lone := self.lone.get(key)) is not None:
                self.seat(lone)
            if is_tree(key) and key not in self.nodes:
                for below in [t for k, t in self.lone.items() if covers(key, k)]:
                    self.seat(below)

    def drop(self, node: Node) -> None:
        """Forget a node that nothing needs any more.

        Members of a tree node stay in it until they go; without own entries nobody waits there.
        """
        key = node.key
        if isinstance(node, ResourceNode):
            if not (node.front or node.line) and self.resources.get(key) is node:
                del self.resources[key]
        elif isinstance(node, KeyNode) and not node.own and self.nodes.get(key) is node:
            del self.nodes[key]
            self.trees -= is_tree(key)

    def _enlist(self, tree: KeyNode) -> None:
        self.seat_meeting((tree.key,))
        members: dict[Ticket, int] = {}
        for key, node in self.nodes.items():
            if covers(tree.key, key):
                for ticket, value in node.own_entries():
                    written = MEMBER_WRITE if value == OWN_WRITE else MEMBER_READ
                    members[ticket] = max(members.get(ticket, MEMBER_READ), written)
        for ticket in sorted(members):
            value = members[ticket]
            ticket.standing().entries[tree] = value
            tree.join(ticket, value)
            if ticket.poisoned:
                tree.poisoned.add(ticket)
