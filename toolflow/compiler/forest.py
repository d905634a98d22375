"""What the calls of one pool did so far to each key, and how the keys lie below each other.

The tree keys of a pool form a forest: a tree key lies below every tree key that covers it. Each
other key is a point below the nearest tree key that covers it. The state kept at trees and points
is what `key_edges` needs to give each access few edges; its rules are told there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from toolflow.compiler.causes import Mode
from toolflow.model.keys import TREE


class Item(NamedTuple):
    """A vertex that something may have to wait for, and what it did.

    Attributes:
        vertex: The index of a call, or ``~n`` for the n-th gate.
        key: The key through which it is met.
        mode: What it does with the key; for a gate, what those before it do.
    """

    vertex: int
    key: str
    mode: Mode


class Point:
    """A key that is no tree key.

    Attributes:
        parent: The nearest tree that covers it, or ``None``.
        write: The last write of it.
        reads: The reads of it since, not yet followed by a write.
    """

    __slots__ = ("parent", "reads", "write")

    def __init__(self, parent: Tree | None) -> None:
        self.parent = parent
        self.write: Item | None = None
        self.reads: list[Item] = []


class Tree:
    """A tree key.

    Attributes:
        key: The tree key.
        parent: The nearest other tree that covers it, or ``None``.
        write: The last write of the whole tree.
        reads: The reads of the whole tree since, not yet followed by a write at or below it.
        reads_seen: The last call that wrote here, above or below before the newest of the reads.
        above: The conjunction of the reads of this tree and of those above it, as of ``above_at``.
        above_at: The index of the call for which ``above`` was made, or -1.
        below: The conjunction of the writes at or below this tree, if nothing is in ``written``.
        written: The children at or below which something was written since ``below`` was made.
        read: The children at or below which something may have been read and not yet followed.
        last: The index of the last call that wrote at or below this tree, or -1.
    """

    __slots__ = (
        "above",
        "above_at",
        "below",
        "key",
        "last",
        "parent",
        "read",
        "reads",
        "reads_seen",
        "write",
        "written",
    )

    def __init__(self, key: str) -> None:
        self.key = key
        self.parent: Tree | None = None
        self.write: Item | None = None
        self.reads: list[Item] = []
        self.reads_seen = -1
        self.above: Item | None = None
        self.above_at = -1
        self.below: Item | None = None
        self.written: dict[Tree | Point, None] = {}
        self.read: dict[Tree | Point, None] = {}
        self.last = -1


class Forest:
    """The keys of one pool.

    Args:
        keys: Every key that a call of the pool takes; doubled ones count once.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._places: dict[str, Tree | Point] = {}
        # Dictionaries by the parts of a path; "/" cannot be a part, so it holds the tree that ends
        # there. One walk a key: linear in the key's length.
        self._root: dict[str, Any] = {}
        for key in keys:
            if key.endswith(TREE) and key not in self._places:
                self._plant(key)
        for key, place in self._places.items():
            place.parent = self._cover(key[: -len(TREE)], place)

    def find(self, key: str) -> tuple[Tree | Point, list[Tree]]:
        """Where a key stands.

        Args:
            key: One of the keys given at the start.

        Returns:
            Its tree or point, and the trees that cover that, the widest first.
        """
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = Point(self._cover(key, None) if self._root else None)
        over: list[Tree] = []
        tree = place.parent
        while tree is not None:
            over.append(tree)
            tree = tree.parent
        over.reverse()
        return place, over

    def _plant(self, key: str) -> None:
        level = self._root
        for part in key[: -len(TREE)].split("/"):
            level = level.setdefault(part, {})
        level["/"] = self._places[key] = Tree(key)

    def _cover(self, path: str, own: Tree | Point | None) -> Tree | None:
        """The nearest tree at or above a path, other than its own."""
        level: Any = self._root
        nearest: Tree | None = None
        for part in path.split("/"):
            level = level.get(part)
            if level is None:
                break
            tree = level.get("/")
            if tree is not None and tree is not own:
                nearest = tree
        return nearest
