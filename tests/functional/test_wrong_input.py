"""Wrong input is told with file and line, and the rest is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from toolflow.cli import main
from toolflow.recording import load_recording


def turn(call_id: str, **more: Any) -> list[bytes]:
    """The two lines of a turn with one call."""
    call = {"type": "tool_use", "id": call_id, "name": "read", "input": {"path": "é"}}
    answer = {"type": "tool_result", "tool_use_id": call_id, "content": "text"}
    lines = [
        {"type": "assistant", "sessionId": "s", "message": {"id": call_id, "content": [call]}},
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": [answer]}},
    ]
    return [json.dumps({**line, **more}, ensure_ascii=False).encode() for line in lines]


class Wrong(NamedTuple):
    """A line that cannot be read, and what is told of it."""

    line: bytes
    told: str


DEEP = b'{"type": "assistant", "message": ' + b'{"a": [' * 50_000
NUMBER = b'{"type": "assistant", "n": ' + b"9" * 5000 + b"}"
WRONG = {
    "no JSON": Wrong(b"{torn", "it is not JSON (Expecting property name"),
    "text": Wrong(b"hello", "it is not JSON (Expecting value at character 1)"),
    "a list": Wrong(b"[1, 2]", "it is no JSON object"),
    "two objects": Wrong(b'{"a": 1} {"b": 2}', "it is not JSON (Extra data at character 10)"),
    "a cut line": Wrong(turn("x")[0][:70], "it is not JSON (Unterminated string"),
    "Latin-1": Wrong(turn("x")[0].decode().encode("latin-1"), "it is not UTF-8 (byte "),
    "UTF-16": Wrong("{}".encode("utf-16-le"), "it holds NUL bytes"),
    "NUL bytes": Wrong(b"\x00" * 200, "it holds NUL bytes"),
    "a NUL byte in text": Wrong(b'{"a": "\x00"}', "it holds NUL bytes"),
    "nesting": Wrong(DEEP, "it is nested too deeply"),
    "a number of 5000 digits": Wrong(NUMBER, "it holds a number of too many digits"),
    "a byte order mark inside": Wrong(b"\xef\xbb\xbf{}", "it is not JSON"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_line_that_cannot_be_read_is_told_and_the_rest_is_read(kind, tmp_path, capsys):
    line, told = WRONG[kind]
    path, to = tmp_path / "log.jsonl", tmp_path / "log.yaml"
    path.write_bytes(b"\n".join([*turn("a"), line, b"", *turn("b"), line]))

    assert main(["import", str(path), "--to", str(to)]) == 0

    said = capsys.readouterr()
    assert said.out.splitlines()[1:3] == [
        "  2 turns with calls, 0 with two or more, largest 1",
        "  2 calls, 2 results",
    ]
    assert said.out.splitlines()[-1] == "  oddities: broken_line 2"
    recording = load_recording(to)
    assert [recorded.turn.calls[0].id for recorded in recording.turns] == ["a", "b"]
    assert recording.source["path"] == path.as_posix()
    assert [notice.line for notice in recording.notices] == [3, 7]
    for notice in recording.notices:
        assert notice.message.startswith(f"Line {notice.line} was skipped: {told}")


@pytest.mark.parametrize("kind", WRONG)
def test_broken_lines_are_told_when_a_plan_is_made_of_the_log_too(kind, tmp_path, capsys):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join([*turn("a"), WRONG[kind].line, *turn("b")]))

    assert main(["plan", str(path)]) == 0

    assert capsys.readouterr().out.count("read(path=") == 2


ODD_CALLS = {
    "arguments that are nested 100 deep": ("[" * 101 + "]" * 101, "nested"),
    "a number that is too large": ("1e999", "too large"),
    "a number that JSON has not": ("NaN", "JSON"),
    "a number of 5000 digits": ("9" * 5000, "digits"),
    "half of a character": ('"\\ud83d"', "half of a"),
}


@pytest.mark.parametrize("kind", ODD_CALLS)
def test_arguments_that_cannot_be_used_are_the_problem_of_their_call(kind, tmp_path, capsys):
    value, told = ODD_CALLS[kind]
    arguments = f'{{"x": {value}}}'
    calls = [
        {"id": "a", "type": "function", "function": {"name": "read", "arguments": arguments}},
        {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}},
    ]
    path, to = tmp_path / "turn.json", tmp_path / "turn.yaml"
    path.write_text(json.dumps({"role": "assistant", "tool_calls": calls}), encoding="utf-8")

    assert main(["import", str(path), "--to", str(to)]) == 0

    first, second = load_recording(to).turns[0].turn.calls
    assert told in (first.problem or "")
    assert (first.raw, dict(first.args)) == (arguments, {})
    assert second.problem is None


FILES = {
    "UTF-16": ("turn a".encode("utf-16"), "The file is UTF-16. Save it as UTF-8."),
    "a document that is cut": (
        b'[\n{"role": "assistant",\n"tool_calls": [{"id": "a"',
        "The list cannot be read: it is not JSON (Expecting ',' delimiter at character 50).",
    ),
    "a document with a NUL byte": (
        b'[\n{"role": "assistant"},\n\x00]',
        "The list cannot be read: it holds NUL bytes.",
    ),
    "a document that is nested": (
        b"[" * 100_000 + b"]" * 100_000,
        "The list cannot be read: it is nested too deeply.",
    ),
    "a document in Latin-1": (
        '[\n{"role": "é"},\n{}]'.encode("latin-1"),
        "The list cannot be read: it is not UTF-8 (byte 12).",
    ),
    "nothing": (b"", "The file is empty."),
    "blanks": (b" \n\n", "The file is empty."),
    "JSON of no known format": (
        b'{"weather": "fine"}',
        "The format of the log cannot be told from 1 records. Looked for: claude-code (",
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_cannot_be_read_at_all_is_told_on_one_line(kind, tmp_path, capsys):
    data, told = FILES[kind]
    path, good = tmp_path / "log.json", tmp_path / "good.jsonl"
    path.write_bytes(data)
    good.write_bytes(b"\n".join(turn("a")))

    assert main(["import", str(path)]) == 2
    alone = capsys.readouterr()
    assert alone.err.startswith(f"toolflow: {path}: {told}")
    assert len(alone.err.splitlines()) == 1
    assert alone.out == ""

    assert main(["import", str(path), str(good)]) == 0
    several = capsys.readouterr()
    assert several.err.startswith(f"skipped: {path}: ")
    assert len(several.err.splitlines()) == 1
    assert several.out.splitlines()[1].split() == [
        str(good), "claude-code", "1", "1", "0", "1", "1", "1"
    ]  # fmt: skip
    assert several.out.endswith("1 file skipped: no log that can be read.\n")


BOMB = "a0: &a0 x\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)
YAML = {
    "an alias bomb": (BOMB, "log.yaml:"),
    "two values of one key": ("calls: []\ncalls: []\n", "log.yaml:2:1: "),
    "a tab": ("calls:\n\t- {}\n", "log.yaml:2:1: "),
    "a tag": ("calls: !!python/object:os.system [x]\n", "log.yaml:1:8: "),
    "a call without a tool": ("calls:\n- {id: a}\n", "log.yaml:2:3: "),
}


@pytest.mark.parametrize("kind", YAML)
def test_what_is_wrong_in_yaml_is_told_at_its_place(kind, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, told = YAML[kind]
    Path("log.yaml").write_text(text, encoding="utf-8")

    assert main(["import", "log.yaml"]) == 2

    assert capsys.readouterr().err.startswith(f"toolflow: {told}")
