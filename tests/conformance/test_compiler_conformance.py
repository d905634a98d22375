"""The lines of the conformance list that the compiler decides."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from plan_makers import call, groups, key_edges, plan, spelled, waves

from toolflow.compiler import Plan, dump_plan, load_plan, plan_data
from toolflow.errors import PlanError
from toolflow.model import CallPlan, Limits, Terms


def test_c016_safe_exclusive_safe_are_three_groups_in_strict_order() -> None:
    found = spelled("R E R")
    assert groups(found) == [["a"], ["b"], ["c"]]
    assert [(edge.before, edge.after) for edge in found.edges] == [
        ("pool-1", "barrier-2"),
        ("barrier-2", "pool-3"),
    ]


def test_c017_two_reads_a_write_and_two_reads_are_waves_of_two_one_two() -> None:
    assert groups(spelled("R R E R R")) == [["a", "b"], ["c"], ["d", "e"]]


def test_c018_a_write_and_two_reads_are_the_write_alone_then_both() -> None:
    assert groups(spelled("E R R")) == [["a"], ["b", "c"]]


@pytest.mark.parametrize("status", ["unknown_tool", "invalid_arguments", "invalid_id", "denied"])
def test_c028_settled_calls_neither_split_a_pool_nor_wait(status: str) -> None:
    found = plan(call("a", writes=["x"]), call("b", status, writes=["x"]), call("c", writes=["x"]))
    assert groups(found) == [["a", "c"]]
    assert key_edges(found) == [("a", "c")]
    assert found.predecessors("b") == found.beside("b") == ()


SCRIPT = """
import sys
from plan_makers import call, plan
from toolflow.compiler import dump_plan
calls = [call(f"w{i}", writes=[f"s/{i}", "log"], args={"b": 1, "a": {i}.pop()}) for i in range(9)]
calls += [call(f"r{i}", reads=["s/**", "t/**"], writes=[f"o{i}"]) for i in range(9)]
found = plan(*calls, call("x", "exclusive"), call("y", "denied"))
sys.stdout.write(dump_plan(found) + dump_plan(found, "json") + str(found))
"""


def test_c139_same_turn_and_policy_give_equal_bytes_in_other_processes() -> None:
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), str(root / "tests" / "support")])
    texts = set()
    for seed in ("0", "1", "4242"):
        env = {
            **os.environ,
            "PYTHONPATH": path,
            "PYTHONHASHSEED": seed,
            "PYTHONIOENCODING": "utf-8",
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=env, capture_output=True, check=True, cwd=root
        )
        texts.add(done.stdout)
    assert len(texts) == 1
    assert len(texts.pop()) > 5000


def test_c140_dump_and_load_give_an_equal_plan() -> None:
    found = spelled("W(x) R(x) S E R(s/**) W(s/a)")
    assert load_plan(dump_plan(found)) == load_plan(dump_plan(found, "json")) == found


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("before: a, after: b", "before: b, after: a", 17, "Later calls wait for earlier ones"),
        (
            "  - {before: a, after: b, causes: [x]}",
            "  - {before: a, after: b, causes: [x]}\n  - {before: b, after: a, causes: [x]}",
            18,
            "closes a circle",
        ),
        ("calls: [a, b, c]", "calls: [a, b]", 6, "stands in no node"),
        ("calls: [d]", "calls: [d, a]", 11, "A call stands in one node"),
    ],
)
def test_c140_a_plan_that_does_not_hold_together_is_refused_with_file_line_and_reason(
    old: str, new: str, line: int, reason: str, tmp_path: Path
) -> None:
    text = """\
format_version: 1
turn: turn-1
calls:
  - {name: a, tool: t, args: {}, verdict: safe, writes: [x]}
  - {name: b, tool: t, args: {}, verdict: safe, writes: [x]}
  - {name: c, tool: t, args: {}, verdict: safe}
  - {name: d, tool: t, args: {}, verdict: exclusive}

nodes:
  - {id: pool-1, calls: [a, b, c]}
  - {id: barrier-2, calls: [d]}

order:
  - {before: pool-1, after: barrier-2, causes: [t]}

edges:
  - {before: a, after: b, causes: [x]}
"""
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    load_plan(path)
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(PlanError) as caught:
        load_plan(path)
    found = [problem for problem in caught.value.problems if problem.line == line]
    assert any(reason in problem.message for problem in found)
    assert all(problem.source == str(path) for problem in caught.value.problems)


def test_c141_every_edge_names_its_cause() -> None:
    found = spelled("W(x) R(x) W(s/a) W(s/b) W(s/c) R(s/**) R(s/**) R(s/**) E S E R W(x)")
    assert all(edge.causes and all(edge.causes) for edge in found.edges)


def test_c141_why_gives_the_chain_and_nothing_where_there_is_none() -> None:
    found = spelled("W(x) RW(x,y) R(y) R(z)")
    causes = [edge.causes for edge in found.why("a", "c")]
    assert causes == [("key x read after write",), ("key y read after write",)]
    assert found.why("a", "d") == ()


def edits_then_searches(count: int) -> list[CallPlan]:
    half = count // 2
    calls = [call(f"e{i}", writes=[f"src/{i}"]) for i in range(half)]
    return calls + [call(f"g{i}", reads=["src/**"]) for i in range(half)]


def searches_then_edits(count: int) -> list[CallPlan]:
    return edits_then_searches(count)[::-1]


def in_turns(count: int) -> list[CallPlan]:
    calls = edits_then_searches(count)
    half = len(calls) // 2
    return [each for pair in zip(calls[:half], calls[half:], strict=True) for each in pair]


def blocks(count: int) -> list[CallPlan]:
    calls = []
    for i in range(count):
        search = (i // 10) % 2
        keys = ["src/**"] if search else [f"src/{i}", f"src/deep/{i % 7}"]
        calls.append(call(f"c{i}", reads=keys if search else None, writes=None if search else keys))
    return calls


def nested(count: int) -> list[CallPlan]:
    trees = ["a/**", "a/b/**", "a/b/c/**", "a/b/c/d/**", "x/**"]
    calls = []
    for i in range(count):
        if (i // 13) % 2:
            calls.append(call(f"c{i}", reads=[trees[i % 5], trees[(i * 3) % 4]]))
        else:
            calls.append(call(f"c{i}", writes=[f"a/b/c/d/{i}", f"x/{i % 3}"]))
    return calls


def one_file(count: int) -> list[CallPlan]:
    return [
        call(f"c{i}", reads=["x", "y"] if i % 9 else None, writes=None if i % 9 else ["x", "y"])
        for i in range(count)
    ]


def alone(count: int) -> list[CallPlan]:
    return [call(f"c{i}", "exclusive") for i in range(count)]


def all_different(count: int) -> list[CallPlan]:
    return [call(f"c{i}", terms=Terms(timeout=1.0 + i), args={"n": i}) for i in range(count)]


SHAPES = [
    all_different,
    edits_then_searches,
    searches_then_edits,
    in_turns,
    blocks,
    nested,
    one_file,
    alone,
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [10, 100, 1000])
def test_c142_edges_stay_below_four_a_call(shape, count: int) -> None:
    calls = shape(count)
    assert len(plan(*calls).edges) < 4 * len(calls)


def steps(calls: list[CallPlan]) -> int:
    """How many functions are entered to compile these calls: a measure that no clock disturbs."""
    from plan_makers import batch

    from toolflow.compiler import compile_plan

    made = batch(*calls)
    count = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        compile_plan(made)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_c142_compiling_costs_the_same_per_call_in_long_turns(shape) -> None:
    few, many = shape(1000), shape(10_000)
    assert steps(many) / len(many) <= 1.3 * steps(few) / len(few)


def test_c143_meeting_keys_order_safe_calls_and_without_the_rule_they_stand_side_by_side() -> None:
    with_rule = plan(call("a", writes=["file:/x"]), call("b", writes=["file:/x"]))
    assert with_rule.why("a", "b")[0].causes == ("key file:/x write",)
    assert with_rule.beside("a") == ()
    without = plan(call("a"), call("b"))
    assert without.why("a", "b") == ()
    assert without.beside("a") == ("b",)


@pytest.mark.parametrize(
    ("key", "covered"),
    [
        ("src/a/b.c", True),
        ("src/a", True),
        ("src", True),
        ("src/a/**", True),
        ("src/**", True),
        ("src2/a", False),
        ("src2", False),
        ("a/src/b", False),
        ("sr", False),
    ],
)
def test_c144_a_tree_key_covers_what_lies_under_it_and_nothing_else(
    key: str, covered: bool
) -> None:
    for first, second in (("src/**", key), (key, "src/**")):
        found = plan(call("a", writes=[first]), call("b", reads=[second]))
        assert bool(found.why("a", "b")) is covered


def test_c145_readers_share_and_a_writer_excludes_in_call_order() -> None:
    found = spelled("R(x) R(x) W(x) R(x)")
    assert waves(found) == [["a", "b"], ["c"], ["d"]]
    assert [a + b for a, b in key_edges(found)] == ["ac", "bc", "cd"]


def test_c146_a_call_that_needs_more_than_the_capacity_is_refused_at_compile_time() -> None:
    limits = Limits(resources={"gpu": 2})
    plan(call("a", terms=Terms(uses={"gpu": 2})), limits=limits)
    with pytest.raises(PlanError, match="uses 3 of the resource 'gpu', of which there are 2"):
        plan(call("a", terms=Terms(uses={"gpu": 3})), limits=limits)


def test_c146_such_a_plan_is_refused_when_loaded_as_well() -> None:
    data = plan_data(
        plan(call("a", terms=Terms(uses={"gpu": 2})), limits=Limits(resources={"gpu": 2}))
    )
    data["limits"]["resources"]["gpu"] = 1
    with pytest.raises(PlanError, match="of which there are 1"):
        load_plan(data)


def test_a_plan_is_a_value() -> None:
    found: Plan = spelled("W(x) R(x)")
    assert found == spelled("W(x) R(x)")
    assert found != spelled("W(x) R(y)")
    with pytest.raises(AttributeError):
        found.turn_id = "other"  # type: ignore[misc]
