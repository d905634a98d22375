"""A document: plain values, and the places in the text where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolflow.errors import Problem

Path = tuple[str | int, ...]
Place = tuple[int, int]

# A spot is the place of a value, in a form that costs 32 bytes a scalar: a packed integer for
# a scalar; [mark, spot, spot ...] for a list; {None: mark, key: (key's mark, spot)} for a mapping.
Spot = Any

_WIDE = 1 << 40  # no line is longer


def mark(line: int, column: int) -> int:
    """Pack a line and a column, both counted from 0, into one integer."""
    return line * _WIDE + column


def place(packed: int) -> Place:
    """The line and column, both counted from 1, of a packed mark."""
    line, column = divmod(packed, _WIDE)
    return line + 1, column + 1


def own_mark(spot: Spot) -> int:
    """The packed mark of the value itself."""
    packed: int = spot if isinstance(spot, int) else spot[None if isinstance(spot, dict) else 0]
    return packed


def doubled(key: str, first: int) -> str:
    """The sentence for a key that stands twice in one mapping; ``first`` is a packed mark."""
    line, column = place(first)
    return f"The key {key!r} stands here again; it stands at line {line}, column {column} already."


@dataclass(frozen=True, slots=True)
class Document:
    """A loaded document.

    Attributes:
        value: Dicts, lists, text, numbers, booleans and ``None``; keys of dicts are text.
        source: The file's name, or a word such as ``<policy>``.
        text: The text that was read; empty where the document was made from values.
        spots: Works out the places of all values; called only when a place is asked for.
        root: Where the value stands, if it is a part of a document; paths begin at that one's root.
    """

    value: Any
    source: str
    text: str = ""
    spots: Callable[[], Spot] = field(default=lambda: None, repr=False, compare=False)
    root: Path = ()

    @property
    def positions(self) -> Mapping[Path, Place]:
        """Path to (line, column), both counted from 1, of every value; empty where not known."""
        spot = self.spots()
        return {} if spot is None else dict(_walk(spot, self.root))

    def where(self, path: Path, *, key: bool = False) -> Place | tuple[None, None]:
        """Where a value stands, or the nearest known value around it.

        Args:
            path: Keys and indexes from the root: ``("rules", 2, "safe")``.
            key: Ask for the place of the last key instead of its value.

        Returns:
            Line and column, counted from 1, or ``(None, None)`` where no place is known.
        """
        spot = self.spots()
        if spot is None:
            return None, None
        found = own_mark(spot)
        for step in path[len(self.root) :]:
            inner = _step(spot, step)
            if inner is None:
                break
            key_mark, spot = inner
            found = key_mark if key and step == path[-1] else own_mark(spot)
        return place(found)

    def part(self, path: Path, value: Any) -> Document:
        """A part of this document as a document of its own.

        Args:
            path: Where it stands.
            value: What stands there.
        """

        def spots() -> Spot:
            spot = self.spots()
            for step in path[len(self.root) :]:
                inner = None if spot is None else _step(spot, step)
                spot = None if inner is None else inner[1]
            return spot

        return Document(value, self.source, self.text, spots, path)

    def problem(
        self, path: Path, message: str, *, code: str = "invalid", key: bool = False
    ) -> Problem:
        """A problem of the value at a path, with its place.

        Args:
            path: Keys and indexes from the root.
            message: A sentence: what is wrong with which value, and what is allowed.
            code: A short stable word for the kind.
            key: Point at the key instead of the value.
        """
        line, column = self.where(path, key=key)
        return Problem(message, self.source, line, column, code)


def _step(spot: Spot, step: str | int) -> tuple[int, Spot] | None:
    if isinstance(spot, dict):
        found: tuple[int, Spot] | None = spot.get(step) if isinstance(step, str) else None
        return found
    if isinstance(spot, list) and isinstance(step, int) and 0 <= step < len(spot) - 1:
        return own_mark(spot[step + 1]), spot[step + 1]
    return None


def _walk(spot: Spot, path: Path) -> Iterator[tuple[Path, Place]]:
    yield path, place(own_mark(spot))
    if isinstance(spot, dict):
        for key, inner in spot.items():
            if key is not None:
                yield from _walk(inner[1], (*path, key))
    elif isinstance(spot, list):
        for index, item in enumerate(spot[1:]):
            yield from _walk(item, (*path, index))
