"""What the readers of long lists hand to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolflow.errors import Problem
from toolflow.yamlio.document import Spot


class FoundError(Exception):
    """Something is wrong with a document that is read item by item.

    Args:
        problems: What is known of it so far, in text order.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__()
        self.problems = problems


class NoListError(Exception):
    """What was read of a document has no such list, and it is too much to read on."""


class Item(NamedTuple):
    """One item of a list.

    Attributes:
        value: Its value.
        spot: The places in it: a spot, or what `json_spots` needs for one.
        text: Its text, perhaps with some around it.
    """

    value: Any
    spot: Spot
    text: str


class Head(NamedTuple):
    """A mapping without the items of its list.

    Attributes:
        value: Its keys with their values; the list is empty.
        spot: The places in it.
        text: Its text; empty where that is in several places.
    """

    value: dict[str, Any]
    spot: Spot
    text: str
