"""Going through a folder under a root: in order, never through a link, never without end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from toolflow.tools.files import TEMPORARY
from toolflow.tools.root import BY_FOLDER, RootedPath

_DEPTH = 100

Kind = Literal["file", "folder", "link", "other"]


@dataclass(slots=True)
class Budget:
    """How much a search may still look at.

    Attributes:
        entries: Names that may still be seen.
        spent: Whether there was more than that.
    """

    entries: int = 200_000
    spent: bool = False


def entries(folder: RootedPath) -> list[tuple[str, Kind]]:
    """What lies in a folder, sorted by name; files that are just being written are left out.

    Raises:
        OSError: If it is no folder or cannot be read.
    """
    descriptor = folder.root.open(folder) if BY_FOLDER else None
    try:
        with os.scandir(folder if descriptor is None else descriptor) as found:
            return sorted(
                (entry.name, _kind(entry))
                for entry in found
                if not entry.name.startswith(TEMPORARY)
            )
    finally:
        if descriptor is not None:
            os.close(descriptor)


def walk(
    folder: RootedPath, *, skip: frozenset[str], budget: Budget, depth: int = _DEPTH
) -> Iterator[tuple[RootedPath, Kind]]:
    """All that is no folder, at any depth, in the order of the paths' parts.

    Args:
        folder: Where to begin.
        skip: Names of folders that are not entered.
        budget: How much may be looked at; the walk ends where it is spent.
        depth: How many folders may lie inside each other.
    """
    for name, kind in entries(folder):
        if budget.entries == 0:
            budget.spent = True
            return
        budget.entries -= 1
        place = RootedPath.of(os.path.join(folder, name), folder.root)  # noqa: PTH118  # text
        if kind != "folder":
            yield place, kind
        elif name not in skip and depth > 0:
            try:
                yield from walk(place, skip=skip, budget=budget, depth=depth - 1)
            except OSError:  # a folder that may not be read, or is gone
                continue


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"
