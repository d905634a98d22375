"""Which lock store is meant: that of this process, that of this machine, or one in a named file."""

from __future__ import annotations

import hashlib
import os
import platform
import threading
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from toolflow.errors import LockStoreError, UsageError
from toolflow.locks.memory import default_store
from toolflow.locks.protocol import LockStore

if TYPE_CHECKING:
    from toolflow.locks.file_store import FileStore

_open: WeakValueDictionary[Path, FileStore] = WeakValueDictionary()
_opening = threading.Lock()


def open_store(where: str | Path | None = None) -> LockStore:
    """Open a lock store.

    Args:
        where: ``memory`` or ``None``: the one of this process. ``machine``: one for all processes
            of this user on this machine (see `machine_path`). Else the path of a file; a text
            without a slash or a dot in it is taken for a mistake.

    Returns:
        The store. For a file, all of this process get the same one, until somebody closes it.

    Raises:
        UsageError: If it cannot be meant.
        LockStoreError: If the file cannot be used.
    """
    if where is None or where == "memory":
        return default_store()
    if isinstance(where, str) and where != "machine" and not set(where) & {"/", "\\", "."}:
        raise UsageError(
            f"lock store {where!r}: there is none of this name. Use 'memory', 'machine' or the "
            "path of a file (./name)."
        )
    if not hasattr(os, "mkfifo"):
        raise LockStoreError(
            f"lock store {where}: it needs named pipes, which this system does not have. "
            "Use 'memory'."
        )
    from toolflow.locks.file_store import FileStore  # noqa: PLC0415  # loads SQLite, and not on every system

    path = machine_path() if where == "machine" else Path(where)
    path = path.parent.resolve() / path.name
    with _opening:
        store = _open.get(path)
        if store is None or store.closed:
            store = _open[path] = FileStore(path)
        return store


def machine_path() -> Path:
    """The file of this user's lock store on this machine.

    It is ``toolflow/locks-<machine>.db`` in the state folder (``$XDG_STATE_HOME``, by default
    ``~/.local/state``). The runtime folder would go with a reboot, but it is another one, or none,
    for processes that were started outside of a session. Since a home folder may be shared by
    several machines, and the file may not, the machine is part of the name.

    Raises:
        LockStoreError: If the folder cannot be made, or may be written to by others.
    """
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if Path(state).is_absolute() else Path("~/.local/state").expanduser()
    folder = base / "toolflow"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        seen = folder.stat()
    except OSError as error:
        raise LockStoreError(f"{folder}: {error.strerror}.") from error
    if seen.st_uid != os.getuid() or seen.st_mode & 0o022:
        raise LockStoreError(
            f"{folder}: others may write to this folder. Let it belong to you alone (chmod 700)."
        )
    return folder / f"locks-{_machine()}.db"


def _machine() -> str:
    try:
        name = Path("/etc/machine-id").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        name = ""
    return hashlib.sha256((name or platform.node()).encode()).hexdigest()[:10]
