"""Faults of other people's pictures that this project must not have."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sysconfig
import venv
from pathlib import Path

import plans
import pytest
from drawing import drawing_programs, parsed, texts

from toolflow.render import dot_text, svg

ROOT = Path(__file__).parents[2]

DRAW = """
import plans
from toolflow.errors import RenderError
from toolflow.render import dot_text, svg, png
assert dot_text(plans.nine()).startswith("digraph")
for draw in (svg, png):
    try:
        draw(plans.nine())
    except RenderError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def without_program(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is said in an installation that has the packages, but no program."""
    if os.name != "posix":
        pytest.skip("builds an installation out of links")
    home = tmp_path_factory.mktemp("bare")
    venv.create(home, with_pip=False, symlinks=True)
    path = [str(ROOT), str(ROOT / "tests" / "support"), sysconfig.get_path("purelib")]
    done = subprocess.run(
        [home / "bin" / "python", "-c", DRAW],
        env={"PATH": "", "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_b117_without_a_program_one_line_names_what_to_install(without_program: list[str]) -> None:
    assert len(without_program) == 2
    for line in without_program:
        assert line.startswith("No program to draw with: ")
        assert "`pip install graphviz-pure`" in line


def test_b118_the_message_tells_the_program_from_the_package(without_program: list[str]) -> None:
    assert importlib.util.find_spec("graphviz") is not None
    assert "neither `dot` nor `graphviz-pure` was found" in without_program[0]
    assert "the Python package `graphviz` holds no program" in without_program[0]


def test_b119_a_backslash_at_the_end_keeps_the_closing_quote() -> None:
    plan = plans.plan(plans.call("dir C:\\", tool="shell"), plans.call("next"))
    for program in drawing_programs():
        names = {one["name"] for one in parsed(dot_text(plan), program)["objects"]}
        assert {"call_1", "call_2"} <= names
        drawn = texts(svg(plan, program=program))
        assert drawn["call-1"][0] == "dir C:\\"
        assert drawn["call-2"][0] == "next"


def test_b121_line_ends_are_escaped_and_long_labels_cut_with_a_mark() -> None:
    text = "cat > notes.txt <<EOF\nfirst\nsecond\nthird\nEOF"
    plan = plans.plan(plans.call(text, tool="shell"))
    dot = dot_text(plan)
    assert "cat > notes.txt <<EOF\\lfirst\\l… 3 more lines\\l" in dot
    inside = [line for line in dot.splitlines() if line.count('"') % 2]
    assert inside == []
    for program in drawing_programs():
        parsed(dot, program)
        assert texts(svg(plan, program=program))["call-1"][2] == "… 3 more lines"
