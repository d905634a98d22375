"""A list that knows how far it was read: where a step of a conversation was found.

`Format.steps` gives turns without their places, since most readers do not need them. Those who do
give it such a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload


class Watched(Sequence[Any]):
    """A list that knows which of its items was looked at last.

    Args:
        items: The items.
    """

    def __init__(self, items: list[Any]) -> None:
        self._items = items
        self.at = 0

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, int):
            self.at = index
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        for self.at, item in enumerate(self._items):  # noqa: B020  # the place is the point of it
            yield item
