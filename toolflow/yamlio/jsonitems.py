"""The items of a list in a JSON document, one by one, in memory that does not grow with it.

Python's reader decodes one value at a place of a text and says where it ends. Where the text at
hand ends before the value does, more is read and the value is decoded again; as much is read as is
at hand, so that all of it is decoded twice at most.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final, NamedTuple

from toolflow.errors import Problem
from toolflow.yamlio.document import Place, doubled, mark, place
from toolflow.yamlio.found import FoundError, Head, Item, NoListError
from toolflow.yamlio.jsontext import NotJsonError, json_spots, refuse, too_deep
from toolflow.yamlio.window import Window

CHUNK: Final = 1 << 20  # bytes that are read at once
_NEAR: Final = 32  # characters before the end in which a fault may come from the end
_REST: Final = len("e+")  # of a number, behind what is a number, too
_BLANK: Final = re.compile(r"[ \t\r\n]*")


class _Part(NamedTuple):
    """A value of the root, or an item of its list."""

    key: str
    key_place: Place
    value: Any
    text: str
    place: Place
    item: bool = False


class JsonItems:
    """Reads a document value by value.

    Args:
        file: The file, at its beginning.
        source: Its name.
        key: The key of the root that holds the list.
        limit: How many characters a value of the root may have, and an item.
    """

    def __init__(self, file: IO[bytes], source: str, key: str, limit: int) -> None:
        self._listed = False
        self._source = source
        self._key = key
        self._window = Window(file, source, limit, chunk=CHUNK)
        self._doubled = False  # whether an object holds a key twice
        self._keys: dict[str, int] = {}

    def head(self) -> Head | None:
        """The mapping without the items of its list; the whole file is looked through for it.

        Returns:
            The head; ``None`` where there is no such list.

        Raises:
            NotJsonError: If it is no JSON.
            FoundError: If the file cannot be read.
            NoListError: If there is too much before the list.
        """
        if self._next() != "{":
            return None
        value: dict[str, Any] = {}
        spot: dict[str | None, Any] = {None: mark(self._window.line, self._window.column)}
        for part in self._parts(json.JSONDecoder(parse_constant=refuse)):
            if part.item:
                continue
            value[part.key] = part.value
            inner = [mark(*part.place)] if part.key == self._key else self._spot(part)
            spot[part.key] = (mark(*part.key_place), inner)
        return Head(value, spot, "") if self._listed else None

    def items(self, depth: int) -> Iterator[Item]:
        """The items of the list.

        Args:
            depth: How many levels an item may have.

        Raises:
            NotJsonError: If it is no JSON.
            FoundError: If the document cannot be read any further.
        """
        for part in self._parts(
            json.JSONDecoder(object_pairs_hook=self._pairs, parse_constant=refuse)
        ):
            if self._doubled:
                raise FoundError(json_spots(part.text, self._source, part.place)[1])
            if too_deep(part.value, depth if part.item else depth + 1):
                line, column = part.place
                said = "The document is nested too deep here."
                raise FoundError([Problem(said, self._source, line + 1, column + 1, "depth")])
            if part.item:
                yield Item(part.value, part.place, part.text)

    def keys(self) -> frozenset[str]:
        """The keys of the root, once all items were read."""
        return frozenset(self._keys)

    def _parts(self, decoder: json.JSONDecoder) -> Iterator[_Part]:
        """Every value of the root; of the list an empty one, then its items."""
        self._keys.clear()
        for _ in self._separated("{", "}"):
            key_place, key = self._key_of(decoder)
            if key == self._key and self._next() == "[":
                self._listed = True
                here = (self._window.line, self._window.column)
                yield _Part(key, key_place, [], "[]", here)
                for _ in self._separated("[", "]"):
                    yield _Part(key, key_place, *self._value(decoder), item=True)
            else:
                yield _Part(key, key_place, *self._value(decoder))
        if self._next():
            raise self._fault("extra data")

    def _key_of(self, decoder: json.JSONDecoder) -> tuple[Place, str]:
        if self._next() != '"':
            raise self._fault("expecting property name enclosed in double quotes")
        key, _, where = self._value(decoder)
        here = mark(*where)
        if key in self._keys:
            said = doubled(key, self._keys[key])
            raise FoundError([Problem(said, self._source, *place(here), code="doubled_key")])
        self._keys[key] = here
        self._eat(":")
        return where, key

    def _separated(self, opening: str, closing: str) -> Iterator[None]:
        """Once for each part between two brackets, which the caller reads."""
        self._eat(opening)
        if self._next() != closing:
            yield
            while self._next() == ",":
                self._eat(",")
                yield
        self._eat(closing)

    def _eat(self, character: str) -> None:
        if self._next() != character:
            raise self._fault(f"expecting {character!r}")
        self._take(1)

    def _next(self) -> str:
        """The next character that is no blank, and is not taken; empty at the end of the file."""
        window = self._window
        while True:
            found = _BLANK.match(window.text, window.at)
            if found is not None and found.end() > window.at:
                self._take(found.end() - window.at)
            if window.at < len(window.text):
                return window.text[window.at]
            if not self._more():
                return ""

    def _value(self, decoder: json.JSONDecoder) -> tuple[Any, str, Place]:
        """The next value, its text, and where it begins."""
        self._next()
        window = self._window
        here = (window.line, window.column)
        while True:
            begin = window.at  # reading more moves it
            try:
                value, end = decoder.raw_decode(window.text, begin)
                is_whole = window.text[end - 1] in '"]}' or end + _REST < len(window.text)
                if is_whole or not self._more():  # else it may be a number that goes on
                    return value, self._take(end - begin), here
            except json.JSONDecodeError as error:
                near = error.msg.startswith("Unterminated") or error.pos > len(window.text) - _NEAR
                if not near or not self._more():
                    said = f"{error.msg[:1].lower()}{error.msg[1:]}"
                    raise self._fault(said, error.pos - begin) from None
            except (ValueError, RecursionError) as error:
                raise NotJsonError(f"The JSON cannot be read: {error}.", 1, 1) from None
            self._doubled = False

    def _more(self) -> bool:
        """Read more; whether there was more.

        Raises:
            FoundError: If the file cannot be read.
        """
        window = self._window
        more = bool(window.read())
        if window.failure is not None:
            if window.failure.code == "size" and not self._listed:
                raise NoListError
            raise FoundError((window.failure,))
        return more

    def _take(self, count: int) -> str:
        window = self._window
        return window.take(window.begin + window.at + count)

    def _fault(self, said: str, behind: int = 0) -> NotJsonError:
        self._take(behind)
        line, column = self._window.line + 1, self._window.column + 1
        return NotJsonError(f"The JSON cannot be read: {said}.", line, column)

    def _pairs(self, items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        self._doubled = self._doubled or len(value) != len(items)
        return value

    def _spot(self, part: _Part) -> Any:
        return json_spots(part.text, self._source, part.place)[0]
