"""Timelines as PNG."""

from __future__ import annotations

import struct
import subprocess

import plans
import pytest
from drawing import drawing_programs, parsed

from toolflow.errors import RenderError
from toolflow.model import Call, Outcome, RecordedTurn, Times, Turn
from toolflow.render import timeline_png, timeline_svg
from toolflow.render.timeline_png import pinned


def run(plan: object = None) -> RecordedTurn:
    plan = plan or plans.nine()
    calls = plan.calls  # type: ignore[attr-defined]
    turn = Turn("turn-1", tuple(Call(one.index, one.id, one.tool) for one in calls))
    times = tuple(
        Times(0, at / 10, at / 10, at / 10 + 0.3, at / 10 + 0.5) for at in range(len(calls))
    )
    return RecordedTurn(turn, tuple(Outcome("ok") for _ in calls), times, plan)  # type: ignore[arg-type]


@pytest.mark.parametrize("make", [plans.nine, plans.evil])
def test_every_program_draws_the_timeline_in_its_own_size(make: object) -> None:
    turn = run(make())  # type: ignore[operator]
    height = float(timeline_svg(turn).split(' height="')[1].split('"')[0])
    for program in drawing_programs():
        drawn = timeline_png(turn, program=program)
        assert drawn.startswith(b"\x89PNG\r\n\x1a\n")
        wide, high = struct.unpack(">II", drawn[16:24])
        assert abs(wide - 930 * 2) <= 4
        assert abs(high - height * 2) <= 4


def test_every_text_of_the_svg_is_a_label_with_a_place() -> None:
    text = pinned(timeline_svg(run()))
    assert text.count("pos=") == text.count("part_")
    assert '"read_file src/auth.py' in text
    assert "barrier-2" in text
    assert "->" not in text


def test_no_text_of_a_tool_becomes_an_attribute_or_a_vertex() -> None:
    calm = plans.plan(*[plans.call("x", name=f"n{at}") for at in range(len(plans.EVIL))])
    wild = plans.plan(*[plans.call(text, name=f"{text}{at}") for at, text in enumerate(plans.EVIL)])
    for program in drawing_programs():
        sides = [parsed(pinned(timeline_svg(run(plan))), program) for plan in (calm, wild)]
        keys = [[sorted(one) for one in side["objects"]] for side in sides]
        assert keys[0] == keys[1]
        assert not any("URL" in names or "href" in names for names in keys[1])


def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(RenderError, match="cannot be started"):
        timeline_png(run(), program="/nowhere/dot")


def test_only_parts_of_timelines_can_be_pinned() -> None:
    with pytest.raises(RenderError, match="no way to draw circle as PNG"):
        pinned('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><circle/></svg>')


def test_a_program_is_told_that_nothing_is_to_be_laid_out() -> None:
    program = drawing_programs()[0]
    done = subprocess.run(
        [program, "-Kneato", "-n", "-Tplain"],
        input=pinned(timeline_svg(run())).encode(),
        capture_output=True,
        check=True,
    )
    assert done.stdout.splitlines()[1].startswith(b"node part_1 ")
