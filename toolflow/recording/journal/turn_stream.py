"""The recording of a journal, turn by turn: what has ended is given out and not kept.

A journal says last what a recording says first (the policy of the last turn), so it is read once
for that, and then as often as its turns are asked for.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

from toolflow.errors import Problem
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.turn import Notice
from toolflow.recording.journal.reading import Reading, read_lines, source_of
from toolflow.recording.journal.recorded import recorded_turn
from toolflow.recording.journal.turns import JournalTurn
from toolflow.recording.turn_reader import TurnSource
from toolflow.recording.writing import save_turns


class JournalRecording(TurnSource):
    """The turns of a journal as a recording holds them, each made when it is asked for.

    Iterating begins with the first turn. Turns come in the order in which they began; in memory are
    those that have begun and not ended, and those behind them.

    Args:
        path: The journal's first file.

    Attributes:
        path: The journal's first file.
        head: The recording without turns and notices.

    Raises:
        JournalError: If it is not there, cannot be read, or is no journal.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._begin()
        for _ in read_lines(self.path, self._reading):
            for _ in self._reading.over_turns():
                pass
        found = self._reading
        policy, digest = found.policies.get(found.digest), found.digest
        self.head = Recording((), source_of(found.about), policy, digest)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was odd in the lines read so far; of all of them before the first turn."""
        return tuple(self._reading.notices)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The notices as problems."""
        return tuple(Problem(each.message, str(self.path), each.line) for each in self.notices)

    def save(self, path: str | Path) -> int:
        """Write the recording to a file, turn by turn.

        Args:
            path: The file; what was in it is replaced in one step. A name that ends in ``.json``
                gives JSON.

        Returns:
            How many turns were written.

        Raises:
            JournalError: If the facts of a turn cannot be read.
            RecordingError: If the file cannot be written; what was in it is still there.
        """
        return save_turns(iter(self), lambda: replace(self.head, notices=self.notices), path)

    def _begin(self) -> None:
        self._reading = Reading()

    def _read(self) -> Generator[RecordedTurn]:
        reading = self._reading
        for _ in read_lines(self.path, reading):
            for state in reading.over_turns():
                yield recorded_turn(JournalTurn(state))
        for state in reading.turns.values():
            yield recorded_turn(JournalTurn(state))
