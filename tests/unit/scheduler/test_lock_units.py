"""Units of resources through leases that are handed over: never more in use than there are."""

from __future__ import annotations

from typing import Any

import pytest
from lock_histories import ancestors
from locks import check_empty, check_whole

from toolflow.scheduler.lock_table import LockTable
from toolflow.scheduler.lock_ticket import LockRequest, Ticket

CAPACITIES = {"u": 2, "v": 3}


class History:
    """What happens to a table, step by step; after each step it must be whole."""

    def __init__(self) -> None:
        self.table = LockTable()
        self.live: dict[str, Ticket] = {}

    def ask(self, name: str, owner: str, reads: str = "", writes: str = "", **uses: int) -> None:
        request = LockRequest(
            owner, tuple(reads.split()), tuple(writes.split()), ancestors(owner), uses, CAPACITIES
        )
        self.live[name] = self.table.ask(request)
        self._forget(self.table.take_late())

    def hand_over(self, name: str, owner: str) -> None:
        self._forget(self.table.hand_over(self.live[name], owner))

    def end(self, name: str) -> None:
        ticket = self.live.pop(name)
        self._forget((self.table.release if ticket.granted else self.table.cancel)(ticket))

    def _forget(self, changed: list[Ticket]) -> None:
        failed = {ticket for ticket in changed if ticket.error is not None}
        self.live = {name: t for name, t in self.live.items() if t not in failed}
        check_whole(self.table, self.live.values())
        assert self.in_use("u") <= CAPACITIES["u"]
        assert self.in_use("v") <= CAPACITIES["v"]

    def in_use(self, resource: str) -> int:
        """Units held by granted calls, but for those that a nested call takes again."""
        holders = [t for t in self.live.values() if t.granted and t.place is not None]
        by_owner: dict[Any, int] = {}
        for ticket in holders:
            units = ticket.standing().units.get(resource, 0)
            below = any(
                other is not ticket
                and other.owner in ancestors(str(ticket.owner))
                and other.standing().units.get(resource, 0)
                for other in holders
            )
            if units and not below:
                by_owner[ticket] = units
        return sum(by_owner.values())


def handed_to_the_run(history: History) -> None:
    history.ask("reads", "b", "d/s/f", "d/f")
    history.ask("x", "a2", "", "x")
    history.hand_over("x", "a")
    history.ask("tree", "c", "", "d/s/**", v=1)
    history.hand_over("reads", "run")
    history.ask("inner", "a1", "d/f", "x", v=1)
    history.hand_over("tree", "run")
    history.ask("units", "b", v=1)
    history.end("reads")


def handed_over_while_nested_calls_wait(history: History) -> None:
    history.ask("whole", "a2", "d/**", "d")
    history.end("whole")
    history.ask("tree", "c", "", "d/s/**")
    history.ask("below", "a2", "d/s/**", "", v=1)
    history.ask("units", "a2", v=2)
    history.end("tree")
    history.hand_over("units", "t1")
    history.ask("nested", "a11", "x d/**", "x", v=2)
    history.ask("other", "c1", "d d/**", "", v=1)
    if history.live["other"].granted:
        history.hand_over("other", "run")
    history.end("other")


@pytest.mark.parametrize("what", [handed_to_the_run, handed_over_while_nested_calls_wait])
def test_a_lease_that_is_handed_over_never_overfills_a_resource(what: Any) -> None:
    history = History()
    what(history)
    for name in list(history.live):
        if name in history.live:
            history.end(name)
    check_empty(history.table)
