"""The whole state of the lock store in a file, as one line that stands for all earlier ones.

Whoever writes it goes on from it like everybody else, so that all processes have put the same
tickets together at the same point of the log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolflow.errors import LockCycleError, LockLostError, RunError
from toolflow.locks.operations import (
    Member,
    Operation,
    OwnerName,
    ask_body,
    is_flag,
    is_list_of,
    is_number,
    is_record,
    is_text,
    is_units,
    request_of,
)
from toolflow.locks.replica import Replica, process_of
from toolflow.scheduler.lock_durable import Standing
from toolflow.scheduler.lock_ticket import Ticket

EMPTY_STATE: Final = {"fence": 0, "members": [], "tickets": []}

_ERRORS: Final[Mapping[str, type[RunError]]] = {
    "cycle": LockCycleError,
    "lost": LockLostError,
}


def state_of(replica: Replica) -> dict[str, Any]:
    """Write a state down.

    Args:
        replica: The state.
    """
    return {
        "fence": replica.table.fence,
        "members": [[number, *member] for number, member in sorted(replica.members.items())],
        "tickets": [_ticket_out(replica, one) for _, one in sorted(replica.tickets.items())],
    }


def restore(operation: Operation, me: int) -> tuple[Replica, set[int]]:
    """Put a state together again.

    Args:
        operation: The line with the state.
        me: The number of this process, or 0.

    Returns:
        The state, and the numbers of tickets that were granted in the course of it.

    Raises:
        ValueError: If the state does not fit together.
    """
    body = operation.body
    if not (body.keys() == EMPTY_STATE.keys() and all(_FITS[k](v) for k, v in body.items())):
        raise ValueError(f"line {operation.seq} of its log is no state")
    replica = Replica()
    replica.me = me
    replica.members = {number: Member(*member) for number, *member in body["members"]}
    standing: dict[Ticket, Standing] = {}
    for saved in body["tickets"]:
        if saved[1] not in replica.members:
            raise ValueError(f"line {operation.seq} of its log has a ticket of nobody")
        ticket = _ticket_in(replica, saved)
        if ticket.error is None:
            keys, units, blockers = saved[-1]
            standing[ticket] = Standing(_tuples(keys), _tuples(units), tuple(blockers))
        replica.tickets[ticket.number] = ticket
    changed = replica.table.put_together(standing, number=operation.seq, fence=body["fence"])
    for ticket in changed:
        ticket.since = operation.at
    replica.position = replica.floor = operation.seq
    return replica, {ticket.number for ticket in changed}


def _ticket_out(replica: Replica, ticket: Ticket) -> list[Any]:
    request = ticket.request
    process = process_of(ticket)
    label = request.label.removesuffix(replica.label_of(process, ""))
    owner, *ancestors = (OwnerName.of(one).number for one in (request.owner, *request.ancestors))
    standing = Standing() if ticket.error is not None else replica.table.standing_of(ticket)
    return [
        ticket.number,
        process,
        ask_body(request._replace(label=label), owner, tuple(ancestors), wait=True),
        OwnerName.of(ticket.owner).number,
        ticket.fence,
        ticket.poisoned,
        ticket.since,
        _error_out(ticket.error),
        list(standing),
    ]


def _ticket_in(replica: Replica, saved: list[Any]) -> Ticket:
    number, process, body, owner, fence, poisoned, since, error, _ = saved
    ticket = Ticket(number, request_of(process, body, replica.label_of(process, body[6])))
    ticket.owner = OwnerName(process, owner)
    ticket.fence = fence
    ticket.granted = bool(fence)
    ticket.poisoned = poisoned
    ticket.since = since
    ticket.error = _ERRORS[error[0]](error[1]) if error else None
    ticket.done = bool(error)
    return ticket


def _error_out(error: RunError | None) -> list[str] | None:
    if error is None:
        return None
    return ["cycle" if isinstance(error, LockCycleError) else "lost", str(error)]


def _is_error(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, list) and is_record(is_text, is_text)(value) and value[0] in _ERRORS


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float))


def _tuples(lists: list[list[Any]]) -> tuple[Any, ...]:
    return tuple(map(tuple, lists))


_NUMBERS: Final = is_list_of(is_number)
_TEXTS: Final = is_list_of(is_text)
_FITS: Final = {
    "fence": is_number,
    "members": is_list_of(is_record(is_number, is_number, is_text, is_text, is_text)),
    "tickets": is_list_of(
        is_record(
            is_number,
            is_number,
            is_record(is_number, _NUMBERS, _TEXTS, _TEXTS, is_units, is_units, is_text, is_flag),
            is_number,
            is_number,
            is_flag,
            _is_time,
            _is_error,
            is_record(
                is_list_of(is_record(is_number, is_text, is_flag)),
                is_list_of(is_record(is_number, is_text, is_number)),
                _NUMBERS,
            ),
        )
    ),
}
