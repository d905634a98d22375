"""The content of a result message: its text and its pictures, in the parts of several providers.

Logs of harnesses keep results in the parts of the provider that they were sent to, so that one
function for all of them is simpler than one a log. What is neither text nor a picture is kept as it
is: then the value is the list of parts.
"""

from __future__ import annotations

import re
from typing import Any

from toolflow.model import Image

_TEXTS = frozenset({"text", "input_text", "output_text"})
_PICTURES = frozenset({"image", "image_url", "input_image"})
_DATA_URL = re.compile(r"data:([\w.+-]{1,60}/[\w.+-]{1,60});base64,")


def content_of(content: Any) -> tuple[Any, tuple[Image, ...]]:
    """The value and the pictures of a result.

    Args:
        content: Text, a list of parts, or any JSON value.

    Returns:
        Text where there is nothing else (the texts of several parts are joined by line breaks),
        else the parts that are no pictures, or the value as it is; and the pictures in order.
    """
    if content is None:
        return "", ()
    if not isinstance(content, list):
        return content, ()
    images: list[Image] = []
    rest: list[Any] = []
    for part in content:
        image = _image(part)
        if image is None:
            rest.append(part)
        else:
            images.append(image)
    texts = [part["text"] for part in rest if _is_text(part)]
    return ("\n".join(texts) if len(texts) == len(rest) else rest), tuple(images)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and _kind(part) in _TEXTS and type(part.get("text")) is str


def _kind(part: dict[str, Any]) -> str:
    kind = part.get("type")
    return kind if isinstance(kind, str) else ""


def _image(part: Any) -> Image | None:
    if not isinstance(part, dict) or _kind(part) not in _PICTURES:
        return None
    source = part.get("source")
    if isinstance(source, dict):
        media_type, data = source.get("media_type"), source.get("data")
        if source.get("type") == "base64" and type(media_type) is str and type(data) is str:
            return Image(media_type, data)
    place = part.get("image_url", part.get("image"))
    if isinstance(place, dict):
        place = place.get("url")
    return _from_url(place) if isinstance(place, str) else None


def _from_url(url: str) -> Image | None:
    """A picture that its address holds itself; one that lies elsewhere is not fetched."""
    found = _DATA_URL.match(url)
    return Image(found[1], url[found.end() :]) if found else None
