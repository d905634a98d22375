"""Digests: short, stable names for values that can be written as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def canonical(value: object) -> str:
    """Write a value as JSON in one way only: sorted keys, no blanks, lone surrogates escaped.

    Args:
        value: Anything that JSON can hold; mappings and tuples count as objects and arrays,
            other objects as their ``repr``.

    Returns:
        The same text for equal values, in every process.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_plain
    )


def digest(value: object) -> str:
    """The SHA-256 digest of a value's canonical JSON, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple | set | frozenset):
        return sorted(value, key=repr) if isinstance(value, set | frozenset) else list(value)
    return repr(value)
