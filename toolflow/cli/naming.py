"""Names of files: fixed ones, and those made of names of flows, stages, turns, logs.

The latter come from anywhere, so nothing of them may lead out of a folder, hide a file, or mean
something else to another system.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

JOURNAL: Final = "journal.jsonl"
RECORDING: Final = "recording.yaml"
RUNS: Final = Path(".toolflow")
"""Where runs are that nobody names another folder for."""
_ODD = re.compile(r"[^\w.-]+")  # letters and digits of all scripts are kept
_MOST = 60  # characters
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # on Windows


def places_of_run(what: str) -> tuple[Path, Path]:
    """Where a run may be that somebody names: the folder itself, and that name among the runs.

    Args:
        what: Its folder, or its name in ``.toolflow``; both may have folders before them.
    """
    named = Path(what)
    return named, named.parent / RUNS / named.name


def file_name(name: str) -> str:
    """A part of the name of a file, harmless on every system; empty if nothing is left.

    Args:
        name: Any text.
    """
    plain = _ODD.sub("_", name).strip("._ ")[:_MOST].rstrip("._ ")
    return f"{plain}_" if _RESERVED.fullmatch(plain) else plain


def file_names(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names for files beside each other, none of which are the same on any system.

    Args:
        names: Any texts.
        taken: Names that others have.

    Returns:
        For each the harmless name, with ``-N`` behind it where another one has it already.
    """
    used = {name.casefold() for name in taken}
    found = []
    for name in names:
        stem = file_name(name) or "unnamed"
        free, number = stem, 1
        while free.casefold() in used:
            number += 1
            free = f"{stem}-{number}"
        used.add(free.casefold())
        found.append(free)
    return found
