"""What providers take as the name of a tool, and what is written for a name that they refuse."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NameRule:
    """What a provider takes as the name of a tool.

    Attributes:
        legal: What the whole name must match.
        illegal: One character that is replaced in a name that does not match.
        limit: The longest name in characters, or ``None`` where no limit is known.
    """

    legal: re.Pattern[str]
    illegal: re.Pattern[str]
    limit: int | None = None

    def takes(self, name: str) -> bool:
        """Whether the provider takes this name."""
        return self.legal.fullmatch(name) is not None

    def valid(self, name: str) -> str:
        """The name as it is where the provider takes it, else as near to it as may be."""
        if self.takes(name):
            return name
        return self.illegal.sub("_", name.strip())[: self.limit] or "unnamed"


def word_names(limit: int) -> NameRule:
    """The rule of the providers that take letters and digits of ASCII, ``_`` and ``-``.

    Args:
        limit: The longest name in characters.
    """
    legal = re.compile(f"[a-zA-Z0-9_-]{{1,{limit}}}")
    return NameRule(legal, re.compile("[^a-zA-Z0-9_-]"), limit)
