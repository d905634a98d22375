"""Mermaid text."""

from __future__ import annotations

from dataclasses import replace

import plans
import pytest
from mermaids import chart, shown

from toolflow.errors import RenderError, UsageError
from toolflow.model import Node, Outcome, Times
from toolflow.render import mermaid_text
from toolflow.render.mermaid import MOST_ARROWS, MOST_CHARACTERS
from toolflow.render.mermaidwriter import SHAPES, quote
from toolflow.render.style import STATES


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("read_file src/auth.py", '"read_file src/auth.py"'),
        ('say "hi"', '"say #34;hi#34;"'),
        ("<b>&#60;", '"#60;b#62;#38;#35;60#59;"'),
        ("a  b ", '"a #160;b#160;"'),
        ("a\\n", '"a#92;\u2060n"'),
        ("$$x$$", '"#36;\u2060#36;x#36;\u2060#36;"'),
        ("fab:fa-x", '"fab#58;\u2060fa-x"'),
        ("1. x", '"\u20601#46; x"'),
        ("_x_ x_y", '"\u2060#95;x#95;\u2060 x_y"'),
        ("src/**", '"src/#42;#42;"'),
        ("*a*", '"\u2060\ufeff#42;\ufeffa\ufeff#42;\ufeff"'),
        ("\ufb02\xb060\xb6\xdf", '"#92;ufb02\xb060#92;u00b6\xdf"'),
        ("end", '"end"'),
        ("direction LR", '"direction\u2060 LR"'),
        ("%%{init}%%", '"#37;#37;#123;init#125;#37;#37;"'),
        ("bell\x07\u2060", '"bell#92;x07#92;u2060"'),
        ("", '" "'),
    ],
)
def test_text_in_quotes_can_only_mean_itself(text: str, written: str) -> None:
    assert quote([text]) == written


def test_lines_are_parted_by_markup_of_the_package_alone() -> None:
    assert quote(["a<br/>b", "c"]) == '"a#60;br/#62;b<br/>c"'


@pytest.mark.parametrize("make", [plans.three, plans.nine, plans.gated, plans.evil])
def test_every_call_gate_and_edge_is_there_once(make: object) -> None:
    plan = make()  # type: ignore[operator]
    found = chart(mermaid_text(plan))
    kinds = found.kinds
    assert kinds["call"] == len(plan.calls)
    assert kinds["gate"] == len(plan.gates)
    assert kinds["node"] == sum(node.kind != "settled" for node in plan.nodes)
    assert len(found.arrows) == len(plan.edges)


def test_calls_stand_in_their_pool_or_aside() -> None:
    found = chart(mermaid_text(plans.nine()))
    assert [found.inside[f"call_{at}"] for at in (1, 6, 7, 8)] == [
        "node_1",
        "node_2",
        "settled",
        "node_3",
    ]
    assert found.inside["node_1"] == "plan"


def test_pools_and_barriers_differ_by_shape_and_words() -> None:
    text = mermaid_text(plans.nine(), legend=False)
    found = chart(text)
    assert "5 calls side by side unless keys meet" in found.labels["node_1"]
    assert "runs alone" in found.labels["node_2"]
    assert "class node_1,node_3 pool" in text
    assert "class node_2,node_4 barrier" in text
    pool, barrier = (
        next(line for line in text.splitlines() if line.startswith(f"classDef {kind} "))
        for kind in ("pool", "barrier")
    )
    assert "rx:10" in pool
    assert "rx" not in barrier
    assert "stroke-width:3px" in barrier


def test_thick_arrows_join_nodes_and_thin_ones_tell_their_key() -> None:
    found = chart(mermaid_text(plans.nine()))
    assert ("node_1", "==>", "", "node_2") in found.arrows
    assert ("call_4", "-->", "…/src/app.py write", "call_5") in found.arrows


def test_a_gate_is_a_dot_and_the_arrow_that_leaves_it_tells_the_key() -> None:
    found = chart(mermaid_text(plans.gated()))
    assert found.shapes["gate_1"] == "(("
    into = [arrow for arrow in found.arrows if arrow[3] == "gate_1"]
    assert {(line, label) for _, line, label, _ in into} == {("---", "")}
    assert [arrow[2] for arrow in found.arrows if arrow[0] == "gate_1"] == [
        "…/project/src/**\nwrite after read"
    ]


def test_a_run_shows_states_in_words_and_shapes() -> None:
    outcomes = [Outcome("ok"), Outcome("failed", error="no"), Outcome("timed_out", error="late")]
    times = [Times(0, 0, 0.5, 2, 2), None, Times(0, 0, 1, 2, 3)]
    plan = plans.plan(*[plans.read("a")] * 3)
    found = chart(mermaid_text(plan, outcomes=outcomes, times=times))
    assert found.labels["call_1"].endswith("ok · 1.5 s")
    assert [found.shapes[f"call_{at}"] for at in (1, 2, 3)] == ["[", "{{", "[["]
    assert [found.classes[f"call_{at}"] for at in (1, 2, 3)] == ["ok", "failed", "timed_out"]
    assert "hexagon: failed" in found.labels["legend"]


def test_every_state_has_a_shape_that_every_version_knows() -> None:
    assert {(state.shape, state.lines) for state in STATES.values()} == set(SHAPES)


def test_the_legend_names_only_what_occurs() -> None:
    found = chart(mermaid_text(plans.chain(2))).labels["legend"]
    assert "Round corners: a pool" in found
    assert "barrier" not in found
    assert "flag" not in found
    assert "legend" not in chart(mermaid_text(plans.chain(2), legend=False)).labels


def test_a_plan_without_calls_is_a_text_too() -> None:
    found = chart(mermaid_text(plans.plan(turn_id="t")))
    assert found.labels == {"plan": "t · 0 calls"}


def test_a_plan_of_settled_calls_only_is_a_text_too() -> None:
    plan = plans.plan(*[plans.call("x", kind="settled", status="denied")] * 5)
    found = chart(mermaid_text(plan))
    assert found.kinds["call"] == 5
    assert ("settled", "legend") in found.unseen


def test_the_calls_of_a_pool_stand_in_rows() -> None:
    found = chart(mermaid_text(plans.plan(*[plans.read(f"f{at}") for at in range(10)])))
    assert ("call_1", "call_5") in found.unseen
    assert ("call_5", "call_9") in found.unseen
    assert ("call_7", "call_10") in found.unseen  # nothing below it: tied to the next row


def test_a_title_is_a_label() -> None:
    found = chart(mermaid_text(plans.three(), title='"]; click call_1 "javascript:1"'))
    assert found.labels["plan"] == '"]; click call_1 "javascript:1"'


def fits(text: str) -> bool:
    return len(text.encode("utf-16-le")) <= 2 * MOST_CHARACTERS and chart(text).edges <= MOST_ARROWS


@pytest.mark.parametrize(
    "plan",
    [
        plans.large(5000),
        plans.plan(*[plans.read(f"f{at}") for at in range(3000)]),
        plans.chain(2000),
        plans.plan(*[plans.call(f"c{at}", kind="exclusive") for at in range(2000)]),
        plans.plan(*[plans.call("&" * 90, kind="settled", status="denied")] * 900),
        plans.plan(*[plans.call("\U0001f600" * 80)] * 700),
    ],
    ids=["mixed", "reads", "chain", "barriers", "settled", "wide"],
)
def test_a_large_plan_is_folded_until_mermaid_draws_it_and_nothing_is_lost_silently(
    plan: object,
) -> None:
    text = mermaid_text(plan)  # type: ignore[arg-type]
    assert fits(text)
    found = chart(text)
    assert "left out, because Mermaid draws at most" in found.labels["legend"]
    hidden = [label for name, label in found.labels.items() if name.startswith(("rest", "skip"))]
    told = sum(
        int(words.split()[1]) if "more calls" in words else int(words.split()[-2])
        for words in (label.split("\n")[0].split(",")[0] for label in hidden)
    )
    assert found.kinds["call"] + told == len(plan.calls)  # type: ignore[attr-defined]
    assert not fits(mermaid_text(plan, fold=False))  # type: ignore[arg-type]


def test_what_is_folded_of_a_run_is_counted_by_state_and_failures_stay() -> None:
    plan = plans.plan(*[plans.read(f"f{at}") for at in range(1000)])
    outcomes = [Outcome("failed" if at % 100 == 99 else "ok") for at in range(1000)]
    found = chart(mermaid_text(plan, outcomes=outcomes))
    assert [name for name, shape in found.shapes.items() if shape == "{{"] == [
        f"call_{at}" for at in range(100, 1001, 100)
    ]
    drawn = found.kinds["call"]
    assert found.labels["rest_1"] == f"… {1000 - drawn} more calls\n{1000 - drawn} ok"


def test_folded_barriers_leave_both_ends_joined() -> None:
    plan = plans.plan(*[plans.call(f"c{at}", kind="exclusive") for at in range(2000)])
    found = chart(mermaid_text(plan))
    arrows = [(a, b) for a, _, _, b in found.arrows]
    at = [b for _, b in arrows].index("skipped")
    assert arrows[at + 1][0] == "skipped"
    assert arrows[0][0] == "node_1"
    assert arrows[-1][1] == "node_2000"


def test_a_small_plan_is_not_folded() -> None:
    assert mermaid_text(plans.large(200)) == mermaid_text(plans.large(200), fold=False)


def test_as_many_outcomes_as_calls() -> None:
    with pytest.raises(UsageError, match=r"^outcomes: 1 given for 3 calls"):
        mermaid_text(plans.three(), outcomes=[Outcome("ok")])


def test_a_plan_whose_parts_do_not_belong_together_is_refused() -> None:
    with pytest.raises(RenderError, match=r"stands in one node"):
        mermaid_text(replace(plans.three(), nodes=(Node("pool-1", "pool", (0, 7)),)))


def test_the_text_grows_linearly() -> None:
    sizes = [len(mermaid_text(plans.large(length), fold=False)) for length in (500, 1000, 2000)]
    assert sizes[2] - sizes[1] < 2.2 * (sizes[1] - sizes[0])


def test_what_is_shown_is_read_back() -> None:
    assert shown(quote(['a "b" <c>', "d*e*f"])[1:-1]) == 'a "b" <c>\nd*e*f'
