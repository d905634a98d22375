"""Timelines."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import plans
import pytest
from drawing import SVG, assert_harmless

from toolflow.errors import UsageError
from toolflow.model import Call, Outcome, PlanData, RecordedTurn, Times, Turn
from toolflow.render import timeline_svg, timeline_text
from toolflow.render.labels import columns
from toolflow.render.timeline import chart_of, ticks


def recorded(plan: PlanData, *runs: tuple[Outcome | None, Times | None]) -> RecordedTurn:
    turn = Turn(plan.turn_id, tuple(Call(one.index, one.id, one.tool) for one in plan.calls))
    outcomes, times = zip(*runs, strict=True)
    return RecordedTurn(turn, outcomes, tuple(one or Times() for one in times), plan)


def sample() -> RecordedTurn:
    return recorded(
        plans.nine(),
        (Outcome("ok"), Times(0, 0, 0.001, 0.21, 0.21)),
        (Outcome("failed", error="boom"), Times(0, 0, 0.002, 0.12, 0.12)),
        (Outcome("ok"), Times(0, 0.25, 0.25, 0.61, 0.61)),
        (Outcome("ok"), Times(0, 0, 0.003, 0.35, 0.35)),
        (Outcome("timed_out", error="x"), Times(0, 0.36, 0.36, 0.66, 0.9)),
        (Outcome("ok"), Times(0.9, 0.9, 0.9, 1.8, 1.8)),
        (Outcome("unknown_tool"), Times(None, None, None, 0, None)),
        (Outcome("ok"), Times(0, 1.8, 1.8, 1.95, 1.95)),
        (Outcome("declined"), Times(1.95, None, None, 2.1, None)),
    )


def test_bars_say_who_waited_and_who_ran() -> None:
    chart = chart_of(sample())
    assert chart.title == "turn-1 · 9 calls · 2.1 s"
    assert chart.bars[2].waiting == (0, 0.25)
    assert chart.bars[2].running == (0.25, 0.61)
    assert chart.bars[4].late == (0.66, 0.9)
    assert chart.bars[6].running is None
    assert chart.bars[6].at == 0
    assert chart.barriers == (("barrier-2", 0.9, 1.8),)
    assert chart.end == 2.1


def test_the_svg_has_a_row_for_each_call_and_is_harmless() -> None:
    drawn = timeline_svg(sample())
    assert_harmless(drawn)
    rows = [
        group.get("class") for group in ET.fromstring(drawn).iter(f"{SVG}g") if group.get("class")
    ]
    assert rows == [f"call call-{at}" for at in range(1, 10)]
    assert "barrier-2" in drawn
    assert "timed out · 300 ms" in drawn


def test_evil_texts_are_harmless_in_timelines() -> None:
    plan = plans.evil()
    turn = recorded(plan, *((Outcome("ok"), Times(0, 0, 0, 1, 1)) for _ in plan.calls))
    assert_harmless(timeline_svg(turn, title=plans.EVIL[0]))
    text = timeline_text(turn, title=plans.EVIL[5])
    assert not any(ord(char) < 32 and char != "\n" for char in text)
    text.encode()


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_longer_than_the_width(width: int) -> None:
    plan = plans.evil()
    turn = recorded(
        plan, *((Outcome("invalid_arguments"), Times(0, 0, 0, 1, 2)) for _ in plan.calls)
    )
    for one in (turn, sample()):
        assert all(columns(line) <= width for line in timeline_text(one, width=width).splitlines())


def test_a_plain_text_is_ascii_where_labels_are() -> None:
    text = timeline_text(sample(), width=120, plain=True, title="run")
    assert text.replace(" · ", " ").isascii()


def test_too_few_columns_are_refused() -> None:
    with pytest.raises(UsageError, match=r"width: 20 is too small\. Use at least 60"):
        timeline_text(sample(), width=20)


def test_a_turn_without_times_or_plan_has_empty_rows() -> None:
    calls = (Call(0, "a", "read"), Call(1, "", "grep"))
    turn = RecordedTurn(Turn("turn-1", calls), (None, Outcome("ok")))
    assert [line.split() for line in timeline_text(turn).splitlines()] == [
        ["turn-1", "·", "2", "calls"],
        ["read", "a"],
        ["grep", "call-2", "ok"],
    ]
    assert_harmless(timeline_svg(turn))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0, 1e308])
def test_times_that_cannot_be_are_left_out(bad: float) -> None:
    turn = recorded(plans.plan(plans.read("a")), (Outcome("ok"), Times(0, 0, bad, 1, bad)))
    assert_harmless(timeline_svg(turn))
    timeline_text(turn)


def test_a_run_that_took_no_time_is_drawn() -> None:
    turn = recorded(plans.plan(plans.read("a")), (Outcome("ok"), Times(0, 0, 0, 0, 0)))
    assert_harmless(timeline_svg(turn))
    assert "█" in timeline_text(turn)


def test_other_numbers_of_outcomes_than_calls_are_refused() -> None:
    turn = Turn("turn-1", (Call(0, "a", "read"),))
    with pytest.raises(UsageError, match="outcomes: 0 given for 1 call"):
        timeline_svg(RecordedTurn(turn, ()))


@pytest.mark.parametrize(
    ("end", "steps"),
    [(0.0, (0.0,)), (1.0, (0, 0.2, 0.4, 0.6, 0.8, 1)), (7.0, (0, 1, 2, 3, 4, 5, 6, 7))],
)
def test_ticks_are_round(end: float, steps: tuple[float, ...]) -> None:
    assert ticks(end, 7) == pytest.approx(steps)
