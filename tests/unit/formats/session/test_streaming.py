"""Logs are read turn by turn, in memory that does not grow with the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpus import corpus_dir

from toolflow.formats.session import claude_code, open_session, read_session
from toolflow.formats.session.pairing import LIMIT, WINDOW


def line(kind: str, content: list[Any], **more: Any) -> str:
    message = {"role": kind, "content": content, **more}
    return json.dumps({"type": kind, "sessionId": "s", "message": message}) + "\n"


def call(number: int | str) -> str:
    block = {"type": "tool_use", "id": f"c{number}", "name": "read", "input": {}}
    return line("assistant", [block], id=f"m{number}")


def result(number: int | str) -> str:
    return line("user", [{"type": "tool_result", "tool_use_id": f"c{number}", "content": "text"}])


def written(folder: Path, *parts: str) -> Path:
    path = folder / "log.jsonl"
    path.write_text("".join(parts), encoding="utf-8")
    return path


def conversation(count: int, start: int = 0) -> str:
    return "".join(call(n) + result(n) for n in range(start, start + count))


def test_the_first_turn_comes_before_the_whole_log_was_read(tmp_path: Path) -> None:
    session = open_session(written(tmp_path, conversation(3 * WINDOW)))
    turns = iter(session)
    first = next(turns)
    assert first.turn.id == "turn-1"
    assert session.source["lines"] <= 2 * WINDOW + 2
    assert len([first, *turns]) == 3 * WINDOW
    assert session.source["lines"] == 6 * WINDOW


def test_a_result_within_the_window_finds_its_call(tmp_path: Path) -> None:
    path = written(tmp_path, call("early"), conversation(WINDOW - 1), result("early"))
    recording = read_session(path)
    assert recording.turns[0].outcomes[0] is not None
    assert recording.notices == ()


def test_a_result_beyond_the_window_is_told_and_given_to_nobody(tmp_path: Path) -> None:
    path = written(tmp_path, call("early"), conversation(WINDOW + 1), result("early"))
    recording = read_session(path)
    assert recording.turns[0].outcomes == (None,)
    assert [notice.code for notice in recording.notices] == ["no_result", "result_without_call"]


def test_a_line_of_a_message_that_ended_long_before_is_told(tmp_path: Path) -> None:
    path = written(
        tmp_path, call("early"), result("early"), conversation(WINDOW + 1), call("early")
    )
    recording = read_session(path)
    assert [notice.code for notice in recording.notices] == ["late_line"]
    assert len(recording.turns) == WINDOW + 2


def test_a_call_that_waits_for_a_sub_agent_keeps_waiting(tmp_path: Path) -> None:
    lines = [
        json.loads(text)
        for number in range(WINDOW + 5)
        for text in (call(f"sub{number}"), result(f"sub{number}"))
    ]
    inner = "".join(json.dumps({**each, "parent_tool_use_id": "cmain"}) + "\n" for each in lines)
    recording = read_session(written(tmp_path, call("main"), inner, result("main")))
    assert recording.turns[0].outcomes[0] is not None
    assert recording.notices == ()


def test_messages_without_an_end_do_not_pile_up(tmp_path: Path) -> None:
    sources = "".join(
        json.dumps({**json.loads(call(number)), "parent_tool_use_id": f"agent{number}"}) + "\n"
        for number in range(LIMIT + 10)
    )
    session = open_session(written(tmp_path, sources))
    next(iter(session))
    assert session.source["lines"] == LIMIT + 1


def test_windows_change_nothing_in_recorded_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = sorted(corpus_dir("claude-code").iterdir())
    windowed = [read_session(path) for path in paths]
    monkeypatch.setattr(claude_code, "WINDOW", 10**9)
    monkeypatch.setattr(claude_code, "LIMIT", 10**9)
    for path, recording in zip(paths, windowed, strict=True):
        assert read_session(path) == recording, path.name
