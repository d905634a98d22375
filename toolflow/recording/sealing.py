"""Values that YAML cannot hold as they are, sealed into JSON text.

Lone surrogates (a model's own text, cut in the middle of a character) and very deep nesting come
from outside and must not be lost. They are rare, so nothing is looked at before a document could
not be written without it. A sealed value is a mapping of the one key ``$json``. A value that only
looks like one, or like the name of a side file, is sealed itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

KEY: Final = "$json"
_FILE: Final = "$file"  # the one key of a value that stands in a file of its own
_DEEPEST: Final = 40  # levels; a document adds some of its own
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def sealed_in(text: str) -> bool:
    """Whether there may be something sealed in a document's text."""
    return KEY in text or _FILE in text


def seal(value: Any, depth: int = 0) -> Any:
    """A copy of a value in which everything stands that YAML can hold.

    Args:
        value: A JSON-like value.
        depth: How deep it stands already.

    Raises:
        ValueError: If JSON cannot hold it.
    """
    if isinstance(value, str):
        return _sealed(value) if _SURROGATE.search(value) else value
    if isinstance(value, Mapping):
        if (
            depth >= _DEEPEST
            or set(value) in ({KEY}, {_FILE})
            or any(map(_SURROGATE.search, value))
        ):
            return _sealed(value)
        return {key: seal(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        if depth >= _DEEPEST:
            return _sealed(value)
        return [seal(inner, depth + 1) for inner in value]
    return value


def unseal(value: Any) -> Any:
    """A copy of a value with what was sealed as it was; what is no JSON stays as it is."""
    if isinstance(value, dict):
        if value.keys() == {KEY} and isinstance(value[KEY], str):
            try:
                return json.loads(value[KEY])
            except (ValueError, RecursionError):
                return value
        return {key: unseal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [unseal(inner) for inner in value]
    return value


def _sealed(value: Any) -> dict[str, str]:
    return {KEY: json.dumps(value, default=_plain)}


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__}")
