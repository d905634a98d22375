"""The result of a server's tool as an outcome.

A result may hold a list of texts, pictures and other content, and beside it a structured value. The
value is what a program can use, and what the specification of MCP calls the result itself, so it
is the outcome's; without one, the texts are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from toolflow.model.outcome import Image, Outcome

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ContentBlock

_WRAP = "result"  # the field into which servers put a value that is no object


def outcome_of_result(result: CallToolResult) -> Outcome:
    """Turn what a server answered into an outcome.

    Args:
        result: The answer to a call.

    Returns:
        The outcome: failed where the server says that it is an error, else ok.
    """
    texts, images = _content(result.content)
    text = "\n".join(texts)
    value = text or None
    note = None
    if result.structured_content is not None:
        value = _unwrapped(result.structured_content)
        if text and not _says(text, texts, value, result.structured_content):
            note = f"The server's text: {text}"
    if not result.is_error:
        return Outcome("ok", value, images=images, note=note)
    if result.structured_content is None:
        value = None
    error = text or "The tool failed, and its server does not say why."
    return Outcome("failed", value, error, images)


def _content(blocks: Iterable[ContentBlock]) -> tuple[list[str], tuple[Image, ...]]:
    """The texts and the pictures, each in order; other content as a text that tells of it."""
    texts: list[str] = []
    images: list[Image] = []
    for block in blocks:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "image":
            images.append(Image(block.mime_type, block.data))
        elif block.type == "audio":
            texts.append(_left_out("sound", block.mime_type, block.data))
        elif block.type == "resource_link":
            texts.append(" ".join(filter(None, (block.title or block.name, f"<{block.uri}>"))))
        else:
            _add_resource(block.resource, texts, images)
    return texts, tuple(images)


def _add_resource(resource: Any, texts: list[str], images: list[Image]) -> None:
    text = getattr(resource, "text", None)
    kind = resource.mime_type or "application/octet-stream"
    if text is not None:
        texts.append(text)
    elif kind.startswith("image/"):
        images.append(Image(kind, resource.blob))
    else:
        texts.append(f"{resource.uri}: {_left_out('file', kind, resource.blob)}")


def _left_out(what: str, kind: str, data: str) -> str:
    return f"<{what} left out: {kind}, {len(data) * 3 // 4} bytes>"


def _unwrapped(structured: dict[str, Any]) -> Any:
    """The value itself, where a server had to put one that is no object into an object."""
    return structured[_WRAP] if set(structured) == {_WRAP} else structured


def _says(text: str, texts: list[str], value: Any, structured: dict[str, Any]) -> bool:
    """Whether the texts say nothing but the value, in one of the ways in which servers do."""
    if text == value:
        return True
    try:
        said = json.loads(text)
        if said in (value, structured):
            return True
    except (ValueError, RecursionError):
        pass
    items = value if isinstance(value, list) else [value]
    return len(texts) == len(items) and all(map(_same, texts, items))


def _same(text: str, item: Any) -> bool:
    if text in (item, str(item)):
        return True
    try:
        return bool(json.loads(text) == item)
    except (ValueError, RecursionError):
        return False
