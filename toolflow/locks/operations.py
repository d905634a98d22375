"""The operations of the lock store in a file: what may stand in its log, as values and as text.

Every line of the log is one operation of one process. Bodies are JSON; what is read is checked
before it is used, since anybody may have written to the file.

======  ==================================================================================
kind    body
======  ==================================================================================
join    process id, program name, name of the life file, identity, least number for leases
ask     owner, ancestors, keys read, keys written, units, capacities, label, may wait
end     number of the ticket: give it back, or give up waiting for it
hand    number of the ticket, next owner
poison  number of the ticket
gone    number of the process
state   the whole state at this point, in place of all earlier lines
======  ==================================================================================

Tickets and processes are numbered by the line of their ``ask`` and ``join``. Owners are numbered
by their process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, NamedTuple

from toolflow.scheduler.lock_ticket import LockRequest

_write: Final = json.JSONEncoder(separators=(",", ":")).encode


class OwnerName(NamedTuple):
    """An owner, as every process knows it.

    Attributes:
        process: The number of its process.
        number: Its number in there.
    """

    process: int
    number: int

    @staticmethod
    def of(owner: Hashable) -> OwnerName:
        """See an owner of the shared lock table as what it is."""
        assert isinstance(owner, OwnerName)
        return owner


class Operation(NamedTuple):
    """One line of the log.

    Attributes:
        seq: Its number: one more than that of the line before.
        process: The number of the process that wrote it.
        at: When, in seconds of the clock that all processes of a machine share.
        kind: See the module.
        body: See the module.
    """

    seq: int
    process: int
    at: float
    kind: str
    body: Any

    def row(self) -> tuple[int, int, float, str, str]:
        """The operation as it is written."""
        return (*self[:4], _write(self.body))


class Member(NamedTuple):
    """A process that takes part.

    Attributes:
        pid: Its process id, for people.
        name: The name of its program, for people.
        life: The name of its life file (see `toolflow.locks.life`).
        identity: Which process of which machine start it is (see `toolflow.locks.identity`).
    """

    pid: int
    name: str
    life: str
    identity: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.name})"


def ask_body(
    request: LockRequest, owner: int, ancestors: tuple[int, ...], *, wait: bool
) -> list[Any]:
    """The body of an ``ask``.

    Args:
        request: What is asked for.
        owner: The number of its owner.
        ancestors: Those of the owner's ancestors.
        wait: Whether it may wait.
    """
    return [
        owner,
        ancestors,
        request.reads,
        request.writes,
        dict(request.uses),
        dict(request.capacities),
        request.label or str(request.owner),
        wait,
    ]


def request_of(process: int, body: list[Any], label: str) -> LockRequest:
    """The request of an ``ask``, with owners that are the same in every process.

    Args:
        process: The number of the process that asked.
        body: The body of the ask.
        label: How the owner is called here.
    """
    owner, ancestors, reads, writes, uses, capacities, _, _ = body
    return LockRequest(
        OwnerName(process, owner),
        tuple(reads),
        tuple(writes),
        tuple(OwnerName(process, ancestor) for ancestor in ancestors),
        uses,
        capacities,
        label,
    )


def read(row: tuple[Any, ...]) -> Operation:
    """Read a line of the log.

    Raises:
        ValueError: If it is none.
    """
    seq, process, at, kind, body = row
    if not (is_number(seq) and is_number(process) and isinstance(at, (int, float))):
        raise ValueError(f"line {seq!r} of its log has no proper numbers")
    check = _BODIES.get(kind) if isinstance(kind, str) else None
    value: object = None
    try:
        value = json.loads(body)
    except (ValueError, TypeError, RecursionError):
        check = None
    if check is None or not check(value):
        raise ValueError(f"line {seq} of its log is no operation ({str(kind)[:20]!r})")
    return Operation(seq, process, float(at), kind, value)


def is_number(value: object) -> bool:
    """Whether a value is an integer of at least 0."""
    return type(value) is int and value >= 0


def is_list_of(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    """A check for lists whose items all pass another one."""
    return lambda value: isinstance(value, list) and all(map(fits, value))


def is_record(*fits: Callable[[object], bool]) -> Callable[[object], bool]:
    """A check for lists of fixed length, item by item."""
    return lambda value: (
        isinstance(value, list)
        and len(value) == len(fits)
        and all(fit(item) for fit, item in zip(fits, value, strict=True))
    )


def is_text(value: object) -> bool:
    """Whether a value is text."""
    return isinstance(value, str)


def is_flag(value: object) -> bool:
    """Whether a value is true or false."""
    return isinstance(value, bool)


def is_units(value: object) -> bool:
    """Whether a value tells units by name."""
    return isinstance(value, dict) and all(map(is_number, value.values()))


_JOIN: Final = is_record(is_number, is_text, is_text, is_text, is_number)
_ASK: Final = is_record(
    is_number,
    is_list_of(is_number),
    is_list_of(is_text),
    is_list_of(is_text),
    is_units,
    is_units,
    is_text,
    is_flag,
)
_BODIES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "join": _JOIN,
    "ask": _ASK,
    "end": is_number,
    "hand": is_record(is_number, is_number),
    "poison": is_number,
    "gone": is_number,
    "state": lambda value: isinstance(value, dict),
}
