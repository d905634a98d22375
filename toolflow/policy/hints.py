"""What an MCP server says of its tools: annotations, in either spelling.

On the wire they are called ``readOnlyHint`` and the like; Python packages also give them as
``read_only_hint``. Where both are there and differ, the one that allows less counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_CAPITAL = re.compile("[A-Z]")


def hint(hints: Mapping[str, Any], name: str) -> bool | None:
    """What the annotations of a tool say.

    Args:
        hints: The annotations as they came.
        name: Which, as on the wire: ``readOnlyHint``.

    Returns:
        ``True`` or ``False`` where they say exactly that; ``None`` where they say nothing else
        that counts.
    """
    if not hints:
        return None
    other = _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name)
    said = [hints[key] for key in (name, other) if hints.get(key) is not None]
    if any(value is False for value in said):
        return False
    return True if said and all(value is True for value in said) else None
