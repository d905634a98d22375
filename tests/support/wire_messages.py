"""Makers of assistant messages in every wire format, from rows of (id, tool, args, extra)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from toolflow.model import Turn

Row = tuple[str, str, Any, dict[str, Any]]


def gemini(rows: Sequence[Row]) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": "hm", "thought": True}]
    for call_id, name, args, extra in rows:
        body = {"id": call_id, "name": name, "args": args, **extra}
        parts += [{"functionCall": body, "thoughtSignature": "s"}, {"text": "next"}]
    return {"role": "model", "parts": parts}


def gemini_without_ids(rows: Sequence[Row]) -> dict[str, Any]:
    parts = [
        {"functionCall": {"name": name, "args": args}, **extra} for _, name, args, extra in rows
    ]
    return {"role": "model", "parts": parts}


def gemini_in_snake_case(rows: Sequence[Row]) -> dict[str, Any]:
    parts = [
        {"function_call": {"id": call_id, "name": name, "args": args, **extra}}
        for call_id, name, args, extra in rows
    ]
    return {"role": "model", "parts": parts}


def bedrock(rows: Sequence[Row]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"text": "hm"}]
    for call_id, name, args, extra in rows:
        body = {"toolUseId": call_id, "name": name, "input": args, **extra}
        content += [{"toolUse": body}, {"text": "next"}]
    return {"role": "assistant", "content": content}


def cohere(rows: Sequence[Row]) -> dict[str, Any]:
    blocks = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
            **extra,
        }
        for call_id, name, args, extra in rows
    ]
    return {"role": "assistant", "tool_plan": "I will", "tool_calls": blocks}


def mcp(rows: Sequence[Row]) -> Any:
    requests = [
        {
            "jsonrpc": "2.0",
            "id": call_id,
            "method": "tools/call",
            "params": {"name": name, "arguments": args, **extra},
        }
        for call_id, name, args, extra in rows
    ]
    return requests[0] if len(requests) == 1 else requests


MAKERS = (gemini, gemini_without_ids, gemini_in_snake_case, bedrock, cohere, mcp)


def answered_ids(form: str, results: Sequence[Any]) -> list[str]:
    """The ids that the result messages answer, in their order; of parts without one the name."""
    if form == "mcp":
        return [str(message["id"]) for message in results]
    if form == "cohere":
        return [message["tool_call_id"] for message in results if message["role"] == "tool"]
    if form == "bedrock":
        blocks = [block for message in results for block in message["content"]]
        return [block["toolResult"]["toolUseId"] for block in blocks if "toolResult" in block]
    parts = [part for message in results for part in message["parts"]]
    bodies = [part.get("functionResponse", part.get("function_response")) for part in parts]
    return [body.get("id", body["name"]) for body in bodies if body is not None]


def sent_ids(turn: Turn) -> list[str]:
    """What the results of a turn have to answer, in call order (see `answered_ids`)."""
    if turn.format != "gemini":
        return [call.id for call in turn.calls]
    parts = [part for part in turn.message["parts"] if "text" not in part]
    bodies = [part.get("functionCall", part.get("function_call")) for part in parts]
    return [body.get("id") or body["name"] for body in bodies]
