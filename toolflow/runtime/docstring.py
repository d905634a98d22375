"""What a docstring says of a tool and of its arguments."""

from __future__ import annotations

import inspect
import re

_HEADING = re.compile(r"(?:Args|Arguments|Parameters):[ \t]*")
_ENTRY = re.compile(r"\*{0,2}(\w+)[ \t]*(?:\([^)\n]*\))?[ \t]*:[ \t]*(.*)")


def split_docstring(doc: str | None) -> tuple[str, dict[str, str]]:
    """Take the section of the arguments out of a Google-style docstring.

    Args:
        doc: The docstring as it stands in the source, or ``None``.

    Returns:
        The text without that section, and the text of every argument by its name.
    """
    lines = inspect.cleandoc(doc or "").split("\n")
    start = next((n for n, line in enumerate(lines) if _HEADING.fullmatch(line)), None)
    if start is None:
        return "\n".join(lines).strip(), {}
    end = next(
        (n for n in range(start + 1, len(lines)) if lines[n] and not lines[n][0].isspace()),
        len(lines),
    )
    rest = [*_trimmed(lines[:start]), *([""] if end < len(lines) else []), *lines[end:]]
    return "\n".join(rest).strip(), _entries(lines[start + 1 : end])


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def _entries(lines: list[str]) -> dict[str, str]:
    filled = [line for line in lines if line.strip()]
    if not filled:
        return {}
    indent = min(len(line) - len(line.lstrip()) for line in filled)
    texts: dict[str, list[str]] = {}
    current: list[str] = []
    for line in filled:
        entry = _ENTRY.fullmatch(line[indent:])
        if entry is not None:
            current = texts.setdefault(entry[1], [])
            current.append(entry[2].strip())
        else:
            current.append(line.strip())
    return {name: " ".join(part for part in parts if part) for name, parts in texts.items()}
