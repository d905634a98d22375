"""The table of several logs: one line a log, the sum, and what was odd, kind by kind.

On a terminal the lines fit its width: names stand under their folder and are shortened in their
middle; of the oddities of a log those that are told most often stay. Elsewhere nothing is left out,
so that other programs can read the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from toolflow.recording.importing import Imported

Named = tuple[str, Imported]
"""What was found in a log, with the name that people see."""

_COLUMNS = ("file", "format", "messages", "turns", "parallel", "largest", "calls", "results")
_LARGEST = 3
"""The place of ``largest`` among the numbers: the one that is no sum."""
_GAP = "  "
_INDENT = "  "
_NAME = (26, 44)
"""How short and how long the column of names is where it has to fit."""
_KIND = 26
_ODD = 26


def import_table(logs: Sequence[Named], width: int | None = None) -> Iterator[str]:
    """The lines of the table.

    Args:
        logs: What was found, with the names of the logs.
        width: How many characters a line may have; ``None``: any number.
    """
    rows = [(*_cells(name, width), one.kind, *_numbers(one)) for name, one in logs]
    table = [("", *_COLUMNS), *rows, ("", *_total([one for _, one in logs]))]
    room = [max(len(row[place]) for row in table) for place in range(1, len(_COLUMNS) + 1)]
    left = None if width is None else _fitted(room, width)
    odd = ["oddities", *(_counts(one.oddities, left) for _, one in logs), ""]
    folder = ""
    for row, oddities in zip(table, odd, strict=True):
        if row[0] not in ("", folder):
            folder = row[0]
            yield folder
        yield _line(row[1:], room, "" if left == 0 else oddities)
    yield from _all_oddities([one.oddities for _, one in logs])


def _cells(name: str, width: int | None) -> tuple[str, str]:
    """The folder that stands above a name, and the name as it stands in its line."""
    folder, slash, base = name.rpartition("/")
    if width is None or not slash:
        return "", name
    return f"{folder}/", _INDENT + base


def _fitted(room: list[int], width: int) -> int:
    """Shorten the columns to a width; gives the room that is left for oddities, or 0."""
    room[1] = min(room[1], _KIND)
    rest = sum(room[1:]) + len(_GAP) * (len(room) - 1)
    least, most = _NAME
    room[0] = min(room[0], max(least, min(most, width - rest - len(_GAP) - _ODD)))
    left = width - rest - room[0] - len(_GAP)
    return left if left >= _ODD else 0


def _numbers(one: Imported) -> tuple[str, ...]:
    numbers = (one.messages, one.turns, one.parallel, one.largest, one.calls, one.results)
    return tuple(map(str, numbers))


def _total(logs: Sequence[Imported]) -> tuple[str, ...]:
    columns = list(zip(*(map(int, _numbers(one)) for one in logs), strict=True))
    totals = [sum(column) for column in columns] or [0] * (len(_COLUMNS) - 2)
    if columns:
        totals[_LARGEST] = max(columns[_LARGEST])
    noun = "log" if len(logs) == 1 else "logs"
    return (f"{len(logs)} {noun}", "", *map(str, totals))


def _line(row: Sequence[str], room: Sequence[int], oddities: str) -> str:
    name = _shortened(row[0], room[0]).ljust(room[0])
    numbers = (cell.rjust(width) for cell, width in zip(row[2:], room[2:], strict=True))
    kind = _shortened(row[1], room[1]).ljust(room[1])
    return _GAP.join((name, kind, *numbers, oddities)).rstrip()


def _shortened(name: str, room: int) -> str:
    """A name that fits; its end tells more than its middle."""
    if len(name) <= room:
        return name
    end = (room - 1) * 2 // 3
    return f"{name[: room - 1 - end]}…{name[-end:]}"


def _counts(counts: Mapping[str, int], room: int | None) -> str:
    """How often each kind was told, the most first; what does not fit is counted."""
    texts = [f"{code} {count}" for code, count in _most_first(counts)]
    shown = ", ".join(texts)
    while room is not None and len(shown) > room and texts:
        texts.pop()
        shown = ", ".join([*texts, f"+{len(counts) - len(texts)}"])
    return shown


def _all_oddities(logs: Sequence[Mapping[str, int]]) -> Iterator[str]:
    told, holders = Counter[str](), Counter[str]()
    for counts in logs:
        told.update(counts)
        holders.update(counts.keys())
    if not told:
        return
    width = max(map(len, told))
    yield ""
    yield "oddities:"
    for code, count in _most_first(told):
        noun = "log" if holders[code] == 1 else "logs"
        yield f"  {code.ljust(width)}  {count} in {holders[code]} {noun}"


def _most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
