"""What is wrong with a saved plan: faults with their path, so that they can be shown in place."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

Path = tuple[str | int, ...]

_LISTED = 12


class Fault(NamedTuple):
    """One thing that does not hold together.

    Attributes:
        path: Where in the document.
        message: A sentence.
        code: A short stable word for the kind.
    """

    path: Path
    message: str
    code: str = "invalid"


def known(names: Iterable[str], wanted: str) -> str:
    """What there is instead of an unknown name: near names, else the first of all.

    Args:
        names: All names there are.
        wanted: The name that is not among them.
    """
    listed = list(names)
    near = get_close_matches(wanted, listed, n=3)
    if near:
        return f"Did you mean {' or '.join(map(repr, near))}?"
    if not listed:
        return "There are none."
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    return f"There are {', '.join(map(repr, listed[:_LISTED]))}{more}."
