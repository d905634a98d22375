"""The door for every YAML and JSON text: plain values with places, or all problems at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from toolflow.errors import ConfigError, DocumentError, Problem
from toolflow.yamlio.build import MAX_DEPTH, Builder
from toolflow.yamlio.document import Document, Spot
from toolflow.yamlio.jsontext import NotJsonError, json_spots, read_json, too_deep
from toolflow.yamlio.window import FORBIDDEN, forbidden_message

MAX_BYTES: Final = 64 * 1024 * 1024

JSON_TEXT: Final = re.compile(r"[ \t\r\n]*[\[{]")


def load(
    text: str | bytes,
    *,
    source: str = "<yaml>",
    error: type[DocumentError] = ConfigError,
    max_bytes: int = MAX_BYTES,
    binary: bool = False,
) -> Document:
    """Read one YAML 1.2 or JSON document.

    Args:
        text: The text; bytes are read as UTF-8, with or without a byte order mark.
        source: The name that problems carry.
        error: The error to raise.
        max_bytes: The largest size, in bytes (in characters for text).
        binary: Whether the tag ``!!binary`` is allowed, as logs of other programs have it; such a
            value is read as its base64 text without blanks.

    Returns:
        The document: plain values and, on demand, the place of each.

    Raises:
        DocumentError: As ``error``, with every problem that can be told at once: broken syntax,
            doubled keys, keys that are not text, tabs, tags, several documents, none, nesting
            deeper than 100 levels, aliases that stand for more than 10,000 values (spec 4.6, 16).
    """
    if len(text) > max_bytes:
        raise error(_too_big(source, max_bytes))
    plain = _decode(text, source, error) if isinstance(text, bytes) else text.removeprefix("\ufeff")
    is_json = source.endswith(".json")
    if is_json or JSON_TEXT.match(plain):
        try:
            return _json(plain, source, error)
        except NotJsonError as problem:
            if is_json:
                found = Problem(str(problem), source, problem.line, problem.column, "syntax")
                raise error(found) from None
    if bad := FORBIDDEN.search(plain):
        raise error(_forbidden(plain, bad, source))
    builder = Builder(plain, source, binary=binary)
    value, spot = builder.build()
    if builder.problems:
        raise error(sorted(builder.problems, key=lambda p: (p.line or 0, p.column or 0)))
    return Document(value, source, plain, lambda: spot)


def load_file(
    path: str | Path, *, error: type[DocumentError] = ConfigError, max_bytes: int = MAX_BYTES
) -> Document:
    """Read one YAML or JSON file.

    Args:
        path: The file.
        error: The error to raise.
        max_bytes: The largest size of the file, in bytes.

    Returns:
        The document; its source is the path as given.

    Raises:
        DocumentError: As ``error``, if the file cannot be read, or for what `load` tells.
    """
    source = str(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise error(Problem("There is no such file.", source, code="file")) from None
    except (OSError, ValueError) as problem:
        said = getattr(problem, "strerror", None) or str(problem)
        message = f"The file cannot be read: {said.lower()}."
        raise error(Problem(message, source, code="file")) from None
    return load(content, source=source, error=error, max_bytes=max_bytes)


def of_value(
    value: Any, *, source: str = "<value>", error: type[DocumentError] = ConfigError
) -> Document:
    """A document from Python values; it has no places.

    Args:
        value: Mappings, lists, tuples and scalars.
        source: The name that problems carry.
        error: The error to raise.

    Returns:
        The document, its value copied into dicts and lists.

    Raises:
        DocumentError: As ``error``, if the value is nested deeper than 100 levels, or a key is
            not text.
    """
    return Document(_copied(value, 0, source, error), source)


def _copied(value: Any, depth: int, source: str, error: type[DocumentError]) -> Any:
    if depth > MAX_DEPTH:
        raise error(_nested(source))
    if isinstance(value, Mapping):
        if bad := [key for key in value if not isinstance(key, str)]:
            raise error(Problem(f"The key {bad[0]!r} is not text.", source, code="key"))
        return {key: _copied(inner, depth + 1, source, error) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(inner, depth + 1, source, error) for inner in value]
    return value


def _decode(content: bytes, source: str, error: type[DocumentError]) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = content[: problem.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        message = f"The byte 0x{content[problem.start]:02x} is not UTF-8. Save the file as UTF-8."
        raise error(Problem(message, source, line, column, "encoding")) from None


def _json(text: str, source: str, error: type[DocumentError]) -> Document:
    value, doubled = read_json(text)
    if doubled:
        raise error(json_spots(text, source)[1])
    if too_deep(value, MAX_DEPTH):
        raise error(_nested(source))

    @cache
    def spots() -> Spot:
        return json_spots(text, source)[0]

    return Document(value, source, text, spots)


def _forbidden(text: str, found: re.Match[str], source: str) -> Problem:
    index = found.start()
    line = text.count("\n", 0, index) + 1
    column = index - text.rfind("\n", 0, index)
    message = forbidden_message(found.group())
    return Problem(message, source, line, column, "character")


def _too_big(source: str, max_bytes: int) -> Problem:
    return Problem(
        f"The document is too big. Use at most {max_bytes:,} bytes.", source, code="size"
    )


def _nested(source: str) -> Problem:
    message = f"The document is nested too deep. Use at most {MAX_DEPTH} levels."
    return Problem(message, source, code="depth")
