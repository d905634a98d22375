"""One process among those that share a lock store file: it reads the log, and adds to it.

Reading and adding are one transaction: a line is added only after all earlier ones were applied, so
that what it does is known when it is written. It is applied only once it is written, so that a full
disk changes nothing. What cannot be written and must not be lost (that something is given back) is
*owed*, and goes with the next transaction that succeeds.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from toolflow.errors import LockStoreError
from toolflow.locks import life as lives
from toolflow.locks.database import Database
from toolflow.locks.identity import own_identity, program_name
from toolflow.locks.operations import Operation, read
from toolflow.locks.replica import Effect, Replica, process_of
from toolflow.locks.snapshot import restore, state_of

Wanted = tuple[str, Any]


def least_fence() -> int:
    """A number that leases have exceeded by now in no earlier file of this name.

    Fencing numbers grow on although the file was removed, or the machine lost its power before the
    last lines were on the disk: nobody takes a lease every microsecond.
    """
    return time.time_ns() // 1_000


class Participant:
    """This process.

    Args:
        path: The file of the lock store.
        patience: Seconds to wait while other processes write.
        lines: How many lines the log has at least before a state takes their place.

    Attributes:
        folder: Where the pipes of all processes are.
        replica: The state as far as it was read.
        own: The numbers of the tickets of this process that somebody here knows of.
        changed: Those that were granted or failed, and nobody has been told yet.
        owed: What has to be written and could not be so far.
        dead: Processes that have ended and are not written off yet.
        shaken: Whether tickets may have changed, or be gone, that ``changed`` does not tell of.
        told: Whether everybody was told that the file is of no use any more.

    Raises:
        LockStoreError: If the file cannot be used.
    """

    def __init__(self, path: Path, patience: float, lines: int) -> None:
        self.folder = Path(f"{path}-live")
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise LockStoreError(f"{self.folder}: {error.strerror}.") from error
        self.database = Database(path, self.folder, patience)
        self.replica = Replica()
        self.life: lives.Life | None = None
        self.own: set[int] = set()
        self.changed: list[int] = []
        self.owed: list[Wanted] = []
        self.dead: set[int] = set()
        self.shaken = False
        self.told = False
        self._whole = False
        self._wake: set[int] = set()
        self._lines = lines
        self._compact_at = lines

    @property
    def me(self) -> int:
        """The number of this process; 0 while it has not joined."""
        return self.replica.me

    def look(self) -> None:
        """Apply what others have written.

        Raises:
            LockStoreError: If the file cannot be read, or is another one by now.
        """
        self.database.check()
        self._look()

    def write(self, *wanted: Wanted, join: bool = True) -> list[Effect]:
        """Add lines, after all that others have written.

        Args:
            wanted: The kinds and bodies of the lines.
            join: Whether this process takes part from now on, if it does not yet.

        Returns:
            What each of them did.

        Raises:
            LockStoreError: If that is not possible; nothing was added then.
        """
        made: lives.Life | None = None
        self.database.begin()
        try:
            self._look()
            lines = self._due()
            if join and not self.me:
                made, line = self._joining()
                lines.insert(0, line)
            numbered = self._numbered([*lines, *wanted])
            self.database.append(numbered)
            self.database.commit()
        except BaseException:
            if made is not None:
                # The files stay, for it may have joined: then others see that it has ended.
                made.abandon()
                self.life = None
            self.database.roll_back()
            raise
        for number in self.dead & self.replica.members.keys():
            lives.remove(self.folder, self.replica.members[number].life)
        self.owed.clear()
        self.dead.clear()
        effects = self._apply(numbered, mine=True)
        self._compact()
        self.wake_others()
        return effects[len(lines) :]

    def wake_others(self) -> None:
        """Wake the processes for which something has changed."""
        members = self.replica.members
        for number in sorted(self._wake & members.keys()):
            if number != self.me:
                lives.wake(self.folder, members[number].life)
        self._wake.clear()

    def alarm(self) -> None:
        """Wake everybody, since something is wrong with the file."""
        for name in lives.names(self.folder):
            lives.wake(self.folder, name)

    def find_dead(self) -> bool:
        """Look which other processes that hold something have ended; tells whether any has."""
        for number in self.replica.busy() - {self.me} - self.dead:
            fd = lives.watch_member(self.folder, self.replica.members[number])
            if fd is None:
                self.dead.add(number)
            else:
                os.close(fd)
        return bool(self.dead)

    def others(self) -> frozenset[int]:
        """The numbers of all other processes that take part."""
        return frozenset(self.replica.members.keys() - {self.me})

    def abandon(self) -> None:
        """Let go of the pipes, and leave their files: to others this is the end of the process.

        In a child process this does nothing to its parent.
        """
        if self.life is not None:
            self.life.abandon()

    def leave(self) -> None:
        """Take part no longer; everything is given back."""
        try:
            if self.me:
                self.write(("gone", self.me))
            self._part_with_life()
        except LockStoreError:
            self.abandon()  # its end says the same to whoever can read the file
        self.database.close()

    def _look(self) -> None:
        lines = self.database.since(self.replica.position) if self._whole else None
        if lines is not None:
            self._apply(lines)
        else:
            first, *later = self.database.whole()
            self._begin_with(first)
            self._apply(later)
        if self.me and self.me not in self.replica.members:
            self._leave_behind()

    def _due(self) -> list[Wanted]:
        dead = sorted(self.dead & self.replica.members.keys())
        return [*(("gone", number) for number in dead), *self.owed]

    def _numbered(self, wanted: list[Wanted]) -> list[Operation]:
        now, first = time.monotonic(), self.replica.position + 1
        joins = bool(wanted) and wanted[0][0] == "join"
        process = first if joins else self.me
        return [
            Operation(first + place, process, now, kind, body)
            for place, (kind, body) in enumerate(wanted)
        ]

    def _joining(self) -> tuple[lives.Life, Wanted]:
        known = {member.life for member in self.replica.members.values()}
        for name in lives.names(self.folder) - known:
            if not lives.lives(self.folder, name):
                lives.remove(self.folder, name)
        self.database.keep_from_others()
        self._part_with_life()
        made = self.life = lives.Life(self.folder, self.database.files)
        body = [os.getpid(), program_name(), made.name, own_identity(), least_fence()]
        return made, ("join", body)

    def _part_with_life(self) -> None:
        if self.life is not None:
            self.life.close()
            self.life = None

    def _apply(self, lines: list[Operation], *, mine: bool = False) -> list[Effect]:
        effects: list[Effect] = []
        if not lines:
            return effects
        self._whole = False  # an interrupt from the keyboard would leave it half done
        for line in lines:
            try:
                effect = self.replica.apply(line)
            except (LookupError, AssertionError, ValueError, TypeError, AttributeError) as error:
                raise self.database.spoilt(f"line {line.seq} of its log cannot be") from error
            effects.append(effect)
            self._note(line, effect, mine=mine)
        self._whole = True
        return effects

    def _note(self, line: Operation, effect: Effect, *, mine: bool) -> None:
        replica = self.replica
        if line.kind == "join":
            if self.life is not None and line.body[2] == self.life.name:
                replica.me = line.seq
            if mine:
                self._wake |= replica.waiting()
        elif line.kind == "gone" and mine:
            self._wake.discard(line.body)
        if line.kind == "ask" and line.process == self.me and not (mine or line.seq in self.own):
            # It was written, and an interrupt came before anybody here heard of it.
            self.owed.append(("end", line.seq))
        for ticket in effect.changed:
            if process_of(ticket) == self.me:
                self.changed.append(ticket.number)
            elif mine:
                self._wake.add(process_of(ticket))

    def _begin_with(self, line: Operation) -> None:
        self._whole = False
        try:
            self.replica, granted = restore(line, self.me)
        except ValueError as error:
            raise self.database.spoilt(str(error)) from error
        self.shaken = True
        self._wake |= {process_of(self.replica.tickets[number]) for number in granted}
        self._compact_at = line.seq + self._lines
        self._whole = True

    def _compact(self) -> None:
        """Put the whole state in the place of many lines; costs every line next to nothing."""
        replica = self.replica
        if replica.position < max(self._compact_at, replica.floor + 4 * len(replica.tickets)):
            return
        self._compact_at = replica.position + self._lines  # if it cannot be written: later again
        try:
            self.database.begin()
        except LockStoreError:
            return
        try:
            self._look()
            [line] = self._numbered([("state", state_of(self.replica))])
            self.database.append([line])
            self.database.cut(line.seq)
            self.database.commit()
        except LockStoreError:
            self.database.roll_back()
            return
        except BaseException:
            self.database.roll_back()
            raise
        self._begin_with(read(line.row()))  # just as the others will

    def _leave_behind(self) -> None:
        """Others took this process for dead, and whatever it held is lost."""
        self.replica.me = 0
        self.owed.clear()
        self.shaken = True
        self._part_with_life()
