"""Recorded responses and saved histories of Gemini CLI (see `gemini_cli`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.formats.plain import text_of
from toolflow.formats.registry import FORMATS, read_all
from toolflow.formats.session.loose import blocks_of
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.walk import walk
from toolflow.formats.session.wire import attempt

_METHODS = ("generateContent", "generateContentStream")
_HISTORIES = ("clientHistory", "history")
GEMINI = "gemini"


def is_record(item: Mapping[str, Any]) -> bool:
    """Whether a record is a recorded response or a saved history."""
    if _is_response(item) or _is_content(item):
        return True
    return any(_is_history(item.get(key)) for key in _HISTORIES)


def _is_response(item: Mapping[str, Any]) -> bool:
    return text_of(item.get("method")).startswith(_METHODS) and "response" in item


def _is_content(item: Mapping[str, Any]) -> bool:
    return item.get("role") in ("user", "model") and isinstance(item.get("parts"), list)


def _is_history(value: Any) -> bool:
    found = blocks_of(value)
    return bool(found) and all(_is_content(item) for item in found)


def take(number: int, item: Mapping[str, Any], talk: Conversation) -> bool:
    """Take a record.

    Returns:
        Whether it is one of these.
    """
    if _is_response(item):
        held = item["response"]
        for turn in attempt(lambda: read_all(held, GEMINI, where=None), talk, held, line=number):
            talk.message(turn, line=number)
        return True
    histories = [item[key] for key in _HISTORIES if _is_history(item.get(key))]
    for history in histories[:1]:
        take_contents([(number, content) for content in history], talk)
    return bool(histories)


def take_contents(contents: Sequence[tuple[int, Any]], talk: Conversation) -> None:
    """Take a conversation: Gemini contents with the numbers of their records."""
    walk(FORMATS[GEMINI], contents, talk, source="main")
