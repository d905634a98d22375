"""What the format of a session log is: one value a module, as for wire formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolflow.formats.session.log import Log
from toolflow.model import Recording


@dataclass(frozen=True, slots=True)
class SessionFormat:
    """One kind of session log.

    Attributes:
        name: Its name, as in ``Recording.source`` and ``--format``.
        about: What it is recognised by, for the message that says what was looked for.
        recognise: Whether the first records of a log are of this kind. Positive evidence only.
        read: Reads a log; skips and counts what is broken.
    """

    name: str
    about: str
    recognise: Callable[[Sequence[Any]], bool]
    read: Callable[[Log], Recording]
