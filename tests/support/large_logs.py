"""Large session logs: lines as the programs write them, as many as are asked for.

A turn has one to three calls, with arguments of some hundred bytes and results of some thousand, as
sessions of coding agents have them. Every line is another, and nothing is drawn by chance.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

_TEXT = "def function(value):\n    return value + 1  # a line of a file, as tools give them\n"
_TIME = "2026-01-17T10:%02d:%02d.%03dZ"


def _time(number: int) -> str:
    return _TIME % (number // 60_000 % 60, number // 1000 % 60, number % 1000)


def _result(number: int) -> str:
    return f"{number}\n" + _TEXT * (10 + number * 7 % 60)


def _rows(number: int) -> list[tuple[str, str, dict[str, Any]]]:
    """The calls of a turn: id, tool, arguments."""
    found = []
    for place in range(1 + number % 3):
        args = {"file_path": f"/repo/src/module_{number}.py", "offset": place, "note": _TEXT}
        found.append((f"toolu_{number:012d}{place}", ("Read", "Bash", "Edit")[place], args))
    return found


def claude_code(number: int) -> list[Any]:
    """The lines of one turn: one block a line, then one result a line."""
    common = {"sessionId": "session-1", "cwd": "/repo", "version": "2.0", "isSidechain": False}
    lines: list[Any] = []

    def line(kind: str, message: dict[str, Any], **more: Any) -> None:
        uuid, parent = f"u{number}-{len(lines)}", f"u{number}-{len(lines) - 1}"
        own = {"uuid": uuid, "parentUuid": parent, "timestamp": _time(number), **more}
        lines.append({**common, "type": kind, "message": {"role": kind, **message}, **own})

    usage = {"input_tokens": 10, "output_tokens": 100}
    said = {"id": f"msg_{number:012d}", "model": "m", "type": "message", "usage": usage}
    line("assistant", {**said, "content": [{"type": "text", "text": _TEXT}]})
    for call_id, tool, args in _rows(number):
        block = {"type": "tool_use", "id": call_id, "name": tool, "input": args}
        line("assistant", {**said, "content": [block]}, requestId=f"req_{number}")
    for call_id, _, _ in _rows(number):
        text = _result(number)
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        line("user", {"content": [block]}, toolUseResult={"stdout": text, "stderr": ""})
    return lines


def pi(number: int) -> list[Any]:
    """The lines of one turn; before the first the header."""
    lines: list[Any] = []
    if number == 0:
        lines.append({"type": "session", "version": 3, "id": "session-1", "cwd": "/repo"})

    def line(message: dict[str, Any]) -> None:
        own = {"id": f"e{number}-{len(lines)}", "parentId": f"e{number}-{len(lines) - 1}"}
        lines.append({"type": "message", **own, "timestamp": _time(number), "message": message})

    blocks = [
        {"type": "toolCall", "id": call_id, "name": tool, "arguments": args}
        for call_id, tool, args in _rows(number)
    ]
    line(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": _TEXT}, *blocks],
            "model": "m",
            "stopReason": "toolUse",
        }
    )
    for call_id, tool, _ in _rows(number):
        content = [{"type": "text", "text": _result(number)}]
        line({"role": "toolResult", "toolCallId": call_id, "toolName": tool, "content": content})
    return lines


def codex(number: int) -> list[Any]:
    """The lines of one turn; before the first the header."""
    lines: list[Any] = []

    def line(kind: str, payload: dict[str, Any]) -> None:
        lines.append({"timestamp": _time(number), "type": kind, "payload": payload})

    if number == 0:
        line("session_meta", {"id": "session-1", "cwd": "/repo"})
    line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": _TEXT})
    for call_id, tool, args in _rows(number):
        call = {"type": "function_call", "name": tool, "call_id": call_id}
        line("response_item", {**call, "arguments": json.dumps(args)})
    for call_id, _, _ in _rows(number):
        answer = {"type": "function_call_output", "call_id": call_id, "output": _result(number)}
        line("response_item", answer)
    return lines


LARGE: dict[str, Callable[[int], list[Any]]] = {
    "claude-code": claude_code,
    "pi": pi,
    "codex": codex,
}
"""Makers of the lines of a turn, by the name of their format."""


def texts(form: str) -> Iterator[bytes]:
    """The lines of a log, turn by turn, without end."""
    for number in count():
        for line in LARGE[form](number):
            yield json.dumps(line, separators=(",", ":")).encode() + b"\n"


def write_log(path: Path, form: str, size: int) -> tuple[int, int]:
    """Write a log of at least so many bytes.

    Args:
        path: The file.
        form: The name of its format.
        size: How many bytes.

    Returns:
        How many turns it has, and how many calls. The last turn is whole.
    """
    written = turns = calls = 0
    with path.open("wb") as file:
        for number in count():
            if written >= size:
                return turns, calls
            lines = LARGE[form](number)
            data = b"".join(
                json.dumps(each, separators=(",", ":")).encode() + b"\n" for each in lines
            )
            file.write(data)
            written += len(data)
            turns += 1
            calls += len(_rows(number))
    raise AssertionError  # counting has no end
