"""Valid conversations in every wire format that has them, and mutations that make them wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from toolflow.formats import FORMATS

Message = dict[str, Any]
Row = tuple[str, str]
"""The id of a call and the name of its tool."""


def _result(call_id: str) -> str:
    return f"result of {call_id}"


def chat(rows: Sequence[Row]) -> list[Any]:
    blocks = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for call_id, name in rows
    ]
    results = [
        {"role": "tool", "tool_call_id": call_id, "content": _result(call_id)}
        for call_id, _ in rows
    ]
    return [{"role": "assistant", "content": "I look.", "tool_calls": blocks}, *results]


def ollama(rows: Sequence[Row]) -> list[Any]:
    blocks = [{"function": {"name": name, "arguments": {}}} for _, name in rows]
    results = [
        {"role": "tool", "tool_name": name, "content": _result(call_id)} for call_id, name in rows
    ]
    return [{"role": "assistant", "content": "", "tool_calls": blocks}, *results]


def responses(rows: Sequence[Row]) -> list[Any]:
    items = [
        {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}"}
        for call_id, name in rows
    ]
    results = [
        {"type": "function_call_output", "call_id": call_id, "output": _result(call_id)}
        for call_id, _ in rows
    ]
    return [{"type": "reasoning", "id": "rs", "summary": []}, *items, *results]


def anthropic(rows: Sequence[Row]) -> list[Any]:
    blocks = [
        {"type": "tool_use", "id": call_id, "name": name, "input": {}} for call_id, name in rows
    ]
    results = [
        {"type": "tool_result", "tool_use_id": call_id, "content": _result(call_id)}
        for call_id, _ in rows
    ]
    return [
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, *blocks]},
        {"role": "user", "content": [*results, {"type": "text", "text": "Be quick."}]},
    ]


def bedrock(rows: Sequence[Row]) -> list[Any]:
    blocks = [
        {"toolUse": {"toolUseId": call_id, "name": name, "input": {}}} for call_id, name in rows
    ]
    results = [
        {"toolResult": {"toolUseId": call_id, "content": [{"text": _result(call_id)}]}}
        for call_id, _ in rows
    ]
    return [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]


def gemini(rows: Sequence[Row]) -> list[Any]:
    calls = [{"functionCall": {"id": i, "name": name, "args": {}}} for i, name in rows]
    results = [
        {"functionResponse": {"id": i, "name": name, "response": {"output": _result(i)}}}
        for i, name in rows
    ]
    return [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]


def gemini_without_ids(rows: Sequence[Row]) -> list[Any]:
    calls = [{"function_call": {"name": name, "args": {}}} for _, name in rows]
    results = [
        {"function_response": {"name": name, "response": {"output": _result(i)}}}
        for i, name in rows
    ]
    return [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]


def cohere(rows: Sequence[Row]) -> list[Any]:
    said, *results = chat(rows)
    return [
        {"role": "assistant", "tool_plan": "I look.", "tool_calls": said["tool_calls"]},
        *results,
    ]


def mcp(rows: Sequence[Row]) -> list[Any]:
    requests = [
        {"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": name}}
        for i, name in rows
    ]
    results = [
        {
            "jsonrpc": "2.0",
            "id": i,
            "result": {"content": [{"type": "text", "text": _result(i)}]},
        }
        for i, _ in rows
    ]
    return [*requests, *results]


class Maker(NamedTuple):
    """A way to write a conversation.

    Attributes:
        form: The wire format.
        make: Writes a turn with its results.
        user: What a person says.
        answer: What the model says without calls.
        ids: Whether calls have ids.
    """

    form: str
    make: Callable[[Sequence[Row]], list[Any]]
    user: Any
    answer: Any
    ids: bool = True


_SAID = {"role": "user", "content": "Go on."}
_ANSWER = {"role": "assistant", "content": "Done."}
MAKERS = {
    "openai-chat": Maker("openai-chat", chat, _SAID, _ANSWER),
    "ollama": Maker("openai-chat", ollama, _SAID, _ANSWER, ids=False),
    "openai-responses": Maker("openai-responses", responses, _SAID, _ANSWER),
    "anthropic": Maker("anthropic", anthropic, _SAID, _ANSWER),
    "bedrock": Maker(
        "bedrock",
        bedrock,
        {"role": "user", "content": [{"text": "Go on."}]},
        {"role": "assistant", "content": [{"text": "Done."}]},
    ),
    "gemini": Maker(
        "gemini",
        gemini,
        {"role": "user", "parts": [{"text": "Go on."}]},
        {"role": "model", "parts": [{"text": "Done."}]},
    ),
    "gemini-without-ids": Maker(
        "gemini",
        gemini_without_ids,
        {"role": "user", "parts": [{"text": "Go on."}]},
        {"role": "model", "parts": [{"text": "Done."}]},
        ids=False,
    ),
    "cohere": Maker("cohere", cohere, _SAID, _ANSWER),
    "mcp": Maker(
        "mcp",
        mcp,
        {"jsonrpc": "2.0", "method": "notifications/progress"},
        {"jsonrpc": "2.0", "method": "notifications/message"},
    ),
}


def conversation(maker: Maker, turns: Sequence[Sequence[Row]]) -> list[Any]:
    """A valid conversation that ends with words, so that every turn is followed."""
    messages = [maker.user]
    for rows in turns:
        messages += [*maker.make(rows), maker.answer, maker.user]
    return copy.deepcopy(messages)


class Place(NamedTuple):
    """A result in a conversation: the list that it stands in, and where."""

    holder: list[Any]
    index: int
    message: int


def results(maker: Maker, messages: list[Any]) -> list[Place]:
    """Every result of a conversation."""
    layout = FORMATS[maker.form].layout
    assert layout is not None
    found = []
    for number, message in enumerate(messages):
        if layout.rule == "first":
            blocks = message["parts" if maker.form == "gemini" else "content"]
            blocks = blocks if isinstance(blocks, list) else []
            found += [
                Place(blocks, at, number) for at, block in enumerate(blocks) if is_result(block)
            ]
        elif is_result(message):
            found.append(Place(messages, number, number))
    return found


def is_result(value: Any) -> bool:
    """Whether a block or a message is a result, in any format."""
    kinds = {"tool_result", "function_call_output"}
    keys = {"toolResult", "functionResponse", "function_response", "result"}
    return value.get("type") in kinds or value.get("role") == "tool" or not keys.isdisjoint(value)


def rest(maker: Maker, messages: list[Any]) -> list[str]:
    """What is no result, in its order, piece by piece; the ids of calls are left out."""
    layout = FORMATS[maker.form].layout
    assert layout is not None
    pieces = []
    for message in messages:
        for piece in layout.cut(message):
            if not piece.is_result and piece.value is not None:
                pieces.append(json.dumps(_without_ids(piece.value), sort_keys=True))
    return pieces


def _without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        hidden = {"id", "call_id", "toolUseId"}
        return {key: _without_ids(item) for key, item in value.items() if key not in hidden}
    return [_without_ids(item) for item in value] if isinstance(value, list) else value


def calls(maker: Maker, messages: list[Any]) -> list[tuple[dict[str, Any], str]]:
    """The object and the key of the id of every call that has one."""
    found: list[tuple[dict[str, Any], str]] = []
    for message in messages:
        if message.get("type") == "function_call":
            found.append((message, "call_id"))
        if message.get("method") == "tools/call":
            found.append((message, "id"))
        found += [(call, "id") for call in message.get("tool_calls") or () if "id" in call]
        content = message.get("content") or message.get("parts")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_use":
                found.append((block, "id"))
            if "toolUse" in block:
                found.append((block["toolUse"], "toolUseId"))
            if "id" in block.get("functionCall", {}):
                found.append((block["functionCall"], "id"))
    return found


def id_of_result(value: dict[str, Any]) -> tuple[dict[str, Any], str] | None:
    """The object and the key of the id of a result, or ``None`` where it has none."""
    for key in ("toolResult", "functionResponse"):
        if key in value:
            inner = value[key]
            name = "toolUseId" if key == "toolResult" else "id"
            return (inner, name) if name in inner else None
    names = ("tool_use_id", "tool_call_id", "call_id", "id")
    return next(((value, name) for name in names if name in value), None)
