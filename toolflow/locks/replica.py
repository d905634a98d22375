"""The state of the lock store in a file, as every process works it out from the log.

It is pure: the same lines give the same state in every process, since the lock table decides
nothing by clock or chance. So circles, re-entrancy, fencing numbers and the order of grants are
those of the table, and only the log has to be agreed on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from toolflow.errors import LockCycleError, LockLostError, ToolflowError, UsageError
from toolflow.locks.operations import Member, Operation, OwnerName, request_of
from toolflow.scheduler.lock_durable import DurableTable
from toolflow.scheduler.lock_ticket import Ticket


class Effect(NamedTuple):
    """What an operation did.

    Attributes:
        changed: Tickets that were granted, or failed while they waited.
        ticket: The ticket of an ``ask``.
        error: Why an ``ask`` was refused, or ``None``.
    """

    changed: list[Ticket]
    ticket: Ticket | None = None
    error: ToolflowError | None = None


class Replica:
    """The state after a number of lines.

    Attributes:
        position: The number of the last line that was applied; -1 before the first.
        floor: The number of the line with the whole state that it began with.
        me: The number of this process; 0 while it has not joined. It only decides what people see.
        members: The processes that take part, by number.
        tickets: The live tickets by number, and those that failed until their process has seen it.
        table: The lock table of the live ones.
    """

    def __init__(self) -> None:
        self.position = -1
        self.floor = -1
        self.me = 0
        self.members: dict[int, Member] = {}
        self.tickets: dict[int, Ticket] = {}
        self.table = DurableTable()
        self._kinds: Mapping[str, Callable[[Operation], Effect]] = {
            "join": self._join,
            "ask": self._ask,
            "end": self._end,
            "hand": self._hand,
            "poison": self._poison,
            "gone": self._gone,
        }

    def apply(self, operation: Operation) -> Effect:
        """Apply the next line.

        Args:
            operation: Any kind but ``state``, which `toolflow.locks.snapshot` reads.
        """
        effect = self._kinds[operation.kind](operation)
        self.position = operation.seq
        for ticket in effect.changed:
            ticket.since = operation.at
        return effect

    def waiting(self) -> set[int]:
        """The processes of which a ticket waits."""
        return {process_of(one) for one in self.tickets.values() if not (one.granted or one.done)}

    def busy(self) -> set[int]:
        """The processes that hold something or wait for it."""
        return {process_of(one) for one in self.tickets.values()}

    def label_of(self, process: int, label: str) -> str:
        """How an owner is called here: those of other processes together with their process."""
        member = self.members.get(process)
        return label if process == self.me or member is None else f"{label} of {member}"

    def _join(self, operation: Operation) -> Effect:
        *member, fence = operation.body
        self.members[operation.seq] = Member(*member)
        self.table.raise_fence(fence)
        return Effect([])

    def _ask(self, operation: Operation) -> Effect:
        process, body = operation.process, operation.body
        if process not in self.members:
            return Effect([], None, LockLostError("The process was taken for dead."))
        request = request_of(process, body, self.label_of(process, body[6]))
        ticket: Ticket | None = None
        error: ToolflowError | None = None
        try:
            ticket = self.table.ask_as(operation.seq, request, wait=body[7])
        except (LockCycleError, LockLostError, UsageError) as refused:
            error = refused
        else:
            ticket.since = operation.at
            if not ticket.done:
                self.tickets[ticket.number] = ticket
        return Effect(self.table.take_late(), ticket, error)

    def _end(self, operation: Operation) -> Effect:
        ticket = self.tickets.pop(operation.body, None)
        return Effect([] if ticket is None else self._let_go(ticket))

    def _hand(self, operation: Operation) -> Effect:
        number, owner = operation.body
        ticket = self.tickets.get(number)
        if ticket is None:
            return Effect([])
        return Effect(self.table.hand_over(ticket, OwnerName(process_of(ticket), owner)))

    def _poison(self, operation: Operation) -> Effect:
        ticket = self.tickets.get(operation.body)
        return Effect([] if ticket is None else self.table.poison(ticket))

    def _gone(self, operation: Operation) -> Effect:
        gone = operation.body
        self.members.pop(gone, None)
        theirs = [one for one in self.tickets.values() if process_of(one) == gone]
        changed: list[Ticket] = []
        # First those that wait, so that nothing is granted to them; then nested calls first.
        for ticket in sorted(theirs, key=lambda one: (one.granted, -one.fence, -one.number)):
            del self.tickets[ticket.number]
            changed += self._let_go(ticket)
        changed = [one for one in changed if process_of(one) != gone]
        return Effect(sorted(changed))

    def _let_go(self, ticket: Ticket) -> list[Ticket]:
        return self.table.release(ticket) if ticket.granted else self.table.cancel(ticket)


def process_of(ticket: Ticket) -> int:
    """The process that a ticket belongs to."""
    return OwnerName.of(ticket.owner).process
