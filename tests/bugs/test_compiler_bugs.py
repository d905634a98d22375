"""Faults that the plan makes visible or keeps away."""

from __future__ import annotations

from plan_makers import call, plan


def edits(count: int, *, keys: bool = True) -> list:
    writes = ["file:/w/guide.md"] if keys else None
    return [call(f"e{i}", tool="edit", args={"n": i}, writes=writes) for i in range(count)]


def test_b015_two_edits_of_one_file_wait_for_each_other() -> None:
    found = plan(*edits(2))
    (edge,) = found.why("e0", "e1")
    assert edge.causes == ("key file:/w/guide.md write",)
    assert found.beside("e0") == ()


def test_b016_without_the_key_rule_the_plan_shows_the_edits_side_by_side() -> None:
    found = plan(*edits(6, keys=False))
    assert found.beside("e0") == ("e1", "e2", "e3", "e4", "e5")
    assert found.why("e0", "e5") == ()
    assert "pool-1: 6 safe calls side by side\n" in str(found)


def test_b016_with_the_key_rule_six_edits_are_a_chain_in_call_order() -> None:
    found = plan(*edits(6))
    assert [(e.before, e.after) for e in found.why("e0", "e5")] == [
        (f"e{i}", f"e{i + 1}") for i in range(5)
    ]
    assert "pool-1: 6 safe calls side by side, 5 of them after others\n" in str(found)


def test_b025_two_moves_of_the_same_two_files_do_not_wait_for_each_other_in_a_circle() -> None:
    found = plan(
        call("m1", tool="move", writes=["file:/a", "file:/b"]),
        call("m2", tool="move", writes=["file:/b", "file:/a"]),
    )
    (edge,) = found.edges
    assert (edge.before, edge.after) == ("m1", "m2")
    assert edge.causes == ("key file:/a write", "key file:/b write")


def test_b031_a_read_waits_for_the_write_before_it() -> None:
    found = plan(
        call("w", tool="write", writes=["file:/out.txt"]),
        call("r", tool="read", reads=["file:/out.txt"]),
    )
    (edge,) = found.why("w", "r")
    assert edge.causes == ("key file:/out.txt read after write",)
    assert found.why("r", "w") == ()
