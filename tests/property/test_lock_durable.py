"""A lock table that is put together from its live tickets goes on as the one that lived on."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from lock_histories import CALLS, PARENTS, ancestors, some_keys

from toolflow.errors import LockCycleError, LockLostError
from toolflow.scheduler.lock_durable import DurableTable
from toolflow.scheduler.lock_ticket import LockRequest, Ticket


class Twin:
    """A table and what came of every operation."""

    def __init__(self) -> None:
        self.table = DurableTable()
        self.live: dict[int, Ticket] = {}

    def ask(self, number: int, request: LockRequest, wait: bool) -> Any:
        result: Any
        try:
            ticket = self.table.ask_as(number, request, wait=wait)
        except (LockCycleError, LockLostError) as error:
            result = type(error)
        else:
            result = (ticket.granted, ticket.done, ticket.fence)
            if not ticket.done:
                self.live[number] = ticket
        return result, self._told(self.table.take_late())

    def end(self, number: int) -> Any:
        ticket = self.live.pop(number)
        return self._told((self.table.release if ticket.granted else self.table.cancel)(ticket))

    def hand_over(self, number: int, owner: str) -> Any:
        return self._told(self.table.hand_over(self.live[number], owner))

    def poison(self, number: int) -> Any:
        return self._told(self.table.poison(self.live[number]))

    def put_together(self) -> None:
        """Write it down, and read it in a table with other ticket objects."""
        standing = {}
        for number, old in self.live.items():
            new = Ticket(number, old.request)
            new.owner, new.fence, new.granted = old.owner, old.fence, old.granted
            new.poisoned = old.poisoned
            standing[new] = self.table.standing_of(old)
        table = DurableTable()
        number = max(self.live, default=0)
        assert table.put_together(standing, number=number, fence=self.table.fence) == []
        self.table, self.live = table, {ticket.number: ticket for ticket in standing}

    def _told(self, changed: list[Ticket]) -> Any:
        for ticket in changed:
            if ticket.error is not None:
                del self.live[ticket.number]
        return [(t.number, t.granted, t.fence, type(t.error)) for t in changed]

    def state(self) -> Any:
        return {
            number: (ticket.granted, ticket.fence, self.table.standing_of(ticket))
            for number, ticket in self.live.items()
        }


class WrittenDown(RuleBasedStateMachine):
    """One table lives through it all; the other is written down and read again now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.lived, self.read = Twin(), Twin()
        self.number = 0

    @rule(
        owner=st.sampled_from(CALLS),
        reads=some_keys,
        writes=some_keys,
        uses=st.dictionaries(st.sampled_from(["u", "v"]), st.integers(1, 2), max_size=1),
        wait=st.booleans() | st.just(True),
    )
    def ask(self, owner: str, reads: Any, writes: Any, uses: Any, wait: bool) -> None:
        self.number += 1
        request = LockRequest(
            owner, tuple(reads), tuple(writes), ancestors(owner), uses, {"u": 2, "v": 3}
        )
        self._both(lambda twin: twin.ask(self.number, request, wait))

    @rule(data=st.data())
    def end(self, data: Any) -> None:
        if self.lived.live:
            number = data.draw(st.sampled_from(sorted(self.lived.live)))
            self._both(lambda twin: twin.end(number))

    @rule(data=st.data())
    def hand_over(self, data: Any) -> None:
        number = self._some_granted(data)
        if number is not None and PARENTS[self.lived.live[number].owner]:
            owner = data.draw(st.sampled_from(ancestors(self.lived.live[number].owner)))
            self._both(lambda twin: twin.hand_over(number, owner))

    @rule(data=st.data())
    def poison(self, data: Any) -> None:
        number = self._some_granted(data)
        if number is not None and len(self.lived.live) > 4:
            self._both(lambda twin: twin.poison(number))

    @rule()
    def put_together(self) -> None:
        self.read.put_together()

    def _some_granted(self, data: Any) -> int | None:
        granted = [number for number, one in self.lived.live.items() if one.granted]
        return data.draw(st.sampled_from(sorted(granted))) if granted else None

    def _both(self, operation: Any) -> None:
        assert operation(self.lived) == operation(self.read)

    @invariant()
    def they_are_the_same(self) -> None:
        assert self.lived.state() == self.read.state()


TestWrittenDown = WrittenDown.TestCase
TestWrittenDown.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
