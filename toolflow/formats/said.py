"""What an assistant message holds beside its calls, whatever its format: texts, in their places.

Only texts can be carried from one provider to another. Everything else (thinking, which is signed
for its provider; calls that a provider ran itself; pictures) is named, so that it can be told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from toolflow.formats.ids import SURROGATE
from toolflow.formats.openai_content import is_text
from toolflow.formats.openai_items import client_calls, type_of
from toolflow.formats.plain import either
from toolflow.model import Turn

TEXT, CALL = "text", "call"
_CHAT_REST = (
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "thinking",
    "refusal",
    "audio",
    "function_call",
)


class Said(NamedTuple):
    """A part of a message of the model.

    Attributes:
        kind: ``text``, ``call`` (the next one of the turn), or the provider's word for anything
            else.
        text: The text of a text.
    """

    kind: str
    text: str = ""


def said(turn: Turn) -> list[Said]:
    """The parts of a turn's message, in order; of a turn without one, its calls.

    Args:
        turn: Any turn.
    """
    reader = _READERS.get(turn.format)
    if turn.message is None or reader is None:
        return [Said(CALL) for _ in turn.calls]
    return [part for part in reader(turn) if part.kind != TEXT or part.text.strip()]


def _text(text: Any) -> Said:
    return Said(TEXT, SURROGATE.sub("\ufffd", text) if isinstance(text, str) else "")


def _list(message: Mapping[str, Any], key: str) -> Sequence[Any]:
    parts = message.get(key)
    return parts if isinstance(parts, list) else ()


def _chat(turn: Turn) -> Iterator[Said]:
    message = turn.message
    yield _text(message.get("tool_plan"))
    yield from (Said(key) for key in _CHAT_REST if message.get(key))
    yield _text(message.get("content"))
    for part in _list(message, "content"):
        yield _text(part["text"]) if is_text(part) else Said(type_of(part) or "content")
    yield from (Said(CALL) for _ in turn.calls)


def _responses(turn: Turn) -> Iterator[Said]:
    calls = set(client_calls(turn.message))
    for place, item in enumerate(turn.message):
        kind = type_of(item)
        if place in calls:
            yield Said(CALL)
        elif kind in ("", "message"):
            yield _text(item.get("content"))
            for part in _list(item, "content"):
                yield _text(part["text"]) if is_text(part) else Said(type_of(part) or "content")
        else:
            yield Said(kind)


def _anthropic(turn: Turn) -> Iterator[Said]:
    yield _text(turn.message.get("content"))
    for block in _list(turn.message, "content"):
        kind = type_of(block)
        if kind == "text":
            yield _text(block.get("text"))
        else:
            yield Said(CALL if kind == "tool_use" else kind or "content")


def _gemini(turn: Turn) -> Iterator[Said]:
    for part in _list(turn.message, "parts"):
        if either(part, "functionCall", "function_call") is not None:
            yield Said(CALL)
        elif part.get("thought") is True:
            yield Said("thought")
        elif "text" in part:
            yield _text(part["text"])
        else:
            yield Said(next(iter(part), "parts"))
        if either(part, "thoughtSignature", "thought_signature"):
            yield Said("thoughtSignature")


def _bedrock(turn: Turn) -> Iterator[Said]:
    for block in _list(turn.message, "content"):
        use = block.get("toolUse")
        if "text" in block:
            yield _text(block["text"])
        elif isinstance(use, dict) and use.get("type") != "server_tool_use":
            yield Said(CALL)
        else:
            yield Said(next(iter(block), "content"))


_READERS = {
    "openai-chat": _chat,
    "cohere": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
}
