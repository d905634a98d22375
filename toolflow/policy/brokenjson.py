"""Keys and values in text that holds JSON and is none: cut off, glued together, within prose.

No grammar is left to go by, so a quoted text before a colon counts as a key, and its value ends
where the same quote ends it, at the next comma or bracket, or, where it is a list or a mapping, at
the end of the text: rather too much than too little.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

_KEY: Final = re.compile(r'(\\*)"((?:[^"\\]|\\(?!\\*"))*)(\\*)"\s*:\s*')
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*)"?')
_LEVELS: Final = 4
_QUOTE: Final = re.compile(r'(\\*)"')
_BARE: Final = re.compile(r"[^,}\]\s\\\"]*")


def keys_and_values(text: str) -> Iterator[tuple[str, int, int]]:
    """The keys in a text, each with the place of its value.

    Args:
        text: Any text.

    Yields:
        The key, and the offsets at which its value begins and ends, quotes included.
    """
    for found in _KEY.finditer(text):
        if found[1] == found[3]:
            begin = found.end()
            yield found[2], begin, _end(text, begin, found[1])


def values_in(text: str) -> list[Any]:
    """What stands in a part of such text: its value, or the quoted texts in it.

    Args:
        text: A value as `keys_and_values` found it.
    """
    for _ in range(_LEVELS):
        try:
            return [json.loads(text)]
        except (ValueError, RecursionError):
            pass
        try:
            text = json.loads(f'"{text}"')  # it stands in JSON text within JSON text
        except (ValueError, RecursionError):
            break
    quoted = [found[1] for found in _QUOTED.finditer(text)]
    return [text.strip('\\"'), *quoted, *(inner for part in quoted for inner in _unescaped(part))]


def _unescaped(text: str) -> list[Any]:
    if "\\" not in text:
        return []
    try:
        return [json.loads(f'"{text}"')]
    except (ValueError, RecursionError):
        return []


def _end(text: str, begin: int, escape: str) -> int:
    quote = f'{escape}"'
    if text.startswith(quote, begin):
        # Inside of text within text, a quote that ends it has as many backslashes before it as the
        # one that began it, and any number of whole ones that belong to the text itself.
        period = 2 * (len(escape) + 1)
        for found in _QUOTE.finditer(text, begin + len(quote)):
            if len(found[1]) % period == len(escape):
                return found.end()
        return len(text)
    if text[begin : begin + 1] in {"[", "{"}:
        return len(text)
    bare = _BARE.match(text, begin)
    return len(text) if bare is None else bare.end()
