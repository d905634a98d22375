"""``toolflow import``: one log, several, folders of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolflow.cli import main
from toolflow.recording import load_recording


def log(path: Path, *ids: str, broken: bool = False) -> Path:
    lines = []
    for call_id in ids:
        call = {"type": "tool_use", "id": call_id, "name": "read", "input": {}}
        answer = {"type": "tool_result", "tool_use_id": call_id, "content": "text"}
        lines += [
            {"type": "assistant", "sessionId": "s", "message": {"id": call_id, "content": [call]}},
            {"type": "user", "sessionId": "s", "message": {"role": "user", "content": [answer]}},
        ]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.write_text(text + ("{torn\n" if broken else ""), encoding="utf-8")
    return path


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    log(folder / "a.jsonl", "c1", "c2")
    log(folder / "deep" / "b.jsonl", "c3", broken=True)
    (folder / "notes.txt").write_text("no log\n", encoding="utf-8")
    (folder / ".hidden").write_text("not looked at", encoding="utf-8")
    return folder


def test_one_log_gives_a_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = log(tmp_path / "a.jsonl", "c1", "c2")
    assert main(["import", str(path)]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        f"{path}: claude-code, 2 messages of the model",
        "  2 turns with calls, 0 with two or more, largest 1",
        "  2 calls, 2 results",
        "  tools: read 2",
    ]
    assert said.err == ""


def test_a_folder_gives_a_table_and_tells_what_is_no_log(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(logs)]) == 0
    said = capsys.readouterr()
    rows = [line.split() for line in said.out.splitlines()]
    assert rows[0][:3] == ["file", "format", "messages"]
    assert rows[1] == ["a.jsonl", "claude-code", "2", "2", "0", "1", "2", "2"]
    assert rows[2][:2] == ["deep/b.jsonl", "claude-code"]
    assert rows[2][-2:] == ["broken_line", "1"]
    assert rows[3] == ["2", "logs", "3", "3", "0", "1", "3", "3"]
    assert said.out.endswith("1 file skipped: no log that can be read.\n")
    assert (
        said.err == f"skipped: {logs / 'notes.txt'}: no log of a known format, and no messages.\n"
    )


def test_recordings_of_a_folder_are_laid_out_like_it(logs: Path, tmp_path: Path) -> None:
    to = tmp_path / "out"
    assert main(["import", str(logs), "--to", str(to)]) == 0
    found = sorted(path.relative_to(to).as_posix() for path in to.rglob("*") if path.is_file())
    assert found == ["a.jsonl.yaml", "deep/b.jsonl.yaml"]
    recording = load_recording(to / "deep" / "b.jsonl.yaml")
    assert [turn.turn.calls[0].id for turn in recording.turns] == ["c3"]
    assert [notice.code for notice in recording.notices] == ["broken_line"]


def test_a_summary_of_several_as_json(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(logs / "a.jsonl"), str(logs / "deep" / "b.jsonl")]
    assert main(["import", *files, "--output", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [one["calls"] for one in data["logs"]] == [2, 1]
    assert [one["path"] for one in data["logs"]] == files
    assert data["skipped"] == []


def test_nothing_that_can_be_read_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert main(["import", str(folder)]) == 2
    assert "there are no files in it" in capsys.readouterr().err
    (folder / "notes.txt").write_text("no log\n", encoding="utf-8")
    assert main(["import", str(folder)]) == 1


def test_a_file_is_no_folder_for_recordings(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "one.yaml"
    place.write_text("kept", encoding="utf-8")
    assert main(["import", str(logs), "--to", str(place)]) == 2
    assert "Name a folder." in capsys.readouterr().err
    assert place.read_text(encoding="utf-8") == "kept"


def test_a_message_of_a_wire_format_is_imported_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "turn.yaml"
    path.write_text("calls:\n- {id: a, tool: read}\n- {id: b, tool: read}\n", encoding="utf-8")
    assert main(["import", str(path), "--output", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["format"], facts["turns"], facts["calls"]) == ("calls", 1, 2)


def test_a_format_of_messages_can_be_forced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "turn.json"
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    path.write_text(json.dumps({"role": "assistant", "tool_calls": [call]}), encoding="utf-8")
    assert main(["import", str(path), "--format", "cohere", "--output", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["format"], facts["calls"], facts["oddities"]) == ("cohere", 1, {"no_result": 1})
    assert main(["import", str(path), "--format", "nothing"]) == 2
    assert "format is 'nothing'. Use one of" in capsys.readouterr().err


def test_of_many_oddities_the_first_are_told_and_all_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = {"type": "tool_result", "tool_use_id": "nobody", "content": "x"}
    line = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": [answer]}}
    path, to = tmp_path / "a.jsonl", tmp_path / "a.yaml"
    path.write_text((json.dumps(line) + "\n") * 250 + "{torn\n" * 120, encoding="utf-8")
    assert main(["import", str(path), "--to", str(to), "--output", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["oddities"] == {"broken_line": 120, "result_without_call": 250}
    notices = load_recording(to).notices
    assert len(notices) == 202
    assert [n.message for n in notices[-2:]] == [
        "20 more notices of this kind are not shown.",
        "150 more notices of this kind are not shown.",
    ]


def test_a_stream_with_a_torn_line_is_read_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = {"type": "message_start", "message": {"role": "assistant", "content": []}}
    block = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
    begun = {"type": "content_block_start", "index": 0, "content_block": block}
    end = {"type": "content_block_stop", "index": 0}
    lines = [json.dumps(start), json.dumps(begun), json.dumps(end), "{torn"]
    lines.append(json.dumps({"type": "message_stop"}))
    path = tmp_path / "a.chunks.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert main(["import", str(path), "--output", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["format"], facts["calls"]) == ("anthropic", 1)
    assert facts["oddities"] == {"no_result": 1, "torn_event": 1}


def test_of_many_tools_the_first_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "turn.json"
    calls = [{"id": f"c{n}", "tool": f"tool_{n:02d}"} for n in range(30)]
    path.write_text(json.dumps({"calls": calls}), encoding="utf-8")
    assert main(["import", str(path)]) == 0
    (line,) = [text for text in capsys.readouterr().out.splitlines() if "tools:" in text]
    assert line.endswith(", tool_19 1, and 10 more")
