from __future__ import annotations

import json

import pytest

from toolflow.errors import TurnError
from toolflow.formats import read_document

CHAT = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "a", "arguments": ""}}],
}


def test_json_yaml_and_json_lines_give_the_same_turns():
    as_json = json.dumps([CHAT, CHAT], indent=1)
    as_lines = "\n".join(["", json.dumps(CHAT), "  ", json.dumps(CHAT), ""])
    as_yaml = """
- role: assistant
  content: null
  tool_calls:
    - {id: c1, type: function, function: {name: a, arguments: ""}}
- role: assistant
  content: null
  tool_calls:
    - {id: c1, type: function, function: {name: a, arguments: ""}}
"""

    turns = read_document(as_json, source="t.json")

    assert [turn.id for turn in turns] == ["turn-1", "turn-2"]
    # The notices tell that the first call has no result: the history is in one list.
    assert read_document(as_lines, source="t.jsonl") == turns
    assert read_document(as_yaml, source="t.yaml") == turns


def test_bytes_are_utf8_with_or_without_a_mark():
    text = '{"calls": [{"tool": "é"}]}'

    plain = read_document(text.encode(), source="t")
    assert read_document(text.encode("utf-8-sig"), source="t") == plain
    assert read_document("\ufeff" + text, source="t") == plain
    with pytest.raises(TurnError, match=r"^t: The file is not UTF-8 \(byte \d+\)\. Save it"):
        read_document(text.encode("latin-1"), source="t")


def test_one_message_without_calls_is_an_empty_turn():
    (turn,) = read_document('{"role": "assistant", "content": "Hi"}', source="t")

    assert (turn.id, turn.calls) == ("turn-1", ())


def test_problems_in_yaml_stand_at_their_line_and_column():
    text = "calls:\n  - tool: 5\n  - {id: a, tool: b}\n  - 7\n"

    with pytest.raises(TurnError) as caught:
        read_document(text, source="t.yaml")

    assert [str(problem) for problem in caught.value.problems] == [
        "t.yaml:2:11: calls[0].tool is 5. Use the name of a tool.",
        "t.yaml:4:5: calls[2] is 7. Use an object with tool, args and perhaps id.",
    ]


def test_problems_in_json_stand_at_their_line_and_column():
    text = '{"messages": [\n {"role": "assistant", "tool_calls":\n  [7]}]}'

    with pytest.raises(TurnError) as caught:
        read_document(text, source="t.json")

    (problem,) = caught.value.problems
    assert str(problem) == (
        "t.json:3:4: [0].tool_calls[0] is 7. Use an object with id, type and function."
    )


def test_problems_in_json_lines_stand_at_their_line():
    text = '{"calls": []}\n\n{"calls": [7]}\n'

    with pytest.raises(TurnError) as caught:
        read_document(text, source="t.jsonl")

    (problem,) = caught.value.problems
    assert str(problem) == (
        "t.jsonl:3: [1].calls[0] is 7. Use an object with tool, args and perhaps id."
    )


def test_lines_that_are_not_json_are_all_told_up_to_a_bound():
    text = '{"calls": []}\n' + "{broken\n" * 30

    with pytest.raises(TurnError) as caught:
        read_document(text, source="t.jsonl")

    problems = caught.value.problems
    assert len(problems) == 21
    assert str(problems[0]) == "t.jsonl:2: The line is not JSON. Give one JSON object a line."
    assert str(problems[-1]) == "t.jsonl: 10 more lines are not JSON."


def test_json_with_a_mistake_is_told_where_it_is():
    with pytest.raises(TurnError) as caught:
        read_document('{"calls": [\n  {"tool": "a" "id": "b"}\n]}', source="t.json")

    assert all(problem.line == 2 for problem in caught.value.problems)


@pytest.mark.parametrize("text", ["", "hello", "5", "null", "[]", "a: 1", '"calls"'])
def test_a_document_of_no_known_format_is_refused_under_its_name(text):
    with pytest.raises(TurnError) as caught:
        read_document(text, source="my.yaml")

    assert all(problem.source == "my.yaml" for problem in caught.value.problems)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "calls: " + "[" * 5_000,
        '{"calls": [{"tool": "a", "args": ' + "[" * 3_000 + "]" * 3_000 + "}]}",
        "\0",
        "calls:\n\t- a",
        "a: &a [*a]",
        '{"calls": [{"tool": "a", "args": {"x": ' + "9" * 5_000 + "}}]}",
    ],
)
def test_hostile_text_is_refused_and_no_crash(text):
    with pytest.raises(TurnError):
        read_document(text, source="t")


def test_nan_in_the_arguments_of_one_call_leaves_the_others_alone():
    text = '{"calls": [{"tool": "a", "args": {"x": NaN}}, {"tool": "b"}]}'

    (turn,) = read_document(text, source="t.json")

    assert [call.problem is None for call in turn.calls] == [False, True]
