"""Writing YAML: made to be read by people, and exact."""

from __future__ import annotations

import math

import pytest

from toolflow import yamlio


def test_the_layout_is_for_people() -> None:
    value = {
        "version": 1,
        "rules": [
            {"tool": "read_file", "safe": True, "reads": ["file:{{ args.path | file_key }}"]},
            {"tool": "write_file", "args": {"text": "one\ntwo 🚀\n", "path": "a.txt"}},
        ],
        "empty": {"a": [], "b": {}},
        "note": "no",
        "none": None,
        "windows": 'C:\\new "x"',
    }
    assert yamlio.dump(value) == (
        "version: 1\n"
        "rules:\n"
        '  - {tool: read_file, safe: true, reads: ["file:{{ args.path | file_key }}"]}\n'
        "  - tool: write_file\n"
        "    args:\n"
        "      text: |\n"
        "        one\n"
        "        two 🚀\n"
        "      path: a.txt\n"
        "empty: {a: [], b: {}}\n"
        "note: no\n"
        "none: null\n"
        "windows: 'C:\\new \"x\"'\n"
    )


@pytest.mark.parametrize(
    "text",
    ["true", "Null", "~", "", "12", "010", "0x1f", "1e3", ".5", ".inf", "1e999", "9" * 5000],
)
def test_text_that_reads_as_something_else_is_quoted(text: str) -> None:
    assert yamlio.dump({"a": text}) == f'a: "{text}"\n'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\nb", "|-\n  a\n  b"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\n\n", "|+\n  a\n"),
        ("  a\nb", "|2-\n    a\n  b"),
        ("\na", "|2-\n\n  a"),
        ("a\r\nb", '"a\\r\\nb"'),
        ("a\u2028b\n", '"a\\u2028b\\n"'),
        ("\n", '"\\n"'),
        ("a\x7f", '"a\\u007f"'),
    ],
)
def test_text_of_several_lines_is_a_block_where_a_block_can_hold_it(
    text: str, written: str
) -> None:
    assert yamlio.dump({"k": text}) == f"k: {written}\n"
    assert yamlio.load(yamlio.dump({"k": text})).value == {"k": text}


def test_the_order_of_keys_is_kept_and_shared_values_have_no_anchors() -> None:
    shared = {"x": 1}
    assert yamlio.dump({"b": shared, "a": shared}) == "b: {x: 1}\na: {x: 1}\n"


def test_long_keys_and_long_lists_are_read_back() -> None:
    value = {"k" * 2000: [{"n" * 2000: 1}], "list": list(range(200)), "e" * 110: [], "f" * 2000: {}}
    assert yamlio.load(yamlio.dump(value)).value == value


@pytest.mark.parametrize("value", ["text", "two\nlines", 3, None, True, [], {}, "...", "--- a"])
def test_any_value_can_be_the_whole_document(value: object) -> None:
    assert yamlio.load(yamlio.dump(value)).value == value


def test_numbers_keep_their_kind() -> None:
    value = [1, 1.0, 1e300, 1e-7, -0.0, math.inf, -math.inf]
    found = yamlio.load(yamlio.dump(value)).value
    assert [(type(x), str(x)) for x in found] == [(type(x), str(x)) for x in value]
    assert math.isnan(yamlio.load(yamlio.dump([math.nan])).value[0])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({1: 2}, "The key 1 is not text."),
        (["x\ud83dy"], "The text holds a lone surrogate"),
        ({"a": {1, 2}}, "A value of type set cannot be written as YAML."),
    ],
)
def test_what_cannot_be_written_is_told(value: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        yamlio.dump(value)


@pytest.mark.parametrize("deep", [list, dict])
def test_what_could_not_be_read_back_for_its_depth_is_not_written(deep: type) -> None:
    value: object = 1
    for _ in range(100):
        value = [value] if deep is list else {"k": value}
    assert yamlio.load(yamlio.dump(value)).value == value
    with pytest.raises(ValueError, match="deeper than 100 levels"):
        yamlio.dump([value])


def test_an_item_is_written_as_it_stands_in_its_list() -> None:
    items = [{"a": "x" * 90, "b": ["y" * 90]}, {"a": 1}, "two\nlines", ["z" * 99], "word", {}]
    whole = yamlio.dump({"list": items})
    assert whole == "list:\n" + "".join(yamlio.dump_item(item, 2) for item in items)
