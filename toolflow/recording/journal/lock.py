"""One writer for a journal: a lock on its first file, which ends with its process (spec 10.1).

The system drops the lock when the process ends, however it does, so a journal that is not locked
was left by a process that has ended. ``flock`` rather than POSIX record locks: those are lost as
soon as the process closes the file anywhere, as it does whenever it reads its own journal.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakSet

_TRIES: Final = 5  # a reader that looks whether there is a writer holds the lock for a moment
_PAUSE: Final = 0.01
_FAR: Final = 1 << 40  # the place of the one byte that is locked on Windows, behind all others
_WINDOWS: Final = os.name == "nt"


class WriteLock:
    """The right to write a journal.

    Args:
        path: The journal's first file; it must be there.

    Raises:
        BlockingIOError: If a living process has it.
        OSError: If the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._fd = -1
        fd = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
        try:
            _wait(fd)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        _locks.add(self)

    def release(self) -> None:
        """Give it back; a second time nothing happens."""
        if self._fd >= 0:
            with suppress(OSError):
                os.close(self._fd)
            self._fd = -1


def _wait(fd: int) -> None:
    for _ in range(_TRIES):
        if _locked(fd, shared=False):
            return
        time.sleep(_PAUSE)
    raise BlockingIOError


_locks: WeakSet[WriteLock] = WeakSet()


def is_written(path: Path) -> bool:
    """Whether a living process writes a journal.

    Args:
        path: The journal's first file.
    """
    try:
        fd = os.open(path, os.O_RDWR if _WINDOWS else os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _locked(fd, shared=True)
    except OSError:
        return False
    finally:
        os.close(fd)


def _locked(fd: int, *, shared: bool) -> bool:
    """Try to take the lock; whether it was taken."""
    if _WINDOWS:
        return _locked_byte(fd)
    import fcntl  # noqa: PLC0415  # Windows has none

    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked_byte(fd: int) -> bool:
    import msvcrt  # noqa: PLC0415  # Windows alone has it

    os.lseek(fd, _FAR, os.SEEK_SET)
    try:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]  # there
    except OSError:
        return False
    return True


def _in_child() -> None:
    """A copy of the process does not hold its parent's locks; the parent goes on holding them."""
    for lock in list(_locks):
        lock.release()


if hasattr(os, "register_at_fork"):  # there is no fork on Windows
    os.register_at_fork(after_in_child=_in_child)
