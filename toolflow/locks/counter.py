"""The leases of one process in a lock store file: asking, giving back, and hearing of others.

Everything in here happens with the store's mutex held.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from pathlib import Path
from typing import Final

from toolflow.errors import LockLostError, LockStoreError, UsageError
from toolflow.locks.ear import Ear, Orders
from toolflow.locks.file_lease import FileLease
from toolflow.locks.operations import ask_body
from toolflow.locks.owners import OwnerNumbers
from toolflow.locks.participant import Participant, Wanted
from toolflow.locks.wakeup import Waiter
from toolflow.scheduler.lock_ticket import LockRequest

_FIRST_RETRY: Final = 0.05  # seconds, where something is owed: a full disk has room again some day
_LONGEST_RETRY: Final = 5.0


class Counter:
    """Where the tasks of this process get their leases.

    Args:
        path: The file.
        patience: Seconds to wait while other processes write.
        lines: How many lines the log has at least before a state takes their place.
        mutex: The store's; taken by the thread that listens.

    Attributes:
        closed: Whether it was closed.
        owners: The owners of this process, by number.

    Raises:
        LockStoreError: If the file cannot be used.
    """

    def __init__(self, path: Path, patience: float, lines: int, mutex: threading.Lock) -> None:
        self._path = path
        self._how = (patience, lines)
        self._mutex = mutex
        self._participant: Participant | None = Participant(path, patience, lines)
        self._inherited: Participant | None = None
        self.closed = False
        self._begin()

    def _begin(self) -> None:
        self.owners = OwnerNumbers()
        self._leases: dict[int, FileLease] = {}
        self._ear: Ear | None = None
        self._retry = 0.0

    def open(self) -> Participant:
        """The participant; opened anew after a fork.

        Raises:
            LockStoreError: If the store was closed, or the file cannot be used.
        """
        if self.closed:
            raise LockStoreError(f"{self._path}: the lock store was closed. Open it again.")
        if self._inherited is not None:
            # Before the file is opened anew: SQLite takes its own open files for this process's.
            self._inherited.database.close()
            self._inherited = None
        if self._participant is None:
            self._participant = Participant(self._path, *self._how)
        return self._participant

    def close(self) -> tuple[Participant | None, Ear | None]:
        """Stop everything; gives what still has to be ended, without the mutex."""
        participant, ear = self._participant, self._ear
        self.closed = True
        self._participant = self._ear = None
        self._fail_waiting(LockStoreError(f"{self._path}: the lock store was closed."))
        self._leases.clear()
        return participant, ear

    def after_fork(self) -> None:
        """Begin anew in a child process."""
        if self._participant is not None:
            self._inherited, self._participant = self._participant, None
            self._inherited.abandon()
        if self._ear is not None:
            self._ear.abandon()
        self._begin()

    # ---- asking and giving back ----

    def ask(self, request: LockRequest, waiter: Waiter | None) -> FileLease | None:
        """Ask for a lease.

        Args:
            request: What is asked for.
            waiter: The task that would wait; ``None``: nobody would.

        Returns:
            The lease, granted or waiting; ``None`` where it would have to wait and nobody would.

        Raises:
            LockCycleError: See `toolflow.locks.protocol.LockStore`.
            LockLostError: The same.
            UsageError: The same.
            LockStoreError: If the file cannot be used.
        """
        participant = self.open()
        _check(request)
        owners = [request.owner, *request.ancestors]
        number, *above = map(self.owners.take, owners)
        lease: FileLease | None = None
        try:
            body = ask_body(request, number, tuple(above), wait=waiter is not None)
            [effect] = participant.write(("ask", body))
            ticket = effect.ticket
            if ticket is not None and (ticket.granted or not ticket.done):
                lease = FileLease(request, ticket.number, owners, waiter)
                lease.fence = ticket.fence
                self._leases[ticket.number] = lease
                participant.own.add(ticket.number)
        except LockStoreError as error:
            self._is_lost(participant, error)
            raise
        finally:
            if lease is None:
                self.owners.give_back(owners)
            self._settle()
        if effect.error is not None:
            raise effect.error
        return lease

    def obstacles(self, lease: FileLease) -> tuple[str, ...]:
        """What a lease waits for, as phrases for people."""
        replica = self.open().replica
        ticket = replica.tickets.get(lease.number)
        return () if ticket is None else replica.table.obstacles(ticket)

    def give_back(self, lease: FileLease) -> None:
        """Give a lease back, or give up waiting for it."""
        if self._is_live(lease):
            self._drop(lease)
            self._tell(("end", lease.number))

    def hand_over(self, lease: FileLease, owner: Hashable) -> None:
        """Let a lease go on under another owner."""
        if self._is_live(lease) and lease.fence:
            number = self.owners.take(owner)
            lease.names.append(owner)
            lease.owner = owner
            self._tell(("hand", [lease.number, number]))

    def poison(self, lease: FileLease) -> None:
        """Give a holder up."""
        if self._is_live(lease) and lease.fence:
            self._tell(("poison", lease.number))

    def look(self) -> None:
        """See what others have done, and which of them have ended.

        Raises:
            LockStoreError: If the file cannot be read.
        """
        participant = self.open()
        try:
            participant.look()
            if participant.find_dead():
                participant.write(join=False)
        except LockStoreError as error:
            if self._is_lost(participant, error):
                raise
            participant.look()  # that it cannot be written to is no reason not to read it
        finally:
            self._settle()

    def _is_live(self, lease: FileLease) -> bool:
        return self._leases.get(lease.number) is lease

    def _drop(self, lease: FileLease) -> None:
        del self._leases[lease.number]
        self.owners.give_back(lease.names)
        if self._participant is not None:
            self._participant.own.discard(lease.number)

    def _tell(self, wanted: Wanted) -> None:
        """Write what must not be lost, now or later."""
        participant = self.open()
        try:
            participant.write(wanted, join=False)
        except LockStoreError as error:
            if not self._is_lost(participant, error):
                participant.owed.append(wanted)
                self._retry = self._retry or _FIRST_RETRY
                self.listen()
        self._settle()

    # ---- hearing of others ----

    def listen(self) -> None:
        """See to it that the thread runs, and watches all processes that take part."""
        participant = self.open()
        ear = self._ear
        if ear is not None and ear.life is not participant.life:
            self._ear = None
            ear.poke()  # its orders will be that it is over
        if self._ear is not None:
            if self._retry or not participant.others() <= self._ear.covers:
                self._ear.poke()
        elif participant.life is not None:
            self._ear = Ear(participant.folder, participant.life, self._hear)
            self._ear.start()

    def _hear(self, ear: Ear, ended: list[int], trouble: LockStoreError | None) -> Orders | None:
        with self._mutex:
            participant = self._participant
            if participant is None or self._ear is not ear:
                return None
            participant.dead.update(ended)
            self._catch_up(participant)
            if trouble is not None:
                self._fail_waiting(trouble)
            self._settle()
            watch = participant.others()
            if not any(lease.waits for lease in self._leases.values()):
                watch &= ear.covers  # nobody needs the others
            members = participant.replica.members
            return Orders({number: members[number] for number in watch}, self._retry or None)

    def _catch_up(self, participant: Participant) -> None:
        try:
            if participant.dead or participant.owed:
                participant.write(join=False)
            else:
                participant.look()
            self._retry = 0.0
        except LockStoreError as error:
            if self._is_lost(participant, error):
                self._retry = 0.0
            else:
                self._retry = min(max(2 * self._retry, _FIRST_RETRY), _LONGEST_RETRY)

    def _settle(self) -> None:
        """Tell those who wait what has come of their requests."""
        participant = self._participant
        if participant is None:
            return
        changed, participant.changed = participant.changed, []
        if participant.shaken:
            participant.shaken = False
            changed = list(self._leases)
        unheard = []
        for lease in filter(None, map(self._leases.get, changed)):
            ticket = participant.replica.tickets.get(lease.number)
            if ticket is None:
                self._lose(lease)
            elif ticket.granted and lease.waits:
                lease.fence = ticket.fence
                if lease.waiter is not None and not lease.waiter.wake():
                    unheard.append(lease)
            elif ticket.error is not None and lease.waits:
                lease.fail(ticket.error)
        for lease in unheard:
            # Its event loop is closed, nobody will ever use the grant: it is passed on.
            self.give_back(lease)

    def _lose(self, lease: FileLease) -> None:
        if lease.waits:
            lease.fail(LockLostError(f"{self._path}: others took this process for dead."))
        self._drop(lease)

    def _fail_waiting(self, error: LockStoreError) -> None:
        for lease in self._leases.values():
            if lease.waits:
                lease.fail(error)

    def _is_lost(self, participant: Participant, error: LockStoreError) -> bool:
        """Whether the file is of no use any more; then nobody may wait for anything in it."""
        if participant.database.lost is None:
            return False
        if not participant.told:
            participant.told = True
            self._fail_waiting(error)
            participant.alarm()
        return True


def _check(request: LockRequest) -> None:
    request.units()
    for key in request.reads + request.writes:
        if not isinstance(key, str):
            raise UsageError(f"keys: {key!r} is no key. Use text.")
