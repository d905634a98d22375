"""Patterns for paths: ``*``, ``?``, ``[...]`` inside a name, ``**`` for any folders, ``{a,b}``.

Matching takes time that grows with the pattern times the path, whatever the pattern.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable

from toolflow.runtime.results import ToolFailure

_LONGEST = 1000  # characters of a pattern
_MOST = 64  # patterns that braces may stand for
_BRACES = re.compile(r"\{([^{}]*)\}")

_Parts = tuple["re.Pattern[str] | None", ...]  # None stands for `**`


def compile_glob(pattern: str, *, anywhere: bool = False) -> Callable[[str], bool]:
    """Make the test of a pattern.

    Args:
        pattern: Such as ``src/**/*.{py,pyi}``; case counts, and names with a leading dot match.
        anywhere: Whether a pattern without a slash is about names in any folder.

    Returns:
        A function that says whether a relative path with slashes matches as a whole.

    Raises:
        ToolFailure: If the pattern is empty, too long, or points out of its folder.
    """
    if not pattern or len(pattern) > _LONGEST:
        raise ToolFailure(f"pattern has {len(pattern)} characters. Use 1 to {_LONGEST}.")
    names = pattern.split("/")
    if pattern.startswith("/") or ".." in names:
        raise ToolFailure(f"pattern {pattern!r} points out of its folder. Use a relative one.")
    if anywhere and "/" not in pattern:
        pattern = f"**/{pattern}"
    options = [_compiled(option) for option in _without_braces(pattern)]
    return lambda path: any(_matches(option, path.split("/")) for option in options)


def _without_braces(pattern: str) -> list[str]:
    done, waiting = [], [pattern]
    while waiting:
        current = waiting.pop()
        braces = _BRACES.search(current)
        if braces is None:
            done.append(current)
        else:
            head, tail = current[: braces.start()], current[braces.end() :]
            waiting += [f"{head}{option}{tail}" for option in braces[1].split(",")]
        if len(done) + len(waiting) > _MOST:
            raise ToolFailure(f"The braces of {pattern!r} stand for more than {_MOST} patterns.")
    return done


def _compiled(pattern: str) -> _Parts:
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    return tuple(
        None if name == "**" else re.compile(fnmatch.translate(name), re.DOTALL) for name in names
    )


def _matches(pattern: _Parts, names: list[str]) -> bool:
    """The well-known walk with one point to go back to, the last ``**``."""
    at = wild = back = 0
    star = -1
    while at < len(names):
        part = pattern[wild] if wild < len(pattern) else ...
        if part is None:
            back, star, wild = at, wild, wild + 1
        elif part is not ... and part.match(names[at]):
            at, wild = at + 1, wild + 1
        elif star >= 0:
            back += 1
            at, wild = back, star + 1
        else:
            return False
    return all(part is None for part in pattern[wild:])
