"""The walk of a run through its turn: what follows from facts, and when it ends.

See `toolflow.scheduler.scheduler` for the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolflow.errors import InternalError
from toolflow.model.batch import CallPlan
from toolflow.model.plan import PlanData
from toolflow.scheduler.decisions import (
    ACQUIRING,
    AFTER,
    ASKING,
    DONE,
    HOOKING,
    PREPARING,
    READY,
    RUNNING,
    WAITING,
    Decision,
    DecisionKind,
)
from toolflow.scheduler.starts import StartQueue
from toolflow.scheduler.waits import Waits, calls_meet


class Walk:
    """The state of a run and the walk through it; `Scheduler` adds the facts.

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
        self._waits = Waits(plan)
        self._starts = StartQueue(self.calls, plan.limits)
        self._decisions: list[Decision] = []
        self._low = 0  # every call before this one is done
        self._cursor = 0  # the next call to prepare
        self._held_at = -1  # the call that must be done before the cursor moves on
        self._late: set[int] = set()  # exclusive calls that the cursor has passed
        self._open: set[int] = set()  # prepared calls that have not stopped
        self._changed: set[int] = set()  # open calls whose keys are not those of the plan
        self._asked: set[int] = set()  # calls whose question is open
        self._refused: set[int] = set()  # calls that were denied or declined
        self._lingering: set[int] = set()  # reported, not stopped
        self._stuck: set[int] = set()  # lingering beyond the grace time
        self._busy = 0  # calls for which something is under way that will report a fact
        self._skip_after = len(self.calls)  # calls behind this one are skipped
        self._halting = self._aborted = self._broken = self._ended = False
        self._restore(settled or {})

    def _restore(self, settled: Mapping[int, bool]) -> None:
        for index, call in enumerate(self.calls):
            if index in settled:
                self.phase[index] = AFTER if self._hooks and not settled[index] else DONE
                self._waits.free(index)
            elif call.verdict.kind == "settled":
                self.phase[index] = DONE
                self._waits.free(index)
                if call.terms.on_error == "stop":
                    self._skip_after = min(self._skip_after, index)

    # ---- what follows from a fact ----

    def _known(self, index: int, *, failed: bool) -> None:
        self.phase[index] = AFTER if self._hooks and not self._aborted else DONE
        if self.phase[index] == DONE:
            self._late.discard(index)
        if failed:
            self._note_failure(index)

    def _refuse(self, index: int, *, hooked: bool) -> None:
        self._starts.retract(index)
        self._free(index)
        self._refused.add(index)
        self._asked.discard(index)
        self._known(index, failed=True)
        if not hooked and self.phase[index] == AFTER:
            self.phase[index] = DONE
            self._late.discard(index)

    def _settle(self, index: int, status: str, cause: int = -1) -> None:
        self._starts.retract(index)
        self._free(index)
        self._asked.discard(index)
        self._late.discard(index)
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
            if phase in {WAITING, READY}:
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

    def _question(self, index: int) -> None:
        if index in self._approved:
            return
        if self._approver:
            self._asked.add(index)
            self._say("ask", index)
        elif not self._pausable:
            self._settle(index, "declined")

    def _free(self, index: int) -> None:
        self._open.discard(index)
        self._changed.discard(index)
        for released in self._waits.free(index):
            self._offer(released)

    # ---- prepared calls ----

    def _replace(self, index: int, call: CallPlan) -> None:
        self.calls[index] = call
        self._exclusive[index] = self._exclusive[index] or call.verdict.kind == "exclusive"
        self._changed.add(index)

    def _enter(self, index: int) -> None:
        """A call is prepared: it may start as soon as nothing holds it back."""
        self.phase[index] = READY
        self._open.add(index)
        if self._changed:
            self._link(index)
        if self._exclusive[index]:
            self._late.add(index)
        self._offer(index)

    def _link(self, index: int) -> None:
        """Make a call wait for those that it meets since keys changed."""
        call, mine = self.calls[index], index in self._changed
        before = [
            other
            for other in self._open
            if other != index
            and (mine or other in self._changed)
            and (other < index or self.phase[other] in {ACQUIRING, RUNNING, AFTER, HOOKING, DONE})
            and calls_meet(call, self.calls[other])
        ]
        if mine:
            self._waits.replace(index, before)
        else:
            for other in before:
                self._waits.add(index, other)

    def _offer(self, index: int) -> None:
        if (
            self.phase[index] == READY
            and index not in self._asked
            and not self._waits.blocked(index)
        ):
            self._starts.offer(index)

    def _alone(self, index: int) -> bool:
        return self._low >= index and self._starts.idle

    # ---- the walk through the turn ----

    def _step(self) -> None:
        if self._ended:
            return
        waiting = True
        while waiting:
            self._advance_low()
            self._advance_cursor()
            while self._dispatch():
                self._advance_cursor()
            waiting = self._give_up_waiting()
        self._check_end()

    def _advance_low(self) -> None:
        phase = self.phase
        while self._low < len(phase):
            here = phase[self._low]
            if here == AFTER and not (self._aborted or self._broken):
                phase[self._low] = HOOKING
                self._busy += 1
                self._say("after", self._low)
                return
            if here == AFTER:
                phase[self._low] = DONE
            elif here != DONE:
                return
            self._low += 1

    def _advance_cursor(self) -> None:
        phase, count = self.phase, len(self.calls)
        while self._cursor < count and self._may_prepare():
            index = self._cursor
            if phase[index] != WAITING and phase[index] != ASKING:
                self._cursor += 1
                continue
            if self._stops_before(index):
                self.stop_point = index
                return
            if self._exclusive[index] and not self._alone(index):
                return
            self._cursor += 1
            if self.calls[index].terms.stop == "after":
                self._held_at = index
            if self._hooks:
                phase[index] = PREPARING
                self._busy += 1
                self._say("prepare", index)
            else:
                self._enter(index)

    def _may_prepare(self) -> bool:
        if self._halting or self._aborted or self._broken or self.stop_point >= 0:
            return False
        if self._held_at >= 0:
            held = self._held_at
            if self.phase[held] != DONE:
                return False
            self._held_at = -1
            if self._ends_dispatch(held):
                self.stop_point = held
                return False
        if self._late or (self._approvals_first and self._asked):
            return False
        if self._hooks and self._cursor and self.phase[self._cursor - 1] == PREPARING:
            return False
        return self._starts.room

    def _ends_dispatch(self, index: int) -> bool:
        return (
            self._pausable
            and self.calls[index].terms.stop == "after"
            and index not in self._refused
            and any(phase != DONE for phase in self.phase)
        )

    def _stops_before(self, index: int) -> bool:
        if not self._pausable:
            return False
        call = self.calls[index]
        if call.ask is not None and index not in self._approved and not self._approver:
            return True
        return index not in self._passed and (index in self._stops or call.terms.stop == "before")

    def _give_up_waiting(self) -> bool:
        """Settle the earliest call that only bodies which never stop keep from starting."""
        if not self._stuck or self._busy or self._asked or self._waited_for():
            return False
        if self._halting or self._aborted or self._broken:
            return False
        for index in range(self._low, len(self.calls)):
            if index == self.stop_point:
                return False
            if self.phase[index] in {WAITING, READY}:
                self._settle(index, "held", min(self._stuck))
                return True
        return False

    def _dispatch(self) -> bool:
        """Start the next call that may start.

        Returns:
            Whether one was taken from the queue, so that it is worth another look.
        """
        if self._halting or self._aborted or self._broken:
            return False
        index = self._starts.first()
        if index < 0 or (self._approvals_first and self._asked):
            return False
        if self._late and index >= min(self._late):
            if index not in self._late:
                return False
            if not self._alone(index):
                return False
        if self._starts.take():
            self.phase[index] = ACQUIRING
            self._busy += 1
            self._say("start", index)
        return True

    def _check_end(self) -> None:
        if self._busy or self._ended:
            return
        if self._low == len(self.calls) or self._broken:
            self._end("finish")
        elif self._halting or (self.stop_point >= 0 and not (self._asked or self._waited_for())):
            self._end("pause")
        elif not (self._asked or self._lingering):
            raise InternalError(f"The run makes no progress at call {self._low}: {self.phase}.")

    def _waited_for(self) -> set[int]:
        return self._lingering - self._stuck

    def _end(self, kind: DecisionKind) -> None:
        self._ended = True
        self._say(kind)

    def _cancel(self, *phases: int) -> None:
        for index, phase in enumerate(self.phase):
            if phase in phases:
                self._say("cancel", index)

    def _say(self, kind: DecisionKind, call: int = -1, status: str = "", cause: int = -1) -> None:
        self._decisions.append(Decision(kind, call, status, cause))
