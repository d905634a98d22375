"""Responses to MCP ``tools/call`` requests, and the outcomes that they tell."""

from __future__ import annotations

from typing import Any

from toolflow.formats.plain import either, plain
from toolflow.formats.results import image_of, told
from toolflow.model import Image, Outcome


def is_response(data: Any) -> bool:
    """Whether it is a JSON-RPC response: an id with a result or an error, and no method."""
    if not isinstance(data, dict) or "method" in data or "id" not in data:
        return False
    return "result" in data or "error" in data


def outcome_of(response: dict[str, Any]) -> Outcome:
    """What a response tells.

    A JSON-RPC error is a failure with its message. The value of a result is its structured content
    where it has one, else its text, or the parts as they are where there are others.

    Args:
        response: A response (see `is_response`).
    """
    error = plain(response.get("error"))
    if error is not None:
        text = error.get("message") if isinstance(error, dict) else error
        return told(text if isinstance(text, str) else error, failed=True)
    result = plain(response.get("result"))
    if not isinstance(result, dict):
        return told(result)
    content = plain(result.get("content"))
    parts = list(map(plain, content)) if isinstance(content, list) else []
    images = [_image(part) for part in parts]
    rest = [part for part, image in zip(parts, images, strict=True) if image is None]
    texts = [part.get("text") for part in rest if _is_text(part)]
    value: Any = "\n".join(map(str, texts)) if len(texts) == len(rest) else rest
    structured = either(result, "structuredContent", "structured_content")
    failed = either(result, "isError", "is_error") is True
    if structured is not None and not failed:
        value = structured
    return told(value, tuple(image for image in images if image is not None), failed=failed)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and type(part.get("text")) is str


def _image(part: Any) -> Image | None:
    if not isinstance(part, dict) or part.get("type") != "image":
        return None
    return image_of(either(part, "mimeType", "mime_type"), part.get("data"))
