"""Writing YAML for people: the same bytes everywhere, and nothing that reads back otherwise.

PyYAML's emitters are not used: the one around libyaml writes every character beyond the basic
plane (a rocket in a tool's output) as an escape and gives up block text for it, the one in Python
does not and is slow. JSON-like values need little: this module is the whole of it.

Layout: mappings and lists in block style; what fits on one line and holds no further level but
small ones in flow style; text of several lines as a literal block.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from toolflow.yamlio.build import MAX_DEPTH
from toolflow.yamlio.scalars import CONSTANTS, resolve

WIDTH: Final = 100
_FLOW_LEVELS = 3
_LONG_KEY = 120  # YAML ends a simple key after 1,024 characters; people much sooner

# Text that stands for itself without quotes, in any place: deliberately narrow.
_PLAIN = re.compile(r"(?!\.\.\.)[\w/.$(](?:[\w /.+*()@$^~;=<>|&'!%-]|:(?! ))*(?<![ :])")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NO_BLOCK = re.compile(
    "[^\n\t -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def dump(value: Any) -> str:
    """Write a JSON-like value as YAML.

    Args:
        value: Mappings with text keys, lists, tuples, text, numbers, booleans and ``None``.

    Returns:
        The text; it ends in a line feed, keeps the order of keys, and has no anchors. `load`
        gives back an equal value.

    Raises:
        ValueError: If a value is of another kind, a text holds a lone surrogate, or the value is
            nested deeper than 100 levels.
    """
    lines: list[str] = []
    if isinstance(value, Mapping) and value:
        _mapping(value, 0, lines, "")
    elif isinstance(value, list | tuple) and value:
        _list(value, 0, lines, "")
    else:
        _entry("", value, 0, lines)
    lines.append("")
    return "\n".join(lines)


def dump_item(value: Any, indent: int) -> str:
    """Write one item of a list as it stands in a document whose list has a line for each.

    Args:
        value: As for `dump`.
        indent: The column of its dash, counted from 0.

    Returns:
        The text; it ends in a line feed.

    Raises:
        ValueError: As `dump` does.
    """
    lines: list[str] = []
    _list([value], indent, lines, "")
    lines.append("")
    return "\n".join(lines)


def _mapping(value: Mapping[str, Any], indent: int, lines: list[str], lead: str) -> None:
    if indent >= 2 * MAX_DEPTH:
        raise ValueError(f"The value is nested deeper than {MAX_DEPTH} levels.")
    pad = lead or " " * indent
    for key, inner in value.items():
        name = _key(key)
        if len(name) > _LONG_KEY:
            lines.append(f"{pad}? {name}")
            pad = " " * indent
            name = ""
        _entry(f"{pad}{name}:", inner, indent, lines)
        pad = " " * indent


def _list(value: list[Any] | tuple[Any, ...], indent: int, lines: list[str], lead: str) -> None:
    if indent >= 2 * MAX_DEPTH:
        raise ValueError(f"The value is nested deeper than {MAX_DEPTH} levels.")
    pad = lead or " " * indent
    for inner in value:
        if isinstance(inner, str) and "\n" in inner:
            _entry(f"{pad}-", inner, indent, lines)
        elif (flow := _flow(inner, WIDTH - indent - 2, _levels(indent))) is not None:
            lines.append(f"{pad}- {flow}")
        elif isinstance(inner, Mapping):
            _mapping(inner, indent + 2, lines, f"{pad}- ")
        else:
            _list(inner, indent + 2, lines, f"{pad}- ")
        pad = " " * indent


def _entry(start: str, value: Any, indent: int, lines: list[str]) -> None:
    """What follows a key, a dash, or nothing at the root."""
    lead = f"{start} " if start else ""
    if isinstance(value, str):
        lines.append(lead + (_block(value, indent + 2) if "\n" in value else _text(value)))
    elif (flow := _flow(value, WIDTH - len(lead), _levels(indent))) is not None:
        lines.append(lead + flow)
    else:
        lines.append(start)
        if isinstance(value, Mapping):
            _mapping(value, indent + 2, lines, "")
        else:
            _list(value, indent + 2, lines, "")


def _levels(indent: int) -> int:
    """How many levels of flow style may stand inside a block at this indent."""
    return min(_FLOW_LEVELS, MAX_DEPTH - indent // 2 - 1)


def _flow(value: Any, room: int, levels: int) -> str | None:
    """The value on one line; ``None`` for a list or mapping that does not fit."""
    if not isinstance(value, Mapping | list | tuple):
        return _scalar(value)
    if levels < 1:
        return None
    if not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    if 3 * len(value) > room:
        return None
    parts = []
    room -= 2
    for item in value.items() if isinstance(value, Mapping) else value:
        part = _pair(item, room, levels) if isinstance(value, Mapping) else None
        if part is None and not isinstance(value, Mapping):
            part = _inner(item, room, levels)
        if part is None or (room := room - len(part) - 2) < -2:
            return None
        parts.append(part)
    text = ", ".join(parts)
    return f"{{{text}}}" if isinstance(value, Mapping) else f"[{text}]"


def _pair(item: tuple[str, Any], room: int, levels: int) -> str | None:
    name = _key(item[0])
    inner = _inner(item[1], room - len(name), levels)
    return None if inner is None else f"{name}: {inner}"


def _inner(value: Any, room: int, levels: int) -> str | None:
    if isinstance(value, str) and ("\n" in value or len(value) > room):
        return None
    return _flow(value, room, levels - 1)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(float(value))
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    raise ValueError(f"A value of type {type(value).__name__} cannot be written as YAML.")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError(f"The key {key!r} is not text.")  # noqa: TRY004 - one error for all of dump
    return _text(key)


def _text(text: str) -> str:
    """A text on one line: without quotes where that is certain, else in the quieter quotes."""
    if _PLAIN.fullmatch(text) and not _other(text):
        return text
    if _SURROGATE.search(text):
        raise ValueError("The text holds a lone surrogate, which cannot be written as UTF-8.")
    quoted = json.dumps(text, ensure_ascii=False)
    if _ESCAPED.search(quoted):
        return _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)
    if len(quoted) > len(text) + 2 and text.isprintable():  # only quotes and backslashes in it
        return "'" + text.replace("'", "''") + "'"
    return quoted


def _other(text: str) -> bool:
    """Whether unquoted text would be read as something else than itself."""
    if text in CONSTANTS or " #" in text:
        return True
    try:
        return not isinstance(resolve(text), str)
    except ValueError:  # a number too large to hold
        return True


def _block(text: str, indent: int) -> str:
    """A text of several lines as a literal block, or in quotes where a block cannot hold it."""
    if _NO_BLOCK.search(text) or not text.strip("\n"):
        return _text(text)
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    chomp = "-" if ends == 0 else "" if ends == 1 else "+"
    hint = "2" if text[0] in " \t\n" else ""
    pad = " " * indent
    lines = [f"{pad}{line}" if line else "" for line in body.split("\n")]
    return "\n".join([f"|{hint}{chomp}", *lines, *[""] * (ends - 1)])
