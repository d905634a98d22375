"""Session logs for audits: turns are told call by call, with results and times."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolflow.formats.session import read_session
from toolflow.model import Recording
from toolflow.policy import Policy, load_policy

POLICY = """
version: 1
limits: {pool: 4}
rules:
  - {tool: Read, safe: true, reads: ["file:{{ args.file_path }}"]}
  - {tool: [Edit, Write], safe: true, writes: ["file:{{ args.file_path }}"]}
  - {tool: Grep, safe: true, reads: ["file:{{ args.path }}/**"]}
  - {tool: Look, safe: true, reads: [], writes: []}
  - {tool: Never, deny: "No."}
"""


def policy() -> Policy:
    """The policy of these tests: files by their paths as they stand."""
    return load_policy(POLICY)


@dataclass(frozen=True)
class Told:
    """A call as the log tells it.

    Attributes:
        tool: Its tool.
        args: Its arguments.
        text: The text of its result; ``None``: it has none.
        error: Whether the result is an error.
        at: The second of its line, and that of its result; ``None``: the log has no times.
        details: What the log tells beside the result.
    """

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = "done"
    error: bool = False
    at: tuple[float, float] | None = None
    details: Mapping[str, Any] | None = None


def read(path: str, text: str, **more: Any) -> Told:
    """A read of a file."""
    asked = {name: more.pop(name) for name in ("offset", "limit") if name in more}
    return Told("Read", {"file_path": path, **asked}, text, **more)


def edit(path: str, old: str, new: str, text: str | None = "done", **more: Any) -> Told:
    """An edit of a file."""
    return Told("Edit", {"file_path": path, "old_string": old, "new_string": new}, text, **more)


def write(path: str, content: str, text: str | None = "done", **more: Any) -> Told:
    """A whole file written."""
    return Told("Write", {"file_path": path, "content": content}, text, **more)


def look(at: tuple[float, float] | None = None, text: str | None = "seen") -> Told:
    """A call that touches nothing."""
    return Told("Look", {}, text, at=at)


def log_lines(turns: Iterable[Iterable[Told]], *, results: str = "by time") -> list[Any]:
    """The lines of a Claude Code log.

    Args:
        turns: The turns, call by call.
        results: In which order results stand: ``by time``, or ``reversed``.
    """
    lines: list[Any] = []
    for number, calls in enumerate(turns, 1):
        rest = []
        for place, call in enumerate(calls, 1):
            call_id = f"t{number}c{place}"
            block = {"type": "tool_use", "id": call_id, "name": call.tool, "input": call.args}
            message = {"id": f"msg-{number}", "role": "assistant", "content": [block]}
            lines.append(_line("assistant", message, number, call.at and call.at[0]))
            if call.text is not None:
                answer = {"type": "tool_result", "tool_use_id": call_id, "content": call.text}
                answer |= {"is_error": True} if call.error else {}
                message = {"role": "user", "content": [answer]}
                line = _line("user", message, number, call.at and call.at[1])
                rest.append(line | ({"toolUseResult": call.details} if call.details else {}))
        rest.sort(key=lambda line: line.get("timestamp", ""))
        lines += rest[::-1] if results == "reversed" else rest
    return lines


def _line(kind: str, message: Mapping[str, Any], turn: int, at: float | None) -> dict[str, Any]:
    line: dict[str, Any] = {"type": kind, "sessionId": "s", "cwd": "/repo", "message": message}
    if at is not None:
        stamp = f"2026-01-01T{turn // 60 % 24:02d}:{turn % 60:02d}:{at:06.3f}Z"
        line["timestamp"] = stamp
    return line


def write_log(path: Path, *turns: Iterable[Told], results: str = "by time") -> Path:
    """Write a log, and give its path."""
    lines = log_lines(turns, results=results)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def recording(path: Path, *turns: Iterable[Told], results: str = "by time") -> Recording:
    """A log as a recording."""
    return read_session(write_log(path / "log.jsonl", *turns, results=results))
