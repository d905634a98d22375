"""The files of a lock database: which ones are there, and opening them one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from toolflow.errors import LockStoreError

_PAUSE: Final = 0.01  # seconds between looks at whether another process has finished opening

Seen = tuple[tuple[int, int], ...]


def look(path: Path) -> Seen:
    """Which files are there: the database and its companions."""
    name, found = os.fspath(path), []
    for ending in ("", "-wal", "-shm"):
        try:
            one = os.stat(name + ending)  # noqa: PTH116  # often; Path costs as much as the call
            found.append((one.st_dev, one.st_ino))
        except FileNotFoundError:
            found.append((0, 0))
    return tuple(found)


def name_of(seen: Seen) -> str:
    """The same as one word."""
    return ".".join(f"{inode:x}" for _, inode in seen)


@contextmanager
def alone_in(folder: Path, path: Path, patience: float) -> Iterator[None]:
    """Keep other processes from opening the file meanwhile: making it takes several steps."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise LockStoreError(f"{folder}: {error.strerror}.") from error
    try:
        deadline = monotonic() + patience
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if monotonic() > deadline:
                    raise LockStoreError(
                        f"{path}: another process has been opening it for {patience:g} s."
                    ) from None
                sleep(_PAUSE)
        yield
    finally:
        os.close(fd)
