"""What a reader remembers by name, in bounded memory: the latest so many names."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

LIMIT = 65_536
"""How many names are remembered; a log has one for each line at most."""
T = TypeVar("T")


class Recent(OrderedDict[str, T]):
    """Values by name. The oldest is forgotten when there are more than `LIMIT`.

    Attributes:
        forgot: Whether one was forgotten: then a name that is not here may have been.
    """

    def __init__(self) -> None:
        super().__init__()
        self.forgot = False

    def remember(self, name: str, value: T) -> None:
        """Remember a value; one of the same name is replaced."""
        self[name] = value
        if len(self) > LIMIT:
            self.popitem(last=False)
            self.forgot = True
