"""Pictures of the stages of flows."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from toolflow.render import programs
from toolflow.render.stages import StageBox, stages_dot, stages_png, stages_svg

NASTY = 'x"] ; evil [URL="http://x" <b>&amp;\\N\u202e\x1b\n'
STAGES = (
    StageBox("gather", calls=("a: read", "b: read")),
    StageBox("count", ("gather",), "results.gather.a", tuple(f"c{n}: x" for n in range(9))),
    StageBox(NASTY, ("gather", "count"), NASTY, (NASTY,)),
)
needs_program = pytest.mark.skipif(not programs(), reason="no program lays pictures out here")


def test_stages_are_frames_and_needs_are_arrows() -> None:
    dot = stages_dot(STAGES, title="review · 3 stages")
    assert [line.split(" [")[0].strip() for line in dot.splitlines() if "->" in line] == [
        "stage_1 -> stage_2",
        "stage_1 -> stage_3",
        "stage_2 -> stage_3",
    ]
    assert dot.count("subgraph cluster_stage_") == 3
    assert "only when results.gather.a" in dot
    assert "and 3 more" in dot
    assert dot == stages_dot(STAGES, title="review · 3 stages")


def test_a_condition_is_told_by_a_dashed_line_too() -> None:
    assert "dashed" not in stages_dot(STAGES[:1], title="")
    assert stages_dot(STAGES, title="").count("rounded,dashed,filled") == 2


@needs_program
def test_names_and_conditions_are_text_and_nothing_else() -> None:
    root = ET.fromstring(stages_svg(STAGES, title=NASTY))
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names <= {"svg", "g", "title", "path", "polygon", "polyline", "ellipse", "text"}
    texts = "".join(root.itertext())
    assert 'x"] ; evil [URL="http://x" <b>&amp;\\N\\u202e\\x1b' in texts
    assert not [key for each in root.iter() for key in each.attrib if "href" in key]


@needs_program
def test_a_png_is_one() -> None:
    assert stages_png(STAGES, title="x").startswith(b"\x89PNG\r\n\x1a\n")
