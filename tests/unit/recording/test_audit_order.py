"""Which calls were open at once, and which began after one that they could have overlapped."""

from __future__ import annotations

import pytest

from toolflow.compiler import Plan, compile_plan
from toolflow.formats import read_turn
from toolflow.policy import load_policy
from toolflow.recording.audit.order import SHOWN, Span, at_once, held_up
from toolflow.recording.audit.values import Serial

RULES = [
    {"tool": "w", "safe": True, "writes": ["{{ args.k }}"]},
    {"tool": "s", "safe": True, "reads": [], "writes": []},
    {"tool": "r", "safe": True, "reads": ["{{ args.k }}"]},
]


def plan(words: str) -> Plan:
    """A plan of calls such as ``w:a`` (writes a), ``s`` (touches nothing), ``x`` (exclusive)."""
    calls = []
    for at, word in enumerate(words.split()):
        tool, _, key = word.partition(":")
        calls.append({"id": f"c{at}", "tool": tool, "args": {"k": key} if key else {}})
    policy = load_policy({"version": 1, "rules": RULES})
    return compile_plan(policy.classify(read_turn({"calls": calls})))


@pytest.mark.parametrize(
    ("one", "other", "known"),
    [
        ((0, 2), (1, 3), True),
        ((1, 3), (0, 2), True),
        ((0, 3), (1, 2), True),
        ((0, 1), (2, 3), False),
        ((2, 3), (0, 1), False),
        ((0, 1), (1, 2), None),
        ((1, 1), (1, 1), None),
        (None, (0, 1), None),
        ((0, 1), None, None),
    ],
)
def test_at_once(one: Span | None, other: Span | None, known: bool | None) -> None:
    assert at_once(one, other) is known


def test_a_call_that_began_after_another_had_ended_was_held_up() -> None:
    assert held_up(plan("s s s"), [(0, 1), (2, 3), (0.5, 3)]) == ((Serial(1, 0),), 1)


def test_where_one_began_as_the_other_ended_nobody_knows() -> None:
    assert held_up(plan("s s"), [(0, 1), (1, 2)]) == ((), 0)


def test_a_call_that_must_wait_was_not_held_up() -> None:
    assert held_up(plan("w:a w:a w:a"), [(0, 1), (2, 3), (4, 5)]) == ((), 0)


def test_calls_ordered_through_a_third_one_were_not_held_up() -> None:
    # The last write waits for the reads, which wait for the first write.
    spans: list[Span | None] = [(0, 1), (2, 3), (2, 3), (4, 5)]
    assert held_up(plan("w:a r:a r:a w:a"), spans) == ((), 0)


def test_a_call_beside_a_chain_was_held_up_by_it() -> None:
    spans: list[Span | None] = [(0, 1), (2, 3), (4, 5)]
    assert held_up(plan("w:a w:a w:b"), spans) == ((Serial(2, 0),), 1)


def test_calls_behind_a_barrier_were_not_held_up() -> None:
    assert held_up(plan("s x s"), [(0, 1), (2, 3), (4, 5)]) == ((), 0)


def test_calls_that_ran_in_the_other_order_were_not_held_up_by_what_follows_them() -> None:
    assert held_up(plan("w:a w:a"), [(2, 3), (0, 1)]) == ((), 0)


def test_without_times_nothing_is_told() -> None:
    assert held_up(plan("s s"), [None, (2, 3)]) == ((), 0)
    assert held_up(plan("s s"), [None, None]) == ((), 0)


def test_a_call_without_times_beside_others_does_not_count() -> None:
    assert held_up(plan("s s s"), [(0, 1), None, (2, 3)]) == ((Serial(2, 0),), 1)


def test_all_are_counted_and_the_first_are_listed() -> None:
    spans: list[Span | None] = [(2 * at, 2 * at + 1) for at in range(300)]
    found, count = held_up(plan("s " * 300), spans)
    assert count == 299
    assert len(found) == SHOWN
    assert found[-1] == Serial(SHOWN, 0)
