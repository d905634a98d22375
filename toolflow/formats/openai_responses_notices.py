"""What is odd about a response of OpenAI Responses, told beside its calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolflow.formats.base import quoted
from toolflow.formats.openai_items import CALLS, SERVER_SIDE, type_of
from toolflow.formats.plain import plain, text_of
from toolflow.model import Call, Notice

_COMMON = frozenset({"function_call", "message", "reasoning"})


def oddities(
    items: Sequence[Any], calls: Sequence[Call], response: Mapping[str, Any]
) -> Iterator[Notice]:
    """Tell what is odd about a response.

    Args:
        items: Its items.
        calls: The calls that the client must run.
        response: What it tells beside its items; empty for a list of items.
    """
    if response.get("status") in ("failed", "cancelled"):
        error = plain(response.get("error"))
        told = error.get("message") if isinstance(error, dict) else None
        why = f" ({quoted(told)})" if isinstance(told, str) else ""
        yield Notice("failed_response", f"The response did not succeed{why}.")
    cut = [call for call in calls if call.extra.get("status") == "incomplete"]
    if calls and (cut or response.get("status") == "incomplete"):
        text = "The response was cut off. Its last call may lack arguments."
        yield Notice("cut_off", text, call=cut[-1].id if cut else None)
    for item in items:
        kind = type_of(item)
        if kind not in _COMMON:
            yield from _about(kind, item)


def _about(kind: str, item: Any) -> Iterator[Notice]:
    if kind == "mcp_approval_request":
        tool, server = text_of(item.get("name")), text_of(item.get("server_label"))
        text = (
            f"The response asks whether the provider may call {quoted(tool)} of the MCP server"
            f" {quoted(server)}. The question is kept; answer it with mcp_approval_response."
        )
        yield Notice("approval_request", text)
    elif kind == "computer_call" and item.get("pending_safety_checks"):
        call_id = text_of(item.get("call_id"))
        text = (
            f"Call {quoted(call_id)} has safety checks that are pending."
            " Its result acknowledges them if the call runs."
        )
        yield Notice("safety_check", text, call=call_id)
    elif kind.endswith("_call") and kind not in CALLS and kind not in SERVER_SIDE:
        text = f"The response holds a {quoted(kind)}, which is not known. It is kept, not run."
        yield Notice("unread_call", text)
