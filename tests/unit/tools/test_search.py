"""Finding files and text: patterns, order, bounds."""

from __future__ import annotations

import shutil

import pytest

from toolflow.runtime.results import ToolFailure
from toolflow.tools import matcher as matching
from toolflow.tools import search
from toolflow.tools.globs import compile_glob
from toolflow.tools.root import Root
from toolflow.tools.walk import Budget, walk
from toolflow.tools.workspace import SKIPPED


@pytest.fixture
def root(tmp_path):
    return Root(tmp_path)


def grep(root, pattern, path=".", *, only=None, ignore_case=False, literal=False):
    return search.grep(
        root,
        pattern,
        path,
        only=only,
        ignore_case=ignore_case,
        literal=literal,
        skip=frozenset(SKIPPED),
    )


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "d/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "d/e/a.py", True),
        ("d/**", "d/e/a.py", True),
        ("d/**/a.py", "d/a.py", True),
        ("d/**/e/*.py", "d/x/e/y/e/a.py", True),
        ("d/**/e/*.py", "d/x/e/y/a.py", False),
        ("**/d/**/a.py", "x/d/y/z/a.py", True),
        ("*.{py,md}", "a.md", True),
        ("{a,b}/{c,d}.x", "b/c.x", True),
        ("{a,b}/{c,d}.x", "b/e.x", False),
        ("[ab]?.py", "ax.py", True),
        ("[!a].py", "a.py", False),
        ("*", ".hidden", True),
        ("A.py", "a.py", False),
        ("./a.py", "a.py", True),
        ("**", "a/b", True),
        ("*.py", "a\n.py", True),
    ],
)
def test_patterns_of_paths(pattern, path, matches):
    assert compile_glob(pattern)(path) is matches


def test_a_pattern_without_a_slash_may_be_about_names_anywhere():
    assert compile_glob("*.py", anywhere=True)("d/e/a.py")
    assert not compile_glob("d/*.py", anywhere=True)("x/d/a.py")


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a/../../b", "x" * 1001, "{a,b}" * 20])
def test_patterns_that_are_not_usable_are_refused(pattern):
    with pytest.raises(ToolFailure):
        compile_glob(pattern)


def test_a_pattern_of_many_stars_takes_no_time():
    assert not compile_glob("**/" * 200 + "x")("/".join("a" * 200))
    assert not compile_glob("*a" * 200 + "b")("a" * 1000)


def test_matches_come_in_the_order_of_paths_and_lines(root, tmp_path):
    for name in ("b.txt", "a/z.txt", "a.txt", "a/b/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("hit\nmiss\nhit\n")
    assert [line.rsplit(":", 1)[0] for line in grep(root, "hit").value.split("\n")] == [
        "a/b/c.txt:1",
        "a/b/c.txt:3",
        "a/z.txt:1",
        "a/z.txt:3",
        "a.txt:1",
        "a.txt:3",
        "b.txt:1",
        "b.txt:3",
    ]
    assert search.glob(root, "**/*.txt", ".", frozenset()).split("\n") == [
        "a/b/c.txt",
        "a/z.txt",
        "a.txt",
        "b.txt",
    ]


@pytest.mark.parametrize(
    ("pattern", "options", "lines"),
    [
        ("def", {}, ["1:def f(x):"]),
        (r"\bf\(", {}, ["1:def f(x):"]),
        ("DEF", {"ignore_case": True}, ["1:def f(x):"]),
        ("D[E]F", {"ignore_case": True}, ["1:def f(x):"]),
        ("f(x)", {"literal": True}, ["1:def f(x):"]),
        ("F(X)", {"literal": True, "ignore_case": True}, ["1:def f(x):"]),
        ("f(x)", {}, []),
        ("end$", {}, ["2:end"]),
        ("^$", {}, ["3:"]),
        ("ü", {}, ["4:grün"]),
        ("gr.n", {}, ["4:grün"]),
    ],
)
def test_text_is_found(root, tmp_path, pattern, options, lines):
    (tmp_path / "f").write_bytes("def f(x):\nend\r\n\ngrün".encode())
    expected = "\n".join(f"f:{line}" for line in lines) or "(no match)"
    assert grep(root, pattern, **options).value == expected


def test_line_numbers_are_those_of_read_file(root, tmp_path):
    (tmp_path / "f").write_bytes("a\u2028b\x0cc\nhit".encode())
    assert grep(root, "hit").value == "f:2:hit"


def test_one_file_or_some_are_searched(root, tmp_path):
    (tmp_path / "d").mkdir()
    for name in ("a.py", "a.md", "d/b.py"):
        (tmp_path / name).write_text("hit")
    assert grep(root, "hit", "a.md").value == "a.md:1:hit"
    assert grep(root, "hit", only="*.py").value == "a.py:1:hit\nd/b.py:1:hit"
    assert grep(root, "hit", "d", only="b.*").value == "d/b.py:1:hit"
    with pytest.raises(ToolFailure, match="missing is not there"):
        grep(root, "hit", "missing")


def test_what_is_no_text_or_too_large_is_skipped_and_told(root, tmp_path, monkeypatch):
    monkeypatch.setattr(search, "MAX_FILE", 100)
    (tmp_path / "nul").write_bytes(b"hit\0")
    (tmp_path / "latin").write_bytes(b"hit\xff")
    (tmp_path / "large").write_bytes(b"hit" * 100)
    (tmp_path / "text").write_bytes(b"hit")
    outcome = grep(root, "hit")
    assert outcome.value == "text:1:hit"
    assert outcome.note == "Files skipped, no text or too large: 3."


def test_folders_of_other_tools_are_not_entered_but_may_be_asked_for(root, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "f").write_text("hit")
    assert grep(root, "hit").value == "(no match)"
    assert grep(root, "hit", ".git").value == ".git/f:1:hit"
    assert search.list_files(root, ".") == ".git/"


def test_results_are_capped_and_say_so(root, tmp_path, monkeypatch):
    (tmp_path / "f").write_text("hit\n" * 10)
    (tmp_path / "g").write_text("hit\n")
    monkeypatch.setattr(search, "MAX_MATCHES", 3)
    lines = grep(root, "hit").value.split("\n")
    assert lines[:3] == ["f:1:hit", "f:2:hit", "f:3:hit"]
    assert lines[3:] == ["[... there is more; narrow the pattern or the path ...]"]
    monkeypatch.setattr(search, "MAX_PATHS", 1)
    assert search.glob(root, "*", ".", frozenset()).startswith("f\n[... there is more")


def test_a_walk_ends_where_its_budget_does(root, tmp_path, monkeypatch):
    for name in "abcde":
        (tmp_path / name).write_text("hit")
    monkeypatch.setattr(search, "Budget", lambda: Budget(3))
    assert grep(root, "hit").value.split("\n")[3:] == [
        "[... there is more; narrow the pattern or the path ...]"
    ]


def test_long_lines_are_cut(root, tmp_path):
    (tmp_path / "f").write_text("hit" + "x" * 1000)
    assert grep(root, "hit").value == "f:1:hit" + "x" * 497 + "[...]"


def test_names_with_line_breaks_cannot_forge_results(root, tmp_path):
    (tmp_path / "a\nb").write_text("hit")
    assert grep(root, "hit").value == "'a\\nb':1:hit"
    assert search.list_files(root, ".") == "'a\\nb'"
    assert search.glob(root, "*", ".", frozenset()) == "'a\\nb'"


def test_an_empty_folder_and_no_match_say_so(root, tmp_path):
    (tmp_path / "d").mkdir()
    assert search.list_files(root, "d") == "(the folder is empty)"
    assert search.glob(root, "*", "d", frozenset()) == "(no file matches)"


def test_listing_a_file_is_told(root, tmp_path):
    (tmp_path / "f").write_text("")
    with pytest.raises(ToolFailure, match="f leads through something that is no folder"):
        search.list_files(root, "f")


@pytest.mark.parametrize("pattern", ["(", "[", "a{9999999999}", "(" * 500, "*"])
def test_patterns_that_are_no_expressions_are_told(root, pattern):
    with pytest.raises(ToolFailure, match=r"is no regular expression|has \d+ characters"):
        grep(root, pattern)


@pytest.mark.parametrize("pattern", ["", "x" * 1001])
def test_patterns_have_a_length(root, pattern):
    with pytest.raises(ToolFailure, match=r"Use 1 to 1000"):
        grep(root, pattern)


def test_an_expression_that_takes_too_long_is_given_up(root, tmp_path, monkeypatch):
    monkeypatch.setattr(search, "SECONDS", 0.5)
    (tmp_path / "f").write_text("a" * 60 + "!")
    with pytest.raises(ToolFailure, match=r"took longer than 0.5 seconds"):
        grep(root, "(a+)+$")


def test_a_matcher_that_dies_is_told():
    with matching.matcher("a+", literal=False, ignore_case=False, seconds=60) as match:
        assert match(["a"]) == [0]
        match.__self__._process.kill()
        with pytest.raises(ToolFailure, match="ended unexpectedly"):
            match(["a"])


@pytest.mark.parametrize("program", [None, "/no/such/python"])
def test_a_search_that_cannot_start_its_process_is_told(root, monkeypatch, program):
    monkeypatch.setattr("sys.executable", program)
    with pytest.raises(ToolFailure, match="could not start a process"):
        grep(root, "a+")


def test_a_folder_that_cannot_be_read_is_passed_over(root, tmp_path):
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("")
    found = walk(root.locate("."), skip=frozenset(), budget=Budget())
    assert next(found)[0].endswith("a/f")
    shutil.rmtree(tmp_path / "b")
    assert [str(place)[-3:] for place, _ in found] == ["c/f"]
