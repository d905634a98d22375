"""A scheduler that keeps what it was told, so that a run can be driven again exactly.

Reading the facts off the event log was the alternative. Events leave out what nobody watches (when
a hook was done, when an abort came, who gave up a place in a queue), and adding all of it would
make them harder to read; the calls of the scheduler's methods are complete by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolflow.model.batch import CallPlan
from toolflow.model.plan import PlanData
from toolflow.model.recording import Fact
from toolflow.model.turn import EMPTY
from toolflow.scheduler.decisions import RUNNING
from toolflow.scheduler.scheduler import Scheduler

_FAILED: Mapping[str, Any] = {"failed": True}
_NOT_FAILED: Mapping[str, Any] = {"failed": False}


class TracedScheduler(Scheduler):
    """A scheduler that keeps its facts; the arguments are those of `Scheduler`."""

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
        stops, passed, approved = sorted(stops), sorted(passed), sorted(approved)
        failed, prepared, asking = sorted(failed), sorted(prepared), sorted(asking)
        super().__init__(
            plan,
            hooks=hooks,
            approver=approver,
            pausable=pausable,
            stops=stops,
            passed=passed,
            approved=approved,
            settled=settled,
            failed=failed,
            prepared=prepared,
            asking=asking,
        )
        setup = {
            "hooks": hooks,
            "approver": approver,
            "pausable": pausable,
            "stops": tuple(stops),
            "passed": tuple(passed),
            "approved": tuple(approved),
            "settled": dict(settled or {}),
            "failed": tuple(failed),
            "prepared": tuple(prepared),
            "asking": tuple(asking),
        }
        self._setup = {name: value for name, value in setup.items() if value}
        # Kind, call and data of each fact, one behind the other: a tuple a fact would be one more
        # object a call for the garbage collector to look at.
        self._trace: list[Any] = []

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts so far, in order. The first one is how the scheduler was set up."""
        facts = zip(*[iter(self._trace)] * 3, strict=True)
        return (Fact("setup", -1, self._setup), *map(Fact._make, facts))

    @property
    def setup(self) -> Mapping[str, Any]:
        """How it was set up, as far as that is not the default."""
        return self._setup

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of facts that it was told so far."""
        return frozenset(self._trace[::3])

    def snapshot(self) -> Callable[[], tuple[Fact, ...]]:
        """The facts so far, as a function that puts them together."""
        count = len(self._trace) // 3 + 1
        return lambda: self.facts[:count]

    def begin(self) -> None:
        """See `Scheduler.begin`."""
        self._trace += ("begin", -1, EMPTY)
        super().begin()

    def prepared(
        self, index: int, call: CallPlan | None = None, *, ask_again: bool = False
    ) -> None:
        """See `Scheduler.prepared`."""
        data: dict[str, Any] = {} if call is None else {"call": call}
        if ask_again:
            data["ask_again"] = True
        self._trace += ("prepared", index, data or EMPTY)
        super().prepared(index, call, ask_again=ask_again)

    def refused(self, index: int, *, hooked: bool = True) -> None:
        """See `Scheduler.refused`."""
        self._trace += ("refused", index, {"hooked": hooked})
        super().refused(index, hooked=hooked)

    def answered(self, index: int, *, approved: bool) -> None:
        """See `Scheduler.answered`."""
        self._trace += ("answered", index, {"approved": approved})
        super().answered(index, approved=approved)

    def changed(self, index: int, call: CallPlan) -> None:
        """See `Scheduler.changed`."""
        self._trace += ("changed", index, {"call": call})
        super().changed(index, call)

    def started(self, index: int) -> None:
        """See `Scheduler.started`."""
        self._trace += ("started", index, EMPTY)
        self.phase[index] = RUNNING  # all that the scheduler does; this one is told for every call

    def gave_up(self, index: int) -> None:
        """See `Scheduler.gave_up`."""
        self._trace += ("gave_up", index, EMPTY)
        super().gave_up(index)

    def reported(self, index: int, *, failed: bool = True) -> None:
        """See `Scheduler.reported`."""
        self._trace += ("reported", index, _FAILED if failed else _NOT_FAILED)
        super().reported(index, failed=failed)

    def stopped(self, index: int, *, failed: bool) -> None:
        """See `Scheduler.stopped`."""
        self._trace += ("stopped", index, _FAILED if failed else _NOT_FAILED)
        super().stopped(index, failed=failed)

    def interrupted(self, index: int) -> None:
        """See `Scheduler.interrupted`."""
        self._trace += ("interrupted", index, EMPTY)
        kept = len(self._trace)
        super().interrupted(index)
        del self._trace[kept:]  # it halts the run itself

    def after_done(self, index: int, *, failed: bool = False) -> None:
        """See `Scheduler.after_done`."""
        self._trace += ("after_done", index, _FAILED if failed else EMPTY)
        super().after_done(index, failed=failed)

    def grace_over(self, index: int) -> None:
        """See `Scheduler.grace_over`."""
        self._trace += ("grace_over", index, EMPTY)
        super().grace_over(index)

    def halt(self) -> None:
        """See `Scheduler.halt`."""
        self._trace += ("halt", -1, EMPTY)
        super().halt()

    def abort(self) -> None:
        """See `Scheduler.abort`."""
        self._trace += ("abort", -1, EMPTY)
        super().abort()

    def fail(self) -> None:
        """See `Scheduler.fail`."""
        self._trace += ("fail", -1, EMPTY)
        super().fail()
