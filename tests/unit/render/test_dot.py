"""DOT text."""

from __future__ import annotations

from dataclasses import replace

import plans
import pytest
from drawing import drawing_programs, parsed

from toolflow.errors import RenderError, UsageError
from toolflow.model import Edge, Node, Outcome, Times
from toolflow.render import dot_text
from toolflow.render.dotwriter import quote


def test_text_in_quotes_can_only_mean_itself() -> None:
    assert quote('a "b" \\N & <i>') == '"a \\"b\\" \\\\N &amp; <i>"'
    assert quote("C:\\") == '"C:\\\\"'
    assert quote("one\ntwo", end="\\l") == '"one\\ltwo\\l"'
    assert quote("") == '""'


@pytest.mark.parametrize("make", [plans.three, plans.nine, plans.gated, plans.evil])
def test_programs_read_the_plan_that_was_meant(make: object) -> None:
    plan = make()  # type: ignore[operator]
    for program in drawing_programs():
        graph = parsed(dot_text(plan), program)
        objects = [one for one in graph["objects"] if not one["name"].startswith("cluster")]
        vertices = [one["name"] for one in objects if "nodes" not in one]
        seen = [name for name in vertices if name.startswith("call_")]
        assert len(seen) == len(plan.calls)
        arrows = [edge for edge in graph["edges"] if edge.get("style") != "invis"]
        assert len(arrows) == len(plan.edges)


def test_pools_and_barriers_differ_by_shape_and_words() -> None:
    text = dot_text(plans.nine(), legend=False)
    pool = next(line for line in text.splitlines() if 'label="pool-1' in line)
    barrier = next(line for line in text.splitlines() if 'label="barrier-2' in line)
    assert "5 calls side by side unless keys meet" in pool
    assert "runs alone" in barrier
    assert 'style="rounded,filled"' in pool
    assert 'style="filled"' in barrier
    assert 'penwidth="3"' in barrier


def test_a_pool_larger_than_the_limit_says_how_many_run_at_once() -> None:
    text = dot_text(plans.plan(*[plans.read("a")] * 5, pool=2))
    assert "pool-1 · 5 calls side by side, at most 2 at once" in text


def test_a_call_shows_its_badges() -> None:
    text = dot_text(plans.nine())
    for badge in ("asks", "stop before", "timeout 10 m", "stops on error", "uses subprocess"):
        assert badge in text
    assert "hold turn" in dot_text(plans.three())


def test_a_settled_call_stands_aside_with_its_reason() -> None:
    text = dot_text(plans.nine())
    assert "settled · answered without running" in text
    assert "unknown tool\\lThere is no tool" in text


def test_a_key_edge_is_labelled_and_its_whole_key_is_in_the_tooltip() -> None:
    line = next(one for one in dot_text(plans.nine()).splitlines() if "call_4 -> call_5" in one)
    assert 'label=" …/src/app.py write "' in line
    assert 'tooltip="key file:/repo/project/src/app.py write"' in line


def test_an_order_edge_is_thick_and_joins_the_frames() -> None:
    line = next(one for one in dot_text(plans.three()).splitlines() if 'class="order"' in one)
    assert 'penwidth="2.5"' in line
    assert 'ltail="cluster_1", lhead="cluster_2"' in line


def test_of_the_arrows_at_a_gate_one_tells_the_key() -> None:
    lines = [one for one in dot_text(plans.gated()).splitlines() if "gate_1" in one and "->" in one]
    arrows = [one for one in lines if "invis" not in one]
    assert len(arrows) == 7
    assert sum('label=" ' in one for one in arrows) == 1


def test_a_run_shows_words_shapes_and_how_long_calls_took() -> None:
    outcomes = [Outcome("ok"), Outcome("failed", error="boom"), Outcome("skipped")]
    times = [Times(0, 0, 0, 0.41), Times(0, 0, 0, 2.5), None]
    text = dot_text(plans.three(), outcomes=outcomes, times=times)
    assert "ok · 410 ms" in text
    assert "failed · 2.5 s" in text
    assert 'shape="octagon"' in text
    assert 'style="filled,dashed"' in text
    assert "failed: boom" in text
    assert "States: box: ok, octagon: failed, dashed box: skipped." in text


def test_the_legend_holds_only_what_occurs() -> None:
    text = dot_text(plans.plan(plans.read("a")))
    assert "a pool" in text
    assert "a barrier" not in text
    assert "Thick arrow" not in text
    assert "a pool" not in dot_text(plans.three(), legend=False)


def test_a_title_can_be_given() -> None:
    assert 'label="My \\"plan\\""' in dot_text(plans.three(), title='My "plan"')
    assert 'label="turn-1 · 3 calls · 1 pool, 1 barrier"' in dot_text(plans.three())


def test_a_plan_without_calls_is_drawn() -> None:
    for program in drawing_programs():
        parsed(dot_text(plans.plan()), program)


def test_more_outcomes_than_calls_are_refused() -> None:
    with pytest.raises(UsageError, match=r"outcomes: 1 given for 3 calls\. Give one"):
        dot_text(plans.three(), outcomes=[None])
    with pytest.raises(UsageError, match=r"times: 1 given for 3 calls"):
        dot_text(plans.three(), times=[None])


def test_empty_times_are_times_that_nobody_knows() -> None:
    assert dot_text(plans.three(), times=()) == dot_text(plans.three())


def test_a_plan_whose_parts_do_not_belong_together_is_refused() -> None:
    good = plans.three()
    lost = replace(good, nodes=good.nodes[:1])
    empty = replace(good, nodes=(*good.nodes, Node("pool-9", "pool", ())))
    astray = replace(good, edges=(Edge("c1", "ghost", ("key k write",)),))
    for plan in (lost, empty, astray):
        with pytest.raises(RenderError) as caught:
            dot_text(plan)
        assert "\n" not in str(caught.value)


def test_size_grows_linearly() -> None:
    small, big = (len(dot_text(plans.large(count))) for count in (1_000, 10_000))
    assert big < 10.5 * small


def test_one_huge_text_does_not_make_a_huge_picture() -> None:
    plan = plans.plan(plans.call("x y\n" * 500_000, reason="r " * 500_000, name="n" * 500_000))
    assert len(dot_text(plan)) < 10_000
