"""The journal: a run written as it goes, so that nothing is lost when its process dies.

It is spec 10.1. ``disk`` and ``lock`` know the system, ``journal`` appends lines, ``run_writer``
and ``run_lines`` make them of a run, ``plan_line`` and ``ending`` know their forms; ``state``,
``turns`` and ``reading`` read them back, ``turn_stream`` turn by turn. What becomes of the calls of
a run that died is decided by `toolflow.recording.after_crash`, which knows no file.
"""

from toolflow.recording.journal.disk import Disk, FileDisk
from toolflow.recording.journal.journal import Durability, Journal
from toolflow.recording.journal.lock import is_written
from toolflow.recording.journal.opening import open_journal
from toolflow.recording.journal.reading import JournalContent, read_journal
from toolflow.recording.journal.results import result_of
from toolflow.recording.journal.segments import is_journal
from toolflow.recording.journal.turn_stream import JournalRecording
from toolflow.recording.journal.turns import JournalTurn

__all__ = [
    "Disk",
    "Durability",
    "FileDisk",
    "Journal",
    "JournalContent",
    "JournalRecording",
    "JournalTurn",
    "is_journal",
    "is_written",
    "open_journal",
    "read_journal",
    "result_of",
]
