"""Walks over what waits for what, without recursion: plans may be deep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence


def in_order(names: Iterable[str], needs: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Names and all that they need, each after what it needs.

    Args:
        names: Where to start, in this order.
        needs: What each name needs directly; there is no circle.

    Yields:
        Each name once.
    """
    done: set[str] = set()
    for name in names:
        stack = [name]
        while stack:
            missing = [each for each in needs.get(stack[-1], ()) if each not in done]
            if missing:
                stack.extend(missing)
                continue
            found = stack.pop()
            if found not in done:
                done.add(found)
                yield found


def reached(name: str, behind: Mapping[str, Sequence[str]]) -> set[str]:
    """A name and everything that can be reached from it.

    Args:
        name: Where to start.
        behind: What stands directly behind each name.
    """
    seen, stack = {name}, [name]
    while stack:
        for other in behind.get(stack.pop(), ()):
            if other not in seen:
                seen.add(other)
                stack.append(other)
    return seen
