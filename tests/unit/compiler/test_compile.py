from __future__ import annotations

import pytest
from plan_makers import batch, call, groups, plan, spelled

from toolflow.compiler import recompile
from toolflow.errors import PlanError
from toolflow.model import Limits, Terms


def nodes(turn: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(node.id, node.calls) for node in spelled(turn).nodes]


def test_pools_and_barriers_share_one_count_and_settled_calls_have_their_own() -> None:
    assert nodes("R S E R S R E E") == [
        ("pool-1", (0,)),
        ("barrier-2", (2,)),
        ("pool-3", (3, 5)),
        ("barrier-4", (6,)),
        ("barrier-5", (7,)),
        ("settled-1", (1,)),
        ("settled-2", (4,)),
    ]


def test_an_empty_turn_gives_an_empty_plan() -> None:
    found = plan()
    assert (found.nodes, found.edges, str(found).splitlines()[0]) == (
        (),
        (),
        "Plan of turn-1: 0 calls",
    )


def test_order_edges_name_the_barriers_on_both_sides() -> None:
    git = call("g", "exclusive", tool="git", rule=3, line=19)
    make = call("m", "exclusive", tool="make")
    found = plan(call("a"), git, make, call("b"))
    assert [(e.before, e.after, e.causes, e.kind) for e in found.edges] == [
        ("pool-1", "barrier-2", ("git is exclusive, rule 4 (line 19)",), "order"),
        (
            "barrier-2",
            "barrier-3",
            ("git is exclusive, rule 4 (line 19)", "make is exclusive"),
            "order",
        ),
        ("barrier-3", "pool-4", ("make is exclusive",), "order"),
    ]


def test_every_call_that_needs_too_much_is_told_at_once() -> None:
    limits = Limits(resources={"gpu": 1})
    with pytest.raises(PlanError) as caught:
        plan(
            call("a", terms=Terms(uses={"gpu": 2})),
            call("b", terms=Terms(uses={"disk": 1})),
            call("c", terms=Terms(uses={"gpu": 1})),
            limits=limits,
        )
    assert [problem.message for problem in caught.value.problems] == [
        "Call 'a' (tool) uses 2 of the resource 'gpu', of which there are 1. Use at most 1.",
    ]


def test_a_settled_call_needs_no_resource() -> None:
    plan(call("a", "denied", terms=Terms(uses={"gpu": 2})))


def test_the_fingerprint_covers_what_matters() -> None:
    base = plan(call("a", writes=["x"]), call("b", reads=["x"]))
    others = [
        plan(call("a", writes=["x"]), call("b", reads=["y"])),
        plan(call("a", writes=["x"]), call("b", "exclusive", reads=["x"])),
        plan(call("a", writes=["x"]), call("b", reads=["x"], args={"n": 1})),
        plan(call("a", writes=["x"]), call("b", reads=["x"], tool="other")),
        plan(call("a", writes=["x"]), call("b", reads=["x"], terms=Terms(timeout=1))),
        plan(call("a", writes=["x"]), call("b", reads=["x"], ask="Sure?")),
        plan(call("a", writes=["x"]), call("b", reads=["x"]), limits=Limits(pool=2)),
        plan(call("a", writes=["x"]), call("b", reads=["x"]), approvals="first"),
        plan(call("a", writes=["x"]), call("b", reads=["x"]), turn="turn-2"),
    ]
    prints = [base.fingerprint, *(each.fingerprint for each in others)]
    assert len(set(prints)) == len(prints)


def test_the_fingerprint_leaves_words_out() -> None:
    one = plan(call("a", reason="so", rule=1, line=2, label="x"), policy_digest="1")
    other = plan(call("a", reason="so there", rule=2, line=9, label="y"), policy_digest="2")
    assert one.fingerprint == other.fingerprint
    assert one != other


def test_the_reason_of_a_settled_call_is_what_the_model_gets_so_it_counts() -> None:
    one, other = plan(call("a", "denied", reason="No.")), plan(call("a", "denied", reason="Never."))
    assert one.fingerprint != other.fingerprint


def test_the_turn_digest_depends_on_the_calls_only() -> None:
    same = [plan(call("a", args={"n": 1}), turn=turn).turn_digest for turn in ("t1", "t2")]
    assert same[0] == same[1]
    assert plan(call("a", args={"n": 2})).turn_digest != same[0]


@pytest.mark.parametrize("count", [255, 256, 257, 600])
def test_long_turns_have_fingerprints_of_every_call(count: int) -> None:
    calls = [call(f"c{i}", args={"n": i}) for i in range(count)]
    changed = [*calls[:-1], call(calls[-1].name, args={"n": -1})]
    assert plan(*calls).fingerprint != plan(*changed).fingerprint
    assert plan(*calls) == plan(*calls)


def test_arguments_that_no_digest_can_hold_are_an_error_of_the_plan() -> None:
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PlanError, match="nested too deep"):
        plan(call("a", args={"deep": deep}))
    with pytest.raises(PlanError, match="cannot be written as JSON"):
        plan(call("a", args={"mixed": {1: 2, "a": 3}}))


def test_recompile_makes_nodes_and_edges_anew() -> None:
    found = plan(call("a", writes=["x"]), call("b", writes=["x"]), call("c"))
    calls = batch(call("a", writes=["x"]), call("b", "exclusive"), call("c")).calls
    again = recompile(found, calls)
    assert groups(again) == [["a"], ["b"], ["c"]]
    assert again.fingerprint != found.fingerprint
    assert again.calls == calls
    assert (again.edges, again.nodes) == (plan(*calls).edges, plan(*calls).nodes)
