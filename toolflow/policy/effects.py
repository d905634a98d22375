"""What a command line does, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

EVERYTHING: Final = "/"  # stands for paths that cannot be told: its tree covers every file
ONLY_READS: Final = "Every part of the line only reads."


@dataclass(frozen=True, slots=True)
class ShellEffects:
    """What a command line reads and writes, as far as it can be told without running it.

    Attributes:
        reads_only: Whether every part of the line is known to only read. Exactly ``True`` or
            ``False``; whatever is not fully understood is ``False``.
        reads: The paths that it reads, as they are written, after ``cd`` in the line. A folder
            stands for all below it. ``/`` is among them where they cannot all be told.
        writes: The paths that it writes, removes or changes, in the same way.
        unknown: One sentence for each thing that cannot be told, and where it stands.
        reason: One sentence: which part of the line writes or is not understood, or that every
            part only reads.
    """

    reads_only: bool
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    reason: str = ONLY_READS
