"""The table of several logs: whole where it is read by programs, fitted where people read it."""

from __future__ import annotations

import pytest

from toolflow.cli.import_table import import_table
from toolflow.recording.importing import Imported


def found(
    odd: dict[str, int] | None = None, form: str = "claude-code", calls: int = 12
) -> Imported:
    return Imported("p", form, ("gemini",), 5, 3, 2, 4, calls, 9, {"read": calls}, odd or {})


LOGS = [
    ("logs/2024/a-session-with-a-name-that-nobody-would-want-to-type.jsonl", found()),
    ("logs/2024/b.jsonl", found({"no_result": 1, "broken_line": 3, "repeated_line": 2}, "vcr")),
    ("c.jsonl", found({"no_result": 2}, calls=100)),
]


WHOLE = """
file               format       messages  turns  parallel  largest  calls  results  oddities
logs/2024/b.jsonl  vcr/gemini          5      3         2        4     12        9  {}
c.jsonl            claude-code         5      3         2        4    100        9  no_result 2
2 logs                                10      6         4        4    112       18

oddities:
  broken_line    3 in 1 log
  no_result      3 in 2 logs
  repeated_line  2 in 1 log
"""


def test_outside_a_terminal_nothing_is_left_out():
    whole = WHOLE.format("broken_line 3, repeated_line 2, no_result 1")

    assert list(import_table(LOGS[1:])) == whole.strip().splitlines()


@pytest.mark.parametrize("width", [100, 110, 120, 150, 200])
def test_on_a_terminal_lines_fit_and_names_stand_under_their_folder(width):
    lines = list(import_table(LOGS, width))

    assert max(map(len, lines)) <= width
    assert lines[1] == "logs/2024/"
    assert lines[2].startswith("  a-sess")
    assert lines[2].split()[0].endswith("type.jsonl")
    assert ("broken_line 3" in lines[3]) == (width >= 120)
    assert lines[4].startswith("c.jsonl")
    assert lines[5].startswith("3 logs")


def test_oddities_that_do_not_fit_are_counted():
    (line,) = [line for line in import_table(LOGS, 120) if line.startswith("  b.jsonl")]

    assert line.endswith("  broken_line 3, +2")


def test_a_table_of_nothing_has_a_sum():
    assert list(import_table([]))[1].split() == ["0", "logs", "0", "0", "0", "0", "0", "0"]
