"""Pictures as files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import plans
import pytest
from drawing import assert_harmless, drawing_programs

from toolflow.errors import RenderError, UsageError
from toolflow.render import FORMATS, dot_text, mermaid_text, save
from toolflow.render.save import write_pieces, write_text


@pytest.mark.parametrize("name", ["plan.dot", "plan.gv", "PLAN.DOT"])
def test_the_ending_says_what_is_written(tmp_path: Path, name: str) -> None:
    path = save(plans.nine(), tmp_path / name, title="t")
    assert path.read_bytes().decode() == dot_text(plans.nine(), title="t")


@pytest.mark.parametrize("name", ["plan.mmd", "plan.mermaid"])
def test_mermaid_is_written(tmp_path: Path, name: str) -> None:
    path = save(plans.nine(), tmp_path / name, title="t")
    assert path.read_bytes().decode() == mermaid_text(plans.nine(), title="t")


def test_pictures_are_written(tmp_path: Path) -> None:
    drawing_programs()
    assert_harmless(save(plans.nine(), tmp_path / "a.svg").read_text(encoding="utf-8"))
    assert save(plans.nine(), str(tmp_path / "a.png")).read_bytes().startswith(b"\x89PNG")


def test_the_plan_itself_is_written(tmp_path: Path) -> None:
    assert "pool-1" in save(plans.nine(), tmp_path / "a.txt").read_text(encoding="utf-8")
    assert json.loads(save(plans.nine(), tmp_path / "a.json").read_text(encoding="utf-8"))
    assert "pool-1" in save(plans.nine(), tmp_path / "a.yml").read_text(encoding="utf-8")


def test_a_text_is_written_as_it_is(tmp_path: Path) -> None:
    assert write_text(tmp_path / "a.svg", "é\n").read_bytes() == b"\xc3\xa9\n"


def test_pieces_that_break_off_leave_what_stood_there(tmp_path: Path) -> None:
    def pieces() -> Iterator[str]:
        yield "half "
        raise UsageError("The second half is not there.")

    path = write_text(tmp_path / "a.json", "old")
    with pytest.raises(UsageError, match="second half"):
        write_pieces(path, pieces())
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
    assert path.read_text("utf-8") == "old"
    assert write_pieces(path, ["a", "\ud800"]).read_bytes() == b"a\\ud800"


def test_a_format_beats_the_ending(tmp_path: Path) -> None:
    path = save(plans.nine(), tmp_path / "picture.out", format="dot")
    assert path.read_text(encoding="utf-8").startswith("digraph")


@pytest.mark.parametrize(("name", "what"), [("a.pdf", "'pdf'"), ("a", "empty"), ("a.", "empty")])
def test_an_unknown_ending_names_those_allowed(tmp_path: Path, name: str, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        save(plans.nine(), tmp_path / name)
    assert str(caught.value).endswith(f"the format is {what}. Use one of {', '.join(FORMATS)}.")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_names_those_allowed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^format: the format is 'bmp'\. Use one of dot, svg"):
        save(plans.nine(), tmp_path / "a.svg", format="bmp")


def test_what_stood_there_is_replaced_and_nothing_is_left_over(tmp_path: Path) -> None:
    path = tmp_path / "a.dot"
    path.write_text("old", encoding="utf-8")
    save(plans.three(), path)
    assert path.read_text(encoding="utf-8").startswith("digraph")
    assert [one.name for one in tmp_path.iterdir()] == ["a.dot"]


def test_a_file_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "dir.dot").mkdir()
    for path in (tmp_path / "no" / "a.dot", tmp_path / "dir.dot", tmp_path / "a\0.dot"):
        with pytest.raises(RenderError, match="cannot be written") as caught:
            save(plans.three(), path)
        assert "\n" not in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["dir.dot"]


@pytest.mark.skipif(os.name != "posix", reason="looks at the rights of a file")
def test_a_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    path = save(plans.three(), tmp_path / "a.dot")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
