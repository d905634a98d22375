"""Lock keys: strings that name resources, and the one question of them: do two meet? See spec 4.5.

A key is any text without ``**``, such as ``file:/repo/a.py`` or ``session-goal``. A **tree key**
ends in ``/**`` and stands for everything below: ``file:/repo/src/**`` covers ``file:/repo/src``
itself, ``file:/repo/src/a/b.c`` and ``file:/repo/src/a/**``, but not ``file:/repo/src2/a``.
"""

from __future__ import annotations

from collections.abc import Iterator

TREE = "/**"


def is_tree(key: str) -> bool:
    """Whether a key stands for everything below it."""
    return key.endswith(TREE)


def covers(tree: str, key: str) -> bool:
    """Whether a tree key covers another key (a tree covers itself).

    Args:
        tree: Any key; one that is no tree key covers nothing.
        key: Any key.
    """
    if not tree.endswith(TREE):
        return False
    base = tree[:-3]
    return key in (base, tree) or key.startswith(base + "/")


def keys_meet(a: str, b: str) -> bool:
    """Whether two keys name something in common: equal, or one is a tree that covers the other."""
    return a == b or covers(a, b) or covers(b, a)


def trees_above(key: str) -> Iterator[str]:
    """Every tree key that covers a key and is not the key itself, nearest first.

    Args:
        key: Any key. ``file:/a/b`` gives ``file:/a/b/**``, ``file:/a/**``, ``file:/**``.
    """
    base = key
    if key.endswith(TREE):
        base = key[:-3]
    else:
        yield base + TREE
    cut = base.rfind("/")
    while cut >= 0:
        yield base[:cut] + TREE
        cut = base.rfind("/", 0, cut)
