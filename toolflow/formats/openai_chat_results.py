"""What a ``tool`` message of Chat tells: its outcome.

The format has no mark for errors. Servers and frameworks that add one (``is_error``, ``status``)
are believed; a text is never interpreted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolflow.formats.openai_content import content_of
from toolflow.model import Outcome


def outcome_of(message: Mapping[str, Any]) -> Outcome:
    """The outcome that a ``tool`` message tells.

    Args:
        message: The message.
    """
    value, images = content_of(message.get("content"))
    if message.get("is_error") is True or message.get("status") == "error":
        if isinstance(value, str) and value:
            return Outcome("failed", None, value, images)
        return Outcome("failed", value or None, "The call failed without a message.", images)
    return Outcome("ok", value, images=images)
