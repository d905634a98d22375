"""Which pairs of calls of a turn meet, and how many."""

from __future__ import annotations

from toolflow.formats import read_turn
from toolflow.model import CallPlan
from toolflow.model.batch import Verdict
from toolflow.policy import load_policy
from toolflow.recording.audit.meeting import LARGEST, described, meetings


def call(index: int, reads: str = "", writes: str = "", kind: str = "safe") -> CallPlan:
    keys = tuple(reads.split()), tuple(writes.split())
    verdict = Verdict(kind, "for a test")
    return CallPlan(index, f"c{index}", f"c{index}", "t", {}, verdict, *keys)


def test_reads_of_one_key_do_not_meet() -> None:
    assert meetings([call(0, "a"), call(1, "a")]) == ((), 0)


def test_a_write_meets_reads_and_writes_of_its_key() -> None:
    calls = [call(0, "a"), call(1, "", "a"), call(2, "", "a"), call(3, "a b")]
    assert meetings(calls) == (((0, 1), (0, 2), (1, 2), (1, 3), (2, 3)), 5)


def test_a_pair_that_meets_in_two_keys_counts_once() -> None:
    assert meetings([call(0, "", "a b"), call(1, "", "a b")]) == (((0, 1),), 1)


def test_a_tree_meets_what_lies_below_it_and_other_trees() -> None:
    calls = [
        call(0, "d/**"),
        call(1, "", "d/x"),
        call(2, "", "d"),
        call(3, "", "dx"),
        call(4, "", "d/e/**"),
    ]
    assert meetings(calls) == (((0, 1), (0, 2), (0, 4)), 3)


def test_with_many_trees_the_same_is_found() -> None:
    calls = [call(at, f"d/{at}/**") for at in range(50)]
    calls += [call(50, "", "d/7/x"), call(51, "", "d/**")]
    pairs, count = meetings(calls)
    assert pairs[0] == (7, 50)
    assert count == 52


def test_an_exclusive_call_meets_others_and_a_settled_one_does_not() -> None:
    calls = [call(0, "", "a"), call(1, "", "a", "exclusive"), call(2, "", "a", "settled")]
    assert meetings(calls) == (((0, 1),), 1)


def test_all_pairs_are_counted_and_some_are_listed() -> None:
    calls = [call(at, "", "a") for at in range(300)]
    pairs, count = meetings(calls, most=3)
    assert pairs == ((0, 1), (0, 2), (1, 2))
    assert count == 300 * 299 // 2


def test_a_turn_that_is_too_large_is_left_out() -> None:
    calls = [call(0, "", "a"), call(1, "", "a")] * (LARGEST // 2 + 1)
    assert meetings(calls) == ((), 0)


def test_a_meeting_tells_keys_and_accesses() -> None:
    found = described(call(0, "b d/**", ""), call(1, "b", "d/x"))
    assert found is not None
    assert (found.key, found.other, found.accesses) == ("d/**", "d/x", ("read", "write"))
    assert not found.both_write
    assert described(call(0, "b"), call(1, "b")) is None


def test_two_writes_are_told_before_a_read() -> None:
    found = described(call(0, "", "a b"), call(1, "a", "b"))
    assert found is not None
    assert (found.key, found.accesses) == ("b", ("write", "write"))


def test_calls_of_a_policy_meet_by_their_keys() -> None:
    rules = [{"tool": "w", "safe": True, "writes": ["{{ args.k }}"]}]
    turn = read_turn({"calls": [{"id": k, "tool": "w", "args": {"k": k[0]}} for k in ("a", "ab")]})
    batch = load_policy({"version": 1, "rules": rules}).classify(turn)
    assert meetings(batch.calls) == (((0, 1),), 1)


def test_what_is_known_is_told_before_what_stands_for_everything() -> None:
    one = call(0, "", "file:/** shell:main", "exclusive")
    found = described(one, call(1, "shell:main", "file:/**", "exclusive"))
    assert found is not None
    assert (found.key, found.accesses) == ("shell:main", ("write", "read"))
