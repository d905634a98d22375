"""The walk of a run through its turn: what may be prepared, started and ended next.

See `toolflow.scheduler.scheduler` for the rules.
"""

from __future__ import annotations

from toolflow.errors import InternalError
from toolflow.scheduler.decisions import (
    ACQUIRING,
    AFTER,
    DONE,
    HOOKING,
    PREPARING,
    READY,
    WAITING,
    DecisionKind,
    start,
)
from toolflow.scheduler.state import State


class Walk(State):
    """The walk through the turn: the cursor, the start queue, the end.

    The arguments are those of `Scheduler`.
    """

    # ---- the walk through the turn ----

    def _step(self) -> None:
        if self._ended:
            return
        starts = self._starts
        more = True
        while more:
            self._advance_low()
            self._advance_cursor()
            while starts.queued and self._dispatch():
                self._advance_cursor()
            more = (self._stuck and self._give_up_waiting()) or self._low_settled()
        if not self._busy:
            self._check_end()

    def _pass_on(self, index: int) -> bool:
        """Give the permit of a plain call that succeeded straight to the next plain call.

        The same as the facts' long way would do, where nothing but permits keeps calls waiting.

        Returns:
            Whether that was so; if not, nothing has changed.
        """
        cursor, phase = self._cursor, self.phase
        if cursor == len(phase) or not self._plain[cursor] or phase[cursor] != WAITING:
            return False
        if self._holds or self._split or self.stop_point >= 0:
            return False
        if self._starts.queued or self._waits.any:
            return False
        phase[index] = DONE
        phase[cursor] = ACQUIRING
        self._open.discard(index)
        self._open.add(cursor)
        self._cursor = cursor + 1
        self.decided.append(start(cursor))
        while phase[self._low] == DONE:  # the call that was started is not
            self._low += 1
        return True

    def following(self, limit: int) -> range:
        """Calls that start one after the other as others succeed, if nothing else happens.

        Args:
            limit: How many at most.

        Returns:
            Their indexes; they have no permit yet, and nothing but that keeps them waiting.
        """
        starts, first = self._starts, self._cursor
        for_permits = self._calm and self._regular() and not (starts.permits or starts.waiting)
        if not for_permits or self._waits.any or first == len(self.phase):
            return range(0)
        if self._ended or self._holds or not self._may_prepare():
            return range(0)
        plain = self._plain[first : first + limit]
        count = plain.index(False) if False in plain else len(plain)
        phases = self.phase[first : first + count]
        if phases.count(WAITING) < count:  # some had settled before the run was resumed
            count = next(place for place, phase in enumerate(phases) if phase != WAITING)
        return range(first, first + count)

    def _low_settled(self) -> bool:
        """Whether the earliest call that is not done settled during this step."""
        return self._low < len(self.phase) and self.phase[self._low] in {AFTER, DONE}

    def _go_on(self, index: int) -> None:
        """A call was prepared, gave up its place, or changed: it goes on from there."""
        if index in self._refused:
            self._refuse(index, hooked=True)
            return
        if self._cannot_run(index) or self._broken:
            return
        self._ask_if_needed(index)
        if self.phase[index] != WAITING:
            return
        if self._stops_before(index):
            self._open.add(index)  # the cursor is not to prepare it again
            self._cursor = min(self._cursor, index)
            return
        self._note_stop_after(index)
        self._enter(index)

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
        if self._holds:
            self._pass_holds()
        starts = self._starts
        # Never more calls than there are permits for, but those that are prepared already.
        while (
            self._cursor < count
            and (starts.permits > len(starts.queued) or self._cursor in self._open)
            and self._may_prepare()
        ):
            index = self._cursor
            if self._plain[index] and phase[index] == WAITING and self._regular():
                self._cursor += 1
                self._go_straight_on(index)
                continue
            if phase[index] != WAITING:
                if self._exclusive[index] and self._open:
                    self._split = index
                self._cursor += 1
                continue
            if self._stops_before(index):
                self._stop_at(index)
                return
            if self._exclusive[index] and not self._alone(index):
                return
            self._cursor += 1
            if self._hooks and index not in self._open:
                phase[index] = PREPARING
                self._busy += 1
                self._say("prepare", index)
            else:
                self._go_on(index)

    def _regular(self) -> bool:
        """Whether nothing has happened for which plain calls have to be looked at closely."""
        return not (self._changed or self._split or self._stuck)

    def _go_straight_on(self, index: int) -> None:
        """Start a plain call in its place; the same as `_go_on` and `_dispatch` would do."""
        self._open.add(index)
        if self._starts.queued or self._waits.blocked(index):
            self.phase[index] = READY
            self._offer(index)
        else:
            self._starts.permits -= 1
            self.phase[index] = ACQUIRING
            self._busy += 1
            self.decided.append(start(index))

    def _may_prepare(self) -> bool:
        """Whether the cursor may go on past the call at which it stands.

        It may have come back to calls before others that are prepared, so what counts is where a
        stop point, a barrier or an open before-hook is, not only that there is one.
        """
        index = self._cursor
        if self._shut or 0 <= self.stop_point <= index:
            return False
        if self._late and index > min(self._late):
            return False
        if self._holds and index > min(self._holds):
            return False
        if self._approvals_first and self._asked:
            return False
        return not (self._hooks and index and self.phase[index - 1] == PREPARING)

    def _pass_holds(self) -> None:
        """Stop at calls with ``stop: after`` that are done; go on from those that did not run."""
        for held in sorted(self._holds):
            if held in self._refused:
                self._holds.discard(held)
            elif self.phase[held] == DONE and not 0 <= self.stop_point < held:
                self._holds.discard(held)
                self._stop_at(held)

    def _stop_at(self, index: int) -> None:
        """Stop at a call; the stop point after a later call counts again once this one is gone."""
        later = self.stop_point
        if later > index and self.phase[later] == DONE:
            self._holds.add(later)
        self.stop_point = index

    def _stops_before(self, index: int) -> bool:
        if not self._pausable:
            return False
        call = self.calls[index]
        if call.ask is not None and index not in self._approved and not self._approver:
            return True
        return index not in self._passed and (index in self._stops or call.terms.stop == "before")

    def _give_up_waiting(self) -> bool:
        """Settle the earliest call that only bodies which never stop keep from starting."""
        if self._busy or self._asked or self._waited_for() or self._shut:
            return False
        if self._waits_for_person():
            return False
        for index in range(self._low, len(self.calls)):
            if 0 <= self.stop_point <= index:
                return False
            if self.phase[index] == WAITING and self._stops_before(index):
                self._stop_at(index)
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
        if self._shut:
            return False
        index = self._starts.first()
        if index < 0 or (self._approvals_first and self._asked):
            return False
        if 0 <= self.stop_point <= index or (self._holds and index > min(self._holds)):
            return False
        behind_barrier = self._late and index >= min(self._late)
        if behind_barrier and not (index in self._late and self._alone(index)):
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
        elif self._halting or (
            (self.stop_point >= 0 or self._waits_for_person())
            and not (self._asked or self._waited_for())
        ):
            self._end("pause")
        elif not (self._asked or self._lingering):
            raise InternalError(f"The run makes no progress at call {self._low}: {self.phase}.")

    def _waited_for(self) -> set[int]:
        return self._lingering - self._stuck

    def _end(self, kind: DecisionKind) -> None:
        if kind == "finish" or self._low < self.stop_point:
            self.stop_point = -1  # nothing stands behind it, or what stands before has not run
        self._ended = True
        self._say(kind)
