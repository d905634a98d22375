"""What the content of an OpenAI result holds: text, pictures, and anything else as it stands.

Chat Completions and Responses name the same parts differently (``text`` and ``input_text``,
``image_url`` and ``input_image``); servers mix them, so both names are read in both formats. A
picture is taken as one only where its bytes are there: a link stays the part that it is.
"""

from __future__ import annotations

from typing import Any

from toolflow.formats.plain import plain
from toolflow.model import Image

_TEXTS = frozenset({"text", "input_text", "output_text"})
_PICTURES = frozenset({"image_url", "input_image", "computer_screenshot"})


def content_of(content: Any) -> tuple[Any, tuple[Image, ...]]:
    """The value and the pictures of a result's content.

    Args:
        content: Text, a list of parts, or whatever a server put there.

    Returns:
        The text of all text parts, joined by line breaks, or the list of the parts that are no
        pictures where some are no text either; and the pictures in order.
    """
    if content is None:
        return "", ()
    if not isinstance(content, list | tuple):
        return content, ()
    parts = [plain(part) for part in content]
    pictures = [picture_of(part) for part in parts]
    rest = [part for part, picture in zip(parts, pictures, strict=True) if picture is None]
    images = tuple(picture for picture in pictures if picture is not None)
    if all(is_text(part) for part in rest):
        return "\n".join(part["text"] for part in rest), images
    return rest, images


def is_text(part: Any) -> bool:
    """Whether a part of content is text."""
    return (
        isinstance(part, dict)
        and isinstance(part.get("type"), str)
        and part["type"] in _TEXTS
        and isinstance(part.get("text"), str)
    )


def picture_of(part: Any) -> Image | None:
    """The picture that a part of content holds as a data URL, or ``None``."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return None
    if part["type"] not in _PICTURES:
        return None
    url = plain(part.get("image_url"))
    if isinstance(url, dict):
        url = url.get("url")
    if not isinstance(url, str) or not url.startswith("data:image/"):
        return None
    head, comma, data = url.partition(",")
    media_type, _, encoding = head.removeprefix("data:").partition(";")
    return Image(media_type, data) if comma and encoding == "base64" else None


def data_url(image: Image) -> str:
    """A picture as a URL that holds its bytes."""
    return f"data:{image.media_type};base64,{image.data}"
