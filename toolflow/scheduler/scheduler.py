"""The scheduler: facts in, decisions out. It never awaits, reads a clock or touches a file.

The same class decides in a real run, in a replay, in the simulator and in the explorer, so what
was proved for one holds for all (ADR 0002). The driver reports facts by calling methods and then
carries out what `take` returns, in that order.

How the rules of spec 6 are kept:

* A *cursor* walks through the turn in call order and prepares one call after the other, never
  more of them than there are permits for. It does not pass an exclusive call, or a call with
  ``stop: after``, before that one is done, and it stands still at a stop point. It comes back to
  a call that gave up its place and has to stop now, and goes on from there when it need not.
* A prepared call starts when nothing before it in the plan is open, its question is answered, and
  a permit and the run's own share of resources are free; of several, the earliest goes first.
* An exclusive call starts when every earlier call is done and no permit is out. A call that
  became exclusive late (a hook or a new tool set changed it) is remembered in ``_late``: nothing
  behind it starts before it is done.
* A permit comes back when the body has stopped, not when its outcome was reported.
"""

from __future__ import annotations

from toolflow.model.batch import CallPlan
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
)
from toolflow.scheduler.walk import Walk


class Scheduler(Walk):
    """Decides which call of a plan may start when.

    Args:
        plan: The plan; its limits bound the run.
        hooks: Whether there are hooks: then every call is prepared by a decision and finished by
            one, both in call order.
        approver: Whether somebody answers questions while the run goes on.
        pausable: Whether the run may pause. If not, a question without an approver is declined
            and stop points are passed.
        stops: Indexes of calls before which the run stops, beside those that the plan names.
        passed: Indexes of calls whose stop point before them counts no more (a resumed run).
        approved: Indexes of calls whose question was answered with yes.
        settled: Calls that have an outcome already (a resumed run): index to whether the
            after-hook has run as well.
        failed: Indexes of those of them whose outcome is anything but a success.
        prepared: Indexes of calls whose before-hook has run (a resumed run).
        asking: Indexes of calls whose body asked a person and has no answer yet (a resumed run).
    """

    # ---- what the driver asks ----

    def take(self) -> list[Decision]:
        """The decisions since the last call, in the order in which they are to be carried out."""
        decisions, self.decided = self.decided, []
        return decisions

    @property
    def ended(self) -> bool:
        """Whether ``pause`` or ``finish`` was decided."""
        return self._ended

    @property
    def open_questions(self) -> tuple[int, ...]:
        """Calls whose question was put to the approver and is not answered, ascending."""
        return tuple(sorted(self._asked))

    @property
    def lingering(self) -> tuple[int, ...]:
        """Calls that were reported while their body goes on, ascending."""
        return tuple(sorted(self._lingering))

    @property
    def prepared_calls(self) -> frozenset[int]:
        """Calls whose before-hook is done and that have no outcome."""
        ended = {AFTER, HOOKING, DONE}
        return frozenset(i for i in self._open - self._unseen if self.phase[i] not in ended)

    # ---- facts ----

    def begin(self) -> None:
        """The run begins."""
        self._skip_later()
        self._decline_awaits()
        for call in self.calls:
            if call.ask is not None and self.phase[call.index] == WAITING:
                self._ask_if_needed(call.index)
        self._step()

    def prepared(
        self, index: int, call: CallPlan | None = None, *, ask_again: bool = False
    ) -> None:
        """A before-hook is done.

        Args:
            index: The call.
            call: The call as it is now, where the hook changed it.
            ask_again: Whether it needs a (new) answer now (spec 8.4).
        """
        self._calm = False
        self._busy -= 1
        self.phase[index] = WAITING
        if call is not None:
            self._replace(index, call)
        if ask_again:
            self._approved.discard(index)
            self._asked.discard(index)
        self._go_on(index)
        self._step()

    def refused(self, index: int, *, hooked: bool = True) -> None:
        """A call got its outcome without running: declined by a hook, or it no longer fits.

        Args:
            index: The call; it has not started.
            hooked: Whether its after-hook is to see it.
        """
        self._calm = False
        phase = self.phase[index]
        if phase in {PREPARING, ACQUIRING}:
            self._busy -= 1
        if phase == ACQUIRING:
            self._starts.give_back(index)
        self._refuse(index, hooked=hooked)
        self._step()

    def answered(self, index: int, *, approved: bool) -> None:
        """The approver answered; a call that it declined has its outcome with that.

        Args:
            index: The call; an answer that nobody waits for any more is ignored.
            approved: Whether the call may run.
        """
        if index not in self._asked:
            return
        self._calm = False
        self._asked.discard(index)
        if approved:
            self._approved.add(index)
            self._offer(index)
        elif self.phase[index] in {PREPARING, ACQUIRING}:
            self._refused.add(index)  # it settles when its hook is done, or it gave up its place
        else:
            self._refuse(index, hooked=True)
        self._step()

    def changed(self, index: int, call: CallPlan) -> None:
        """The tool set changed, and with it what is known of a call that has not started.

        Args:
            index: The call; nothing happens once it runs.
            call: The call as it is now.
        """
        phase = self.phase[index]
        if phase not in {WAITING, PREPARING, READY, ACQUIRING}:
            return
        self._calm = False
        self._replace(index, call)
        if index == self.stop_point:
            self.stop_point = -1  # the cursor looks at it again
        if phase in {READY, ACQUIRING}:
            self._note_stop_after(index)
        if self._exclusive[index] and index in self._open:
            self._late.add(index)
            for other in range(index + 1, len(self.calls)):
                if self.phase[other] == ACQUIRING:
                    self._say("cancel", other)  # it has a permit, but has not started: it waits
        if phase == ACQUIRING:
            self._say("cancel", index)
        elif phase == READY:
            self._starts.retract(index)
            self.phase[index] = WAITING
            self._go_on(index)
        if self.phase[index] != DONE:
            self._ask_if_needed(index)
        self._relink(index)
        self._step()

    def started(self, index: int) -> None:
        """All keys and resources are granted, the body is entered."""
        self.phase[index] = RUNNING

    def gave_up(self, index: int) -> None:
        """A call gave up its place in the queues; it counts as not started."""
        self._calm = False
        self._busy -= 1
        self._starts.give_back(index)
        self.phase[index] = WAITING
        for released in self._waits.overtaken(index):
            self._offer(released)
        self._go_on(index)
        self._step()

    def reported(self, index: int, *, failed: bool = True) -> None:
        """The outcome of a running call is known while its body goes on (spec 6.7)."""
        self._calm = False
        self._busy -= 1
        self._lingering.add(index)
        self._known(index, failed=failed)
        self._step()

    def stopped(self, index: int, *, failed: bool) -> None:
        """The body of a call has really ended.

        Args:
            index: The call.
            failed: Whether its outcome is anything but a success.
        """
        if self._calm and not failed and self._plain[index] and self._pass_on(index):
            return
        self._starts.give_back(index)
        self._free(index)
        if index in self._lingering:
            self._lingering.discard(index)
            self._stuck.discard(index)
            if self.phase[index] == DONE:
                self._over(index)
        else:
            self._busy -= 1
            self._known(index, failed=failed)
        self._step()

    def interrupted(self, index: int) -> None:
        """The body of a call asked a person and ended (spec 8.3): the run stops for the answer.

        Not so where the call is not to run again, for the run was aborted or an earlier call with
        ``on_error: stop`` failed meanwhile.
        """
        self._calm = False
        self._busy -= 1
        self._starts.give_back(index)
        self.phase[index] = WAITING
        if self._cannot_run(index):
            self._step()
            return
        self.phase[index] = ASKING
        self.halt()

    def after_done(self, index: int, *, failed: bool = False) -> None:
        """An after-hook is done.

        Args:
            index: The call.
            failed: Whether its final outcome is a failure that was not known before.
        """
        self._busy -= 1
        self.phase[index] = DONE
        self._over(index)
        if failed:
            self._note_failure(index)
        self._step()

    def grace_over(self, index: int) -> None:
        """A body was reported and did not stop within the grace time: who waits for it fails."""
        if index in self._lingering:
            self._stuck.add(index)
            for other in sorted(self._open):
                if self.phase[other] == READY:
                    self._fail_if_held(other)
            self._step()

    def halt(self) -> None:
        """Stop at the next place: what runs finishes, nothing starts, then the run pauses."""
        self._calm = False
        if not (self._halting or self._aborted or self._ended):
            self._halting = self._shut = True
            self._cancel(ACQUIRING)
        self._step()

    def abort(self) -> None:
        """Stop now: nothing starts, whatever is under way is cancelled. Idempotent."""
        if self._aborted or self._ended:
            return
        self._aborted = self._shut = True
        self._calm = False
        self._asked.clear()
        self._cancel(PREPARING, ACQUIRING, RUNNING, HOOKING)
        for index, phase in enumerate(self.phase):
            if phase in {WAITING, READY, ASKING}:
                self._settle(index, "not_started")
        self._step()

    def fail(self) -> None:
        """The driver is broken: nothing starts, what runs finishes, nothing is made up."""
        self._calm = False
        self._broken = self._shut = True
        self._cancel(PREPARING, ACQUIRING)
        self._step()
