"""Any Python value as JSON values, with an account of what was changed (spec 9.4).

JSON-like values come through as they are. What JSON cannot hold becomes what a reader would
expect (a set a sorted list, a date its ISO text, a dataclass an object), and what is alive (a
file, a lock, a generator) becomes the name of its type in angle brackets. Every change is counted
by its kind, with the place of the first one, so that one note can tell of all of them. The same
value gives the same JSON in every process: addresses in memory and the order of sets never show.

What a value may cost is bounded: its depth, its number of parts and its characters, for a small
value can be written as an endless text by referring to itself or to one part many times.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import io
import ipaddress
import json
import math
import pathlib
import re
import sys
import types
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from itertools import count
from typing import Any

from toolflow.model.outcome import Image
from toolflow.runtime.failure import describe
from toolflow.runtime.plain import clean_text, is_base64, picture

MAX_DEPTH = 100  # deeper than people nest, and well inside what JSON and YAML writers manage
MAX_PARTS = 1_000_000
MAX_CHARACTERS = 100_000_000
MAX_BITS = 14_000  # 4,214 digits; Python refuses to write or read integers of more than 4,300
_AS_TEXT = (
    dt.timedelta,
    decimal.Decimal,
    fractions.Fraction,
    complex,
    uuid.UUID,
    pathlib.PurePath,
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SHOWN = 8  # kinds of change that a note tells
_MAX_REPR = 100_000  # characters


class Writer:
    """Writes one value; used once.

    Attributes:
        images: The pictures found on the way, in order; the value holds a text in their place.
    """

    def __init__(self) -> None:
        self.images: list[Image] = []
        self._changes: dict[str, tuple[str, int]] = {}  # kind -> (place of the first, how many)
        self._where: list[str | int] = []
        self._open: set[int] = set()
        self._parts = 0
        self._characters = 0

    @property
    def note(self) -> str | None:
        """What was changed, in a sentence, or ``None``."""
        told = []
        for change, (place, times) in list(self._changes.items())[:_SHOWN]:
            more = f" and {times - 1} more" if times > 1 else ""
            told.append(f"{change}{place}{more}")
        if len(self._changes) > _SHOWN:
            told.append(f"{len(self._changes) - _SHOWN} more kinds of change")
        return f"Not as returned: {'; '.join(told)}." if told else None

    def write(self, value: Any) -> Any:
        """The JSON value for any value.

        Args:
            value: Anything.

        Returns:
            Nothing but ``None``, ``bool``, ``int``, finite ``float``, clean ``str``, ``list`` and
            ``dict`` with text for keys.
        """
        self._parts += 1
        if value is None or value is True or value is False:
            return value
        if self._parts > MAX_PARTS or self._characters > MAX_CHARACTERS:
            return self._mark("left out, for the value is too large", "<left out>")
        scalar = self._SCALARS.get(type(value))
        return self._guarded(value) if scalar is None else scalar(self, value)

    def _mark(self, change: str, text: Any = None, *, times: int = 1) -> Any:
        place, before = self._changes.get(change, ("", 0))
        if before == 0 and self._where:
            place = " at " + ".".join(str(step)[:40] for step in self._where)
        self._changes[change] = (place, before + times)
        return text

    def _text(self, value: str) -> str:
        text, lone = clean_text(value)
        if lone:
            self._mark("lone surrogate replaced", times=lone)
        self._characters += len(text)
        return text

    def _integer(self, value: int) -> int | str:
        if value.bit_length() <= MAX_BITS:
            return value
        text: str = self._mark("integer too long for JSON, written as hexadecimal", hex(value))
        return text

    def _float(self, value: float) -> float | str:
        if math.isfinite(value):
            return value
        text = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        marked: str = self._mark("number that is not finite, written as text", text)
        return marked

    _SCALARS: Mapping[type, Callable[[Writer, Any], Any]] = {
        str: _text,
        int: _integer,
        float: _float,
    }

    def _guarded(self, value: Any) -> Any:
        """A value that may hold others, or whose own code runs when it is read."""
        name = type(value).__name__
        if id(value) in self._open:
            return self._mark("cycle cut", f"<cycle: {name}>")
        if len(self._open) >= MAX_DEPTH:
            return self._mark("cut, for it is nested too deeply", f"<too deep: {name}>")
        self._open.add(id(value))
        depth = len(self._where)
        try:
            return self._composite(value)
        except Exception as error:  # noqa: BLE001  # the value's own code
            del self._where[depth:]
            change = f"{name} that cannot be read ({type(error).__name__})"
            return self._mark(change, f"<{name}>")
        finally:
            self._open.discard(id(value))

    def _composite(self, value: Any) -> Any:
        for kinds, write in self._COMPOSITES:
            if isinstance(value, kinds):
                return write(self, value)
        fields = _fields(value)
        if fields is not None:
            self._mark(f"{type(value).__name__} written as an object")
            return self._object(fields)
        if hasattr(type(value), "dtype") and hasattr(type(value), "tolist"):
            self._mark(f"{type(value).__name__} written as its elements")
            return self.write(value.tolist())
        return self._other(value)

    def _at(self, step: str | int, value: Any) -> Any:
        self._where.append(step)
        written = self.write(value)
        self._where.pop()
        return written

    def _list(self, value: Iterable[Any]) -> list[Any]:
        return [self._at(index, item) for index, item in enumerate(value)]

    def _listed(self, value: Iterable[Any]) -> list[Any]:
        self._mark(f"{type(value).__name__} written as a list")
        return self._list(value)

    def _set(self, value: Iterable[Any]) -> list[Any]:
        self._mark("set written as a sorted list")
        items = [self._at("*", item) for item in value]
        try:
            return sorted(items)
        except TypeError:  # of several types
            return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))

    def _object(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for key, item in value.items():
            name = self._text(key) if type(key) is str else self._key(key)
            if name in written:
                self._mark("key renamed, for it was there already")
                name = next(new for n in count(2) if (new := f"{name} ({n})") not in written)
            written[name] = self._at(name, item)
        return written

    def _key(self, key: Any) -> str:
        self._mark("key that is not text, written as text")
        written = self._at("key", key)
        return written if isinstance(written, str) else json.dumps(written)

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        self._mark(f"{type(value).__name__} written as an object")
        return self._object(value)

    def _bytes(self, value: bytes | bytearray | memoryview) -> str:
        data = bytes(value)
        image = picture(data)
        if image is not None:
            return self._picture(image)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\0"
        if not _CONTROL.search(text):
            self._mark("bytes written as text")
            return self._text(text)
        self._mark("bytes written in base64")
        return self._text("base64:" + base64.b64encode(data).decode("ascii"))

    def _picture(self, value: Image) -> str:
        if not is_base64(value.data) or not isinstance(value.media_type, str):
            unusable: str = self._mark("picture whose data is no base64 left out", "<image>")
            return unusable
        media_type = self._text(str(value.media_type))
        self.images.append(Image(media_type, str(value.data)))
        return f"<image {len(self.images)}: {media_type}>"

    def _as_text(self, value: Any) -> str:
        self._mark(f"{type(value).__name__} written as text")
        return self._text(str(value))

    def _as_iso(self, value: Any) -> str:
        self._mark(f"{type(value).__name__} written as text")
        return self._text(value.isoformat())

    def _exception(self, value: BaseException) -> str:
        self._mark("exception written as text")
        return self._text(describe(value))

    def _closed(self, value: Any) -> str:
        value.close()
        return self._other(value)

    def _other(self, value: Any) -> str:
        """By its ``repr`` if that reads like a value; else it is something alive."""
        name = type(value).__name__
        text = repr(value)
        if text.startswith("<") or " at 0x" in text:
            alive: str = self._mark(f"{name} is alive, written as its type", f"<{name}>")
            return alive
        self._mark(f"{name} written as text")
        return self._text(text[:_MAX_REPR])

    # The first that fits counts: members of an enum may be text or numbers too, for one.
    _COMPOSITES: tuple[tuple[Any, Callable[[Writer, Any], Any]], ...] = (
        (dict, _object),
        ((list, tuple), _list),
        (enum.Enum, lambda self, value: self.write(value.value)),
        ((set, frozenset, AbstractSet), _set),
        (str, lambda self, value: self.write(str.__str__(value))),
        (int, lambda self, value: self.write(int.__int__(value))),
        (float, lambda self, value: self.write(float.__float__(value))),
        (Mapping, _mapping),
        ((deque, ValuesView), _listed),
        ((bytes, bytearray, memoryview), _bytes),
        (Image, _picture),
        ((dt.date, dt.time), _as_iso),
        (_AS_TEXT, _as_text),
        (BaseException, _exception),
        ((types.GeneratorType, types.CoroutineType), _closed),
        (io.IOBase, lambda self, value: self._mark(*_alive(value))),
    )


def _alive(value: object) -> tuple[str, str]:
    name = type(value).__name__
    return f"{name} is alive, written as its type", f"<{name}>"


def _fields(value: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, a pydantic model or an attrs class; else ``None``."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    pydantic = sys.modules.get("pydantic")  # where it was never imported there is no model of it
    if pydantic is not None and isinstance(value, pydantic.BaseModel):
        dumped = value.model_dump(warnings=False)
        return dumped if isinstance(dumped, dict) else {"root": dumped}
    attributes = getattr(type(value), "__attrs_attrs__", None)
    if isinstance(attributes, tuple):
        return {item.name: getattr(value, item.name) for item in attributes}
    return None
