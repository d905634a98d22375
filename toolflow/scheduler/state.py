"""The state of a run: where each call is, what is open, and how it changes with one call.

See `toolflow.scheduler.scheduler` for the rules; `toolflow.scheduler.walk` decides what is next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from toolflow.model.batch import CallPlan
from toolflow.model.plan import PlanData
from toolflow.scheduler.decisions import (
    ACQUIRING,
    AFTER,
    ASKING,
    DONE,
    PREPARING,
    READY,
    WAITING,
    Decision,
    DecisionKind,
)
from toolflow.scheduler.starts import StartQueue
from toolflow.scheduler.waits import Waits, calls_meet


class State:
    """The state of a run; `Walk` adds the walk through it, `Scheduler` the facts.

    The arguments are those of `Scheduler`.
    """

    def __init__(
        self,
        plan: PlanData,
        *,
        hooks: bool = False,
        approver: bool = False,
        pausable: bool = False,
        stops: Iterable[int] = (),
        passed: Iterable[int] = (),
        approved: Iterable[int] = (),
        settled: Mapping[int, bool] | None = None,
        failed: Iterable[int] = (),
        prepared: Iterable[int] = (),
        asking: Iterable[int] = (),
    ) -> None:
        self.calls: list[CallPlan] = list(plan.calls)
        self.phase: list[int] = [WAITING] * len(self.calls)
        self.stop_point = -1  # the call at which the run stops, or -1
        self._hooks = hooks
        self._approver = approver
        self._pausable = pausable
        self._approvals_first = plan.approvals == "first"
        self._stops = frozenset(stops)
        self._passed = frozenset(passed)
        self._approved = set(approved)
        self._exclusive = [call.verdict.kind == "exclusive" for call in self.calls]
        self._waits = Waits(plan, self.calls)
        self._starts = StartQueue(self.calls, plan.limits)
        self.decided: list[Decision] = []  # what `take` gives
        self._low = 0  # every call before this one is done
        self._cursor = 0  # the next call to prepare
        self._holds: set[int] = set()  # calls with `stop: after` behind which nothing starts
        self._late: set[int] = set()  # exclusive calls that the cursor passed, until they are done
        self._open: set[int] = set()  # prepared calls that have not stopped
        self._changed: set[int] = set()  # open calls whose keys are not those of the plan
        self._split = 0  # the last barrier that was passed without running while others were open
        self._asked: set[int] = set()  # calls whose question is open
        self._refused: set[int] = set()  # calls that settled, or will, without running
        self._lingering: set[int] = set()  # reported, not stopped
        self._stuck: set[int] = set()  # lingering beyond the grace time
        self._busy = 0  # calls for which something is under way that will report a fact
        self._skip_after = len(self.calls)  # calls behind this one are skipped
        self._halting = self._aborted = self._broken = self._ended = False
        self._shut = False  # halting, aborted or broken: nothing starts
        # As long as nothing but starts and stops of calls is told, plain calls have a short way.
        self._calm = not (hooks or asking or prepared or self._approvals_first)
        self._plain = [self._is_plain(call) for call in self.calls]
        self._restore(settled or {}, frozenset(failed))
        self._open.update(index for index in prepared if self.phase[index] == WAITING)
        self._awaits = tuple(asking)  # calls that asked a person before, and have no answer yet
        self._unseen = frozenset(self._awaits) - self._open  # those that no before-hook has seen
        for index in self._awaits:
            self._restore_asking(index)

    def _restore(self, settled: Mapping[int, bool], failed: AbstractSet[int]) -> None:
        for index, call in enumerate(self.calls):
            if index not in settled and call.verdict.kind != "settled":
                continue
            self.phase[index] = AFTER if self._hooks and not settled.get(index, True) else DONE
            self._waits.free(index)
            if call.terms.on_error == "stop" and (index in failed or index not in settled):
                self._skip_after = min(self._skip_after, index)

    def _is_plain(self, call: CallPlan) -> bool:
        """Whether nothing but edges and permits can keep a call from starting in its place.

        Most calls of most turns are like that, and the walk has a short way for them.
        """
        terms = call.terms
        return (
            call.verdict.kind == "safe"
            and call.ask is None
            and terms.stop is None
            and not terms.uses
            and call.index not in self._stops
            and not self._hooks
        )

    def _restore_asking(self, index: int) -> None:
        """A call that waits for its answer keeps its place, and holds back what it held back."""
        self.phase[index] = ASKING
        self._open.add(index)
        if self._exclusive[index]:
            self._late.add(index)
        self._note_stop_after(index)

    def _note_stop_after(self, index: int) -> None:
        """Note whether nothing behind a call is to start before the run was resumed after it."""
        if self.calls[index].terms.stop == "after" and self._pausable:
            self._holds.add(index)
        else:
            self._holds.discard(index)

    def _decline_awaits(self) -> None:
        """A run that cannot pause waits for no answer: nobody could ever give it."""
        for index in self._awaits:
            if not self._pausable and self.phase[index] == ASKING:
                self._settle(index, "declined")

    def _waits_for_person(self) -> bool:
        return any(self.phase[index] == ASKING for index in self._awaits)

    # ---- what follows from a fact ----

    def _known(self, index: int, *, failed: bool) -> None:
        self.phase[index] = AFTER if self._hooks and not self._aborted else DONE
        if self.phase[index] == DONE:
            self._over(index)
        if failed:
            self._note_failure(index)

    def _over(self, index: int) -> None:
        """A barrier is done: later calls may go on, unless its body is still running."""
        if index not in self._lingering:
            self._late.discard(index)

    def _refuse(self, index: int, *, hooked: bool) -> None:
        self._unqueue(index)
        self._known(index, failed=True)
        if not hooked and self.phase[index] == AFTER:
            self.phase[index] = DONE

    def _unqueue(self, index: int) -> None:
        """A call will never run, so it holds nobody back."""
        self._refused.add(index)
        if index == self.stop_point:
            self.stop_point = -1
        self._starts.retract(index)
        self._free(index)
        self._asked.discard(index)
        self._late.discard(index)

    def _settle(self, index: int, status: str, cause: int = -1) -> None:
        self._unqueue(index)
        self.phase[index] = DONE
        self._say("settle", index, status, cause)
        if status in {"held", "declined"}:
            self._note_failure(index)

    def _note_failure(self, index: int) -> None:
        if self.calls[index].terms.on_error == "stop" and index < self._skip_after:
            self._skip_after = index
            self._skip_later()

    def _skip_later(self) -> None:
        for index in range(self._skip_after + 1, len(self.calls)):
            phase = self.phase[index]
            if phase in {WAITING, READY, ASKING}:
                self._settle(index, "skipped", self._skip_after)
            elif phase in {PREPARING, ACQUIRING}:
                self._say("cancel", index)

    def _cannot_run(self, index: int) -> bool:
        """Settle a call that was under way before it started and now must not start."""
        if self.phase[index] != WAITING:
            return True
        if self._aborted:
            self._settle(index, "not_started")
        elif index > self._skip_after:
            self._settle(index, "skipped", self._skip_after)
        else:
            return False
        return True

    def _ask_if_needed(self, index: int) -> None:
        """See to the question of a call that has not started: it may have changed."""
        if self.calls[index].ask is None:
            self._asked.discard(index)
        elif index not in self._approved and index not in self._asked:
            if self._aborted or self._broken:
                return
            if self._approver:
                self._asked.add(index)
                self._say("ask", index)
            elif not self._pausable and self.phase[index] in {WAITING, READY}:
                self._settle(index, "declined")

    def _free(self, index: int) -> None:
        self._open.discard(index)
        self._changed.discard(index)
        for released in self._waits.free(index):
            self._offer(released)

    # ---- prepared calls ----

    def _replace(self, index: int, call: CallPlan) -> None:
        """A call has changed: the edges that the plan has for its old keys count no more."""
        self.calls[index] = call
        self._plain[index] = False
        self._exclusive[index] = self._exclusive[index] or call.verdict.kind == "exclusive"
        self._changed.add(index)
        for released in self._waits.free(index):
            self._offer(released)

    def _enter(self, index: int) -> None:
        """A call is prepared: it may start as soon as nothing holds it back."""
        self.phase[index] = READY
        self._open.add(index)
        if self._changed or self._split:
            self._link(index)
        if self._exclusive[index]:
            self._late.add(index)
        self._offer(index)
        if self._stuck:
            self._fail_if_held(index)

    def _fail_if_held(self, index: int) -> None:
        """Settle a prepared call that waits for a body which never stops."""
        if self._halting or self._aborted or self._broken or self._ended:
            return
        if 0 <= self.stop_point <= index:
            return
        for stuck in sorted(self._stuck):
            if index in self._waits.behind(stuck):
                self._settle(index, "held", stuck)
                return

    def _link(self, index: int) -> None:
        """Make a call wait for those that it meets, where the plan has no edge for it."""
        call, mine = self.calls[index], index in self._changed
        split = self._split if index > self._split else 0
        for other in self._open:
            if (
                other != index
                and (mine or other in self._changed or other < split)
                and (other < index or self.phase[other] not in {WAITING, PREPARING, READY, ASKING})
                and calls_meet(call, self.calls[other])
            ):
                self._waits.add(index, other)

    def _relink(self, index: int) -> None:
        """A call has changed: link the later ones that have not started with it."""
        for other in sorted(self._open):
            if other > index and self.phase[other] == READY:
                self._starts.retract(other)
                self._enter(other)

    def _offer(self, index: int) -> None:
        if (
            self.phase[index] == READY
            and index not in self._asked
            and not self._waits.blocked(index)
        ):
            self._starts.offer(index)

    def _alone(self, index: int) -> bool:
        return self._low >= index and self._starts.idle

    def _cancel(self, *phases: int) -> None:
        for index, phase in enumerate(self.phase):
            if phase in phases:
                self._say("cancel", index)

    def _say(self, kind: DecisionKind, call: int = -1, status: str = "", cause: int = -1) -> None:
        self.decided.append(Decision(kind, call, status, cause))
