"""Looking for files and for text under a root (spec 13): sorted, bounded, never through a link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolflow.model.outcome import Outcome
from toolflow.runtime.results import ToolFailure
from toolflow.tools.files import opened, read_up_to
from toolflow.tools.globs import compile_glob
from toolflow.tools.matcher import Matcher, matcher
from toolflow.tools.root import Root, RootedPath, told
from toolflow.tools.walk import Budget, entries, walk

MAX_FILE = 5_000_000  # bytes of a file that is searched
MAX_SCANNED = 200_000_000  # bytes that one search reads
MAX_PATHS = 2_000
MAX_MATCHES = 500
MAX_LINE = 500  # characters of a matching line that are shown
SECONDS = 10.0  # that a regular expression may take


def list_files(root: Root, path: str) -> str:
    """The names in a folder, one a line; folders end in a slash.

    Raises:
        ToolFailure: If it is no folder.
    """
    place = root.locate(path)
    with told(place):
        found = entries(place)
    names = [_quoted(name) + "/" * (kind == "folder") for name, kind in found]
    return _listing(names, "(the folder is empty)", more=False)


def glob(root: Root, pattern: str, path: str, skip: frozenset[str]) -> str:
    """The files whose path below a folder matches a pattern, one a line.

    Args:
        root: What the path is confined to.
        pattern: See `toolflow.tools.globs`.
        path: The folder.
        skip: Names of folders that are not entered.

    Raises:
        ToolFailure: If the pattern or the folder is not usable.
    """
    matches = compile_glob(pattern)
    place = root.locate(path)
    budget = Budget()
    with told(place):
        names = [
            _quoted(place.root.shown(file))
            for file, _ in walk(place, skip=skip, budget=budget)
            if matches(_below(place, file))
        ]
    return _listing(names, "(no file matches)", more=budget.spent)


@dataclass(slots=True)
class _Found:
    lines: list[str]
    skipped: int = 0
    scanned: int = 0
    more: bool = False


def grep(
    root: Root,
    pattern: str,
    path: str,
    *,
    only: str | None,
    ignore_case: bool,
    literal: bool,
    skip: frozenset[str],
) -> Outcome:
    """The lines that match, as ``path:line:text``, in the order of paths and lines.

    Args:
        root: What the path is confined to.
        pattern: A Python regular expression, searched in each line by itself.
        path: A folder, searched with all below it, or a file.
        only: A pattern for paths; one without a slash is about names in any folder.
        ignore_case: Whether upper and lower case are the same.
        literal: Whether the pattern is plain text.
        skip: Names of folders that are not entered.

    Returns:
        The lines; a note tells how many files were no text or too large.

    Raises:
        ToolFailure: If a pattern or the path is not usable, or matching takes too long.
    """
    wanted = None if only is None else compile_glob(only, anywhere=True)
    place = root.locate(path)
    found, budget = _Found([]), Budget()
    with (
        told(place),
        matcher(pattern, literal=literal, ignore_case=ignore_case, seconds=SECONDS) as match,
    ):
        for file in _files(place, skip, budget):
            if wanted is None or wanted(_below(place, file)):
                _search(file, match, found)
            if found.more:
                break
    text = _listing(found.lines, "(no match)", more=found.more or budget.spent)
    note = f"Files skipped, no text or too large: {found.skipped}." if found.skipped else None
    return Outcome("ok", text, note=note)


def _files(place: RootedPath, skip: frozenset[str], budget: Budget) -> Iterator[RootedPath]:
    if not Path(place).is_dir():
        with opened(place):  # says what is wrong with it
            pass
        yield place
        return
    for file, kind in walk(place, skip=skip, budget=budget):
        if kind == "file":
            yield file


def _search(file: RootedPath, match: Matcher, found: _Found) -> None:
    text = _text(file)
    if text is None:
        found.skipped += 1
        return
    found.scanned += len(text)
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    name = _quoted(file.root.shown(file))
    for number in match(lines):
        if len(found.lines) == MAX_MATCHES:
            found.more = True
            return
        line = lines[number]
        cut = line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}[...]"
        found.lines.append(f"{name}:{number + 1}:{cut}")
    found.more = found.scanned > MAX_SCANNED


def _text(file: RootedPath) -> str | None:
    try:
        with opened(file) as stream:
            data = read_up_to(stream, MAX_FILE)
    except (OSError, ToolFailure):
        return None
    if data is None or b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _below(folder: RootedPath, file: RootedPath) -> str:
    if file == folder:
        return os.path.basename(file)  # noqa: PTH119  # text all the way
    return file[len(folder.rstrip(os.sep)) + 1 :].replace(os.sep, "/")


def _quoted(name: str) -> str:
    """A name as it is, or in quotes where it holds a line break or other control characters."""
    return name if name.isprintable() else repr(name)


def _listing(lines: list[str], nothing: str, *, more: bool) -> str:
    shown = lines if len(lines) <= MAX_PATHS else lines[:MAX_PATHS]
    if more or len(shown) < len(lines):
        shown = [*shown, "[... there is more; narrow the pattern or the path ...]"]
    return "\n".join(shown) or nothing
