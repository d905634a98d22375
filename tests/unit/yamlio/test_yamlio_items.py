"""A long list read item by item: what stands beside it, every limit, places beyond any limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from toolflow import yamlio
from toolflow.errors import ConfigError, DocumentError, RecordingError
from toolflow.yamlio.window import Window


@pytest.fixture(params=["libyaml", "python"], autouse=True)
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything must hold with the parser around libyaml and with the one in Python."""
    if request.param == "python":
        monkeypatch.delattr(yaml, "CLoader", raising=False)
    elif not hasattr(yaml, "CLoader"):
        pytest.skip("libyaml is not here")
    monkeypatch.setattr("toolflow.yamlio.yamlitems.CHUNK", 50)
    monkeypatch.setattr("toolflow.yamlio.jsonitems.CHUNK", 50)


LIMIT = 300


def made(folder: Path, text: str, name: str = "l.yaml") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def opened(path: Path) -> yamlio.Listed:
    return yamlio.open_list(path, "turns", limit=LIMIT, small=0)


def problems(path: Path) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        list(opened(path))
    return [str(problem).removeprefix(f"{path.parent}/") for problem in caught.value.problems]


def rows(count: int) -> str:
    return "".join(f"  - {{id: turn-{number}, calls: [a, b]}}\n" for number in range(count))


def test_a_list_may_be_larger_than_the_limit_for_each_of_its_items(tmp_path: Path) -> None:
    path = made(tmp_path, f"version: 1\nturns:\n{rows(100)}")
    assert path.stat().st_size > 10 * LIMIT
    listed = opened(path)
    assert listed.head.value == {"version": 1, "turns": []}
    assert listed.head.where(("turns",)) == (3, 3)
    for _ in range(2):  # it can be read again
        items = list(listed)
        assert [item.value["id"] for item in items] == [f"turn-{n}" for n in range(100)]
        assert items[-1].where(("turns", 99, "calls", 1)) == (102, 30)


def test_a_json_list_may_be_larger_than_the_limit_for_each_of_its_items(tmp_path: Path) -> None:
    data = {"turns": [{"id": n, "s": "\\" * n + '"'} for n in range(99)], "policy": "x"}
    path = made(tmp_path, json.dumps(data, indent=1), "l.json")
    listed = opened(path)
    assert listed.head.value == {"turns": [], "policy": "x"}
    items = list(listed)
    assert [item.value for item in items] == data["turns"]
    lines = path.read_text().splitlines()
    line, column = items[98].where(("turns", 98, "s"))
    assert line is not None
    assert column is not None
    assert lines[line - 1][column - 1 :] == json.dumps(items[98].value["s"])
    line, column = listed.head.where(("policy",), key=True)
    assert (line, column) == (len(lines) - 1, 2)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("pad", ["", "  "])
def test_keys_behind_the_list_stand_in_the_head(tmp_path: Path, end: str, pad: str) -> None:
    lines = ["turns:", *rows(60).splitlines(), "# a remark", "policy: late", "source: {a: b}"]
    path = made(tmp_path, "".join(f"{pad}{line}{end}" for line in lines))
    listed = opened(path)
    assert listed.head.value == {"turns": [], "policy": "late", "source": {"a": "b"}}
    assert listed.head.where(("policy",)) == (63, 9 + len(pad))
    assert len(list(listed)) == 60


def test_a_list_at_the_column_of_its_key_and_one_in_flow_style(tmp_path: Path) -> None:
    for text in (
        "turns:\n" + "- - - a: |\n      turns:\n      - x\n" * 20 + "v: 1\n",
        "{turns: [" + "{a: 'it''s, [', # no ]\nb: c},\n" * 20 + "], v: 1}\n",
    ):
        path = made(tmp_path, text)
        whole = yamlio.load_file(path).value
        listed = opened(path)
        assert listed.head.value == {"turns": [], "v": 1}
        assert [item.value for item in listed] == whole["turns"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("turns: 1", {"turns": 1}),
        ("turns: {a: 1}", {"turns": {"a": 1}}),
        ("turns:", {"turns": None}),
        ("a: {turns: [1]}", {"a": {"turns": [1]}}),
        ("[turns, 1]", ["turns", 1]),
        ("turns", "turns"),
        ('{"turns": 1}', {"turns": 1}),
        ('"turns"', "turns"),
    ],
)
def test_where_no_list_is_the_head_is_what_there_is(
    tmp_path: Path, text: str, value: object
) -> None:
    listed = opened(made(tmp_path, text))
    assert (listed.head.value, list(listed)) == (value, [])


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("turns: []", []),
        ("turns: [1, a, null]", [1, "a", None]),
        ("turns:\n- 1\n- [2]\n- 3\n", [1, [2], 3]),
        ("a: &a [1]\nturns: *a", [1]),
        ("turns: &a [[1]]\nb: *a", [[1]]),
        ("turns:\n- &a [1]\n- *a\n- {b: *a}", [[1], [1], {"b": [1]}]),
        ("b: &b {turns: [1]}\n<<: *b", [1]),
    ],
)
def test_items_of_every_kind(tmp_path: Path, text: str, items: list[object]) -> None:
    path = made(tmp_path, text)
    listed = opened(path)
    assert [item.value for item in listed] == items
    assert yamlio.load_file(path).value == {**listed.head.value, "turns": items}


def test_an_item_beyond_the_limit_is_told_where_it_begins(tmp_path: Path) -> None:
    text = f"turns:\n{rows(9)}  - {'x' * 2 * LIMIT}\n{rows(9)}"
    said = f"The part that begins here is too big. Use at most {LIMIT:,} characters for each."
    assert problems(made(tmp_path, text)) == [f"l.yaml:11:5: {said}"]
    data = json.dumps({"turns": [*[{"a": n} for n in range(40)], "x" * 2 * LIMIT]}, indent=1)
    assert problems(made(tmp_path, data, "l.json")) == [f"l.json:123:3: {said}"]


def test_what_stands_beside_the_list_has_the_same_limit(tmp_path: Path) -> None:
    text = f"turns:\n{rows(40)}policy: {'x' * 2 * LIMIT}\n"
    assert "l.yaml:42:1: The part that begins here is too big." in problems(made(tmp_path, text))[0]
    data = json.dumps({"turns": [1] * 99, "policy": "x" * 2 * LIMIT}, indent=1)
    assert "l.json:103:12: The part that begins" in problems(made(tmp_path, data, "l.json"))[0]


@pytest.mark.parametrize("name", ["l.yaml", "l.json"])
def test_another_large_document_is_too_big_as_ever(tmp_path: Path, name: str) -> None:
    said = [f"{name}: The document is too big. Use at most {LIMIT:,} bytes."]
    for data in ([1] * LIMIT, {"rules": [1] * LIMIT}, "x" * LIMIT):
        assert problems(made(tmp_path, json.dumps(data), name)) == said
    if name == "l.yaml":
        assert problems(made(tmp_path, f"rules:\n{rows(20)}", name)) == said
        assert problems(made(tmp_path, rows(20), name)) == said


def test_problems_far_behind_the_limit_have_their_places(tmp_path: Path) -> None:
    for last, said in (
        (
            "a: {b: 1, b: 2}",
            "62:16: The key 'b' stands here again; it stands at line 62, column 10",
        ),
        ("a: \tb", "62:9: A tab stands here."),
        ("a: [b: c", "62:9: A list is opened here with '['"),
        ("a: *b", "62:9: The alias '*b' has no anchor before it."),
        ("a: !t b", "62:9: The tag '!t' is not allowed."),
        ("a: \x07", "62:9: The character U+0007 is not allowed."),
        (f"a: {'[' * 98}{']' * 98}", "62:106: The document is nested too deep here."),
    ):
        found = problems(made(tmp_path, f"turns:\n{rows(60)}  -  {last}\n"))
        assert found[0].startswith(f"l.yaml:{said}"), found


def test_bytes_that_are_no_text_have_their_place(tmp_path: Path) -> None:
    path = tmp_path / "l.yaml"
    path.write_bytes(f"turns:\n{rows(60)}  - é".encode() + b"\xff\n")
    said = "The byte 0xff is not UTF-8. Save the file as UTF-8."
    assert problems(path) == [f"l.yaml:62:6: {said}"]


def test_json_problems_far_behind_the_limit_have_their_places(tmp_path: Path) -> None:
    for last, said in (
        ('{"b": 1, "b": 2}]}', "62:10: The key 'b' stands here again"),
        ("[1 2]", "62:4: The JSON cannot be read: expecting ',' delimiter."),
        ("NaN", "1:1: The JSON cannot be read: NaN. JSON has finite numbers only."),
        ('"a', "62:1: The JSON cannot be read: unterminated string starting at."),
        ("1} 2", "62:2: The JSON cannot be read: expecting ']'."),
        ("1]] 2", "62:3: The JSON cannot be read: expecting '}'."),
        ("1]} 2", "62:5: The JSON cannot be read: extra data."),
        (f"{'[' * 99}{']' * 99}]}}", "62:1: The document is nested too deep here."),
    ):
        items = '{"a": 1},\n' * 60
        found = problems(made(tmp_path, f'{{"turns": [\n{items}{last}', "l.json"))
        assert found[0].startswith(f"l.json:{said}"), found


def test_values_that_anchors_keep_have_a_limit_too(tmp_path: Path) -> None:
    path = made(tmp_path, "turns:\n" + "".join(f"- &a{n} [{'x' * 40}]\n" for n in range(20)))
    assert problems(path) == [
        "l.yaml: The anchors name too much. Use at most 300 characters with anchors."
    ]


def test_a_key_that_no_scan_could_see_is_told(tmp_path: Path) -> None:
    path = made(tmp_path, "turns:\n- {a: 1}\n- {a: 2}\x85policy: x\n")
    assert problems(path) == ["l.yaml: policy was not seen before turns. Put turns last."]


def test_a_file_that_is_not_there_and_a_folder_are_told(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "no", "There is no such file."), (tmp_path, "cannot be read")):
        with pytest.raises(RecordingError, match=said):
            yamlio.open_list(path, "turns", error=RecordingError)


def test_a_small_file_tells_all_problems_before_the_first_item(tmp_path: Path) -> None:
    path = made(tmp_path, f"turns:\n{rows(3)}  - [a: b\n")
    with pytest.raises(ConfigError, match="opened here"):
        yamlio.open_list(path, "turns")


def test_reading_stops_where_nobody_reads_on(tmp_path: Path) -> None:
    path = made(tmp_path, f"turns:\n{rows(90)}  - [\n")
    items = iter(opened(path))
    assert next(items).value["id"] == "turn-0"
    items.close()  # type: ignore[attr-defined]  # it is a generator


def test_a_window_keeps_no_more_than_what_is_not_taken(tmp_path: Path) -> None:
    path = made(tmp_path, "é\n" * 500)
    with path.open("rb") as file:
        window = Window(file, "x", 100, chunk=30)
        for number in range(0, 900, 10):
            while window.begin + len(window.text) < number + 10:
                assert window.read()
            assert window.take(number + 10) == "é\n" * 5
            assert len(window.text) <= 60
        assert (window.line, window.column) == (450, 0)
