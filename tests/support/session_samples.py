"""One small valid log of each kind; the text of each result carries the id of its call."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Lines(NamedTuple):
    """A log of JSON lines: the name of its format, and its lines."""

    form: str
    lines: list[Any]


class Document(NamedTuple):
    """A log that is one JSON object: its format, its value, and the list inside to play with."""

    form: str
    value: dict[str, Any]
    inside: str


TURNS = (("a",), ("b", "c", "d"), ("a", "e"))
"""The ids of three turns; one comes back."""


def _pi() -> list[Any]:
    lines: list[Any] = [{"type": "session", "id": "s", "cwd": "/r"}]
    for turn in TURNS:
        calls = [{"type": "toolCall", "id": i, "name": "t", "arguments": {"i": i}} for i in turn]
        said = {"role": "assistant", "content": calls, "stopReason": "toolUse"}
        lines.append({"type": "message", "timestamp": 1_768_640_400, "message": said})
        for name in reversed(turn):
            result = {"role": "toolResult", "toolCallId": name, "content": _text(name)}
            lines.append({"type": "message", "timestamp": 1_768_640_401, "message": result})
    return [{**line, "id": f"e{n}", "parentId": f"e{n - 1}"} for n, line in enumerate(lines)]


def _text(name: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": f"<{name}>"}]


def _copilot() -> list[Any]:
    events: list[tuple[str, dict[str, Any]]] = [("session.start", {"sessionId": "s"})]
    for turn in TURNS:
        asked = [{"toolCallId": i, "name": "t", "arguments": {"i": i}} for i in turn]
        events.append(("assistant.message", {"messageId": "m", "toolRequests": asked}))
        events += [("tool.execution_start", {"toolCallId": name}) for name in turn]
        events += [
            (
                "tool.execution_complete",
                {"toolCallId": name, "success": name != "c", "result": {"content": f"<{name}>"}},
            )
            for name in reversed(turn)
        ]
    time = "2026-01-17T10:00:00Z"
    return [
        {"type": kind, "data": data, "id": "e", "timestamp": time, "parentId": None}
        for kind, data in events
    ]


def _codex(*, new: bool) -> list[Any]:
    items: list[dict[str, Any]] = []
    for turn in TURNS:
        items.append({"type": "reasoning", "summary": []})
        items += [
            {"type": "function_call", "name": "t", "arguments": json.dumps({"i": i}), "call_id": i}
            for i in turn
        ]
        items += [
            {"type": "function_call_output", "call_id": i, "output": f"<{i}>"}
            for i in reversed(turn)
        ]
    if not new:
        header = {"id": "s", "timestamp": "2026-01-17T10:00:00Z", "instructions": None}
        return [header, {"record_type": "state"}, *items]
    end = {"type": "exec_command_end", "call_id": "b", "duration": {"secs": 1, "nanos": 2}}
    lines = [{"type": "session_meta", "payload": {"id": "s"}}]
    lines += [{"type": "response_item", "payload": item} for item in items]
    lines.insert(6, {"type": "event_msg", "payload": end})
    lines.append({"type": "compacted", "payload": {"replacement_history": items[:1]}})
    return [{"timestamp": "2026-01-17T10:00:00Z", **line} for line in lines]


def _kimi() -> list[Any]:
    lines: list[Any] = [{"role": "_checkpoint", "id": 0}]
    for turn in TURNS:
        calls = [
            {"type": "function", "id": i, "function": {"name": "t", "arguments": '{"i": 1}'}}
            for i in turn
        ]
        lines.append({"role": "assistant", "content": "", "tool_calls": calls})
        lines.append({"role": "_usage", "token_count": 1})
        lines += [{"role": "tool", "tool_call_id": i, "content": _text(i)} for i in reversed(turn)]
    return lines


def _kimi_wire() -> list[Any]:
    messages: list[tuple[str, dict[str, Any]]] = []
    for number, turn in enumerate(TURNS):
        messages.append(("StepBegin", {"n": number}))
        messages.append(("ContentPart", {"type": "text", "text": "hm"}))
        for name in turn:
            call = {"id": name, "function": {"name": "t", "arguments": "{"}}
            messages += [("ToolCall", call), ("ToolCallPart", {"arguments_part": "}"})]
        for name in reversed(turn):
            value = {"is_error": name == "c", "output": f"<{name}>", "message": "hm"}
            messages.append(("ToolResult", {"tool_call_id": name, "return_value": value}))
    wrapped = [{"type": kind, "payload": payload} for kind, payload in messages]
    inside = {"parent_tool_call_id": "a", "event": wrapped[2]}
    wrapped.insert(3, {"type": "SubagentEvent", "payload": inside})
    lines = [{"timestamp": 1_768_640_400.5, "message": message} for message in wrapped]
    return [{"type": "metadata", "protocol_version": "1"}, *lines]


def _gemini_chat() -> list[Any]:
    lines: list[Any] = [{"sessionId": "s", "projectHash": "h"}]
    for number, turn in enumerate(TURNS):
        message = {"id": f"m{number}", "type": "gemini", "content": "", "timestamp": "2026-01-17"}
        calls = [
            {
                "id": i,
                "name": "t",
                "args": {"i": i},
                "status": "success",
                "result": [{"functionResponse": {"response": {"output": f"<{i}>"}}}],
            }
            for i in turn
        ]
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


def _atif() -> dict[str, Any]:
    steps = [
        {
            "step_id": number,
            "source": "agent",
            "message": "",
            "tool_calls": [
                {"tool_call_id": i, "function_name": "t", "arguments": {"i": i}} for i in turn
            ],
            "observation": {
                "results": [{"source_call_id": i, "content": f"<{i}>"} for i in reversed(turn)]
            },
        }
        for number, turn in enumerate(TURNS, 1)
    ]
    agent = {"name": "x", "version": "1"}
    return {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, "steps": steps}


def _vcr() -> dict[str, Any]:
    history: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    interactions = []
    for turn in TURNS:
        calls = [
            {"id": i, "type": "function", "function": {"name": "t", "arguments": f'{{"i": "{i}"}}'}}
            for i in turn
        ]
        said = {"role": "assistant", "content": None, "tool_calls": calls}
        body = {"choices": [{"index": 0, "message": said, "finish_reason": "tool_calls"}]}
        interactions.append(
            {
                "request": {"method": "POST", "parsed_body": {"messages": list(history)}},
                "response": {"status": {"code": 200}, "body": {"string": json.dumps(body)}},
            }
        )
        history.append(said)
        history += [{"role": "tool", "tool_call_id": i, "content": f"<{i}>"} for i in turn]
    request = {"method": "POST", "parsed_body": {"messages": history}}
    interactions.append({"request": request, "response": {"status": {"code": 500}}})
    return {"interactions": interactions}


LINES = {
    "pi": Lines("pi", _pi()),
    "copilot": Lines("copilot", _copilot()),
    "codex": Lines("codex", _codex(new=True)),
    "codex, older": Lines("codex", _codex(new=False)),
    "kimi": Lines("kimi", _kimi()),
    "kimi, events": Lines("kimi", _kimi_wire()),
    "gemini-cli": Lines("gemini-cli", _gemini_chat()),
    "gemini-cli, responses": Lines("gemini-cli", _gemini_responses()),
}
DOCUMENTS = {
    "atif": Document("atif", _atif(), "steps"),
    "vcr": Document("vcr", _vcr(), "interactions"),
}
