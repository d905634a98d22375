"""Opening a journal: the front door for those who write one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolflow.recording.journal.disk import DiskMaker, FileDisk
from toolflow.recording.journal.journal import SEGMENT, Durability, Journal

if TYPE_CHECKING:
    from toolflow.policy import Redactor


def open_journal(
    path: str | Path,
    *,
    durability: Durability = "batch",
    redactor: Redactor | None = None,
    about: Mapping[str, Any] | None = None,
    segment: int = SEGMENT,
    make_disk: DiskMaker = FileDisk,
) -> Journal:
    """Open a journal for writing; it is made where it is not there.

    Opening one that a process left behind when it died cuts off a line that was not written to its
    end, and changes nothing else, however often it is done.

    Args:
        path: Its first file; the folder must be there.
        durability: ``none`` hands every line to the system, which keeps it although the process
            dies; ``batch`` has it on the disk itself before the turn is committed, or ends;
            ``strict`` before a body starts, and before its outcome counts.
        redactor: What masks secrets in what is written; that of the engine's policy by default.
        about: What the header of a new journal says of the run, JSON values.
        segment: Bytes of a file before a new turn goes into the next one.
        make_disk: Opens a file; for tests.

    Returns:
        The journal. Close it, or use it as a context manager.

    Raises:
        JournalError: If it cannot be opened, is no journal, or a living process writes it.
        UsageError: If the durability is none of the three.
    """
    return Journal(
        Path(path),
        durability=durability,
        redactor=redactor,
        about=about,
        segment=segment,
        make_disk=make_disk,
    )
