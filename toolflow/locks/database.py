"""The file of the machine-wide lock store: an SQLite database that holds one log.

All writing happens in transactions that take the database's write lock first, so a line is written
only by somebody who has read all lines before it. A process that dies in the middle of one leaves
nothing of it behind.

Before anything is written, the file and its two companions (SQLite's ``-wal`` and ``-shm``) must
still be those that were opened: who goes on with a file that was removed or replaced would work
with other holders than everybody else.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Final

from toolflow.errors import LockStoreError
from toolflow.locks.database_files import alone_in, look, name_of
from toolflow.locks.life import strangers
from toolflow.locks.operations import Operation, read
from toolflow.locks.snapshot import EMPTY_STATE

FORMAT: Final = 1
_APPLICATION: Final = 0x74666C6B  # tells the file from other SQLite databases
_PAGES: Final = 4000  # of the -wal file, before they are moved to the database, which takes long

_TABLE = """
CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    process INTEGER NOT NULL,
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
)
"""
_APPEND = "INSERT INTO log VALUES (?, ?, ?, ?, ?)"
# The line at the position itself tells whether it is still there; nothing else of it is needed.
_SINCE = """
SELECT seq, process, at, kind, CASE WHEN seq > ?1 THEN body END FROM log WHERE seq >= ?1
ORDER BY seq
"""


class Database:
    """The open file.

    Args:
        path: Where it is; it is made if it is not there.
        folder: A folder beside it, which is there.
        patience: Seconds to wait while other processes write.

    Attributes:
        lost: Why the file cannot be used any more, or ``None``.
        files: Which files were opened: the database and its companions, as one word.

    Raises:
        LockStoreError: If it cannot be used.
    """

    def __init__(self, path: Path, folder: Path, patience: float) -> None:
        self.path = path
        self.lost: LockStoreError | None = None
        self._folder = folder
        self._patience = patience
        with alone_in(folder, path, patience):
            self.files = name_of(look(path))
            self.keep_from_others()
            try:
                # Autocommit: transactions are opened by hand, with the write lock.
                self._connection = sqlite3.connect(
                    path, timeout=patience, isolation_level=None, check_same_thread=False
                )
            except sqlite3.Error as error:
                raise self._error(error) from error
            try:
                self._open()
            except BaseException:
                self._connection.close()
                raise
            self._seen = look(path)
            self.files = name_of(self._seen)

    def since(self, position: int) -> list[Operation] | None:
        """The lines after one.

        Returns:
            ``None`` if that line is there no more: then the state has to be read anew.

        Raises:
            LockStoreError: If the file cannot be read.
        """
        rows = self._execute(_SINCE, (position,)).fetchall()
        if not rows or rows[0][0] != position:
            return None
        if len(rows) == 1:
            return []
        lines = self._operations(rows[1:], after=position)
        if any(line.kind == "state" for line in lines):
            raise self.spoilt("there is a state in the middle of its log")
        return lines

    def whole(self) -> list[Operation]:
        """All lines; the first one holds a state.

        Raises:
            LockStoreError: If the file cannot be read.
        """
        rows = self._execute("SELECT * FROM log ORDER BY seq").fetchall()
        operations = self._operations(rows)
        if [place for place, one in enumerate(operations) if one.kind == "state"] != [0]:
            raise self.spoilt("its log does not begin with its only state")
        return operations

    def begin(self) -> None:
        """Begin to write: nobody else can until `commit` or `roll_back`.

        Raises:
            LockStoreError: If that is not possible.
        """
        self._execute("BEGIN IMMEDIATE")
        try:
            self.check()
        except BaseException:
            self.roll_back()
            raise

    def commit(self) -> None:
        """Write all of it, or nothing if that is not possible."""
        self._execute("COMMIT")

    def roll_back(self) -> None:
        """Write nothing of it."""
        if self._connection.in_transaction:
            self._execute("ROLLBACK")

    def append(self, operations: list[Operation]) -> None:
        """Add lines; between `begin` and `commit`."""
        for one in operations:
            self._execute(_APPEND, one.row())

    def cut(self, before: int) -> None:
        """Drop all lines before one; between `begin` and `commit`."""
        self._execute("DELETE FROM log WHERE seq < ?", (before,))

    def check(self) -> None:
        """See whether the files are still those that were opened.

        Raises:
            LockStoreError: If they are not.
        """
        if self.lost is not None:
            raise self.lost
        try:
            same = look(self.path) == self._seen
        except OSError as error:
            raise LockStoreError(f"{self.path}: {error.strerror}.") from error
        if not same:
            self.lost = LockStoreError(
                f"{self.path}: the file was removed or replaced while it was in use. Keys held by "
                "way of it are kept by nobody now; end the processes that use it, and start anew."
            )
            raise self.lost

    def keep_from_others(self) -> None:
        """See to it that nobody works with files of these names that were here before.

        Raises:
            LockStoreError: If somebody does: then keys may be held that these files do not know of.
        """
        if strangers(self._folder, self.files):
            raise LockStoreError(
                f"{self.path}: the file was removed or replaced, and a process still uses the one "
                "that was there before. End that process first."
            )

    def spoilt(self, why: str) -> LockStoreError:
        """Note that the content cannot be used; gives the error."""
        self.lost = LockStoreError(
            f"{self.path}: this is no usable lock store: {why}. End the processes that use it, and "
            "remove the file."
        )
        return self.lost

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _execute(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        try:
            return self._connection.execute(sql, values)
        except sqlite3.Error as error:
            raise self._error(error) from error

    def _open(self) -> None:
        execute = self._execute
        application, version = (
            execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        empty = execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if (application, version) != (_APPLICATION, FORMAT):
            if application == _APPLICATION:
                raise LockStoreError(
                    f"{self.path}: the lock store has format {version}. This version of toolflow "
                    f"reads format {FORMAT}; let all processes use the same version."
                )
            if not empty or application:
                raise LockStoreError(
                    f"{self.path}: this is a database of something else. Name another file."
                )
            self._make()
        if execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise LockStoreError(
                f"{self.path}: the file system cannot be used by several processes at once. "
                "Name a file on a local disk."
            )
        execute("PRAGMA synchronous = NORMAL")
        execute(f"PRAGMA wal_autocheckpoint = {_PAGES}")
        execute("SELECT max(seq) FROM log").fetchone()

    def _make(self) -> None:
        execute = self._execute
        execute("PRAGMA journal_mode = WAL")
        execute("BEGIN IMMEDIATE")
        execute(_TABLE)
        execute(_APPEND, Operation(0, 0, 0.0, "state", EMPTY_STATE).row())
        execute(f"PRAGMA application_id = {_APPLICATION}")
        execute(f"PRAGMA user_version = {FORMAT}")
        execute("COMMIT")
        self.path.chmod(0o600)

    def _operations(self, rows: list[Any], after: int | None = None) -> list[Operation]:
        try:
            operations = [read(row) for row in rows]
        except ValueError as error:
            raise self.spoilt(str(error)) from error
        for one in operations:
            if after is not None and one.seq != after + 1:
                raise self.spoilt(f"line {after + 1} of its log is missing")
            after = one.seq
        return operations

    def _error(self, error: sqlite3.Error) -> LockStoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the finer part
        if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            return self.spoilt(str(error))
        if isinstance(error, sqlite3.ProgrammingError):
            return LockStoreError(f"{self.path}: the lock store is closed.")
        why = {
            sqlite3.SQLITE_FULL: "no room is left to write to it",
            sqlite3.SQLITE_READONLY: "it may not be written to",
            sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
            sqlite3.SQLITE_PERM: "access is not allowed",
            sqlite3.SQLITE_BUSY: f"another process has been writing for {self._patience:g} s",
        }.get(code, str(error))
        return LockStoreError(f"{self.path}: {why}. No key was taken.")
