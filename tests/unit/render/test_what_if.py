"""The answer to a what-if as text and as pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import PureRun, message_of, plan_of, recording_of

from toolflow.errors import UsageError
from toolflow.model import Recording, Times
from toolflow.policy import load_policy
from toolflow.recording import sweep, what_if
from toolflow.render.dot import dot_pair
from toolflow.render.what_if_picture import save_what_if, timelines_svg
from toolflow.render.what_if_text import sweep_text, what_if_text

CALLS = [("look", "a"), ("look", "b"), ("build", "c"), ("look", "d")]
SECONDS = [3.0, 1.0, 2.0, 0.25]
WIDE = load_policy(
    "version: 1\nlimits: {pool: 1, resources: {cpu: 2}}\n"
    "rules:\n  - {tool: [look, build], safe: true}\n"
)


def timed(turns: int = 1) -> Recording:
    turn = PureRun(plan_of(message_of(CALLS)), lambda count: count - 1).run()
    times = tuple(Times(0.0, 0.0, 1.0, 1.0 + each, 1.0 + each) for each in SECONDS)
    whole = replace(turn, times=times)
    return recording_of(
        *[replace(whole, turn=replace(whole.turn, id=f"t{n}")) for n in range(turns)]
    )


TEXT = """\
t0: 4 calls, 5.25 s before, 6.25 s after, 1.19 times as slow
  ~ limits.pool: 3 -> 1
  ~ call toolu_03  verdict: exclusive -> safe  (rule 1 (line 4) says safe)
  ~ call toolu_03  on_error: stop -> continue
  ~ node pool-1  calls: toolu_01, toolu_02 -> toolu_01, toolu_02, toolu_03, toolu_04
  - node barrier-2: toolu_03
  - node pool-3: toolu_04

                before                                   after
  plan          pool-1: toolu_01 toolu_02                pool-1: toolu_01 toolu_02 … 4 in all
                barrier-2: toolu_03
                pool-3: toolu_04
  limits        pool 3, cpu 2                            pool 1, cpu 2
  total         5.25 s                                   6.25 s
  lower bound   5.25 s                                   6.25 s
  critical path toolu_01 toolu_03 toolu_04 (5.25 s)      toolu_01 (3 s)
  waiting       0                                        13 s
  starts        toolu_01 toolu_02 toolu_03 toolu_04      toolu_01 toolu_02 toolu_03 toolu_04
  as recorded   4 s

  call        starts      ends     waits      starts      ends     waits
  toolu_01         0       3 s         0           0       3 s         0
  toolu_02         0       1 s         0         3 s       4 s       3 s
  toolu_03       3 s       5 s         0         4 s       6 s       4 s
  toolu_04       5 s    5.25 s         0         6 s    6.25 s       6 s

"""


def test_both_plans_stand_side_by_side() -> None:
    assert what_if_text(what_if(timed(), policy=WIDE)) == TEXT


@pytest.mark.parametrize("width", [76, 80, 100, 160])
def test_lines_fit_the_terminal(width: int) -> None:
    for count in (1, 5):
        text = what_if_text(what_if(timed(count), policy=WIDE), width=width)
        assert max(map(len, text.splitlines())) <= width


def test_many_turns_are_a_line_each() -> None:
    lines = what_if_text(what_if(timed(5), policy=WIDE)).splitlines()

    assert lines[0].split() == ["turn", "before", "after", "bound", "changes"]
    assert lines[1].split("  ")[-1] == "limits 1, verdict 1, on_error 1, node 3"
    assert lines[-1] == (
        "5 turns, 5 of them change: 26.2 s before, 31.2 s after, 1.19 times as slow."
    )


def test_nothing_changes_is_one_line_a_turn() -> None:
    assert what_if_text(what_if(timed())) == (
        "t0: 4 calls, nothing changes, 5.25 s\n\n1 turn: nothing changes, 5.25 s.\n"
    )


def test_calls_without_a_time_are_marked_and_told() -> None:
    recording = timed()
    (turn,) = recording.turns
    recording = replace(recording, turns=(replace(turn, times=(*turn.times[:3], Times())),))

    text = what_if_text(what_if(recording, pool=1))
    assert "  toolu_04       5 s       5 s         0         6 s       6 s         0 *" in text
    assert "1 call without a recorded time, counted as 0 s." in text
    assert "the median time of their tool" in what_if_text(
        what_if(recording, pool=1, missing="median")
    )


def test_the_sweep_is_a_table_with_a_verdict() -> None:
    assert sweep_text(sweep(timed(), [1, 2, 4])) == (
        "pool   total  speed-up  in use  waiting\n"
        "   1  6.25 s      1.00   100 %      3 s\n"
        "   2  5.25 s      1.19    60 %        0  enough\n"
        "   4  5.25 s      1.19    30 %        0\n"
        "\n"
        "A pool of 2 is enough: no pool is faster than the critical paths.\n"
        "One at a time 6.25 s; critical paths 5.25 s, which no pool can beat.\n"
    )
    assert "A wider pool than 1 may still pay." in sweep_text(sweep(timed(), [1]))


def test_the_picture_has_both_timelines_on_one_scale() -> None:
    svg = timelines_svg(what_if(timed(), policy=WIDE))

    root = ET.fromstring(svg)
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "t0 before · pool 3 · 5.25 s" in texts
    assert "t0 after · pool 1 · 6.25 s" in texts
    assert texts.count("6 s") == 2  # a rule in both
    assert "Shaded" in str(texts[-1])  # the barrier of the first one


def test_what_tools_say_is_text_in_pictures() -> None:
    evil = '<script>alert(1)</script>"&'
    turn = PureRun(plan_of(message_of([("look", evil)])), lambda count: count - 1).run()
    report = what_if(recording_of(turn), policy=WIDE)

    assert "<script" not in timelines_svg(report)
    assert evil not in what_if_text(report).replace(evil[:4], "")
    ET.fromstring(timelines_svg(report))


def test_two_plans_are_one_graph_with_names_of_their_own() -> None:
    (turn,) = what_if(timed(), policy=WIDE).turns
    dot = dot_pair(turn.before.plan, turn.after.plan, titles=("before", "after"))

    assert dot.count("digraph") == 1
    for name in ("a_call_1", "b_call_4", "cluster_a_plan", "cluster_b_plan", "cluster_b_1"):
        assert name in dot
    assert " call_1" not in dot
    assert dot.count("Round corners") == 1


def test_files_are_written_by_their_ending(tmp_path: Path) -> None:
    report = what_if(timed(), policy=WIDE)

    assert save_what_if(report, tmp_path / "a.svg").read_text("utf-8") == timelines_svg(report)
    assert save_what_if(report, tmp_path / "a.dot").read_text("utf-8").startswith("digraph plan")
    assert save_what_if(report, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    both = save_what_if(report, tmp_path / "both.png", shows="timelines").read_bytes()
    assert both.startswith(b"\x89PNG")
    assert both != (tmp_path / "a.png").read_bytes()
    plans = save_what_if(report, tmp_path / "b.svg", shows="plans").read_text("utf-8")
    assert "runs alone" in plans


@pytest.mark.parametrize(
    ("name", "shows", "turns", "said"),
    [
        ("a.gif", None, 1, "the ending is 'gif'"),
        ("a.dot", "timelines", 1, "timelines are SVG or PNG"),
        ("a.png", None, 2, "There are 2 turns, and plans are drawn of one"),
        ("a.svg", None, 13, "Draw from 1 to 12"),
        ("a.svg", None, 0, "There are 0 turns"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    tmp_path: Path, name: str, shows: str, turns: int, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        save_what_if(what_if(timed(turns), pool=1), tmp_path / name, shows=shows)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
