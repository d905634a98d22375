"""Differences of plans: what is told, in which words, and what is none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from plan_makers import call, plan, spelled

from toolflow.compiler import Change, Plan, diff_plans, dump_plan, load_plan
from toolflow.model import Limits, Terms, Verdict


def lines(one: Plan, other: Plan, *, words: bool = False) -> list[str]:
    return [str(change) for change in one.diff(other, words=words).changes]


def test_a_plan_does_not_differ_from_itself_as_loaded_again() -> None:
    own = spelled("W(x) R(x) E R(x) S W(x) R(y)")

    found = own.diff(load_plan(dump_plan(own)), words=True)

    assert found.same
    assert found.changes == ()
    assert str(found) == "no difference"


def test_a_call_more_and_a_call_less() -> None:
    one = plan(call("a"), call("b", args={"n": 1}))
    other = plan(call("a"), call("c", "exclusive", args={"n": 2}))

    assert lines(one, other) == [
        "- call b: tool  (safe)",
        "+ call c: tool  (exclusive)",
        "~ node pool-1  calls: a, b -> a",
        "+ node barrier-2: c",
    ]


def test_a_call_of_another_name_is_matched_by_tool_and_arguments() -> None:
    one = plan(call("a", writes=["x"]), call("b", writes=["x"], args={"n": 1}))
    other = plan(call("a", writes=["x"]), call("z", writes=["x"], args={"n": 1}))

    assert lines(one, other) == ["~ call b  name: b -> z"]


def test_verdicts_tell_why() -> None:
    one, other = plan(call("a")), plan(call("a", "exclusive"))

    assert lines(one, other)[0] == "~ call a  verdict: safe -> exclusive  (because)"
    assert other.diff(one).of_call("a")[0].after == "safe"


def test_a_settled_call_differs_in_what_the_model_gets() -> None:
    one = plan(call("a", "denied"))
    (only,) = one.calls
    verdict = replace(only.verdict, reason="Never.")
    other = replace(one, calls=(replace(only, verdict=verdict),))

    (line,) = lines(one, other)
    assert line.endswith("-> Never.")


def test_keys_are_told_one_by_one_and_not_declared_is_not_none() -> None:
    one = plan(call("a", reads=["x", "y"]), call("b"))
    other = plan(call("a", reads=["y", "z"], writes=["w"]), call("b", reads=[], writes=[]))

    assert lines(one, other) == [
        "- call a  reads x",
        "+ call a  reads z",
        "+ call a  writes w",
        "~ call b  reads: not declared -> no keys",
        "~ call b  writes: not declared -> no keys",
    ]


def test_terms_limits_and_questions() -> None:
    one = plan(call("a", terms=Terms(timeout=2.0, uses={"cpu": 1})), call("b"))
    other = plan(call("a", terms=Terms(on_error="stop", uses={"cpu": 2})), call("b"))
    other = replace(other, limits=Limits(3, {"cpu": 4}), approvals="first")
    asking = replace(other.calls[1], ask="Really?")
    other = replace(other, calls=(other.calls[0], asking))

    assert lines(one, other) == [
        "~ limits.pool: 10 -> 3",
        "+ limits.resources.cpu: 4",
        "~ plan  approvals: inline -> first",
        "~ call a  uses.cpu: 1 -> 2",
        "~ call a  timeout: 2 s -> none",
        "~ call a  on_error: continue -> stop",
        "+ call b  question: Really?",
    ]


def test_arguments_are_told_where_they_differ_and_keep_their_types() -> None:
    one = plan(call("a", args={"p": {"q": [1, 2], "r": 1}, "gone": None}))
    other = plan(call("a", args={"p": {"q": [1, 3], "r": True}, "new": [1]}))

    assert lines(one, other) == [
        "~ call a  args.p.q[1]: 2 -> 3",
        "~ call a  args.p.r: 1 -> true",
        "- call a  args.gone",
        "+ call a  args.new: [1]",
    ]


def test_edges_come_and_go_with_their_causes() -> None:
    assert lines(spelled("W(x) R(x)"), spelled("W(x) R(y)")) == [
        "- call b  reads x",
        "+ call b  reads y",
        "- edge a -> b  (key x read after write)",
    ]


def test_gates_are_told_by_their_keys() -> None:
    def made(*names: str) -> Plan:
        calls = [call(f"{s}{i}", writes=[f"{s}/{i}"]) for s in names for i in range(3)]
        return plan(*calls, *[call(f"r{s}{i}", reads=[f"{s}/**"]) for s in names for i in range(3)])

    found = lines(made("t"), made("s", "t"))

    assert any("gate on s/**" in line for line in found)
    assert not any("gate on t/**" in line for line in found)


def test_the_order_of_calls_counts() -> None:
    one = plan(call("a"), call("b"))
    other = plan(call("b"), call("a"))

    assert lines(one, other)[0] == "~ plan  order of calls: a, b -> b, a"


def test_words_for_people_count_only_when_asked() -> None:
    one = plan(call("a", reads=["x"]))
    verdict = Verdict("safe", "another reason", rule=1, line=7)
    other = replace(one, calls=(replace(one.calls[0], verdict=verdict, label="look"),))

    assert lines(one, other) == []
    assert lines(one, other, words=True) == [
        "~ call a  reason: because -> another reason",
        "~ call a  rule: none -> 2",
        "~ call a  line: none -> 7",
        "~ call a  label: '' -> look",
    ]


def test_long_lists_are_cut_and_data_holds_all() -> None:
    calls = [call(f"c{number}") for number in range(40)]
    found = plan(*calls[:2]).diff(plan(*calls))

    text = str(found)
    assert "c0, c1 -> c0, c1, c2, c3, c4, c5 … c39 (40 in all)" in text
    assert len(found.data()[-1]["after"]) == 40
    json.dumps(found.data())


def test_nothing_that_a_terminal_would_obey_is_printed() -> None:
    evil = "\x1b[2J\u202e\n"
    one = plan(call("a", args={"t": "x"}))
    other = plan(call("a", args={"t": evil, evil: evil}), call(evil))

    text = str(diff_plans(one, other))
    assert all(line.isprintable() for line in text.splitlines())
    assert text.count("\n") + 1 == len(one.diff(other).changes)


def test_data_keeps_both_sides_of_what_is_not_the_same() -> None:
    assert Change("~", "call", "a", "timeout", 2.0, None).data() == {
        "mark": "~", "kind": "call", "name": "a", "field": "timeout", "before": 2.0, "after": None,
    }  # fmt: skip
    assert Change("+", "call", "a", "reads", None, "x").data() == {
        "mark": "+", "kind": "call", "name": "a", "field": "reads", "after": "x",
    }  # fmt: skip


@pytest.mark.parametrize("size", [100, 1000])
def test_the_work_grows_with_the_calls_alone(size: int) -> None:
    """Counted, not timed: as many changes as calls, and each edge looked at once."""
    calls = [call(f"c{number}", writes=["x"]) for number in range(size)]
    found = plan(*calls).diff(plan(*[replace(c, writes=("y",)) for c in calls]))

    assert len(found.changes) == 2 * size
