"""Owners by number: how the owners of one process are named in a log that others read.

Any hashable value may own a lease. Only this process knows its own; in the log they are numbers,
which stay the same as long as anything alive refers to them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable


class OwnerNumbers:
    """The numbers of the owners that are referred to."""

    def __init__(self) -> None:
        self._last = 0
        self._numbers: dict[Hashable, list[int]] = {}  # number, and how often it is referred to
        self._owners: dict[int, Hashable] = {}

    def take(self, owner: Hashable) -> int:
        """The number of an owner; it is kept until it has been given back as often."""
        entry = self._numbers.get(owner)
        if entry is None:
            self._last += 1
            entry = self._numbers[owner] = [self._last, 0]
            self._owners[self._last] = owner
        entry[1] += 1
        return entry[0]

    def give_back(self, owners: Iterable[Hashable]) -> None:
        """Let go of what was taken."""
        for owner in owners:
            entry = self._numbers[owner]
            entry[1] -= 1
            if not entry[1]:
                del self._numbers[owner], self._owners[entry[0]]

    def owner(self, number: int) -> Hashable | None:
        """The owner with a number, or ``None``."""
        return self._owners.get(number)
