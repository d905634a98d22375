"""``toolflow plan`` and ``render`` of flows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flow_tools import flow_file

from toolflow.cli import main

STAGES = """\
  - {id: one, calls: [{id: a, tool: give, args: {value: 1}}]}
  - id: two
    when: "{{ results.one.a == 1 }}"
    calls: [{id: b, tool: give, foreach: "{{ results.one.a }}"}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    flow_file(tmp_path, STAGES)
    return tmp_path


def test_the_stages_of_a_flow_are_told_with_the_plans_that_are_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["plan", "flow.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Flow trial: 2 stages"
    assert lines[2:4] == ["stage one", "  Plan of one: 1 call (1 pool)"]
    assert lines[-3:] == [
        "stage two  after one  when {{ results.one.a == 1 }}",
        "  planned when it runs: its calls use results of one",
        "    b  give, for each of a list",
    ]


def test_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "flow.yaml", "--output", "json"]) == 0
    one, two = json.loads(capsys.readouterr().out)["stages"]
    assert one["plan"]["turn"] == "one"
    assert (one["waits"], two["plan"]) == (None, None)
    assert two["needs"] == ["one"]
    assert two["calls"] == [{"call": "b", "tool": "give", "foreach": True}]


def test_a_flow_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "flow.yaml"]) == 0
    assert capsys.readouterr().out.startswith("digraph flow {")
    for name, begins in (("f.dot", b"digraph"), ("f.svg", b"<svg"), ("f.png", b"\x89PNG")):
        assert main(["render", "flow.yaml", "--to", name]) == 0
        assert Path(name).read_bytes().startswith(begins)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["render", "flow.yaml", "--to", "f.txt"], "the ending is '.txt'. A flow is drawn as .svg"),
        (["render", "flow.yaml", "--timeline"], "this is a flow. Only --to goes with one."),
        (["plan", "flow.yaml", "--turn", "1"], "this is a flow. Only --output goes with one."),
    ],
)
def test_what_does_not_go_with_a_flow_is_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(words) == 2
    found = capsys.readouterr().err
    assert said in found
    assert found.count("\n") == 1
