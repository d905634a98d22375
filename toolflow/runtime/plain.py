"""Plain values: text that can be written as UTF-8, pictures as providers want them (spec 9.4)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from toolflow.model.outcome import Image

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def clean_text(text: str) -> tuple[str, int]:
    """Make text that can be written as UTF-8.

    Args:
        text: Any text. Two surrogates that belong together are put together; each lone one
            becomes U+FFFD.

    Returns:
        The text, and how many lone surrogates were replaced.
    """
    if text.isascii():
        return text, 0
    text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _LONE.subn("\ufffd", text)


def picture(data: bytes) -> Image | None:
    """The picture that these bytes are (PNG, JPEG, GIF or WebP by their first bytes)."""
    kind = next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)
    if kind is None and data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        kind = "image/webp"
    return None if kind is None else Image(kind, base64.b64encode(data).decode("ascii"))


def is_base64(data: object) -> bool:
    """Whether this is text in base64, as a provider wants a picture."""
    try:
        return isinstance(data, str) and bool(binascii.a2b_base64(data, strict_mode=True))
    except ValueError:
        return False


def plain_copy(value: Any) -> Any:
    """A copy of a JSON-like value, made of dictionaries and lists only."""
    if isinstance(value, Mapping):
        return {key: plain_copy(item) for key, item in value.items()}
    return [plain_copy(item) for item in value] if isinstance(value, list | tuple) else value
