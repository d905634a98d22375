"""The compiler against an oracle that compares every pair of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st
from plan_makers import call, plan

from toolflow.compiler import Plan, dump_plan, load_plan, plan_data
from toolflow.errors import PlanError
from toolflow.model import CallPlan
from toolflow.model.keys import keys_meet

PATHS = ["s", "s/a", "s/a/b", "s/a/b/c", "s/d", "s2", "t", "/", "", "**"]
KEYS = st.one_of(st.sampled_from(PATHS), st.sampled_from([f"{path}/**" for path in PATHS]))
FEW = st.lists(KEYS, max_size=3)


@st.composite
def turns(draw: st.DrawFn) -> list[CallPlan]:
    """Runs of calls that are alike, as models make them, with other calls strewn in."""
    calls: list[CallPlan] = []
    for _ in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["safe"] * 8 + ["exclusive", "denied"]))
        reads, writes = draw(FEW), draw(st.one_of(st.just([]), FEW))
        single = draw(st.booleans())
        for number in range(draw(st.integers(1, 6))):
            own = [f"s/a/{number}"] if single and writes else writes
            calls.append(call(f"c{len(calls)}", kind, reads=reads, writes=own))
    return calls


def meet(a: CallPlan, b: CallPlan) -> bool:
    pairs = [(a.writes, b.writes), (a.writes, b.reads), (a.reads, b.writes)]
    return any(keys_meet(x, y) for some, others in pairs for x in some or () for y in others or ())


def must_wait(calls: Sequence[CallPlan]) -> list[set[int]]:
    """For each call, all calls that must have settled: meeting ones and barriers, transitively."""
    before: list[set[int]] = []
    for index, own in enumerate(calls):
        found: set[int] = set()
        for other in range(index):
            kinds = {own.verdict.kind, calls[other].verdict.kind}
            if "settled" not in kinds and ("exclusive" in kinds or meet(calls[other], own)):
                found |= {other} | before[other]
        before.append(found)
    return before


def does_wait(found: Plan) -> list[set[int]]:
    """For each call, all calls from which a path of the plan's graph leads to it."""
    import networkx as nx

    graph = found.graph()
    index = {each.name: each.index for each in found.calls}
    return [
        {index[name] for name in nx.ancestors(graph, each.name) if name in index}
        for each in found.calls
    ]


@settings(max_examples=200, deadline=None)
@given(turns())
def test_calls_wait_for_exactly_those_that_they_must_wait_for(calls: list[CallPlan]) -> None:
    found = plan(*calls)
    assert does_wait(found) == must_wait(found.calls)


@settings(max_examples=100, deadline=None)
@given(turns())
def test_why_and_beside_tell_what_holds(calls: list[CallPlan]) -> None:
    found = plan(*calls)
    waits = must_wait(found.calls)
    for b in found.calls:
        for a in found.calls:
            chain = found.why(a.name, b.name)
            assert bool(chain) == (a.index in waits[b.index])
            assert all(edge.causes and all(edge.causes) for edge in chain)
        free = {
            a.name
            for a in found.calls
            if a is not b
            and {a.verdict.kind, b.verdict.kind} == {"safe"}
            and a.index not in waits[b.index]
            and b.index not in waits[a.index]
        }
        assert set(found.beside(b.name)) == free


@settings(max_examples=200, deadline=None)
@given(turns())
def test_edges_stay_few(calls: list[CallPlan]) -> None:
    found = plan(*calls)
    accesses = sum(len({*(c.reads or ()), *(c.writes or ())}) for c in found.calls)
    assert len(found.edges) < 2 * max(accesses, 1) + len(found.calls)


@settings(max_examples=80, deadline=None)
@given(turns(), st.sampled_from(["yaml", "json"]))
def test_saving_and_loading_gives_an_equal_plan(
    calls: list[CallPlan], form: Literal["yaml", "json"]
) -> None:
    found = plan(*calls)
    again = load_plan(dump_plan(found, form))
    assert (again, again.fingerprint, again.notices) == (found, found.fingerprint, ())


@settings(max_examples=80, deadline=None)
@given(turns(), st.data())
def test_a_plan_without_one_of_its_key_edges_loads_only_if_the_order_still_holds(
    calls: list[CallPlan], data: st.DataObject
) -> None:
    found = plan(*calls)
    saved = plan_data(found)
    if "edges" not in saved:
        return
    saved["edges"].pop(data.draw(st.integers(0, len(saved["edges"]) - 1)))
    try:
        again = load_plan(saved)
    except PlanError as error:
        codes = {problem.code for problem in error.problems}
    else:
        codes = set()
        assert does_wait(again) == must_wait(again.calls)
    assert codes <= {"unordered", "invalid"}  # "invalid": a gate with edges on one side only


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=3), st.text(min_size=1), st.text())
def test_any_arguments_and_names_can_be_saved_and_shown(
    args: dict[str, object], name: str, text: str
) -> None:
    found = plan(call(name, args=args, tool=text, label=text, ask=text, reason=text))
    assert load_plan(dump_plan(found)) == found
    assert all(line.isprintable() for line in str(found).split("\n"))
