"""Pairs of calls of one turn whose keys meet.

A set of calls is an integer with a bit a call. So all pairs are counted at once, key by key, and
only those that are listed are looked at one by one: a turn in which all calls write one file has
half as many pairs as its calls squared, and counting them takes no time. Sets as such, or a list of
pairs, were the alternatives; both grow with the pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from toolflow.model.batch import CallPlan
from toolflow.model.keys import TREE, covers, is_tree, keys_meet, trees_above
from toolflow.recording.audit.values import Access, Meeting

LISTED = 1000
"""How many pairs of one turn are listed; all are counted."""
LARGEST = 20_000
"""Of how many calls a turn may be for its pairs to be looked at: bits take memory."""
_LOOKED_AT = 4096  # pairs of keys, for calls with many of them
_FEW = 32  # trees that are tried one by one


def meetings(
    calls: Sequence[CallPlan], most: int = LISTED
) -> tuple[tuple[tuple[int, int], ...], int]:
    """The pairs of calls that meet.

    Args:
        calls: The calls of a turn, in call order.
        most: How many pairs are listed.

    Returns:
        The first pairs, as indexes, by the later call and then the earlier one; and how many pairs
        there are.
    """
    keyed = [call for call in calls if call.verdict.kind != "settled" and _keys(call)]
    if len(keyed) < 2 or len(calls) > LARGEST:
        return (), 0
    index, count = _Index(key for call in keyed for key in _keys(call)), 0
    found: list[tuple[int, int]] = []
    for call in keyed:
        if earlier := index.met_by(call):
            count += earlier.bit_count()
            room = most - len(found)
            found += [(first, call.index) for first in islice(bits(earlier), room)]
        index.add(call)
    return tuple(found), count


def described(first: CallPlan, second: CallPlan) -> Meeting | None:
    """Through which keys two calls meet.

    Of several, one key goes before a tree, what is known before everything, two writes before one.

    Args:
        first: The earlier call.
        second: The later call.
    """
    pairs = ((a, b) for a in _accesses(first) for b in _accesses(second))
    found = (
        Meeting(first.index, second.index, key, other, (access, other_access))
        for (key, access), (other, other_access) in islice(pairs, _LOOKED_AT)
        if "write" in (access, other_access) and keys_meet(key, other)
    )
    return min(found, key=_rank, default=None)


def _rank(found: Meeting) -> tuple[bool, bool, bool]:
    vague = is_everything(found.key) or is_everything(found.other)
    return found.key != found.other, vague, not found.both_write


def is_everything(key: str) -> bool:
    """Whether a key stands for all there is of a kind: what calls get of which nobody knows more.

    Args:
        key: A lock key, such as ``file:/**``.
    """
    return is_tree(key) and not key.removesuffix(TREE).rpartition(":")[2].strip("/")


def bits(members: int) -> Iterator[int]:
    """The members of a set that is kept as bits, ascending."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def _keys(call: CallPlan) -> tuple[str, ...]:
    return (*(call.writes or ()), *(call.reads or ()))


def _accesses(call: CallPlan) -> list[tuple[str, Access]]:
    writes: list[tuple[str, Access]] = [(key, "write") for key in call.writes or ()]
    return [*writes, *((key, "read") for key in call.reads or ())]


class _Index:
    """Who did what to which key so far. Mutable; lives for one turn."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._all: defaultdict[str, int] = defaultdict(int)  # who reads or writes a key
        self._writers: defaultdict[str, int] = defaultdict(int)
        self._all_below: defaultdict[str, int] = defaultdict(int)  # the same below a tree key
        self._writers_below: defaultdict[str, int] = defaultdict(int)
        distinct = dict.fromkeys(keys)
        trees = dict.fromkeys(filter(is_tree, distinct))
        self._over = {key: _over(key, trees) for key in distinct} if trees else {}

    def met_by(self, call: CallPlan) -> int:
        """The calls before this one that it meets."""
        found = 0
        for key, access in _accesses(call):
            exact, below = (
                (self._all, self._all_below)
                if access == "write"
                else (self._writers, self._writers_below)
            )
            found |= exact.get(key, 0) | below.get(key, 0)
            for tree in self._over.get(key, ()):
                found |= exact.get(tree, 0)
        return found

    def add(self, call: CallPlan) -> None:
        """Take a call, which later ones may meet."""
        own = 1 << call.index
        for key, access in _accesses(call):
            over = self._over.get(key, ())
            self._note(self._all, self._all_below, key, over, own)
            if access == "write":
                self._note(self._writers, self._writers_below, key, over, own)

    @staticmethod
    def _note(
        exact: dict[str, int], below: dict[str, int], key: str, over: Sequence[str], own: int
    ) -> None:
        exact[key] |= own
        for tree in over:
            below[tree] |= own


def _over(key: str, trees: dict[str, None]) -> tuple[str, ...]:
    """The tree keys that cover a key and are not the key itself."""
    if len(trees) <= _FEW:
        return tuple(tree for tree in trees if tree != key and covers(tree, key))
    return tuple(tree for tree in trees_above(key) if tree in trees)
