"""The journal as a file that is written: lines are appended, and never lost or half there.

What could not be written is kept, and is written as soon as there is room again; what was written
in part is cut off before that, at the latest when the journal is opened the next time. So at every
moment the file holds whole lines, in the order in which things happened, up to some moment.
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self, get_args

from toolflow.errors import JournalError, UsageError
from toolflow.model.turn import Notice
from toolflow.recording.journal.disk import Disk, DiskMaker, FileDisk
from toolflow.recording.journal.found import header, look
from toolflow.recording.journal.lock import WriteLock
from toolflow.recording.journal.segments import segment_path

if TYPE_CHECKING:
    from toolflow.policy import Redactor

Durability = Literal["none", "batch", "strict"]
SEGMENT: Final = 64 << 20  # bytes of a file before a new turn goes into the next one


class Journal:
    """A journal that is open for writing; `open_journal` makes one. It is a context manager.

    Args:
        path: Its first file.
        durability: See `open_journal`.
        redactor: What masks secrets in what is written.
        about: What the header says of the run, JSON values.
        segment: Bytes of a file before a new turn goes into the next one.
        make_disk: Opens a file.

    Attributes:
        path: Its first file.
        durability: As given.
        redactor: As given.
        notices: What was odd when it was opened.
        policies: Digests of policies whose text it holds.

    Raises:
        JournalError: If it cannot be opened, or a living process writes it.
        UsageError: If the durability is none of the three.
    """

    def __init__(
        self,
        path: Path,
        *,
        durability: Durability = "batch",
        redactor: Redactor | None = None,
        about: Mapping[str, Any] | None = None,
        segment: int = SEGMENT,
        make_disk: DiskMaker = FileDisk,
    ) -> None:
        if durability not in get_args(Durability):
            raise UsageError(f"durability is {durability!r}. Use none, batch or strict.")
        self.path = path
        self.durability = durability
        self.redactor = redactor
        self.notices: tuple[Notice, ...] = ()
        self.policies: set[str] = set()
        self._about = dict(about or {})
        self._segment = segment
        self._make_disk = make_disk
        self._mutex = threading.Lock()  # nested turns may run in event loops of other threads
        self._process = os.getpid()
        self._pending = b""  # what is still to be written
        self._torn = False  # whether there are bytes behind the last whole line
        self._closed = False
        self._written = self._synced = 0  # bytes since it was opened
        self._turns = 0
        self._disk: Disk
        self._lock: WriteLock | None = None
        self._open()

    # ---- opening ----

    def _open(self) -> None:
        try:
            self._disk = self._make_disk(self.path)
            try:
                self._lock = WriteLock(self.path)
                self._look()
                self._write()
            except BaseException:
                self.abandon()
                raise
        except BlockingIOError:
            raise JournalError(
                f"{self.path}: another process, or another part of this one, writes this journal. "
                "Wait for its end, or use another journal."
            ) from None
        except OSError as error:
            raise self._failed(error) from error

    def _look(self) -> None:
        """See what is there, and have cut off what was torn by the end of a process."""
        found = look(self.path)
        self._number, self._good, self._torn = found.segment, found.good, found.torn is not None
        self._turns, self.policies = found.turns, set(found.policies)
        self.notices = () if found.torn is None else (found.torn,)
        if self._number > 1:
            self._disk.close()
            self._disk = self._make_disk(segment_path(self.path, self._number))
        if not self._good:
            self._pending = header(self._number, self._about)

    # ---- writing ----

    @property
    def behind(self) -> bool:
        """Whether something was written that may not be on the disk itself yet."""
        return self._synced < self._written

    @property
    def written(self) -> int:
        """How many bytes were written since it was opened."""
        return self._written

    @property
    def synced(self) -> int:
        """How many of them are on the disk itself for certain."""
        return self._synced

    def next_turn(self) -> int:
        """The number of a further turn; no other turn of the journal has it."""
        with self._mutex:
            self._turns += 1
            return self._turns

    def add(self, text: str = "", *, only_now: str = "", begins: bool = False) -> None:
        """Write lines.

        Args:
            text: Whole lines of JSON. What of them cannot be written now is kept, and
                written with the next ones that can be.
            only_now: Further ones, which say what is about to be done. If they cannot be written
                now, it will not be done, and they are dropped.
            begins: Whether a turn begins with them, so that they may go into a new file.

        Raises:
            JournalError: If they cannot be written now.
        """
        with self._mutex:
            self._check()
            kept = self._pending + text.encode()
            try:
                if begins and self._good >= self._segment and not kept:
                    self._rotate()
                    kept = self._pending
                self._pending = kept + only_now.encode()
                self._write()
            except OSError as error:
                self._pending = kept
                raise self._failed(error) from error

    def sync(self) -> None:
        """Have on the disk itself what was written; it blocks.

        Raises:
            JournalError: If that cannot be done.
        """
        target = self._written
        if target <= self._synced:
            return
        try:
            self._disk.sync()
        except OSError as error:
            raise self._failed(error) from error
        self._synced = max(self._synced, target)

    def _write(self) -> None:
        if self._torn:
            self._disk.cut(self._good)
            self._torn = False
        data = self._pending
        while data:
            self._torn = True
            taken = self._disk.write(data)
            if taken <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            data = data[taken:]
        self._torn = False
        self._good += len(self._pending)
        self._written += len(self._pending)
        self._pending = b""

    def _rotate(self) -> None:
        if self.durability != "none":
            self._disk.sync()
        disk = self._make_disk(segment_path(self.path, self._number + 1))
        self._disk.close()
        self._disk = disk
        self._number += 1
        self._good = 0
        self._pending = header(self._number, self._about)

    def _check(self) -> None:
        if self._closed:
            raise JournalError(f"{self.path}: this journal is closed. Open it again.")
        if os.getpid() != self._process:
            raise JournalError(
                f"{self.path}: this journal is of another process, which goes on writing it. "
                "Use another one after a fork."
            )

    def _failed(self, error: OSError) -> JournalError:
        if self._torn:
            with suppress(OSError):  # else before the next write, or when it is opened again
                self._disk.cut(self._good)
                self._torn = False
        said = (error.strerror or str(error)).lower()
        return JournalError(f"{self.path}: the journal cannot be written: {said}.")

    # ---- the end ----

    def over(self, status: str) -> None:
        """Write how the process ended that writes it, for those who list runs.

        Args:
            status: A word, such as ``done``.

        Raises:
            JournalError: If it cannot be written.
        """
        self.add(json.dumps({"line": "over", "status": status}, separators=(",", ":")) + "\n")

    def close(self) -> None:
        """Write what is left, and let another writer have it; a second time nothing happens.

        Raises:
            JournalError: If something is left that cannot be written.
        """
        if self._closed:
            return
        try:
            if self._pending or self._torn:
                self.add("")
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the files as they are."""
        self._closed = True
        with suppress(OSError):
            self._disk.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
