"""SVG and PNG through a program."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import plans
import pytest
from drawing import assert_harmless, drawing_programs, texts

from toolflow.errors import RenderError
from toolflow.model import Outcome
from toolflow.render import png, programs, svg
from toolflow.render.cleaning import clean

posix = pytest.mark.skipif(os.name != "posix", reason="makes a program of a shell script")


def script(folder: Path, body: str, name: str = "dot") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize("make", [plans.three, plans.nine, plans.gated, plans.evil])
def test_the_svg_of_any_plan_is_harmless_with_every_program(make: object) -> None:
    plan = make()  # type: ignore[operator]
    for program in drawing_programs():
        drawn = svg(plan, program=program)
        assert_harmless(drawn)
        assert drawn.startswith("<svg ")
        assert "<title>" in drawn
        assert len(texts(drawn)) == len(plan.calls) + 1


def test_a_call_keeps_its_text_and_its_tooltip() -> None:
    plan = plans.plan(plans.call('say "hi" \\N &lt; <b>', reason="so & so"))
    for program in drawing_programs():
        drawn = svg(plan, program=program)
        assert texts(drawn)["call-1"] == ['say "hi" \\N &lt; <b>', "c1 · safe"]
        assert "safe: so &amp; so</title>" in drawn


def test_a_png_is_one() -> None:
    for program in drawing_programs():
        drawn = png(plans.nine(), outcomes=[Outcome("ok")] * 9, program=program)
        assert drawn.startswith(b"\x89PNG\r\n\x1a\n")


def test_the_title_is_the_title_of_the_svg() -> None:
    drawing_programs()
    assert "<title>a &lt;b&gt;</title>" in svg(plans.three(), title="a <b>")


def test_the_program_of_the_package_is_found_beside_python(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing_programs()
    monkeypatch.setenv("PATH", "")
    assert [Path(one).stem for one in programs()] in ([], ["graphviz-pure"])


@posix
def test_a_program_that_fails_says_why_in_one_line(tmp_path: Path) -> None:
    program = script(tmp_path, "cat >/dev/null; echo first >&2; echo 'no plugins' >&2; exit 3")
    with pytest.raises(RenderError, match=r"failed with exit code 3: no plugins\.$") as caught:
        svg(plans.three(), program=program)
    assert "\n" not in str(caught.value)


@posix
def test_a_broken_dot_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not any("graphviz-pure" in one for one in drawing_programs()):
        pytest.skip("graphviz-pure is not installed here")
    script(tmp_path, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert_harmless(svg(plans.three()))


@posix
def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    program = script(tmp_path, "exec tail -f /dev/null")
    with pytest.raises(RenderError, match=r"took longer than 0\.05 s"):
        svg(plans.three(), program=program, timeout=0.05)


@posix
def test_a_program_that_may_not_be_started_is_told(tmp_path: Path) -> None:
    path = tmp_path / "dot"
    path.write_text("not a program", encoding="utf-8")
    with pytest.raises(RenderError, match=r"cannot be started \(Permission denied\)"):
        svg(plans.three(), program=str(path))


@pytest.mark.parametrize("program", ["/nowhere/dot", "", "a\0b"])
def test_a_program_that_is_not_there_is_told(program: str) -> None:
    with pytest.raises(RenderError, match="cannot be started") as caught:
        png(plans.three(), program=program)
    assert "\n" not in str(caught.value)


@posix
@pytest.mark.parametrize("wrote", ["hello", "<svg/>", "<svg", ""])
def test_a_program_that_writes_something_else_is_told(tmp_path: Path, wrote: str) -> None:
    program = script(tmp_path, f"cat >/dev/null; printf '%s' '{wrote}'")
    with pytest.raises(RenderError):
        svg(plans.three(), program=program)
    with pytest.raises(RenderError):
        png(plans.three(), program=program)


def test_what_a_program_adds_is_dropped() -> None:
    raw = b"""<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="x()"
     xmlns:xlink="http://www.w3.org/1999/xlink" width="8pt"><script>alert(1)</script>
     <style>@import url(x)</style><image xlink:href="http://x/y.png"/><g class="graph">
     <g id="a_1"><a xlink:href="http://x" xlink:title="tip">
     <text onclick="x()" x="1">hi</text></a></g>
     <path d="M0,0" fill="url(http://x)" style="x" stroke="transparent"/></g></svg>"""
    drawn = clean(raw, "t")
    assert_harmless(drawn)
    assert "alert" not in drawn
    assert "import" not in drawn
    assert "<title>tip</title>" in drawn
    assert ">hi</text>" in drawn
    assert '<path d="M0,0" stroke="none"/>' in drawn


def test_a_bomb_of_entities_is_refused() -> None:
    bomb = '<!DOCTYPE s [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + at)} "{f"&{chr(97 + at)};" * 10}">' for at in range(9)
    )
    raw = f'{bomb}]><svg xmlns="http://www.w3.org/2000/svg"><text>&j;</text></svg>'
    with pytest.raises(RenderError):
        clean(raw.encode(), "t")


def test_importing_render_loads_nothing_heavy() -> None:
    code = "import sys, toolflow.render; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"graphviz", "jinja2", "networkx", "pydantic", "yaml"}
    assert not heavy & set(done.stdout.split())
