"""``toolflow locks``: who holds which keys of a lock store, and who waits for whom."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from toolflow.cli.console import Output, say, say_data
from toolflow.errors import UsageError
from toolflow.locks import LockStatistics, LockStore, machine_path, open_store
from toolflow.scheduler.lock_statistics import Stand

_HEAD = ("KEY", "MODE", "WHO", "PROCESS", "SINCE", "STATE")
_WIDEST = 60


def locks(
    store: str = typer.Argument("machine", metavar="[PATH]", help="The lock file."),
    output: Output = typer.Option("text", "--output", "-o", help="text, json or yaml."),
) -> int:
    """Show who holds keys and resources of a lock store, who waits, and for what."""
    if store == "memory":
        raise UsageError("locks in memory are seen by their own process only. Name a lock file.")
    rows = _rows_of(store)
    if output != "text":
        say_data({"store": store, "locks": rows}, output)
    elif rows:
        say("\n".join(_table(rows)))
    else:
        say("nobody holds or waits for anything")
    return 0


def _rows_of(where: str) -> list[dict[str, Any]]:
    """The rows of a store; who only looks makes no file."""
    there = (machine_path() if where == "machine" else Path(where)).exists()
    if not there and where == "machine":
        return []
    if not there:
        raise UsageError(f"{where}: this file is not there. Name a lock file.")
    with opened(where) as found:
        return [*_rows(found.statistics())]


@contextmanager
def opened(where: str) -> Iterator[LockStore]:
    """Open a lock store, and close it in the end if it can be closed.

    Args:
        where: See `toolflow.locks.open_store`.
    """
    store = open_store(where)
    try:
        yield store
    finally:
        close = getattr(store, "close", None)
        if close is not None:
            close()


def _rows(found: LockStatistics) -> Iterator[dict[str, Any]]:
    """One row for everybody at every key or resource; holders first."""
    now = found.at or time.monotonic()
    behind = {(wait.owner, wait.since): wait.behind for wait in found.waits}
    for what, queues in (("key", found.keys), ("resource", found.resources)):
        for name, queue in queues.items():
            for stand in (*queue.holders, *queue.waiters):
                row = {what: _text(name)} | _row(stand, now)
                if stand in queue.waiters:
                    row["waits_for"] = [*map(_text, behind.get((stand.owner, stand.since), ()))]
                yield row


def _row(stand: Stand, now: float) -> dict[str, Any]:
    return {
        "mode": _mode(stand),
        "who": _text(stand.name),
        "pid": stand.pid or None,
        "process": _text(stand.process) or None,
        "seconds": round(max(now - stand.since, 0.0), 3),
        "fence": stand.fence or None,
        "state": "waits" if not stand.fence else "holds" if stand.stopped else "poisoned",
    }


def _mode(stand: Stand) -> str:
    if stand.units:
        return f"{stand.units} unit{'' if stand.units == 1 else 's'}"
    return "write" if stand.write else "read"


def _text(text: str) -> str:
    """Text that JSON and YAML can hold: a key may have lone surrogates in it."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    cells = [_HEAD, *map(_cells, rows)]
    widths = [min(max(map(len, column)), _WIDEST) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(
            text.ljust(width) for text, width in zip(line, widths, strict=True)
        ).rstrip()


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    state = row["state"]
    if row.get("waits_for"):
        state = f"waits for {'; '.join(row['waits_for'])}"
    elif state == "poisoned":
        state = "holds, and never stopped after its end was reported"
    name = row.get("key", row.get("resource"))
    process = f"{row['pid']} {row['process'] or ''}".strip() if row["pid"] else "-"
    found = (name, row["mode"], row["who"], process, f"{row['seconds']:.1f} s", state)
    return tuple(str(text).replace("\n", "\\n").replace("\t", "\\t") for text in found)
