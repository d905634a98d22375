"""Secrets that a policy names (`redact`) do not reach the journal (spec 9.4).

What stands under a named field is masked: in arguments, in the provider's message (also where it
holds the arguments as JSON text), in questions and results. Whatever text was found so is masked
wherever else it stands in the lines of that turn, such as in a lock key, or in a result that
repeats an argument.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from toolflow.policy.redact import MASK

if TYPE_CHECKING:
    from toolflow.policy import Redactor

_SHORT: Final = 4  # characters; shorter texts stand in too many places that are no secrets


class Masker:
    """Masks the secrets of one turn.

    Args:
        redactor: What knows the names.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._found: dict[str, str] = {}  # as it stands in a line of JSON, and what is put there

    def value(self, value: Any) -> Any:
        """A JSON-like value with its secrets masked, and those of JSON texts inside it."""
        self._collect(value, self._redactor.masked(value))
        return self._texts(self._redactor.masked(value))

    def line(self, text: str) -> str:
        """A line in which no text stands that was masked."""
        for secret, mask in self._found.items():
            if secret in text:
                text = text.replace(secret, mask)
        return text

    def _texts(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._texts(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._texts(inner) for inner in value]
        return self._text(value) if isinstance(value, str) else value

    def _text(self, text: str) -> str:
        """A text with secrets masked where it is itself JSON, or was meant to be."""
        if not text.lstrip().startswith(("{", "[")):
            return text
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            low = text.lower()
            named = any(name.lower().strip("*?") in low for name in self._redactor.names)
            return MASK if named else text
        masked = self.value(inner)
        return text if masked == inner else json.dumps(masked, ensure_ascii=False)

    def _collect(self, before: Any, after: Any) -> None:
        if isinstance(before, Mapping):
            for key, inner in before.items():
                self._collect(inner, after[key] if isinstance(after, Mapping) else MASK)
        elif isinstance(before, list | tuple):
            for place, inner in enumerate(before):
                self._collect(inner, after[place] if isinstance(after, list) else MASK)
        elif isinstance(before, str) and after == MASK != before and len(before) >= _SHORT:
            self._found[json.dumps(before)[1:-1]] = MASK
