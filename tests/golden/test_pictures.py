"""Pictures as files: what is written today is what was looked at and found good.

After a change that was meant, write them anew with ``TOOLFLOW_GOLDEN=write`` and look at them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import plans
import pytest

from toolflow.model import Call, Outcome, RecordedTurn, Times, Turn
from toolflow.render import dot_text, mermaid_text, timeline_svg, timeline_text

FOLDER = Path(__file__).parent / "render"
OUTCOMES = (
    Outcome("ok"),
    Outcome("failed", error="boom"),
    Outcome("ok"),
    Outcome("ok"),
    Outcome("timed_out", error="It took longer than 300 ms."),
    Outcome("ok"),
    Outcome("unknown_tool"),
    Outcome("ok"),
    Outcome("declined"),
)
TIMES = (
    Times(0, 0, 0.001, 0.21, 0.21),
    Times(0, 0, 0.002, 0.12, 0.12),
    Times(0, 0.25, 0.25, 0.61, 0.61),
    Times(0, 0, 0.003, 0.35, 0.35),
    Times(0, 0.36, 0.36, 0.66, 0.9),
    Times(0.9, 0.9, 0.9, 1.8, 1.8),
    Times(settled=0),
    Times(0, 1.8, 1.8, 1.95, 1.95),
    Times(1.95, settled=2.1),
)


def run() -> RecordedTurn:
    plan = plans.nine()
    turn = Turn("turn-1", tuple(Call(one.index, one.id, one.tool) for one in plan.calls))
    return RecordedTurn(turn, OUTCOMES, TIMES, plan)


PICTURES: dict[str, Callable[[], str]] = {
    "three.dot": lambda: dot_text(plans.three()),
    "nine.dot": lambda: dot_text(plans.nine()),
    "nine-run.dot": lambda: dot_text(plans.nine(), outcomes=OUTCOMES, times=TIMES),
    "chain.dot": lambda: dot_text(plans.chain(16)),
    "gate.dot": lambda: dot_text(plans.gated()),
    "large.dot": lambda: dot_text(plans.large(60)),
    "evil.dot": lambda: dot_text(plans.evil()),
    "three.mmd": lambda: mermaid_text(plans.three()),
    "nine-run.mmd": lambda: mermaid_text(plans.nine(), outcomes=OUTCOMES, times=TIMES),
    "chain.mmd": lambda: mermaid_text(plans.chain(16)),
    "gate.mmd": lambda: mermaid_text(plans.gated()),
    "folded.mmd": lambda: mermaid_text(plans.large(4000)),
    "evil.mmd": lambda: mermaid_text(plans.evil()),
    "timeline.svg": lambda: timeline_svg(run()),
    "timeline.txt": lambda: timeline_text(run()),
    "timeline-plain.txt": lambda: timeline_text(run(), width=80, plain=True),
}


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_picture_is_what_was_found_good(name: str) -> None:
    file = FOLDER / name
    drawn = PICTURES[name]()
    if os.environ.get("TOOLFLOW_GOLDEN") == "write":
        file.write_bytes(drawn.encode())
    assert file.read_bytes() == drawn.encode()
