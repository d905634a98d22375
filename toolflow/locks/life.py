"""How processes learn of each other's end, and wake each other: two named pipes for each.

The *life file* of a process is a pipe that nobody ever writes to. The process holds it open for
writing; whoever watches it opens it for reading, and the system tells the end of file in the moment
in which the process has ended, however it did, and never while it is merely stopped. So nobody has
to ask again and again, and a later process with the same number cannot be mistaken for it.

The *wake file* is a pipe that the process reads and the others write to.

Pipes were taken rather than sockets since their paths may be long, they need nobody who accepts,
and they can be seen wherever the lock store's own file can; rather than process numbers since those
come again, and are others in another container; rather than locks on files since nobody can wait
for several of those at once.
"""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

from toolflow.errors import LockStoreError
from toolflow.locks.identity import still_runs
from toolflow.locks.operations import Member

_LIFE, _WAKE = ".life", ".wake"


class Life:
    """The two pipes of this process.

    Args:
        folder: Where the pipes of all processes are.
        prefix: What the name begins with: which files the process works on.

    Attributes:
        name: The name of the pipes, without ending.
        wake_fd: Where the process reads that somebody wakes it; non-blocking.

    Raises:
        LockStoreError: If they cannot be made.
    """

    def __init__(self, folder: Path, prefix: str) -> None:
        self.name = f"{prefix}-{secrets.token_hex(8)}"
        self._folder = folder
        self._fds: list[int] = []
        try:
            for ending in (_LIFE, _WAKE):
                path = folder / (self.name + ending)
                os.mkfifo(path, 0o600)
                self._fds.append(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
        except OSError as error:
            self.close()
            raise LockStoreError(
                f"{folder}: no pipe can be made there ({error.strerror})."
            ) from error
        self.wake_fd = self._fds[1]

    def abandon(self) -> None:
        """Close the pipes, and leave the files to those who still watch them."""
        while self._fds:
            os.close(self._fds.pop())

    def close(self) -> None:
        """Close the pipes and remove the files; to others this is the end of the process."""
        self.abandon()
        remove(self._folder, self.name)


def remove(folder: Path, name: str) -> None:
    """Remove the pipes of a process that has ended."""
    for ending in (_LIFE, _WAKE):
        try:
            (folder / (name + ending)).unlink(missing_ok=True)
        except OSError:
            pass  # left behind; whoever joins next tries again


def names(folder: Path) -> set[str]:
    """The names of all pipes in a folder, whether their processes live or not."""
    return {path.name.removesuffix(_LIFE) for path in folder.glob("*" + _LIFE)}


def wake(folder: Path, name: str) -> None:
    """Wake a process; nothing happens if it has ended, or if it was woken already."""
    try:
        fd = os.open(folder / (name + _WAKE), os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return  # nobody reads: its end is noticed by other means
    try:
        os.write(fd, b"!")
    except OSError:
        pass  # full: there is more than enough to wake it already
    finally:
        os.close(fd)


def watch(folder: Path, name: str) -> int | None:
    """Open the life file of a process.

    Returns:
        What becomes readable when the process ends; ``None`` if it has ended already.

    Raises:
        FileNotFoundError: If there is no such file.
        LockStoreError: If it cannot be opened.
    """
    try:
        fd = os.open(folder / (name + _LIFE), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise LockStoreError(
            f"{folder / (name + _LIFE)}: the process cannot be watched ({error.strerror})."
        ) from error
    if not has_ended(fd):
        return fd
    os.close(fd)
    return None


def has_ended(fd: int) -> bool:
    """Whether the process has ended whose life file this is."""
    try:
        return os.read(fd, 1) == b""
    except OSError as error:
        if error.errno in {errno.EAGAIN, errno.EWOULDBLOCK}:
            return False
        raise


def watch_member(folder: Path, member: Member) -> int | None:
    """Do what `watch` does for a member, whatever became of its file.

    Raises:
        LockStoreError: If nobody can tell whether it has ended.
    """
    try:
        return watch(folder, member.life)
    except FileNotFoundError:
        if still_runs(member.pid, member.identity) is False:
            return None
        raise LockStoreError(
            f"{folder / (member.life + _LIFE)}: the file is gone by which {member} is watched, "
            "and it may still hold keys. End that process."
        ) from None


def strangers(folder: Path, prefix: str) -> bool:
    """Whether a process lives that works on other files than those that a prefix stands for."""
    return any(name.rpartition("-")[0] != prefix and lives(folder, name) for name in names(folder))


def lives(folder: Path, name: str) -> bool:
    """Whether the process of a life file that was found in the folder lives."""
    try:
        fd = watch(folder, name)
    except FileNotFoundError:
        return False
    if fd is None:
        return False
    os.close(fd)
    return True
