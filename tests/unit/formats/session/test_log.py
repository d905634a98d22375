from __future__ import annotations

from pathlib import Path

import pytest

from toolflow.errors import TurnError
from toolflow.formats.session import log as log_module
from toolflow.formats.session.log import Log, Record


def write(folder: Path, content: bytes) -> Path:
    path = folder / "log.jsonl"
    path.write_bytes(content)
    return path


def records(folder: Path, content: bytes) -> list[Record]:
    return list(Log.open(write(folder, content)).records())


def test_lines_are_numbered_as_in_the_file_and_blank_ones_left_out(tmp_path):
    assert records(tmp_path, b'\n{"a":1}\r\n  \n[2]') == [Record(2, {"a": 1}), Record(4, [2])]


def test_a_mark_of_byte_order_is_left_out(tmp_path):
    assert records(tmp_path, b'\xef\xbb\xbf{"a":1}\n') == [Record(1, {"a": 1})]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b'{"a":', "it is not JSON (Expecting value at character 6)"),
        (b'{"a":"\xff"}', "it is not UTF-8 (byte 6)"),
        (b'{"a":1}\0\0\0', "it holds NUL bytes"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"a":' + b"9" * 5_000 + b"}", "it holds a number of too many digits"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_and_the_next_is_read(tmp_path, line, fault):
    assert records(tmp_path, b'{"b":1}\n' + line + b'\n{"c":2}\n') == [
        Record(1, {"b": 1}),
        Record(2, None, fault),
        Record(3, {"c": 2}),
    ]


def test_a_line_without_end_is_passed_over_and_the_next_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(log_module, "MAX_LINE", 100)
    content = b'{"a":"' + b"x" * 1_000 + b'"}\n{"b":1}\n' + b"y" * 350

    assert records(tmp_path, content) == [
        Record(1, None, "it is longer than 64 MiB"),
        Record(2, {"b": 1}),
        Record(3, None, "it is longer than 64 MiB"),
    ]


def test_a_json_list_gives_its_items(tmp_path):
    assert records(tmp_path, b' [\n{"a":1},\n 2]') == [Record(1, {"a": 1}), Record(2, 2)]


def test_a_json_list_with_a_mistake_is_refused(tmp_path):
    with pytest.raises(TurnError, match=r"log\.jsonl: The list cannot be read: it is not JSON"):
        records(tmp_path, b'[{"a":1},')


def test_lines_of_which_the_first_looks_like_a_list_are_lines(tmp_path):
    assert records(tmp_path, b'["torn\n{"a":1}\n') == [
        Record(1, None, "it is not JSON (Unterminated string starting at character 2)"),
        Record(2, {"a": 1}),
    ]


def test_a_json_list_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(log_module, "MAX_DOCUMENT", 10)

    with pytest.raises(TurnError, match="larger than 256 MiB"):
        records(tmp_path, b"[1,2,3,4,5,6,7]")


def test_a_file_that_cannot_be_read_is_told_in_one_line(tmp_path):
    for path in (tmp_path / "none.jsonl", tmp_path, Path("a\0b")):
        with pytest.raises(TurnError) as caught:
            Log.open(path)
        assert "\n" not in str(caught.value)
        assert "\0" not in str(caught.value)


def test_utf16_is_told(tmp_path):
    with pytest.raises(TurnError, match=r"The file is UTF-16\. Save it as UTF-8\."):
        Log.open(write(tmp_path, '{"a":1}'.encode("utf-16")))


def test_an_empty_file_has_no_records(tmp_path):
    assert records(tmp_path, b"") == []
