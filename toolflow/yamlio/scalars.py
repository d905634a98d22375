"""Plain scalars of YAML 1.2's core schema: what unquoted text stands for (YAML 1.2.2, 10.3.2).

Only ``true`` and ``false`` (in three spellings) are booleans, so ``no``, ``on`` and ``yes`` are
text. ``010`` is ten, ``1:30`` and ``2024-01-01`` are text. Reader and writer share this module, so
that the writer quotes exactly what the reader would take for something else.
"""

from __future__ import annotations

import math
import re

CONSTANTS: dict[str, bool | float | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
"""Unquoted texts that stand for one certain value."""

_STARTS = frozenset("0123456789+-.~nNtTfF")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASED = re.compile(r"0o([0-7]+)|0x([0-9a-fA-F]+)")


def resolve(text: str) -> str | int | float | bool | None:
    """The value that unquoted text stands for.

    Args:
        text: The text of a plain scalar.

    Returns:
        A boolean, a number, ``None``, or the text itself.

    Raises:
        ValueError: If it is a number that is too large to hold, with a sentence.
    """
    if not text or text[0] in _STARTS:
        if text in CONSTANTS:
            return CONSTANTS[text]
        return _number(text)
    return text


def _number(text: str) -> str | int | float:
    if _INTEGER.fullmatch(text):
        return _integer(text, 10)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if math.isinf(value):
            raise ValueError("The number is too large. Put it in quotes to make it text.")
        return value
    if based := _BASED.fullmatch(text):
        return _integer(based[1], 8) if based[1] else _integer(based[2], 16)
    return text


def _integer(digits: str, base: int) -> int:
    try:
        return int(digits, base)
    except ValueError as error:  # Python bounds the digits of an integer
        raise ValueError(
            "The number has too many digits. Put it in quotes to make it text."
        ) from error
