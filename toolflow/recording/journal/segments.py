"""The files of one journal, and their lines.

A journal that grows above a size goes on in a further file: ``journal.jsonl``, then
``journal-2.jsonl``, ``journal-3.jsonl`` ... No file is ever removed or changed by toolflow; whoever
removes one loses the turns in it, and no others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolflow.errors import JournalError
from toolflow.model.turn import Notice

VERSION: Final = 1
HEAD: Final = b'{"line":"journal"'
_LONGEST: Final = 1 << 30  # bytes of a file that are read as a whole


class Line(NamedTuple):
    """One line of a journal.

    Attributes:
        file: The file's path.
        number: Its number there, counted from 1.
        data: What it says; ``None`` where that cannot be told.
    """

    file: str
    number: int
    data: dict[str, Any] | None


def segment_path(path: Path, number: int) -> Path:
    """The path of a journal's file of a number, counted from 1."""
    return path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")


def segments(path: Path) -> list[tuple[int, Path]]:
    """The files of a journal that are there, in order, with their numbers."""
    name = re.compile(rf"{re.escape(path.stem)}-([1-9]\d{{0,8}}){re.escape(path.suffix)}")
    found = [(1, path)] if path.is_file() else []
    try:
        others = [
            (int(match[1]), each)
            for each in path.parent.iterdir()
            if (match := name.fullmatch(each.name))
        ]
    except OSError:
        others = []
    return found + sorted(each for each in others if each[0] > 1)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        JournalError: If it cannot be read.
    """
    try:
        if path.stat().st_size > _LONGEST:
            raise JournalError(f"{path}: this file is larger than 1 GiB. Read its parts.")
        return path.read_bytes()
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise JournalError(f"{path}: the journal cannot be read: {said}.") from error


def whole_lines(content: bytes) -> int:
    """How many bytes of a file are whole lines; what is behind was torn off by an end."""
    return content.rfind(b"\n") + 1


def is_journal(path: Path) -> bool:
    """Whether a file begins like a journal."""
    try:
        with path.open("rb") as file:
            return file.read(len(HEAD)) == HEAD
    except OSError:
        return False


def lines_of(path: Path, notices: list[Notice], *, last: bool) -> Iterator[Line]:
    """The lines of a file; what is wrong with them is noted.

    Args:
        path: The file.
        notices: Where notices go.
        last: Whether it is the journal's last file, whose last line may be torn.

    Raises:
        JournalError: If the file cannot be read, or is no journal.
    """
    for number, row in enumerate(_rows(path), start=1):
        if not row.endswith(b"\n"):
            yield from _torn(path, number, row, notices, last=last)
            return
        data = _value(row)
        if number == 1 and (data is None or data.get("line") != "journal"):
            raise JournalError(f"{path}:1: this is no journal. A journal begins with a header.")
        if data is None:
            said = f"{path}:{number}: this line cannot be read, and is left out."
            notices.append(Notice("broken_line", said, number))
        yield Line(str(path), number, data)


def _rows(path: Path) -> Iterator[bytes]:
    """The lines of a file with their line feeds; the last one may have none."""
    try:
        with path.open("rb") as file:
            while row := file.readline(_LONGEST + 1):
                if len(row) > _LONGEST:
                    raise JournalError(f"{path}: a line of this file is larger than 1 GiB.")
                yield row
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise JournalError(f"{path}: the journal cannot be read: {said}.") from error


def _torn(
    path: Path, number: int, row: bytes, notices: list[Notice], *, last: bool
) -> Iterator[Line]:
    """A last line without its end."""
    if number == 1 and not (HEAD.startswith(row[: len(HEAD)]) or row.startswith(HEAD)):
        raise JournalError(f"{path}:1: this is no journal. A journal begins with a header.")
    said = f"{path}:{number}: the last line was not written to its end, and is left out."
    notices.append(Notice("torn_line" if last else "broken_line", said, number))
    if not last:
        yield Line(str(path), number, None)


def _value(row: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(row)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("line"), str) else None
