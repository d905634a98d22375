"""JSON text: a fast way through, for text that is JSON already.

JSON is YAML, but Python's JSON reader is many times faster. It knows no places, so these are
worked out by a scan of the text, only when somebody asks.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from toolflow.errors import Problem
from toolflow.yamlio.document import Place, Spot, doubled, mark, own_mark, place

_MARK = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]|[^\s\[\]{}:,"]+', re.DOTALL)


class NotJsonError(Exception):
    """The text is not JSON.

    Args:
        message: A sentence: why.
        line: Counted from 1.
        column: Counted from 1.
    """

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def read_json(text: str) -> tuple[Any, bool]:
    """Read JSON text.

    Args:
        text: The text.

    Returns:
        The value, and whether some object holds a key twice.

    Raises:
        NotJsonError: If it is not JSON.
    """
    doubled = False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal doubled
        value = dict(items)
        doubled = doubled or len(value) != len(items)
        return value

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)
    except json.JSONDecodeError as error:
        message = f"The JSON cannot be read: {error.msg[:1].lower()}{error.msg[1:]}."
        raise NotJsonError(message, error.lineno, error.colno) from error
    except ValueError as error:
        raise NotJsonError(f"The JSON holds a number that cannot be read: {error}", 1, 1) from error
    except RecursionError as error:
        raise NotJsonError("The JSON is nested too deep.", 1, 1) from error
    return value, doubled


def refuse(name: str) -> None:
    """Refuse ``NaN`` and ``Infinity``, which are no JSON."""
    raise ValueError(f"{name}. JSON has finite numbers only.")


def too_deep(value: Any, limit: int) -> bool:
    """Whether a value has more levels of lists and dicts than the limit.

    Args:
        value: Lists, dicts and scalars.
        limit: Levels that are allowed.
    """
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def json_spots(text: str, source: str, at: Place = (0, 0)) -> tuple[Spot, list[Problem]]:
    """The places of all values of a JSON text, and its doubled keys.

    Args:
        text: Text that `read_json` could read.
        source: The document's name, for problems.
        at: Line and column, both counted from 0, where the text begins in its file.
    """
    problems: list[Problem] = []
    root: list[Spot] = [0]
    stack: list[Any] = [root]
    keys: list[tuple[str, int] | None] = [None]
    for part, here in _tokens(text, at):
        outer = stack[-1]
        if part in "]}":
            stack.pop()
            keys.pop()
        elif isinstance(outer, dict) and keys[-1] is None:
            key = json.loads(part)
            if key in outer:
                said = doubled(key, outer[key][0])
                problems.append(Problem(said, source, *place(here), code="doubled_key"))
            keys[-1] = (key, here)
        else:
            spot: Spot = {None: here} if part == "{" else [here] if part == "[" else here
            _put(outer, keys, spot)
            if part in "{[":
                stack.append(spot)
                keys.append(None)
    return root[1], problems


def _put(outer: Any, keys: list[tuple[str, int] | None], spot: Spot) -> None:
    if isinstance(outer, dict):
        key, at = keys[-1] or ("", own_mark(spot))
        outer[key] = (at, spot)
        keys[-1] = None
    else:
        outer.append(spot)


def _tokens(text: str, at: Place) -> Iterator[tuple[str, int]]:
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    for match in _MARK.finditer(text):
        line = bisect_right(lines, match.start()) - 1
        column = match.start() - lines[line] + (at[1] if line == 0 else 0)
        yield match.group(), mark(at[0] + line, column)
