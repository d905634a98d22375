"""Plans without a difference are the same run, and differences can be read from both sides."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from plan_makers import call, plan

from toolflow.compiler import Plan
from toolflow.model import Terms

KEYS = st.lists(st.sampled_from(["s", "s/a", "s/a/b", "s/**", "t"]), max_size=2, unique=True)
CALLS = st.builds(
    call,
    st.sampled_from("abcdef"),
    st.sampled_from(["safe", "safe", "safe", "exclusive", "denied"]),
    reads=KEYS,
    writes=KEYS,
    args=st.dictionaries(st.sampled_from("pq"), st.sampled_from([1, 1.0, True, "x"]), max_size=1),
    terms=st.sampled_from([Terms(), Terms(timeout=1.0)]),
)
PLANS = st.lists(CALLS, max_size=5, unique_by=lambda one: one.name).map(lambda calls: plan(*calls))
SWAPPED = {"+": "-", "-": "+", "~": "~"}


@given(PLANS, PLANS)
@settings(max_examples=300)
def test_no_difference_means_the_same_fingerprint(one: Plan, other: Plan) -> None:
    assert one.diff(other).same == (one.fingerprint == other.fingerprint)


@given(PLANS, PLANS)
@settings(max_examples=300)
def test_differences_read_from_the_other_side_are_the_same_ones(one: Plan, other: Plan) -> None:
    there = [c for c in one.diff(other).changes if c.field != "name"]
    back = [c for c in other.diff(one).changes if c.field != "name"]
    renamed = len(there) != len(one.diff(other).changes)

    assert len(there) == len(back)
    if not renamed:
        marks = sorted((SWAPPED[c.mark], c.kind, c.field) for c in there)
        assert marks == sorted((c.mark, c.kind, c.field) for c in back)
