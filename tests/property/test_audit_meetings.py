"""The pairs that the audit finds are those that meet, whatever the keys are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolflow.model import CallPlan
from toolflow.model.batch import Verdict
from toolflow.model.keys import keys_meet
from toolflow.recording.audit.meeting import described, meetings

PLACES = st.sampled_from(["a", "a/b", "a/b/c", "a/bc", "d", "/"])
KEYS = st.builds(lambda place, tree: place + ("/**" if tree else ""), PLACES, st.booleans())
SIDES = st.lists(KEYS, max_size=3, unique=True)


def made(index: int, reads: list[str], writes: list[str]) -> CallPlan:
    name = f"c{index}"
    verdict = Verdict("safe", "for a test")
    return CallPlan(index, name, name, "t", {}, verdict, tuple(reads), tuple(writes))


def meet(one: CallPlan, other: CallPlan) -> bool:
    sides = [(key, False) for key in one.reads or ()], [(key, True) for key in one.writes or ()]
    others = [(k, False) for k in other.reads or ()], [(k, True) for k in other.writes or ()]
    return any(
        (writes or others_write) and keys_meet(key, other_key)
        for key, writes in (*sides[0], *sides[1])
        for other_key, others_write in (*others[0], *others[1])
    )


@given(st.lists(st.tuples(SIDES, SIDES), max_size=12))
def test_pairs_are_those_that_meet(keys: list[tuple[list[str], list[str]]]) -> None:
    calls = [made(index, *each) for index, each in enumerate(keys)]
    wanted = [
        (one, two)
        for two in range(len(calls))
        for one in range(two)
        if meet(calls[one], calls[two])
    ]
    pairs, count = meetings(calls)
    assert list(pairs) == wanted
    assert count == len(wanted)
    assert all(described(calls[one], calls[two]) is not None for one, two in pairs)
