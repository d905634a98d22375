"""Does one name or pattern of tools cover another one?

For full names the answer is exact. For a pattern it is sound: "yes" only where every name that the
one fits is fitted by the other; a "no" may be wrong for odd patterns. That is the right side to err
on: a warning must not be wrong.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import lru_cache
from typing import Final

_SPECIAL: Final = re.compile(r"[*?\[]")


@lru_cache(maxsize=4096)
def covers(pattern: str, name: str) -> bool:
    """Whether a pattern fits everything that a name or pattern fits.

    Args:
        pattern: What may cover.
        name: What may be covered.
    """
    if pattern == name or (pattern and not pattern.strip("*")):
        return True
    if not _SPECIAL.search(name):
        return re.fullmatch(translate(pattern), name) is not None
    parts = pattern.split("*")
    if len(parts) == 1 or any(_SPECIAL.search(part) for part in parts):
        return False
    return _in_order(parts, _SPECIAL.split(_plain(name)))


def _plain(name: str) -> str:
    """A pattern with each of its classes (``[ab]``) as one sign that stands for any other."""
    return re.sub(r"\[!?\]?[^\]]*\]", "?", name)


def _in_order(parts: list[str], texts: list[str]) -> bool:
    """Whether the texts of a pattern hold the parts: the first and last at the ends."""
    first, *middle, last = parts
    if not texts[0].startswith(first) or not texts[-1].endswith(last):
        return False
    texts = [texts[0][len(first) :], *texts[1:]]
    texts[-1] = texts[-1][: len(texts[-1]) - len(last)]
    place, at = 0, 0
    for part in filter(None, middle):
        while place < len(texts) and (found := texts[place].find(part, at)) < 0:
            place, at = place + 1, 0
        if place == len(texts):
            return False
        at = found + len(part)
    return True
