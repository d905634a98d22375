"""What is odd about a Chat message, told beside its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolflow.formats.arguments import parse
from toolflow.formats.base import quoted
from toolflow.formats.notices import ending
from toolflow.formats.plain import text_of
from toolflow.model import Call, Notice

MENTIONS = frozenset({"tool_use", "tool-call", "tool_call", "function_call"})
_ENDED_FOR_CALLS = frozenset({"tool_calls", "function_call"})


def oddities(message: dict[str, Any], calls: tuple[Call, ...], ended: Any) -> Iterator[Notice]:
    """Tell what is odd about a message.

    Args:
        message: The message.
        calls: Its calls.
        ended: Its ``finish_reason``.
    """
    yield from ending(ended, calls, for_calls=_ENDED_FOR_CALLS, at_limit={"length"})
    if message.get("function_call") is not None:
        text = (
            "The message holds a deprecated 'function_call', which has no id. It is kept, not run."
        )
        yield Notice("unread_call", text)
    content = message.get("content")
    if isinstance(content, list):
        by_id = {call.id: call for call in calls}
        for part in content:
            kind = part.get("type") if isinstance(part, dict) else None
            if isinstance(kind, str) and kind in MENTIONS:
                yield _mention(part, by_id)


def _mention(part: dict[str, Any], by_id: Mapping[str, Call]) -> Notice:
    """What a call in ``content`` is: the same call told twice, or one that is not run."""
    call_id = text_of(part.get("id", part.get("toolCallId", part.get("call_id"))))
    tool = part.get("name", part.get("toolName"))
    given = next((part[key] for key in ("input", "args", "arguments") if key in part), None)
    call = by_id.get(call_id)
    shown = quoted(call_id)
    if call is None:
        text = f"The content holds call {shown}, which tool_calls does not. It is kept, not run."
        return Notice("unread_call", text)
    if call.tool == tool and call.args == parse(given).args:
        text = f"Call {shown} stands in tool_calls and again in the content. It is one call."
        return Notice("doubled_mention", text, call=call_id)
    text = f"The content tells call {shown} otherwise than tool_calls. What tool_calls says counts."
    return Notice("doubled_mention", text, call=call_id)
