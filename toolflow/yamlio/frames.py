"""What the builder keeps of lists and mappings while it reads them."""

from __future__ import annotations

from typing import Any, Final

from toolflow.yamlio.document import Spot

NO_KEY: Final = object()  # the mapping waits for a key


class Frame:
    """A list or mapping that is still open."""

    __slots__ = (
        "anchor",
        "before",
        "height",
        "key",
        "key_mark",
        "mapping",
        "merges",
        "spot",
        "value",
    )

    def __init__(self, *, mapping: bool, at: int, anchor: str | None, before: int) -> None:
        self.mapping = mapping
        self.value: Any = {} if mapping else []
        self.spot: Spot = {None: at} if mapping else [at]
        self.key: Any = NO_KEY
        self.key_mark = 0
        self.anchor = anchor
        self.before = before  # nodes seen before this one was opened
        self.height = 1
        self.merges: list[tuple[Any, Spot]] = []


class Anchored:
    """A finished value that aliases may name."""

    __slots__ = ("height", "size", "spot", "value")

    def __init__(self, value: Any, spot: Spot, size: int, height: int) -> None:
        self.value = value
        self.spot = spot
        self.size = size
        self.height = height
