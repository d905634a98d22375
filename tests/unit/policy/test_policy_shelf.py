"""The shelf: policies of the package are found by name, wherever a policy may be named."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolflow.cli import main
from toolflow.errors import FlowError, PolicyError
from toolflow.flow import load_flow
from toolflow.policy import load_policy, shelf
from toolflow.policy.shelf import shipped_names, shipped_text

CAREFUL = """\
version: 1
rules:
  - {tool: look, safe: true}
cases:
  - turn: [{tool: look}]
    expect: [{verdict: safe}]
"""
FLOW = """\
version: 1
name: small
policy: shipped:careful
stages: [{id: one, calls: [{tool: look, args: {}}]}]
"""
UNKNOWN = "There is no shipped policy 'nosuch'. Use one of: shipped:careful, shipped:open."


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shelf with two policies, whatever the package holds."""
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    (shipped / "careful.yaml").write_text(CAREFUL, "utf-8")
    (shipped / "open.yaml").write_text("version: 1\n", "utf-8")
    (shipped / "notes.txt").write_text("no policy", "utf-8")
    monkeypatch.setattr(shelf, "_FOLDER", shipped)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_names_are_sorted_and_without_endings() -> None:
    assert shipped_names() == ("careful", "open")


def test_an_empty_shelf_has_no_names_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(shelf, "_FOLDER", tmp_path / "none")
    assert shipped_names() == ()
    with pytest.raises(PolicyError, match="Use one of: none in this package"):
        shipped_text("careful")


@pytest.mark.parametrize("name", ["careful", "shipped:careful"])
def test_the_text_of_a_shipped_policy(name: str) -> None:
    assert shipped_text(name) == CAREFUL


@pytest.mark.parametrize("source", ["shipped:careful", Path("shipped:careful")])
def test_a_shipped_policy_loads_by_its_name(source: str | Path) -> None:
    policy = load_policy(source)
    assert policy.source == "shipped:careful"
    assert policy.digest == load_policy(CAREFUL).digest


@pytest.mark.parametrize("name", ["nosuch", "../careful", "careful.yaml", "", "/etc/passwd"])
def test_an_unknown_name_lists_what_is_there(name: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(f"shipped:{name}")
    (problem,) = caught.value.problems
    assert str(problem) == (
        f"shipped:{name}: There is no shipped policy {name!r}. "
        "Use one of: shipped:careful, shipped:open."
    )


def test_a_flow_names_a_shipped_policy() -> None:
    Path("flow.yaml").write_text(FLOW, "utf-8")
    assert load_flow("flow.yaml").policy.source == "shipped:careful"
    Path("flow.yaml").write_text(FLOW.replace("careful", "nosuch"), "utf-8")
    with pytest.raises(FlowError) as caught:
        load_flow("flow.yaml")
    assert str(caught.value) == f"flow.yaml:3:9: {UNKNOWN}"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["test", "shipped:careful"], "shipped:careful: 1 case held\n"),
        (["check", "shipped:careful"], "shipped:careful: a policy without problems\n"),
        (["plan", "turn.yaml", "-p", "shipped:careful"], "pool-1"),
        (["explain", "turn.yaml", "-p", "shipped:careful"], "rule 1 (shipped:careful:3) matches"),
    ],
)
def test_commands_take_a_shipped_policy(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    Path("turn.yaml").write_text("calls: [{id: a, tool: look, args: {}}]\n", "utf-8")
    assert main(words) == 0
    assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["test"], ["check"], ["plan", "turn.yaml", "-p"], ["explain", "turn.yaml", "-p"]]
)
def test_commands_tell_an_unknown_name_in_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    Path("turn.yaml").write_text("calls: [{id: a, tool: look, args: {}}]\n", "utf-8")
    assert main([*words, "shipped:nosuch"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"toolflow: shipped:nosuch: {UNKNOWN}\n")


def test_a_file_whose_name_begins_so_is_reached_by_a_path() -> None:
    Path("shipped:careful").write_text("version: 1\n", "utf-8")
    assert load_policy("./shipped:careful").settings.book.rules == ()


def test_text_that_begins_like_a_name_is_text() -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy("shipped:git\nrules: []\n")
    assert all(str(problem).startswith("<policy>") for problem in caught.value.problems)
