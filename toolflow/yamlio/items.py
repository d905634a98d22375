"""The door for documents with one long list: everything else first, then item by item.

A small file is read at once, so that all its problems are told before anything is done with it. Of
a large one that turns out to be broken, too, as long as it is not too big for that.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, Protocol

from toolflow.errors import ConfigError, DocumentError, Problem
from toolflow.yamlio.build import MAX_DEPTH
from toolflow.yamlio.document import Document, Spot
from toolflow.yamlio.found import FoundError, Head, Item, NoListError
from toolflow.yamlio.jsonitems import JsonItems
from toolflow.yamlio.jsontext import NotJsonError, json_spots
from toolflow.yamlio.load import JSON_TEXT, MAX_BYTES, load_file
from toolflow.yamlio.yamlitems import YamlItems

SMALL: Final = 1024 * 1024  # bytes of a file that is read at once
_BEGIN: Final = 1024  # bytes that tell whether it may be JSON


class Listed(Protocol):
    """A document with a list that can be read item by item, more than once.

    Attributes:
        head: The document, its list empty. Where there is no list it is whatever is there.
    """

    head: Document

    def __iter__(self) -> Iterator[Document]:
        """The items of the list as documents, whose places are those in the file."""


class Whole:
    """A document that is in memory as a whole.

    Args:
        document: The document.
        key: The key of its list.

    Attributes:
        document: The document.
        head: The document with an empty list, where it has one.
    """

    def __init__(self, document: Document, key: str) -> None:
        value = document.value
        self._items = value.get(key) if isinstance(value, dict) else None
        self.document, self._key = document, key
        self.head = document
        if isinstance(self._items, list):
            self.head = replace(document, value={**value, key: []})

    def __iter__(self) -> Iterator[Document]:
        """The items of the list."""
        for index, item in enumerate(self._items if isinstance(self._items, list) else ()):
            yield self.document.part((self._key, index), item)


class _Streamed:
    """A document that is read from its file, once for each iteration.

    Args:
        path: The file.
        key: The key of its list.
        error: The error to raise.
        limit: How many bytes an item may have.
        head: What stands beside the list.
        is_json: Whether it is JSON.
    """

    def __init__(
        self,
        path: Path,
        key: str,
        error: type[DocumentError],
        limit: int,
        head: Head,
        *,
        is_json: bool,
    ) -> None:
        self._path, self._key, self._error, self._limit = path, key, error, limit
        self._is_json = is_json
        spot = head.spot
        self.head = Document(head.value, str(path), head.text, lambda: spot)

    def __iter__(self) -> Iterator[Document]:
        """The items of the list, each read when it is asked for."""
        with _opened(self._path, self._error) as file, closing(self._items(file)) as items:
            for index, item in enumerate(items):
                yield self._document(index, item)

    def _items(self, file: IO[bytes]) -> Generator[Item]:
        source = str(self._path)
        reader: JsonItems | YamlItems
        if self._is_json:
            reader = JsonItems(file, source, self._key, self._limit)
            found = reader.items(MAX_DEPTH - 2)  # the root and the list are levels, too
        else:
            reader = YamlItems(file, source, self._key, self._limit)
            found = reader.items()
        with _told(self._path, self._error, self._limit):
            yield from found
        if late := sorted(reader.keys() - self.head.value.keys()):
            said = f"{late[0]} was not seen before {self._key}. Put {self._key} last."
            raise self._error(Problem(said, source))

    def _document(self, index: int, item: Item) -> Document:
        root = (self._key, index)
        if not self._is_json:
            return Document(item.value, str(self._path), item.text, lambda: item.spot, root)

        @cache
        def spots() -> Spot:
            return json_spots(item.text, str(self._path), item.spot)[0]

        return Document(item.value, str(self._path), item.text, spots, root)


def open_list(
    path: str | Path,
    key: str,
    *,
    error: type[DocumentError] = ConfigError,
    limit: int = MAX_BYTES,
    small: int | None = None,
) -> Listed:
    """Open a YAML or JSON file whose root holds a long list.

    Args:
        path: The file.
        key: The key of the list.
        error: The error to raise.
        limit: The largest size of an item, and of everything beside the list, in characters; the
            largest size in bytes of a file without such a list.
        small: Up to how many bytes a file is read at once; by default 1 MiB.

    Returns:
        The document. Iterating reads the list from its beginning; what is wrong in a large file is
        raised, as ``error``, when reading gets there.

    Raises:
        DocumentError: As ``error``, if the file cannot be read, or for what `load` tells.
    """
    place, small = Path(path), SMALL if small is None else small
    if _size(place) > small:
        with _told(place, error, limit):
            head, is_json = _head(place, key, error, limit)
        if head is not None:
            return _Streamed(place, key, error, limit, head, is_json=is_json)
    return Whole(load_file(path, error=error, max_bytes=limit), key)


def _size(path: Path) -> int:
    """How many bytes a file has; 0 of what is no file, which is then read to say so."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0


def _head(path: Path, key: str, error: type[DocumentError], limit: int) -> tuple[Head | None, bool]:
    """What stands beside the list, if there is one, and whether it is JSON."""
    source, named = str(path), path.suffix == ".json"
    with _opened(path, error) as file, _opened(path, error) as again:
        begin = file.read(_BEGIN).decode("utf-8", "replace").removeprefix("\ufeff")
        file.seek(0)
        try:
            if named or JSON_TEXT.match(begin):
                try:
                    return JsonItems(file, source, key, limit).head(), True
                except NotJsonError:
                    if named:
                        raise
                    file.seek(0)
            return YamlItems(file, source, key, limit).head(again), False
        except NoListError:
            return None, False  # some other large document


@contextmanager
def _opened(path: Path, error: type[DocumentError]) -> Iterator[IO[bytes]]:
    """A file, with errors of the file system in our words."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise error(Problem("There is no such file.", str(path), code="file")) from None
    except (OSError, ValueError) as problem:
        raise error(_unreadable(path, problem)) from None
    with file:
        try:
            yield file
        except OSError as problem:
            raise error(_unreadable(path, problem)) from None


def _unreadable(path: Path, problem: Exception) -> Problem:
    said = getattr(problem, "strerror", None) or str(problem)
    return Problem(f"The file cannot be read: {said.lower()}.", str(path), code="file")


@contextmanager
def _told(path: Path, error: type[DocumentError], limit: int) -> Iterator[None]:
    """Tell what is wrong with a document: all of it, where it is not too big to be read at once."""
    try:
        yield
    except (FoundError, NotJsonError) as found:
        if _size(path) <= limit:
            load_file(path, error=error, max_bytes=limit)
        problems: Any = getattr(found, "problems", None)
        if isinstance(found, NotJsonError):
            problems = [Problem(str(found), str(path), found.line, found.column, "syntax")]
        raise error(problems) from None
