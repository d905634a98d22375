"""Wire formats: a provider's messages become turns, and outcomes become messages again (spec 3)."""

from toolflow.formats.base import Format
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

__all__ = [
    "FORMATS",
    "Format",
    "detect",
    "read_document",
    "read_stream",
    "read_turn",
    "read_turns",
    "write_turn",
    "written_ids",
]
