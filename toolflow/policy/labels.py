"""Labels: the short text that people see for a call. One line, no control characters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LABEL_LENGTH: Final = 60
_VALUE_LENGTH: Final = 40
_LARGE: Final = 10**12


def default_label(tool: str, args: Mapping[str, Any]) -> str:
    """A label such as ``read_file(path='a.txt')``.

    Args:
        tool: The tool's name.
        args: Its arguments; long ones are shown by their beginning.
    """
    shown = []
    room = LABEL_LENGTH - len(tool)
    for name, value in args.items():
        if room < 0:
            break
        plain = type(value) is str and len(value) <= _VALUE_LENGTH
        part = f"{name}={value!r}" if plain else f"{name}={_value(value)}"
        room -= len(part) + 2
        shown.append(part)
    return one_line(f"{tool}({', '.join(shown)})")


def one_line(text: str, length: int = LABEL_LENGTH) -> str:
    """A text on one line, cut to a length, with harmless characters only.

    Blanks of all kinds become one space; control characters, marks that turn the direction of
    text, and lone surrogates become ``�``.

    Args:
        text: Any text.
        length: The most characters.
    """
    if len(text) > length:
        text = text[: 4 * length + 16]
    if not text.isprintable() or "  " in text or text[:1] == " " or text[-1:] == " ":
        text = " ".join(text.split())
        text = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _value(value: Any) -> str:
    if type(value) is int and -_LARGE < value < _LARGE:
        return str(value)
    if isinstance(value, str):
        return repr(value) if len(value) <= _VALUE_LENGTH else f"'{value[:_VALUE_LENGTH]}…'"
    if isinstance(value, Mapping):
        return "{…}" if value else "{}"
    if isinstance(value, list | tuple):
        return "[…]" if value else "[]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > 256:
        return "…"  # writing it out would take long
    return repr(value)[:_VALUE_LENGTH]
