"""What a log tells of results beside their outcomes: lines, measured times, files before edits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from session_logs import read_lines

from toolflow.model import LoggedResult
from toolflow.recording import dump_recording


def call(*ids: str) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": each, "name": "Edit", "input": {}} for each in ids]
    message = {"id": "m1", "role": "assistant", "content": blocks}
    return {"type": "assistant", "sessionId": "s", "message": message}


def answer(*ids: str, **details: Any) -> dict[str, Any]:
    blocks = [{"type": "tool_result", "tool_use_id": each, "content": "ok"} for each in ids]
    line = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": blocks}}
    return {**line, "toolUseResult": details} if details else line


def test_a_turn_knows_its_lines_in_a_log_of_claude_code(tmp_path: Path) -> None:
    lines = [{"type": "summary", "sessionId": "s"}, call("a", "b", "c"), answer("b"), answer("a")]
    [turn] = read_lines(tmp_path / "log.jsonl", lines).turns
    assert turn.line == 2
    assert turn.results == (LoggedResult(4), LoggedResult(3), None)


def test_measured_time_and_the_file_before_are_kept(tmp_path: Path) -> None:
    lines = [call("a"), answer("a", durationMs=1500, originalFile="old")]
    [turn] = read_lines(tmp_path / "log.jsonl", lines).turns
    assert turn.results == (LoggedResult(2, 1.5, "old"),)


def test_details_of_a_line_with_two_results_belong_to_nobody(tmp_path: Path) -> None:
    lines = [call("a", "b"), answer("a", "b", durationMs=1500, originalFile="old")]
    [turn] = read_lines(tmp_path / "log.jsonl", lines).turns
    assert turn.results == (LoggedResult(2), LoggedResult(2))


def test_a_turn_knows_its_lines_in_a_log_of_pi(tmp_path: Path) -> None:
    block = {"type": "toolCall", "id": "a", "name": "read", "arguments": {}}
    said = {"role": "assistant", "content": [block], "stopReason": "toolUse"}
    result = {"role": "toolResult", "toolCallId": "a", "content": []}
    lines: list[dict[str, Any]] = [
        {"type": "session", "id": "s", "cwd": "/"},
        {"type": "message", "id": "1", "message": said},
        {"type": "message", "id": "2", "message": result},
    ]
    [turn] = read_lines(tmp_path / "log.jsonl", lines).turns
    assert (turn.line, turn.results) == (2, (LoggedResult(3),))


def test_none_of_it_is_part_of_the_file_of_a_recording(tmp_path: Path) -> None:
    lines = [call("a"), answer("a", durationMs=1500, originalFile="the text before")]
    recording = read_lines(tmp_path / "log.jsonl", lines)
    assert "the text before" not in dump_recording(recording)
