"""Rows of a pool."""

from __future__ import annotations

from itertools import pairwise

from toolflow.render.layout import rows_of


def names(count: int) -> list[str]:
    return [f"c{at}" for at in range(count)]


def test_calls_without_keys_stand_in_rows_in_call_order() -> None:
    assert rows_of(names(6), []) == [["c0", "c1", "c2", "c3"], ["c4", "c5"]]


def test_a_short_chain_runs_down_with_single_calls_beside_it() -> None:
    rows = rows_of(names(5), [("c1", "c3")])
    assert rows == [["c1", "c0", "c2", "c4"], ["c3"]]


def test_a_long_chain_is_folded_to_and_fro() -> None:
    chain = names(8)
    rows = rows_of(chain, pairwise(chain))
    assert rows == [["c0", "c1", "c2", "c3"], ["c7", "c6", "c5", "c4"]]


def test_the_last_row_of_a_folded_chain_starts_where_the_one_above_ends() -> None:
    chain = names(7)
    rows = rows_of(chain, pairwise(chain))
    assert rows == [["c0", "c1", "c2", "c3"], [None, "c6", "c5", "c4"]]


def test_a_wide_step_takes_several_rows_and_no_edge_leads_upwards() -> None:
    edges = [(f"c{at}", "c9") for at in range(9)]
    rows = rows_of(names(10), edges)
    assert [len(row) for row in rows] == [4, 4, 1, 1]
    assert rows[-1] == ["c9"]


def test_deeper_groups_come_first() -> None:
    rows = rows_of(names(5), [("c0", "c1"), ("c2", "c3"), ("c3", "c4")])
    assert rows == [["c2", "c0"], ["c3", "c1"], ["c4"]]


def test_every_name_stands_in_one_place_even_in_a_circle() -> None:
    rows = rows_of(names(4), [("c0", "c1"), ("c1", "c2"), ("c2", "c1")])
    assert sorted(name for row in rows for name in row if name) == names(4)


def test_a_long_chain_stays_a_tower_where_pictures_cannot_fold_it() -> None:
    rows = rows_of([*names(12), "x"], list(pairwise(names(12))), towers=True)
    assert [row[0] for row in rows] == names(12)
    assert rows[0] == ["c0", "x"]
