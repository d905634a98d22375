"""Which starts are written before they happen, and which of them did not happen after all.

One write tells the start of a call and of all that follow it at once. These are the calls in the
queue, which have their permits. As long as every body ends with its first step, calls follow each
other within one turn of the event loop, pool after pool, and a write for each pool costs more than
its calls do. So while that lasts, more and more calls are written together that nothing keeps
waiting but a permit; in the next turn of the loop, those that were not entered are recalled. Until
then a process that dies leaves them as unknown, though their bodies were not entered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from toolflow.runtime.run import Run

FEWEST: Final = 8  # calls without a permit that are written ahead at first
MOST: Final = 64  # and at last; two turns of a worker


class StartsAhead:
    """The starts of one run.

    Args:
        run: The run.

    Attributes:
        written: Which calls' starts are written, by index.
        early: Calls without a permit that were written ahead, and may still be entered.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        calls = run.plan.calls
        waiting = [each for each in calls if each.reads or each.writes or each.terms.uses]
        # Whether no call waits for keys or resources.
        self._free = not (waiting or run.options.hooks or run.options.attempts)
        self.written = bytearray(len(calls))
        self.early: list[int] = []
        self._window = 0
        self._departures = -1  # of bodies, when the last group was written; none was yet

    def group(self, index: int) -> list[int]:
        """A call that is about to be entered, and those that follow it at once; they are marked.

        Args:
            index: The call; its start is not written.
        """
        self.written[index] = 1
        queued = self._marked(self._run.workers.queued)
        later = self._marked(self._following())
        self.early += later
        self._departures = self._run.workers.departures
        return [index, *queued, *later]

    def _following(self) -> range:
        """Calls without a permit that are to be written together with those that have one."""
        run = self._run
        quick = run.workers.departures == self._departures  # all of the last group ended at once
        self._window = min(MOST, max(FEWEST, 2 * self._window)) if quick else 0
        return run.scheduler.following(self._window)

    def _marked(self, calls: Iterable[int]) -> list[int]:
        """Those whose starts are not written and that wait for nothing but a permit; marked."""
        written = self.written
        found = [index for index in calls if not written[index]]
        if not self._free:
            found = [index for index in found if self._waits_for_nothing(index)]
        for index in found:
            written[index] = 1
        return found

    def _waits_for_nothing(self, index: int) -> bool:
        call = self._run.scheduler.calls[index]
        used = call.reads or call.writes or call.terms.uses
        return not used and index not in self._run.options.attempts

    def recall(self) -> list[int]:
        """Calls that were written ahead and are not entered at once after all."""
        run = self._run
        if run.workers.queued:
            return []  # calls are being entered: a worker only gave others a turn
        left = [index for index in self.early if run.records[index].started is None]
        for index in left:
            self.written[index] = 0
        self.early = []
        return left

    def forget(self) -> None:
        """Nothing was written."""
        self.written[:] = bytes(len(self.written))
        self.early = []
