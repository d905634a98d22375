"""What is in a result, in the many shapes that logs have for it: text, pictures, other blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.formats.plain import text_of
from toolflow.formats.results import image_of
from toolflow.model import Image, Outcome
from toolflow.model.outcome import Status

Sentences = Sequence[tuple[re.Pattern[str], Status]]
"""What a harness says in a result that is an error, and the status that it means."""
_TEXTS = frozenset({"text", "input_text", "output_text"})
_DATA_URL = re.compile(r"data:([\w.+-]{1,100}/[\w.+-]{1,100});base64,")
_HEAD, _TAIL = 4200, 300


def content(value: Any) -> tuple[Any, tuple[Image, ...]]:
    """The value and the pictures of a result.

    Args:
        value: Text, a list of blocks, or any other JSON value.

    Returns:
        Text (several text blocks are joined by line breaks), or the blocks that are no pictures
        where there are others than text, or the value as it is; and the pictures in order.
    """
    if value is None:
        return "", ()
    if not isinstance(value, list):
        return value, ()
    images = tuple(image for block in value if (image := _image(block)) is not None)
    rest = [block for block in value if _image(block) is None] if images else value
    texts = [block["text"] for block in rest if _is_text(block)]
    return ("\n".join(texts) if len(texts) == len(rest) else rest), images


def sentences(*table: tuple[str, Status]) -> Sentences:
    """Sentences from patterns: looked for at the start of a text, with ``$`` at its end."""
    return tuple((re.compile(pattern), status) for pattern, status in table)


def status_of(text: str, table: Sentences, default: Status = "failed") -> Status:
    """The status that a text means by what it begins with or, for patterns with ``$``, ends in."""
    for pattern, status in table:
        at_end = pattern.pattern.endswith("$")
        if pattern.search(text[-_TAIL:]) if at_end else pattern.match(text[:_HEAD]):
            return status
    return default


def error(value: Any, images: tuple[Image, ...], table: Sentences) -> Outcome:
    """The outcome of a result that is an error.

    Args:
        value: What it holds (see `content`).
        images: Its pictures.
        table: What the harness's own sentences mean; anything else is ``failed``.
    """
    text = value if isinstance(value, str) else ""
    if text:
        return Outcome(status_of(text, table), None, text, images)
    return Outcome("failed", value or None, "The call failed without a message.", images)


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and text_of(block.get("type")) in _TEXTS and _has_text(block)


def _has_text(block: Mapping[str, Any]) -> bool:
    return type(block.get("text")) is str


def _image(block: Any) -> Image | None:
    """A picture: a block of type ``image`` with base64, or one with a data URL."""
    if not isinstance(block, dict):
        return None
    kind = text_of(block.get("type"))
    if kind == "image":
        inside = block.get("source")
        if isinstance(block.get("image"), str):
            return _from_url(block["image"])
        if not isinstance(inside, dict):
            return image_of(block.get("mimeType"), block.get("data"))
        if inside.get("type") == "base64":
            return image_of(inside.get("media_type"), inside.get("data"))
    elif kind in ("image_url", "input_image"):
        url = block.get("image_url")
        return _from_url(text_of(url.get("url") if isinstance(url, dict) else url))
    return None


def _from_url(url: str) -> Image | None:
    """A picture that its address holds; one that lies elsewhere is not fetched."""
    found = _DATA_URL.match(url)
    return Image(found[1], url[found.end() :]) if found else None
