from __future__ import annotations

import json

import pytest

from toolflow.formats.arguments import MAX_DEPTH, parse


@pytest.mark.parametrize("given", [None, "", " ", "\n\t ", "{}", " {} \n", {}])
def test_nothing_and_blanks_and_an_empty_object_mean_no_arguments(given):
    assert parse(given) == ({}, None, None)


def test_text_and_object_with_the_same_content_give_equal_arguments():
    value = {"path": "a.txt", "n": 3, "deep": {"list": [1, 2.5, None, True, "é😀"]}}

    assert parse(json.dumps(value)).args == parse(value).args == value


def test_text_with_characters_beyond_ascii_is_read_like_any_other():
    assert parse('{"name": "Résumé", "e": "\\u00e9", "pair": "\\ud83d\\ude00"}') == (
        {"name": "Résumé", "e": "é", "pair": "😀"},
        None,
        None,
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '{"city": "Par',
            (
                "The arguments are not JSON (Unterminated string starting at character 10)."
                " Give one JSON object."
            ),
        ),
        (
            '  {"a" 1}',
            (
                "The arguments are not JSON (Expecting ':' delimiter at character 8)."
                " Give one JSON object."
            ),
        ),
        (
            '{"ns":"a"}{"ns":"b"}',
            (
                "The arguments are two objects in one field; the second begins at character 11."
                " Give one JSON object."
            ),
        ),
        (
            '{"a":1}, {"b":2}\n{"c":3}',
            (
                "The arguments are 3 objects in one field; the second begins at character 10."
                " Give one JSON object."
            ),
        ),
        (
            "{} []",
            (
                "The arguments are two values in one field; the second begins at character 4."
                " Give one JSON object."
            ),
        ),
        (
            '{"a":1} and',
            (
                "The arguments field holds more after the first value, from character 9: 'and'."
                " Give one JSON object."
            ),
        ),
        (
            '{"a":1},',
            (
                "The arguments field holds more after the first value, from character 9: ','."
                " Give one JSON object."
            ),
        ),
        ("null", "The arguments are null, not an object. Give one JSON object."),
        ("[1]", "The arguments are a list, not an object. Give one JSON object."),
        ("true", "The arguments are true or false, not an object. Give one JSON object."),
        ("7", "The arguments are a number, not an object. Give one JSON object."),
        ('"x"', "The arguments are text, not an object. Give one JSON object."),
        ('{"a": NaN}', "The arguments hold NaN, which JSON does not have. Use a number."),
        (
            '{"a": -Infinity}',
            "The arguments hold -Infinity, which JSON does not have. Use a number.",
        ),
        (
            '{"a": 1e999}',
            "The arguments hold a number that is too large. Use a smaller one.",
        ),
        (
            '{"a": ' + "9" * 5000 + "}",
            "The arguments hold an integer of more than 4300 digits. Give one JSON object.",
        ),
        (
            '{"a": {"b": "\\ud83d"}}',
            "arguments.a.b holds half of a surrogate pair. Use whole characters.",
        ),
        (
            '{"a": ["x\ud83dy"]}',
            "arguments.a[0] holds half of a surrogate pair. Use whole characters.",
        ),
        (
            '{"a": ' + "[" * 150 + "]" * 150 + "}",
            "The arguments are nested more than 100 deep. Nest them less.",
        ),
        ("[" * 100_000, "The arguments are nested more than 100 deep. Nest them less."),
    ],
)
def test_text_that_is_no_usable_object_is_kept_raw_and_told(text, problem):
    assert parse(text) == ({}, text, problem)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([1], "The arguments are a list, not an object. Give one JSON object."),
        (7, "The arguments are a number, not an object. Give one JSON object."),
        ({"x": float("nan")}, "arguments.x is nan, which JSON does not have. Use a number."),
        ({"x": {1: 2}}, "arguments.x has a key of type int. Use text."),
        ({1: 2}, "arguments has a key of type int. Use text."),
        ({"x": b"1"}, "arguments.x is a bytes. Use JSON values."),
        ({"x": {1}}, "arguments.x is a set. Use JSON values."),
        ({"x": 10**5000}, "arguments.x is an integer of more than 4300 digits. Shorten it."),
        ({"x": "\udc00"}, "arguments.x holds half of a surrogate pair. Use whole characters."),
        ({"\udc00": 1}, "arguments holds half of a surrogate pair. Use whole characters."),
        (
            {"a\x1b[31m": {"b": b""}},
            "arguments.a\\x1b[31m.b is a bytes. Use JSON values.",
        ),
    ],
)
def test_values_that_json_cannot_hold_are_told_with_their_place(value, problem):
    got = parse(value)

    assert got.args == {}
    assert got.problem == problem
    assert isinstance(got.raw, str)


def test_an_object_that_refers_to_itself_is_a_problem_and_no_crash():
    value: dict = {}
    value["again"] = value

    assert parse(value).problem == "The arguments are nested more than 100 deep. Nest them less."


def test_nesting_up_to_the_limit_is_taken():
    value: object = 1
    for _ in range(MAX_DEPTH - 1):
        value = [value]

    assert parse({"a": value}).problem is None
    assert parse({"a": [value]}).problem is not None
    assert parse(json.dumps({"a": value})).problem is None
    assert parse(json.dumps({"a": [value]})).problem is not None


def test_braces_inside_text_do_not_count_as_nesting():
    assert parse(json.dumps({"code": "{[" * 500})).problem is None


def test_arguments_are_a_copy_so_that_a_tool_cannot_change_the_message():
    given = {"flat": 1, "inner": {"list": [1]}}

    args = parse(given).args
    args["inner"]["list"].append(2)
    args["new"] = 1  # type: ignore[index]

    assert given == {"flat": 1, "inner": {"list": [1]}}


def test_a_flat_object_is_a_copy_too():
    given = {"flat": 1}

    parse(given).args["new"] = 1  # type: ignore[index]

    assert given == {"flat": 1}


def test_a_long_run_of_glued_objects_is_counted_in_linear_time():
    assert "50000 objects" in (parse("{} " * 50_000).problem or "")
