"""Large session logs: lines as the programs write them, as many as are asked for.

A turn has one to three calls, with arguments of some hundred bytes and results of some thousand, as
sessions of coding agents have them; of ``small`` ones with a word each, so that there are as many
lines as can be. Every line is another, and nothing is drawn by chance.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

_TEXT = "def function(value):\n    return value + 1  # a line of a file, as tools give them\n"
_TIME = "2026-01-17T10:%02d:%02d.%03dZ"


def _time(number: int) -> str:
    return _TIME % (number // 60_000 % 60, number // 1000 % 60, number % 1000)


def _result(number: int, *, small: bool) -> str:
    return f"{number}\n" + ("" if small else _TEXT * (10 + number * 7 % 60))


def _rows(number: int, *, small: bool) -> list[tuple[str, str, dict[str, Any]]]:
    """The calls of a turn: id, tool, arguments."""
    found = []
    for place in range(1 + number % 3):
        more = {} if small else {"file_path": f"/repo/src/module_{number}.py", "note": _TEXT}
        args = {**more, "offset": place}
        found.append((f"toolu_{number:012d}{place}", ("Read", "Bash", "Edit")[place], args))
    return found


def claude_code(number: int, *, small: bool = False) -> list[Any]:
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
    for call_id, tool, args in _rows(number, small=small):
        block = {"type": "tool_use", "id": call_id, "name": tool, "input": args}
        line("assistant", {**said, "content": [block]}, requestId=f"req_{number}")
    for call_id, _, _ in _rows(number, small=small):
        text = _result(number, small=small)
        block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        line("user", {"content": [block]}, toolUseResult={"stdout": text, "stderr": ""})
    return lines


def pi(number: int, *, small: bool = False) -> list[Any]:
    """The lines of one turn; before the first the header."""
    lines: list[Any] = []
    parent = f"e{number - 1}-{(number - 1) % 3 + 1}" if number else None

    def line(message: dict[str, Any]) -> None:
        nonlocal parent
        own = {"id": f"e{number}-{len(lines)}", "parentId": parent}
        parent = own["id"]
        lines.append({"type": "message", **own, "timestamp": _time(number), "message": message})

    blocks = [
        {"type": "toolCall", "id": call_id, "name": tool, "arguments": args}
        for call_id, tool, args in _rows(number, small=small)
    ]
    line(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": _TEXT}, *blocks],
            "model": "m",
            "stopReason": "toolUse",
        }
    )
    for call_id, tool, _ in _rows(number, small=small):
        content = [{"type": "text", "text": _result(number, small=small)}]
        line({"role": "toolResult", "toolCallId": call_id, "toolName": tool, "content": content})
    header = {"type": "session", "version": 3, "id": "session-1", "cwd": "/repo"}
    return lines if number else [header, *lines]


def codex(number: int, *, small: bool = False) -> list[Any]:
    """The lines of one turn; before the first the header."""
    lines: list[Any] = []

    def line(kind: str, payload: dict[str, Any]) -> None:
        lines.append({"timestamp": _time(number), "type": kind, "payload": payload})

    if number == 0:
        line("session_meta", {"id": "session-1", "cwd": "/repo"})
    line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": _TEXT})
    for call_id, tool, args in _rows(number, small=small):
        call = {"type": "function_call", "name": tool, "call_id": call_id}
        line("response_item", {**call, "arguments": json.dumps(args)})
    for call_id, _, _ in _rows(number, small=small):
        answer = {
            "type": "function_call_output",
            "call_id": call_id,
            "output": _result(number, small=small),
        }
        line("response_item", answer)
    return lines


LARGE: dict[str, Callable[..., list[Any]]] = {
    "claude-code": claude_code,
    "pi": pi,
    "codex": codex,
}
"""Makers of the lines of a turn, by the name of their format."""


def write_log(path: Path, form: str, size: int, *, small: bool = False) -> tuple[int, int]:
    """Write a log of at least so many bytes.

    Args:
        path: The file.
        form: The name of its format.
        size: How many bytes.
        small: Whether arguments and results are a word each.

    Returns:
        How many turns it has, and how many calls. The last turn is whole.
    """
    written = turns = calls = 0
    with path.open("wb") as file:
        for number in count():
            if written >= size:
                return turns, calls
            lines = LARGE[form](number, small=small)
            text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
            written += file.write(text.encode())
            turns += 1
            calls += len(_rows(number, small=small))
    raise AssertionError  # counting has no end
