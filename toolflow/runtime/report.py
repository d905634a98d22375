"""What became of the calls of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from toolflow.model.batch import CallPlan
from toolflow.model.event import Event
from toolflow.model.outcome import Outcome, Times
from toolflow.model.recording import Fact
from toolflow.runtime.approvals import Question
from toolflow.runtime.record import CallRecord
from toolflow.scheduler.decisions import DONE

if TYPE_CHECKING:
    from toolflow.runtime.run import Run


@dataclass(frozen=True)
class RunReport:
    """What became of the calls of one run.

    Times and events are put together when they are first asked for: most runs of most harnesses
    need the outcomes only.

    Attributes:
        status: ``done``, ``paused`` or ``aborted``.
        calls: The calls as they were run, with changed arguments where a hook changed them.
        outcomes: One a call, in call order; ``None`` where a paused run has none yet.
        hooked: Whether nothing more happens to each call: its after-hook has run, or has none.
        questions: What a paused run waits for, in call order.
        stop_point: The index of the call at which it paused, or -1.
        approved: Indexes of calls that were approved.
        extra: Texts that hooks give the model after all results, in call order.
        lingering: Names of calls whose bodies still run.
        hook_error: The first error that an after-hook raised, or ``None``.
        observer_errors: How many times an observer raised.
        abort_cause: Why the run was aborted, or ``None``.
        prepared: Indexes of calls whose before-hook is done and that have not ended.
        seconds: How long the run took.
    """

    status: Literal["done", "paused", "aborted"]
    calls: tuple[CallPlan, ...]
    outcomes: tuple[Outcome | None, ...]
    hooked: tuple[bool, ...]
    records: Sequence[CallRecord] = field(default=(), repr=False)
    log: Callable[[], tuple[Event, ...]] = field(default=tuple, repr=False)
    trace: Callable[[], tuple[Fact, ...]] = field(default=tuple, repr=False)
    questions: tuple[Question, ...] = ()
    stop_point: int = -1
    approved: frozenset[int] = frozenset()
    extra: tuple[str, ...] = ()
    lingering: tuple[str, ...] = ()
    hook_error: BaseException | None = None
    observer_errors: int = 0
    abort_cause: str | None = None
    prepared: frozenset[int] = frozenset()
    seconds: float = 0.0

    @cached_property
    def times(self) -> tuple[Times, ...]:
        """When things happened to each call."""
        return tuple(record.times for record in self.records)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All facts in order."""
        return self.log()

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """All that the scheduler was told, in order: what a replay needs."""
        return self.trace()


def _prepared(run: Run) -> frozenset[int]:
    """Calls whose before-hook is done; a run without hooks keeps what an earlier one has done."""
    prepared, options = run.scheduler.prepared_calls, run.options
    return prepared if options.hooks else prepared & options.prepared


def report_of(run: Run, ended: str) -> RunReport:
    """Put the report of a run together.

    Args:
        run: The run, at its end.
        ended: ``pause`` or ``finish``.
    """
    scheduler = run.scheduler
    aborted = run.abort_cause is not None
    return RunReport(
        status="paused" if ended == "pause" else "aborted" if aborted else "done",
        calls=tuple(scheduler.calls),
        outcomes=tuple([record.outcome for record in run.records]),
        hooked=tuple([phase == DONE for phase in scheduler.phase]),
        records=run.records,
        log=run.log.events,
        trace=scheduler.snapshot(),
        questions=run.asking.open_questions() if ended == "pause" else (),
        stop_point=scheduler.stop_point,
        approved=run.asking.approved,
        extra=tuple([text for r in run.records if r.hooks for text in r.hooks.extra]),
        lingering=tuple(scheduler.calls[index].name for index in scheduler.lingering),
        hook_error=run.hooking.first_error,
        observer_errors=run.log.observer_errors,
        abort_cause=run.abort_cause,
        prepared=_prepared(run),
        seconds=run.now(),
    )
