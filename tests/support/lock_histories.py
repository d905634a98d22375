"""For random histories of a lock table: keys, and a run with turns, calls and nested calls."""

from __future__ import annotations

from hypothesis import strategies as st

KEYS = ["x", "y", "d", "d/f", "d/s/f", "d/s/**", "d/**"]
PARENTS = {
    "run": None,
    "t1": "run",
    "t2": "run",
    "a": "t1",
    "b": "t1",
    "c": "t2",
    "a1": "a",
    "a2": "a",
    "a11": "a1",
    "c1": "c",
}
CALLS = [owner for owner in PARENTS if owner not in {"run", "t1", "t2"}]
some_keys = st.lists(st.sampled_from(KEYS), max_size=2)


def ancestors(owner: str) -> tuple[str, ...]:
    """The owners above one, nearest first."""
    found = []
    parent = PARENTS[owner]
    while parent is not None:
        found.append(parent)
        parent = PARENTS[parent]
    return tuple(found)
