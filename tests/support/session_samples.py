"""Small logs of each kind, made from turns; the text of each result carries the id of its call."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Ask(NamedTuple):
    """A call: its id, the text of its arguments, and its tool."""

    id: str
    args: str = '{"n": 1}'
    tool: str = "t"


class Said(NamedTuple):
    """A message of the model: its calls, and the ids of the results in the order of the log."""

    calls: tuple[Ask, ...]
    results: tuple[str, ...]


class Lines(NamedTuple):
    """A log of JSON lines: the name of its format, and its lines."""

    form: str
    lines: list[Any]


class Document(NamedTuple):
    """A log that is one JSON object: its format, its value, and the list inside to play with."""

    form: str
    value: dict[str, Any]
    inside: str


def said(*ids: str) -> Said:
    """A message whose calls have these ids, with results that came in the other order."""
    return Said(tuple(Ask(name) for name in ids), ids[::-1])


TURNS = (said("a"), said("b", "c", "d"), said("a", "e"))
"""Three turns; one id comes back."""
_TIME = "2026-01-17T10:00:00Z"


def _text(name: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": f"<{name}>"}]


def pi(turns: Sequence[Said]) -> list[Any]:
    lines: list[Any] = [{"type": "session", "id": "s", "cwd": "/r"}]
    for turn in turns:
        calls = [
            {"type": "toolCall", "id": call.id, "name": call.tool, "arguments": call.args}
            for call in turn.calls
        ]
        message = {"role": "assistant", "content": calls, "stopReason": "toolUse"}
        lines.append({"type": "message", "timestamp": 1_768_640_400, "message": message})
        for name in turn.results:
            result = {"role": "toolResult", "toolCallId": name, "content": _text(name)}
            lines.append({"type": "message", "timestamp": 1_768_640_401, "message": result})
    return [{**line, "id": f"e{n}", "parentId": f"e{n - 1}"} for n, line in enumerate(lines)]


def copilot(turns: Sequence[Said]) -> list[Any]:
    events: list[tuple[str, dict[str, Any]]] = [("session.start", {"sessionId": "s"})]
    for turn in turns:
        asked = [
            {"toolCallId": call.id, "name": call.tool, "arguments": call.args}
            for call in turn.calls
        ]
        events.append(("assistant.message", {"messageId": "m", "toolRequests": asked}))
        events += [("tool.execution_start", {"toolCallId": call.id}) for call in turn.calls]
        for name in turn.results:
            data = {"toolCallId": name, "success": name != "c", "result": {"content": f"<{name}>"}}
            events.append(("tool.execution_complete", data))
    return [
        {"type": kind, "data": data, "id": "e", "timestamp": _TIME, "parentId": None}
        for kind, data in events
    ]


def _items(turns: Sequence[Said]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for turn in turns:
        items.append({"type": "reasoning", "summary": []})
        items += [
            {"type": "function_call", "name": c.tool, "arguments": c.args, "call_id": c.id}
            for c in turn.calls
        ]
        items += [
            {"type": "function_call_output", "call_id": name, "output": f"<{name}>"}
            for name in turn.results
        ]
    return items


def codex(turns: Sequence[Said]) -> list[Any]:
    items = _items(turns)
    end = {"type": "exec_command_end", "call_id": "b", "duration": {"secs": 1, "nanos": 2}}
    lines: list[Any] = [{"type": "session_meta", "payload": {"id": "s"}}]
    lines += [{"type": "response_item", "payload": item} for item in items]
    lines.insert(2, {"type": "event_msg", "payload": end})
    lines.append({"type": "compacted", "payload": {"replacement_history": items[:1]}})
    return [{"timestamp": _TIME, **line} for line in lines]


def older_codex(turns: Sequence[Said]) -> list[Any]:
    header = {"id": "s", "timestamp": _TIME, "instructions": None}
    return [header, {"record_type": "state"}, *_items(turns)]


def _chat(turn: Said) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.args}}
        for call in turn.calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def kimi(turns: Sequence[Said]) -> list[Any]:
    lines: list[Any] = [{"role": "_checkpoint", "id": 0}]
    for turn in turns:
        lines += [_chat(turn), {"role": "_usage", "token_count": 1}]
        lines += [
            {"role": "tool", "tool_call_id": name, "content": _text(name)} for name in turn.results
        ]
    return lines


def kimi_events(turns: Sequence[Said]) -> list[Any]:
    messages: list[tuple[str, dict[str, Any]]] = []
    for number, turn in enumerate(turns):
        messages.append(("StepBegin", {"n": number}))
        messages.append(("ContentPart", {"type": "text", "text": "hm"}))
        for call in turn.calls:
            body = {"name": call.tool, "arguments": call.args[:1]}
            messages.append(("ToolCall", {"id": call.id, "function": body}))
            messages.append(("ToolCallPart", {"arguments_part": call.args[1:]}))
        for name in turn.results:
            value = {"is_error": name == "c", "output": f"<{name}>", "message": "hm"}
            messages.append(("ToolResult", {"tool_call_id": name, "return_value": value}))
    wrapped = [{"type": kind, "payload": payload} for kind, payload in messages]
    inside = {"parent_tool_call_id": "a", "event": wrapped[1]}
    wrapped.insert(3, {"type": "SubagentEvent", "payload": inside})
    lines = [{"timestamp": 1_768_640_400.5, "message": message} for message in wrapped]
    return [{"type": "metadata", "protocol_version": "1"}, *lines]


def gemini_chat(turns: Sequence[Said]) -> list[Any]:
    lines: list[Any] = [{"sessionId": "s", "projectHash": "h"}]
    for number, turn in enumerate(turns):
        message = {"id": f"m{number}", "type": "gemini", "content": "", "timestamp": _TIME}
        calls: list[Any] = []
        for call in turn.calls:
            block: dict[str, Any] = {"id": call.id, "name": call.tool, "args": call.args}
            block["status"] = "success" if call.id in turn.results else "executing"
            response = {"functionResponse": {"response": {"output": f"<{call.id}>"}}}
            calls.append({**block, "result": [response]} if call.id in turn.results else block)
        lines += [{**message, "toolCalls": calls[:1]}, {**message, "toolCalls": calls}]
    return [*lines, {"$rewindTo": "m1"}]


def _gemini_responses() -> list[Any]:
    parts = [{"functionCall": {"name": "t", "args": {"i": n}}} for n in range(2)]
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}
    response = {"candidates": [candidate]}
    return [
        {"method": "generateContent", "response": response},
        {"method": "generateContentStream", "response": [response]},
        {"history": [{"role": "user", "parts": [{"text": "go"}]}, candidate["content"]]},
    ]


def atif(turns: Sequence[Said]) -> dict[str, Any]:
    steps = [
        {
            "step_id": number,
            "source": "agent",
            "message": "",
            "tool_calls": [
                {"tool_call_id": call.id, "function_name": call.tool, "arguments": call.args}
                for call in turn.calls
            ],
            "observation": {
                "results": [{"source_call_id": i, "content": f"<{i}>"} for i in turn.results]
            },
        }
        for number, turn in enumerate(turns, 1)
    ]
    agent = {"name": "x", "version": "1"}
    return {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, "steps": steps}


def vcr(turns: Sequence[Said]) -> dict[str, Any]:
    history: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    interactions: list[dict[str, Any]] = []
    for turn in turns:
        message = _chat(turn)
        body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
        interactions.append(
            {
                "request": {"method": "POST", "parsed_body": {"messages": list(history)}},
                "response": {"status": {"code": 200}, "body": {"string": json.dumps(body)}},
            }
        )
        history.append(message)
        history += [
            {"role": "tool", "tool_call_id": name, "content": f"<{name}>"} for name in turn.results
        ]
    request = {"method": "POST", "parsed_body": {"messages": history}}
    interactions.append({"request": request, "response": {"status": 204}})
    return {"interactions": interactions}


MAKERS: dict[str, Callable[[Sequence[Said]], Any]] = {
    "pi": pi,
    "copilot": copilot,
    "codex": codex,
    "codex, older": older_codex,
    "kimi": kimi,
    "kimi, events": kimi_events,
    "gemini-cli": gemini_chat,
    "atif": atif,
    "vcr": vcr,
}
"""How a log of each kind is made from turns: JSON lines, or one object."""
LINES = {
    name: Lines(name.partition(",")[0], make(TURNS))
    for name, make in MAKERS.items()
    if name not in ("atif", "vcr")
}
LINES["gemini-cli, responses"] = Lines("gemini-cli", _gemini_responses())
DOCUMENTS = {
    "atif": Document("atif", atif(TURNS), "steps"),
    "vcr": Document("vcr", vcr(TURNS), "interactions"),
}
