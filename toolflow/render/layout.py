"""Where the calls of a pool stand: rows, worked out before any program draws them.

Left to itself, `dot` puts every call that waits for nobody into one row: sixty reads make a strip
that no screen can show; and sixteen edits of one file make a tower. So a pool is laid out as rows
of a few places, and each row becomes a rank:

* calls are grouped by the key edges between them; a call without any is a group of its own;
* a long chain is folded: it runs to the right in one row and back to the left in the next;
* any other group gets a row for each step, a wide step several;
* groups stand beside each other on a shelf as long as they fit, the deepest first, then a new
  shelf begins below; single calls fill what is left of the shelves, in call order.

Everything is linear in calls and key edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

COLUMNS = 4
TOWER = 5  # a chain of more calls than this is folded

Row = list[str | None]
"""The names that stand in a row, by column; ``None`` where a place stays free."""


def rows_of(
    names: Sequence[str],
    edges: Iterable[tuple[str, str]],
    *,
    columns: int = COLUMNS,
    towers: bool = False,
) -> list[Row]:
    """Lay out the calls and gates of one pool.

    Args:
        names: The calls and gates, in call order.
        edges: Pairs of these names: the first settles before the second starts.
        columns: How many places a row has.
        towers: Whether long chains stay as they are, for pictures that cannot fold them.

    Returns:
        The rows from top to bottom, each from left to right; every name stands in exactly one.
        An edge never leads upwards, but in a folded chain it may lead to the left.
    """
    after: dict[str, list[str]] = {name: [] for name in names}
    for before, later in edges:
        after[before].append(later)
    groups = _groups(names, after)
    blocks = [_block(group, after, columns, towers=towers) for group in groups if len(group) > 1]
    rows: list[Row] = []
    shelf: list[Row] = []
    used: list[int] = []  # for each row, how many columns its shelf has taken
    for block in sorted(blocks, key=len, reverse=True):
        width = max(map(len, block))
        if not shelf or used[-1] + width > columns:
            shelf = [[] for _ in block]
            rows += shelf
            used += [0] * len(shelf)
        _put(shelf, block, used[-1])
        used[-len(shelf) :] = [used[-1] + width] * len(shelf)
    _fill(rows, used, [group[0] for group in groups if len(group) == 1], columns)
    return rows


def _put(rows: Sequence[Row], parts: Sequence[Sequence[str | None]], column: int) -> None:
    """Set parts into rows, from a column on; what is left of it stays free."""
    for row, part in zip(rows, parts, strict=False):
        row.extend([None] * (column - len(row)))
        row.extend(part)


def _fill(rows: list[Row], used: Sequence[int], singles: Sequence[str], columns: int) -> None:
    """Put single calls to the right of the groups, and then into rows of their own."""
    left = iter(singles)
    for row, taken in zip(rows, used, strict=True):
        if part := list(islice(left, columns - taken)):
            _put([row], [part], taken)
    while part := list(islice(left, columns)):
        rows.append([*part])


def _groups(names: Sequence[str], after: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The names that key edges join, each group in the given order, by its first name."""
    near: dict[str, list[str]] = {name: [] for name in names}
    for before in names:
        for later in after[before]:
            near[before].append(later)
            near[later].append(before)
    group_of: dict[str, int] = {}
    count = 0
    for name in names:
        if name not in group_of:
            _reach(name, near, group_of, count)
            count += 1
    groups: list[list[str]] = [[] for _ in range(count)]
    for name in names:
        groups[group_of[name]].append(name)
    return groups


def _reach(
    start: str, near: Mapping[str, Sequence[str]], group_of: dict[str, int], group: int
) -> None:
    group_of[start] = group
    found = [start]
    while found:
        for other in near[found.pop()]:
            if other not in group_of:
                group_of[other] = group
                found.append(other)


def _block(
    group: list[str], after: Mapping[str, Sequence[str]], columns: int, *, towers: bool
) -> list[Row]:
    steps = _steps(group, after)
    if not towers and len(steps) > TOWER and len(steps) == len(group):
        return _folded([name for step in steps for name in step], columns)
    return [[*step[at : at + columns]] for step in steps for at in range(0, len(step), columns)]


def _steps(group: list[str], after: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The names by the number of steps before them; the rest of a circle comes last, as one."""
    waits = dict.fromkeys(group, 0)
    for name in group:
        for later in after[name]:
            waits[later] += 1
    steps = []
    step = [name for name in group if not waits[name]]
    while step:
        steps.append(step)
        following = []
        for name in step:
            for later in after[name]:
                waits[later] -= 1
                if not waits[later]:
                    following.append(later)
        step = following
    rest = [name for name in group if waits[name]]
    return [*steps, rest] if rest else steps


def _folded(chain: list[str], columns: int) -> list[list[str | None]]:
    """A chain as rows of equal length that run right, left, right; the last ends where it must."""
    count = -(-len(chain) // columns)
    width = -(-len(chain) // count)
    rows: list[list[str | None]] = []
    for at in range(0, len(chain), width):
        row: list[str | None] = list(chain[at : at + width])
        if len(rows) % 2:
            row = [*[None] * (width - len(row)), *row[::-1]]
        rows.append(row)
    return rows
