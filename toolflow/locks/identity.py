"""Which process of which machine start: what tells a process from a later one with its number.

A process's life is watched by its life file (`toolflow.locks.life`), whatever its number. This is
for the one case where that cannot be done: somebody has deleted the file of a process that may
still run.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


def own_identity() -> str:
    """The identity of this process; empty where this system does not tell."""
    return _identity(os.getpid()) or ""


def still_runs(pid: int, identity: str) -> bool | None:
    """Whether a process still runs.

    Args:
        pid: Its number.
        identity: What `own_identity` told in it.

    Returns:
        ``None`` where nobody can tell: it may be of another container, or this system does not
        tell one process from another.
    """
    here = _surroundings()
    if here is None or not identity:
        return None
    boot, names, _ = identity.split(" ", 2) if identity.count(" ") == 2 else ("", "", "")
    if boot != here[0]:
        return False  # the machine has been started anew since
    return None if names != here[1] else _identity(pid) == identity


def program_name() -> str:
    """The name of this program, for people."""
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else ""
    return (program if program not in {"", "-c", "-m"} else Path(sys.executable).name)[:40]


def _identity(pid: int) -> str | None:
    here = _surroundings()
    if here is None:
        return None
    try:
        line = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    state, *_, started = line.rpartition(")")[2].split()[:20]
    # A process that has ended but was not collected by its parent still has a number.
    return None if state in {"Z", "X"} else f"{here[0]} {here[1]} {pid}:{started}"


@cache
def _surroundings() -> tuple[str, str] | None:
    """The machine's start, and the set of process numbers in use (a container has its own)."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
        return boot, str((_PROC / "self/ns/pid").stat().st_ino)
    except OSError:
        return None
