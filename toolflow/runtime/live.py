"""The tool set while a run goes on: calls that have not started go by what is there now (spec 6.4).

Whoever changes the tools need not tell: the toolbox counts its changes, and the run looks at the
count whenever something happens. A call that is settled by a change while something is under way
for it (a before-hook, a wait for keys) is noted as doomed, and settles when that has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.runtime.record import settled_outcome
from toolflow.scheduler.decisions import ACQUIRING, PREPARING, READY, WAITING

if TYPE_CHECKING:
    from toolflow.runtime.run import Run


class LiveTools:
    """Keeps the calls of one run true to its tools.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.version = run.tools.version  # of the tools that the calls were last looked at with
        self._doomed: dict[int, Outcome] = {}

    def look(self) -> None:
        """Classify calls that have not started again, since the tools have changed."""
        self.version = self._run.tools.version
        for index, phase in enumerate(self._run.scheduler.phase):
            if phase in {WAITING, PREPARING, READY, ACQUIRING}:
                self._look_at(index, phase)

    def gave_up(self, index: int) -> None:
        """A call gave up its place in the queues."""
        if not self.settled(index):
            self._run.scheduler.gave_up(index)

    def prepared(
        self, index: int, call: CallPlan | None = None, *, ask_again: bool = False
    ) -> None:
        """A before-hook is done; see `Scheduler.prepared`."""
        if not self.settled(index):
            self._run.scheduler.prepared(index, call, ask_again=ask_again)

    def settled(self, index: int) -> bool:
        """Settle a call that a change of the tools has doomed.

        Returns:
            Whether it was one.
        """
        outcome = self._doomed.pop(index, None)
        if outcome is None:
            return False
        self._run.refuse(index, outcome, hooked=False)
        return True

    @property
    def any_doomed(self) -> bool:
        """Whether some call is doomed: hardly ever, so it is asked before all else."""
        return bool(self._doomed)

    def _look_at(self, index: int, phase: int) -> None:
        run = self._run
        call = run.scheduler.calls[index]
        fresh = run.reclassified(call)
        if call.verdict.kind == "settled":
            return
        if fresh.verdict.kind == "settled":
            self._doomed[index] = settled_outcome(fresh)
            if phase == ACQUIRING:
                run.cancel(index)
            elif phase != PREPARING:
                self.settled(index)
        elif fresh != call:
            self._doomed.pop(index, None)
            run.scheduler.changed(index, fresh)
            if fresh.ask is None:
                run.asking.forget(index)
        else:  # nothing to decide anew, but it was parsed for the tool that is there now
            self._doomed.pop(index, None)
            run.scheduler.calls[index] = fresh
