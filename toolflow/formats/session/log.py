"""A session log as a file: records one by one, and what could not be read (spec 3.2, 16).

Lines are read one at a time, so that memory grows with what a reader keeps and not with the file.
A file that begins with ``[`` is one JSON document; its items are its records. A file whose first
line is only the beginning of a JSON object is one JSON document, and so is a YAML file: it is its
only record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

from toolflow import yamlio
from toolflow.errors import DocumentError, Problem, TurnError
from toolflow.formats.base import printable

MAX_LINE = 64 * 1024 * 1024
MAX_DOCUMENT = 256 * 1024 * 1024
_HEAD = 32
_STEP = 1024 * 1024  # bytes between two words of progress
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Record(NamedTuple):
    """One line of a log, or one item of a log that is a JSON list.

    Attributes:
        number: The line, or the item's place, counted from 1.
        value: What it holds; ``None`` where it could not be read.
        fault: Why it could not be read, or ``None``.
    """

    number: int
    value: Any
    fault: str | None = None


@dataclass(frozen=True)
class Log:
    """A session log.

    Attributes:
        path: Where it is.
        shape: What it begins like: JSON ``lines``, one JSON ``list``, one JSON ``object`` over
            several lines, or ``yaml``.
        progress: Called now and then while records are read, with how many bytes of the file were
            read so far; or ``None``.
    """

    path: Path
    shape: Literal["lines", "list", "object", "yaml"]
    progress: Callable[[int], object] | None = field(default=None, compare=False)
    _begun: list[tuple[list[Record], Iterator[Record]]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @classmethod
    def open(cls, path: str | Path, *, progress: Callable[[int], object] | None = None) -> Log:
        """Look at a file.

        Args:
            path: The file.
            progress: See the attribute.

        Raises:
            TurnError: If it cannot be read.
        """
        place = Path(path)
        with _told(place), place.open("rb") as file:
            start = file.read(4096)
        if start.startswith(_UTF16):
            raise TurnError(_problem(place, "The file is UTF-16. Save it as UTF-8."))
        first = start.removeprefix(_BOM).lstrip()
        if first[:1] == b"[":
            return cls(place, "list", progress)
        if first[:1] == b"{":
            return cls(place, "object" if _is_beginning(first) else "lines", progress)
        return cls(place, "yaml" if place.suffix in {".yaml", ".yml"} else "lines", progress)

    def head(self) -> tuple[Any, ...]:
        """The first records that can be read: enough to tell the format.

        The reading that was begun for them is gone on with by `records`: nothing is parsed twice.
        """
        if not self._begun:
            rest = self._read()
            self._begun.append((list(islice(rest, _HEAD)), rest))
        return tuple(record.value for record in self._begun[0][0] if record.fault is None)

    def records(self) -> Iterator[Record]:
        """Every record in order, also those that cannot be read. Blank lines are left out.

        Raises:
            TurnError: If the file cannot be read, or is a JSON list with a mistake.
        """
        first, rest = self._begun.pop() if self._begun else ([], self._read())
        yield from first
        yield from rest

    def _read(self) -> Iterator[Record]:
        with _told(self.path), self.path.open("rb") as file:
            if self.shape == "lines":
                yield from _lines(file, self.progress)
            else:
                yield from self._document(file)

    def _document(self, file: BinaryIO) -> Iterator[Record]:
        text = file.read(MAX_DOCUMENT + 1)
        if len(text) > MAX_DOCUMENT:
            message = "The document is larger than 256 MiB. Use JSON lines."
            raise TurnError(_problem(self.path, message))
        if self.shape == "yaml":
            yield self._yaml(text)
            return
        record = _parsed(1, text.removeprefix(_BOM))
        if record.fault is not None:
            yield from self._lines_after_all(file, record.fault)
        elif self.shape == "list":
            for number, item in enumerate(record.value, 1):
                yield Record(number, item)
        else:
            yield record

    def _yaml(self, text: bytes) -> Record:
        try:
            return Record(1, yamlio.load(text, source=printable(self.path), binary=True).value)
        except DocumentError as error:
            raise TurnError(error.problems) from None

    def _lines_after_all(self, file: BinaryIO, fault: str) -> Iterator[Record]:
        """Lines, of which the first is a list or an object, or a torn one that looks like it."""
        file.seek(0)
        if not any(isinstance(line.value, dict) for line in _lines(file)):
            raise TurnError(_problem(self.path, f"The {self.shape} cannot be read: {fault}."))
        file.seek(0)
        yield from _lines(file)


class _told:  # noqa: N801  # reads as a word: `with _told(path)`
    """Maps the errors of the file system to ours."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            reason = error.strerror or type(error).__name__
            raise TurnError(_problem(self.path, f"The file cannot be read: {reason}.")) from error
        if isinstance(error, ValueError):  # a path with a NUL character
            raise TurnError(_problem(self.path, "The path cannot be used.")) from error


def _is_beginning(text: bytes) -> bool:
    """Whether the first line is only the beginning of a JSON object."""
    line, end, rest = text.partition(b"\n")
    if not end or not rest.strip():
        return False  # one line, or one that is longer than what was looked at
    return _parsed(1, line.rstrip()).fault is not None


def _problem(path: Path, message: str) -> Problem:
    return Problem(message, printable(path))


def _lines(file: BinaryIO, progress: Callable[[int], object] | None = None) -> Iterator[Record]:
    number = read = told = 0
    while line := file.readline(MAX_LINE):
        number += 1
        read += len(line)
        if progress is not None and read - told >= _STEP:
            told = read
            progress(read)
        if len(line) == MAX_LINE and not line.endswith(b"\n"):
            while (more := file.readline(MAX_LINE)) and not more.endswith(b"\n"):
                pass
            yield Record(number, None, "it is longer than 64 MiB")
            continue
        if number == 1:
            line = line.removeprefix(_BOM)
        if line := line.rstrip():
            yield _parsed(number, line)


def _place(error: json.JSONDecodeError) -> str:
    return f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"


def _parsed(number: int, text: bytes) -> Record:
    try:
        return Record(number, json.loads(text.decode()))
    except UnicodeDecodeError as error:
        return Record(number, None, f"it is not UTF-8 (byte {error.start})")
    except json.JSONDecodeError as error:
        if b"\0" in text:
            return Record(number, None, "it holds NUL bytes")
        return Record(number, None, f"it is not JSON ({_place(error)})")
    except RecursionError:
        return Record(number, None, "it is nested too deeply")
    except ValueError:
        return Record(number, None, "it holds a number of too many digits")
