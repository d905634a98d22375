"""The results in a Gemini conversation: which call each answers, and what it tells."""

from __future__ import annotations

from collections import deque
from typing import Any

from toolflow.formats.plain import either, plain
from toolflow.formats.results import image_of, told
from toolflow.model import Image, Outcome, Turn

_WRAPPERS = ("output", "result")


class Pairs:
    """Finds the calls of one turn that ``functionResponse`` parts answer.

    By the id where the response has one that a call has; else it is the first call of the same
    name that has no answer yet.

    Args:
        turn: The turn before the responses.
    """

    def __init__(self, turn: Turn) -> None:
        self._ids = {call.id for call in turn.calls}
        self._open: dict[str, deque[str]] = {}
        for call in turn.calls:
            self._open.setdefault(call.tool, deque()).append(call.id)
        self._answered: set[str] = set()

    def call_id(self, part: Any) -> str | None:
        """The id of the call that a part answers.

        Args:
            part: Any part of a content.

        Returns:
            The id; of a response that answers no call its own id or name; ``None`` for other parts.
        """
        body = response_of(part)
        if body is None:
            return None
        given, name = body.get("id"), body.get("name")
        if isinstance(given, str) and given in self._ids:
            self._answered.add(given)
            return given
        waiting = self._open.get(name) if isinstance(name, str) else None
        while waiting:
            call_id = waiting.popleft()
            if call_id not in self._answered:
                return call_id
        return next((text for text in (given, name) if isinstance(text, str) and text), "")


def response_of(part: Any) -> dict[str, Any] | None:
    """The ``functionResponse`` of a part, or ``None`` where it has none."""
    body = part if isinstance(part, dict) else {}
    found = plain(either(body, "functionResponse", "function_response"))
    return found if isinstance(found, dict) else None


def outcome_of(part: Any) -> Outcome:
    """What a ``functionResponse`` tells.

    ``output`` and ``error`` are the provider's own words for a result and a failure; ``result`` is
    what its SDK writes. An object with other or more keys is the value as a whole.
    """
    body = response_of(part) or {}
    value = plain(body.get("response"))
    parts = plain(body.get("parts"))
    images = [_image(plain(each)) for each in parts] if isinstance(parts, list) else []
    shown = tuple(image for image in images if image is not None)
    if isinstance(value, dict) and len(value) == 1:
        if "error" in value:
            return told(value["error"], shown, failed=True)
        key = next(iter(value))
        value = value[key] if key in _WRAPPERS else value
    return told("" if value is None else value, shown)


def _image(part: Any) -> Image | None:
    blob = plain(either(part, "inlineData", "inline_data")) if isinstance(part, dict) else None
    if not isinstance(blob, dict):
        return None
    return image_of(either(blob, "mimeType", "mime_type"), blob.get("data"))
