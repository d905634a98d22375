"""Key edges: who waits for whom inside a pool, with few edges (spec 5.2 and 5.4).

Two calls of a pool are ordered, in call order, when their keys meet and one of them writes. An
edge for every such pair would be quadratic, a transitive reduction over calls is quadratic as
well. Instead one sweep over the calls in call order keeps for every key what a later access must
still wait for; whatever is followed by something that every later access must wait for as well is
forgotten. For single keys that is the rule of readers and writers: a read waits for the last
write, a write for the reads since then, or else for the last write.

Tree keys add the directions up and down:

* An access waits for accesses of trees **above** it. Of writes above, only the last one counts.
  The reads above are gathered by ``Tree.above``, a conjunction that runs down the trees; a write
  makes it current on its own path. A later read of one of these trees follows that write, so it
  stands for everything gathered at and below that tree: what is made is never made twice.
* An access of a tree waits for accesses **below** it. Writes are gathered by ``Tree.below``, a
  conjunction that runs up the trees; a read of the tree makes it current for all trees below. A
  later write below follows that read, so it stands for everything that was gathered. A write of a
  tree follows everything below once and for all, so it takes plain edges and nothing is kept.

A conjunction of one vertex is that vertex; one of several is a gate. Every access is gathered at
most once in each direction, so edges grow with the number of accesses. Gates that save no edge
are taken out again by `gates.settle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolflow.compiler.forest import Forest, Item, Point, Tree
from toolflow.model.batch import CallPlan


@dataclass(slots=True)
class Joint:
    """A gate in the making.

    Attributes:
        key: The tree key at which it gathers.
        items: What must have settled before it opens.
        at: The index of the call for which it was made.
    """

    key: str
    items: list[Item]
    at: int


Wait = tuple[Item, Item]
"""What is waited for, and the call that waits, with the key and the mode that make it wait."""


@dataclass(slots=True)
class Sweep:
    """The waits of all pools of a turn, in call order, and the gates made for them."""

    waits: list[Wait] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)

    def pool(self, calls: Sequence[CallPlan]) -> None:
        """Find the waits among the calls of one pool.

        Args:
            calls: The safe calls of the pool, in call order.
        """
        keyed = [(call.index, *_accesses(call)) for call in calls if call.reads or call.writes]
        if len(keyed) < 2:
            return
        forest = Forest(
            [key for call in calls for key in (*(call.reads or ()), *(call.writes or ()))]
        )
        for index, reads, writes in keyed:
            own_reads = [(*forest.find(key), Item(index, key, "read")) for key in reads]
            own_writes = [(*forest.find(key), Item(index, key, "write")) for key in writes]
            # All questions come before any change: a call does not wait for itself.
            for place, over, own in own_reads:
                self.waits += [(item, own) for item in self._before_read(place, over, index)]
            for place, over, own in own_writes:
                self.waits += [(item, own) for item in self._before_write(place, over, index)]
            for place, _, own in own_writes:
                _note_write(place, own)
            for place, over, own in own_reads:
                _note_read(place, over, own)

    def _before_read(self, place: Tree | Point, over: list[Tree], now: int) -> Sequence[Item]:
        """What a read must wait for: the last write above, or the writes below since then."""
        last = _last_write(place, over)
        if isinstance(place, Tree) and place.last > (last.vertex if last else -1):
            return (self._writes_below(place, now),)
        return (last,) if last else ()

    def _before_write(self, place: Tree | Point, over: list[Tree], now: int) -> Sequence[Item]:
        """What a write must wait for: everything that it meets since the last write above."""
        above, above_at = self._reads_above(over, now) if over else (None, -1)
        last = _last_write(place, over)
        followed = last.vertex if last else -1
        if isinstance(place, Tree):
            items = _take_below(place)
            followed = max(followed, place.last)
        else:
            items = place.reads
            place.reads = []
        if above and above_at > followed:
            items.append(above)
        return items or ((last,) if last else ())

    def _reads_above(self, over: list[Tree], now: int) -> tuple[Item | None, int]:
        """The conjunction of the reads of all trees over a place, made current."""
        above, above_at = None, -1
        for tree in over:
            if tree.reads:
                items, tree.reads = tree.reads, []
                # A read that came after a write that followed all from above stands for it.
                if above is not None and above_at > tree.reads_seen:
                    items.append(above)
                tree.above, tree.above_at = self._join(tree, items, now), now
            if tree.above is not None and tree.above_at >= above_at:
                above, above_at = tree.above, tree.above_at
        return above, above_at

    def _writes_below(self, tree: Tree, now: int) -> Item:
        """The conjunction of the writes at or below a tree, made current for all trees below."""
        stale, stack = [], [tree]
        while stack:
            place = stack.pop()
            if place.written:
                stale.append(place)
                stack.extend(child for child in place.written if isinstance(child, Tree))
        for place in reversed(stale):
            ends = [c.below if isinstance(c, Tree) else c.write for c in place.written]
            place.below = self._join(place, [end for end in ends if end is not None], now)
            place.written = {}
        assert tree.below is not None
        return tree.below

    def _join(self, tree: Tree, items: list[Item], now: int) -> Item:
        if len(items) == 1:
            return items[0]
        self.joints.append(Joint(tree.key, items, now))
        return Item(~(len(self.joints) - 1), tree.key, items[0].mode)


def _accesses(call: CallPlan) -> tuple[list[str], list[str]]:
    """The keys that a call reads and those that it writes; a key in both counts as written."""
    if not call.writes:
        return sorted(set(call.reads or ())), []
    writes = set(call.writes)
    return sorted(set(call.reads or ()) - writes), sorted(writes)


def _last_write(place: Tree | Point, over: list[Tree]) -> Item | None:
    last = place.write
    for tree in over:
        if tree.write and (last is None or tree.write.vertex > last.vertex):
            last = tree.write
    return last


def _take_below(top: Tree) -> list[Item]:
    """Everything at or below a tree that a write of it must still follow; it is forgotten then."""
    items: list[Item] = []
    stack = [(top, False, False)]
    while stack:
        tree, wrote, covered = stack.pop()
        # Reads of a tree follow all writes below it: else those would have taken the reads.
        covered = covered or bool(tree.reads)
        items += tree.reads
        if wrote and not covered and not tree.written and tree.below:
            items.append(tree.below)
        for child in tree.written:
            if isinstance(child, Tree):
                stack.append((child, True, covered))
            elif child.write and not child.reads and not covered:
                items.append(child.write)
        for child in tree.read:
            if not isinstance(child, Tree):
                items += child.reads
                child.reads = []
            elif child not in tree.written:
                stack.append((child, False, covered))
        tree.reads, tree.written, tree.read = [], {}, {}
    return items


def _note_write(place: Tree | Point, own: Item) -> None:
    place.write = own
    if isinstance(place, Tree):
        place.below, place.last = own, own.vertex
    child, tree = place, place.parent
    while tree is not None:
        tree.written[child] = None
        tree.last = own.vertex
        child, tree = tree, tree.parent


def _note_read(place: Tree | Point, over: list[Tree], own: Item) -> None:
    place.reads.append(own)
    if isinstance(place, Tree):
        last = _last_write(place, over)
        place.reads_seen = max(place.last, last.vertex if last else -1)
    child, tree = place, place.parent
    while tree is not None:
        tree.read[child] = None
        child, tree = tree, tree.parent
