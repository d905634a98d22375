"""Where a journal's bytes go: a port of few methods, and the real one.

Whatever a disk can do to a journal (be full, be read-only, end in the middle of a write) comes
through this port, so a test can have it happen at any byte: `toolflow.testing.FaultyDisk`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol


class Disk(Protocol):
    """One file that is only ever appended to. Every method may raise `OSError`."""

    def size(self) -> int:
        """How many bytes there are."""

    def write(self, data: bytes) -> int:
        """Hand bytes to the system, at the end of the file.

        Args:
            data: The bytes.

        Returns:
            How many of them were taken; fewer where the disk is nearly full.
        """

    def sync(self) -> None:
        """Have all bytes that were handed over on the disk itself."""

    def cut(self, size: int) -> None:
        """Drop everything behind so many bytes."""

    def close(self) -> None:
        """Let go of the file."""


DiskMaker = Callable[[Path], Disk]


class FileDisk:
    """A file of this system, made where it is not there, for its owner alone.

    Args:
        path: The file.

    Raises:
        OSError: If it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new = not path.exists()
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._fd = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o600)

    def size(self) -> int:
        """See `Disk.size`."""
        return os.fstat(self._fd).st_size

    def write(self, data: bytes) -> int:
        """See `Disk.write`."""
        return os.write(self._fd, data)

    def sync(self) -> None:
        """See `Disk.sync`; of a new file its name is put on the disk as well."""
        _sync_data(self._fd)
        if self._new:
            self._new = False
            _sync_folder(self._path.parent)

    def cut(self, size: int) -> None:
        """See `Disk.cut`."""
        os.ftruncate(self._fd, size)

    def close(self) -> None:
        """See `Disk.close`."""
        os.close(self._fd)


# What has to be there to read the file; the time of the last change, for one, need not.
_sync_data = getattr(os, "fdatasync", os.fsync)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some systems do not let folders be opened; their names are safe
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
