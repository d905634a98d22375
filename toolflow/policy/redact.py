"""Secrets: arguments that labels, questions and records show only as ``***`` (spec 9.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from typing import Any, Final

MASK: Final = "***"


class Redactor:
    """Masks the values that stand under certain names, wherever they stand.

    Args:
        names: Names of arguments and fields, such as ``password`` or ``*_token``; ``*`` stands
            for any letters, and upper and lower case are one.
    """

    __slots__ = ("_pattern", "names")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        joined = "|".join(f"(?:{translate(name.lower())})" for name in self.names)
        self._pattern = re.compile(joined) if joined else None

    def masked(self, value: Any) -> Any:
        """A value with secrets masked; the value itself where nothing is named.

        Args:
            value: Mappings, lists and scalars.
        """
        if self._pattern is None:
            return value
        return self._masked(value)

    def _masked(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {
                key: MASK if self._names(key) else self._masked(inner)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._masked(inner) for inner in value]
        return value

    def _names(self, key: object) -> bool:
        return self._pattern is not None and self._pattern.fullmatch(str(key).lower()) is not None
