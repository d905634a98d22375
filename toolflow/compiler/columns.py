"""Text that is safe on a terminal, measured in columns (spec 16).

Arguments, names and keys come from a model: they may hold control characters, characters that
turn the direction of the line, or that take no column or two. Whatever does not print is written
as an escape, in the manner of Python's own ``repr``.
"""

from __future__ import annotations

import unicodedata

ELLIPSIS = "…"


def clean(text: str, limit: int, *, keep_end: bool = False) -> str:
    r"""Text on one line without anything that a terminal would obey.

    Args:
        text: Any text.
        limit: The most columns that it may take, at least 3; longer text is cut.
        keep_end: Cut in the middle, for text such as paths whose end tells most.

    Returns:
        The text; what does not print is an escape such as ``\n`` or ``\x1b``.
    """
    # Only what can be seen is looked at: a megabyte of argument costs no more than a line.
    if len(text) > 2 * limit + 2:
        text = text[: limit + 1] + text[-limit - 1 :]
    if not text.isprintable():
        text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    if width(text) <= limit:
        return text
    head = _fitting(text, (limit - 1) // 2 if keep_end else limit - 1)
    tail = _fitting(text[::-1], limit - 1 - width(head))[::-1] if keep_end else ""
    return f"{head}{ELLIPSIS}{tail}"


def width(text: str) -> int:
    """The columns that printable text takes: none for marks on a letter, two for wide letters."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def pad(text: str, columns: int) -> str:
    """Text filled up with blanks on the right.

    Args:
        text: Printable text.
        columns: The columns to fill; longer text stays as it is.
    """
    return text + " " * (columns - width(text))


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _fitting(text: str, columns: int) -> str:
    taken = 0
    for place, char in enumerate(text):
        taken += _columns(char)
        if taken > columns:
            return text[:place]
    return text
