"""Looks inside a lock table: whether what it holds fits together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from toolflow.scheduler.lock_node import KeyNode
from toolflow.scheduler.lock_scope import Scope
from toolflow.scheduler.lock_table import LockTable
from toolflow.scheduler.lock_ticket import Ticket
from toolflow.scheduler.resources import ResourceNode


def lineage_of(ticket: Ticket) -> tuple[Hashable, ...]:
    """The owner of a ticket and its ancestors."""
    return (ticket.owner, *ticket.request.ancestors)


def scopes(table: LockTable) -> Iterator[Scope]:
    """All queues of a table."""
    yield table._root
    for ticket in table._live():
        if ticket.place is not None and ticket.place.inner is not None:
            yield ticket.place.inner


def check_whole(table: LockTable, live: Iterable[Ticket]) -> None:
    """The parts of a table say the same about its live tickets."""
    live = set(live)
    known = set(table._live())
    assert known == live
    assert not table._ready
    assert not table._failed
    assert not table._moved
    for ticket in known:
        place = ticket.place
        if place is None:
            assert ticket.granted
            continue
        behind = sum(ticket not in node.front for node in place.entries)
        assert place.pending == behind + bool(place.blockers)
        assert (place.pending == 0) == ticket.granted
        assert all(ticket in under.place.inside for under in place.under)
        assert not any(holder.done for holder in place.blockers)
        assert all(ticket in holder.place.blocking for holder in place.blockers)
    for scope in scopes(table):
        _check_scope(scope)


def _check_scope(scope: Scope) -> None:
    assert scope.trees == sum(key.endswith("/**") for key in scope.nodes)
    for node in (*scope.nodes.values(), *scope.resources.values()):
        assert all(node in ticket.place.entries for ticket in node.front)
        assert all(not t.done for t in node.front)
        if isinstance(node, KeyNode):
            assert node.own > 0
            for value in range(5):
                assert node.counts[value] == sum(v == value for v in node.front.values())
            for line in node.lines.values():
                assert list(line) == sorted(line)
        if isinstance(node, ResourceNode):
            assert node.in_use == sum(node.front.values())
            if node.box is not None:
                assert node.in_use <= node.box


def check_empty(table: LockTable) -> None:
    """Nothing is left of anybody."""
    assert not list(table._live())
    assert not table._root.lone
    assert not table._root.nodes
    assert not table._root.resources
    assert not table._below
    assert not table._owners.held
    assert not table.statistics().keys
