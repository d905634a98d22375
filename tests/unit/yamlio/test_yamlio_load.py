"""Reading YAML and JSON: what text stands for, where it stands, and every kind of wrong text."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
import yaml

from toolflow import yamlio
from toolflow.errors import ConfigError, DocumentError, PolicyError, TurnError


@pytest.fixture(params=["libyaml", "python"])
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every wording must hold with the parser around libyaml and with the one in Python."""
    if request.param == "python":
        monkeypatch.delattr(yaml, "CLoader", raising=False)
    elif not hasattr(yaml, "CLoader"):
        pytest.skip("libyaml is not here")


def problems(text: str | bytes, **options: object) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        yamlio.load(text, source="p.yaml", **options)  # type: ignore[arg-type]
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("null", None),
        ("~", None),
        ("nil", "nil"),
        ("12", 12),
        ("-3", -3),
        ("+4", 4),
        ("010", 10),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("190:20:30", "190:20:30"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("-2.5E-1", -0.25),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("2024-01-01", "2024-01-01"),
        ("2024-01-01T10:00:00Z", "2024-01-01T10:00:00Z"),
        ("=", "="),
        ("1.2.3", "1.2.3"),
        ("'true'", "true"),
        ('"12"', "12"),
    ],
)
@pytest.mark.usefixtures("_parser")
def test_plain_text_stands_for_what_yaml_1_2_says(text: str, value: object) -> None:
    found = yamlio.load(f"a: {text}\n").value["a"]
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_read() -> None:
    assert math.isnan(yamlio.load("a: .nan").value["a"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("", ["p.yaml:1:1: The document is empty."], id="empty"),
        pytest.param("# only a remark\n", ["p.yaml:1:1: The document is empty."], id="remark"),
        pytest.param(
            "a: 1\na: 2\nb: {x: 1, x: 2}\n",
            [
                "p.yaml:2:1: The key 'a' stands here again; it stands at line 1, column 1 already.",
                (
                    "p.yaml:3:11: The key 'x' stands here again; "
                    "it stands at line 3, column 5 already."
                ),
            ],
            id="doubled keys",
        ),
        pytest.param(
            "a:\n\tb: 1\n",
            ["p.yaml:2:1: A tab stands here. Use blanks to indent and to separate."],
            id="tab to indent",
        ),
        pytest.param(
            "a: {b: 1\t}\n",
            ["p.yaml:1:9: A tab stands here. Use blanks to indent and to separate."],
            id="tab in braces",
        ),
        pytest.param(
            "a: !!python/object:os.system x\nb: !mine [1]\nc: ! d\n",
            [
                "p.yaml:1:4: The tag '!!python/object:os.system' is not allowed. Leave it out.",
                "p.yaml:2:4: The tag '!mine' is not allowed. Leave it out.",
                "p.yaml:3:4: The tag '!' is not allowed. Leave it out.",
            ],
            id="tags",
        ),
        pytest.param(
            "a: 1\n---\nb: 2\n",
            ["p.yaml:2:1: A second document starts here. Use one document a file."],
            id="two documents",
        ),
        pytest.param(
            "a: 1\n...\nb: 2\n",
            ["p.yaml:3:1: A second document starts here. Use one document a file."],
            id="text after the end",
        ),
        pytest.param(
            "1: a\ntrue: b\nnull: c\n1.5: d\n",
            [
                "p.yaml:1:1: The key 1 is not text. Put it in quotes: '1'.",
                "p.yaml:2:1: The key true is not text. Put it in quotes: 'true'.",
                "p.yaml:3:1: The key null is not text. Put it in quotes: 'null'.",
                "p.yaml:4:1: The key 1.5 is not text. Put it in quotes: '1.5'.",
            ],
            id="keys that are not text",
        ),
        pytest.param(
            "when: {{ args.x }}\n",
            ["p.yaml:1:8: A key is a mapping. Keys are text; put a {{ template }} in quotes."],
            id="template without quotes",
        ),
        pytest.param(
            "? [a]\n: 1\n",
            ["p.yaml:1:3: A key is a list. Keys are text; put a {{ template }} in quotes."],
            id="list as key",
        ),
        pytest.param(
            "a: *b\n", ["p.yaml:1:4: The alias '*b' has no anchor before it."], id="alias"
        ),
        pytest.param(
            "a: &a [*a]\n",
            ["p.yaml:1:8: The alias '*a' stands inside what it names."],
            id="alias inside itself",
        ),
        pytest.param(
            "a: {<<: 3}\nb: {<<: [{c: 1}, d]}\n",
            [
                (
                    "p.yaml:1:9: '<<' takes in what is no mapping. "
                    "Use the alias of a mapping, or a list of them."
                ),
                (
                    "p.yaml:2:18: '<<' takes in what is no mapping. "
                    "Use the alias of a mapping, or a list of them."
                ),
            ],
            id="merge of a number",
        ),
        pytest.param(
            "a: {<<: {x: 1}, <<: {y: 1}}\n",
            ["p.yaml:1:17: The key '<<' stands here again. Use one '<<' with a list."],
            id="doubled merge",
        ),
        pytest.param(
            'a: "b\n', ["p.yaml:1:4: A quote is opened here and not closed."], id="open quote"
        ),
        pytest.param(
            "a: [1, 2\n",
            ["p.yaml:1:4: A list is opened here with '[' and lacks a ',' or its ']'."],
            id="open list",
        ),
        pytest.param(
            "a: {b: 1\n",
            ["p.yaml:1:4: A mapping is opened here with '{' and lacks a ',' or its '}'."],
            id="open mapping",
        ),
        pytest.param(
            "a: b: c\n",
            ["p.yaml:1:5: A ': ' stands where none can. Put text that holds it in quotes."],
            id="two colons",
        ),
        pytest.param(
            "a: - b\n",
            ["p.yaml:1:4: A list item cannot start here. Start it on a line of its own."],
            id="list in line",
        ),
        pytest.param(
            "a: @b\n",
            ["p.yaml:1:4: Text cannot start with '@'. Put it in quotes."],
            id="reserved sign",
        ),
        pytest.param(
            "- a\nb: 1\n",
            [
                (
                    "p.yaml:2:1: The indentation does not fit the lines before. "
                    "Line up the items and keys."
                )
            ],
            id="indentation",
        ),
        pytest.param(
            "a: b\x00c\n",
            [
                (
                    "p.yaml:1:5: The character U+0000 is not allowed. "
                    "Write it as an escape in double quotes."
                )
            ],
            id="nul",
        ),
        pytest.param(
            "a: \ud83d\n",
            [
                (
                    "p.yaml:1:4: The character U+D83D is not allowed. "
                    "Write it as an escape in double quotes."
                )
            ],
            id="lone surrogate",
        ),
        pytest.param(
            "x: 1\na: " + "9" * 5000,
            ["p.yaml:2:4: The number has too many digits. Put it in quotes to make it text."],
            id="endless integer",
        ),
        pytest.param(
            "a: 1e999\n",
            ["p.yaml:1:4: The number is too large. Put it in quotes to make it text."],
            id="endless float",
        ),
        pytest.param(
            "[" * 101,
            ["p.yaml:1:101: The document is nested too deep here. Use at most 100 levels."],
            id="deep",
        ),
        pytest.param(
            b"a: 1\nb: caf\xe9\n",
            ["p.yaml:2:7: The byte 0xe9 is not UTF-8. Save the file as UTF-8."],
            id="latin-1",
        ),
        pytest.param(
            b"\xff\xfea\x00:\x00",
            ["p.yaml:1:1: The byte 0xff is not UTF-8. Save the file as UTF-8."],
            id="utf-16",
        ),
    ],
)
@pytest.mark.usefixtures("_parser")
def test_wrong_text_is_told_with_its_place(text: str | bytes, said: list[str]) -> None:
    assert problems(text) == said


def test_problems_of_different_kinds_are_told_together_in_text_order() -> None:
    text = "a: 1\nb: !t x\na: 2\n1: *z\nc: d\t\ne: [1\n"
    assert [line.split(": ")[0] for line in problems(text)] == [
        "p.yaml:2:4",
        "p.yaml:3:1",
        "p.yaml:4:1",
        "p.yaml:4:4",
        "p.yaml:5:5",
        "p.yaml:6:4",
    ]


def test_at_most_a_hundred_problems_are_told() -> None:
    assert len(problems("a: 1\n" * 5000)) == 100


def test_what_is_opened_at_the_very_end_is_told() -> None:
    assert problems("a: [") == [
        "p.yaml:2:1: A list or mapping is opened with '[' or '{' and lacks its ']' or '}'."
    ]


@pytest.mark.usefixtures("_parser")
def test_tabs_are_text_in_quotes_blocks_and_remarks() -> None:
    text = "# \tremark\na: 'x\ty'\nb: |\n  x\ty\nc: 1 # \tremark\n"
    assert yamlio.load(text).value == {"a": "x\ty", "b": "x\ty\n", "c": 1}


def test_a_hundred_levels_are_allowed() -> None:
    value = yamlio.load("[" * 100 + "]" * 100).value
    for _ in range(99):
        (value,) = value
    assert value == []


@pytest.mark.usefixtures("_parser")
def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)]
    assert problems("\n".join(lines)) == [
        "p.yaml:5:10: The aliases stand for too much. Use at most 10,000 values by way of aliases."
    ]


def test_aliases_cannot_nest_deeper_than_text_can() -> None:
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 120))]
    assert problems("\n".join(lines)) == [
        "p.yaml:100:12: The document is nested too deep here. Use at most 100 levels."
    ]


def test_an_alias_gives_an_equal_value_of_its_own() -> None:
    value = yamlio.load("a: &x [1, {b: 2}]\nc: *x\n").value
    assert value == {"a": [1, {"b": 2}], "c": [1, {"b": 2}]}
    value["a"].append(3)
    assert value["c"] == [1, {"b": 2}]


def test_a_merge_takes_in_what_is_not_there_and_earlier_mappings_win() -> None:
    text = "x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {<<: [*x, *y], a: 0}\n"
    document = yamlio.load(text)
    assert document.value["z"] == {"a": 0, "b": 1, "c": 2}
    assert document.where(("z", "c")) == (2, 17)


def test_quoted_merge_signs_are_a_key_like_any_other() -> None:
    assert yamlio.load('"<<": 1').value == {"<<": 1}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_bytes_are_read_as_utf_8_with_or_without_a_byte_order_mark(mark: bytes) -> None:
    document = yamlio.load(mark + "a: é🚀\n".encode())
    assert document.value == {"a": "é🚀"}
    assert document.where(("a",)) == (1, 4)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.usefixtures("_parser")
def test_places_are_counted_from_one_in_characters(end: str) -> None:
    document = yamlio.load(end.join(["a: é", "'🚀': {b: [x, y]}", ""]))
    assert dict(document.positions) == {
        (): (1, 1),
        ("a",): (1, 4),
        ("🚀",): (2, 6),
        ("🚀", "b"): (2, 10),
        ("🚀", "b", 0): (2, 11),
        ("🚀", "b", 1): (2, 14),
    }
    assert document.where(("🚀", "b"), key=True) == (2, 7)
    assert document.where(("🚀", "b", 7, "none")) == (2, 10)
    assert document.where(("nowhere",)) == (1, 1)


def test_json_has_the_same_places_as_yaml() -> None:
    text = '{\n  "a": [1, {"b\\n": "x, ]"}],\n\t"c": {}, "d": -1.5e3\n}\n'
    document = yamlio.load(text)
    assert document.value == {"a": [1, {"b\n": "x, ]"}], "c": {}, "d": -1500.0}
    assert document.where(("a", 1, "b\n")) == (2, 20)
    assert document.where(("a", 1, "b\n"), key=True) == (2, 13)
    assert document.where(("d",)) == (3, 16)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"a": 1,\n "a": 2}',
            "p.json:2:2: The key 'a' stands here again; it stands at line 1, column 2 already.",
        ),
        ('{"a": }', "p.json:1:7: The JSON cannot be read: expecting value."),
        (
            '{"a": NaN}',
            (
                "p.json:1:1: The JSON holds a number that cannot be read: "
                "NaN. JSON has finite numbers only."
            ),
        ),
        ("[" * 5000, "p.json:1:1: The JSON is nested too deep."),
        (
            "[" * 101 + "]" * 101,
            "p.json: The document is nested too deep. Use at most 100 levels.",
        ),
    ],
)
def test_wrong_json_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(TurnError) as caught:
        yamlio.load(text, source="p.json", error=TurnError)
    assert str(caught.value) == said


def test_text_in_braces_that_is_not_json_is_read_as_yaml() -> None:
    assert yamlio.load("{a: no, b: [c]}").value == {"a": "no", "b": ["c"]}


def test_a_document_over_the_limit_is_refused() -> None:
    assert problems("a: 12345", max_bytes=4) == [
        "p.yaml: The document is too big. Use at most 4 bytes."
    ]


def test_a_file_is_read_and_named(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("a: é\n", encoding="utf-8")
    document = yamlio.load_file(path)
    assert (document.value, document.source) == ({"a": "é"}, str(path))


@pytest.mark.skipif(sys.platform == "win32", reason="the sentence is the system's")
def test_files_that_cannot_be_read_are_told_in_one_line(tmp_path: Path) -> None:
    big = tmp_path / "big.yaml"
    big.write_text("a: 12345")
    said = {
        tmp_path / "none.yaml": "There is no such file.",
        tmp_path: "The file cannot be read: is a directory.",
        Path("a\0b"): "The file cannot be read: embedded null byte.",
        big: "The document is too big. Use at most 4 bytes.",
    }
    for path, sentence in said.items():
        with pytest.raises(PolicyError) as caught:
            yamlio.load_file(path, error=PolicyError, max_bytes=4)
        assert str(caught.value) == f"{path}: {sentence}"


def test_a_document_of_values_has_no_places() -> None:
    document = yamlio.of_value({"a": (1, 2)}, source="<policy>")
    assert document.value == {"a": [1, 2]}
    assert document.where(("a",)) == (None, None)
    assert dict(document.positions) == {}
    assert str(document.problem(("a",), "Wrong.")) == "<policy>: Wrong."


def test_values_that_no_document_can_hold_are_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(ConfigError, match="nested too deep"):
        yamlio.of_value(circle)
    with pytest.raises(ConfigError, match="The key 1 is not text"):
        yamlio.of_value({1: 2})
