"""Wire formats: a provider's messages become turns, and outcomes become messages again (spec 3)."""

from toolflow.formats.base import Format
from toolflow.formats.doctor import Report, examine
from toolflow.formats.document import read_document
from toolflow.formats.registry import (
    FORMATS,
    detect,
    read_stream,
    read_turn,
    read_turns,
    write_turn,
    written_ids,
)
from toolflow.formats.repair import Repaired, repair

__all__ = [
    "FORMATS",
    "Format",
    "Repaired",
    "Report",
    "detect",
    "examine",
    "read_document",
    "read_stream",
    "read_turn",
    "read_turns",
    "repair",
    "write_turn",
    "written_ids",
]
