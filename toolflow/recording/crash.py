"""After a crash: what becomes of each call of a run whose process died (spec 10.1).

It is a pure function over facts that any journal can give: which bodies were entered, and which
calls had settled. Calls are told by name alone, so the order in which the facts were written,
which differs from run to run in a pool, never matters (faults 101, 103).

Nobody knows how a body ended that was entered and told nothing. Running it again could do its work
twice, and saying that it failed could have the model do so; so it is run again only where its rule
or its tool says ``idempotent``, and a person decides about all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from toolflow.compiler import Plan
from toolflow.errors import CheckpointError
from toolflow.formats import write_turn
from toolflow.model.batch import CallPlan
from toolflow.model.outcome import Outcome
from toolflow.model.turn import Turn
from toolflow.recording.checkpoint import Checkpoint, turn_of
from toolflow.runtime.approvals import Question, interrupt_of, repeat_of
from toolflow.runtime.record import settled_outcome, unknown_outcome

_NOT_STARTED: Final = Outcome("not_started", error="It never started: the process ended before.")


@dataclass(frozen=True)
class CrashRepair:
    """What became of a run whose process died.

    Attributes:
        checkpoint: Where `Engine.resume` goes on: calls that have an outcome do not run again,
            calls that never started run, unknown ones that are idempotent run again, and the
            other unknown ones are its questions, to be answered with ``True`` (run it again),
            ``False`` (its outcome stays unknown; later calls go on) or an `Answer`.
        not_started: Names of calls whose body was never entered, in call order.
        unknown: Names of calls that were entered and told no outcome, in call order.
    """

    checkpoint: Checkpoint
    not_started: tuple[str, ...]
    unknown: tuple[str, ...]

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The turn closed without going on: one outcome a call, in call order.

        A call keeps the outcome that it has; the others get ``outcome_unknown`` or
        ``not_started``.
        """
        known, unknown = self.checkpoint.outcomes, self.checkpoint.unknown
        return tuple(
            known[index][0] if index in known else _closed(call, unknown=index in unknown)
            for index, call in enumerate(self.checkpoint.plan.calls)
        )

    def messages(self, turn: Turn | None = None) -> tuple[Any, ...]:
        """The closed turn in the provider's form, as `RunResult.messages` has it.

        It holds this turn alone; whatever was committed before stays as it is. Of a turn whose
        calls all have an outcome these are the very messages that its run would have committed,
        but for texts of hooks, which died with the process.

        Args:
            turn: The turn; that of the plan by default.

        Returns:
            The assistant message, then the results in call order.

        Raises:
            UsageError: If the turn has another number of calls than the plan.
        """
        plan = self.checkpoint.plan
        if turn is None:
            turn = turn_of(plan)
        assistant, results = write_turn(turn, self.outcomes)
        return (*assistant, *results)


def after_crash(
    plan: Plan,
    *,
    started: Iterable[str] = (),
    outcomes: Mapping[str, Outcome] | None = None,
    attempts: Mapping[str, int] | None = None,
    approved: Iterable[str] = (),
    answers: Mapping[str, Sequence[Any]] | None = None,
    unhooked: Iterable[str] = (),
    asked: Mapping[str, Any] | None = None,
    unknown: Iterable[str] = (),
) -> CrashRepair:
    """Decide what becomes of each call of a run whose process died.

    It may be asked any number of times, with the same facts or with what it decided itself as
    outcomes: a call that has an outcome, such as one that an abort made void, keeps it for good
    (fault 107).

    Args:
        plan: The plan of the run, as it was compiled.
        started: Names of calls, one for each time that a body was entered. A call whose body ended
            by asking a person is no such call: count it in ``attempts``.
        outcomes: By name, how calls had settled, their after-hooks included.
        attempts: By name, how often bodies were entered beside ``started``.
        approved: Names of calls whose question was answered with yes.
        answers: Answers to questions of bodies, by name, in the order asked.
        unhooked: Names of calls with an outcome whose after-hook has not run.
        asked: Open questions of bodies, by name; these calls wait for their answer.
        unknown: Names of calls that an earlier process had entered and that have not run since;
            their entries are counted in ``attempts``.

    Returns:
        The checkpoint to go on from, and the turn closed without going on.

    Raises:
        CheckpointError: If a name is no call of the plan; one line a problem.
    """
    known, entered, before = dict(outcomes or {}), Counter(started), Counter(attempts or {})
    yes, replies, before_hook = set(approved), dict(answers or {}), set(unhooked)
    waiting, doubtful = dict(asked or {}), set(unknown)
    _check(
        plan,
        started=entered,
        outcomes=known,
        attempts=before,
        approved=yes,
        answers=replies,
        unhooked=before_hook,
        asked=waiting,
        unknown=doubtful,
    )
    open_calls = [c for c in plan.calls if c.name not in known and c.verdict.kind != "settled"]
    lost = [call for call in open_calls if call.name in entered or call.name in doubtful]
    again = [call for call in lost if not call.terms.idempotent]
    last = max((call.index for call in plan.calls if call.name in entered), default=-1)
    times = before + entered
    checkpoint = Checkpoint(
        plan=plan,
        outcomes={
            c.index: (known[c.name], c.name not in before_hook)
            for c in plan.calls
            if c.name in known
        },
        questions=tuple(_questions(open_calls, again, waiting)),
        approved=_approved(plan, yes | entered.keys() | waiting.keys(), again),
        answers={name: tuple(given) for name, given in replies.items()},
        attempts={c.index: count for c in plan.calls if (count := times[c.name])},
        stops=_stops(plan, last, open_calls),
        passed=frozenset(range(last + 1)),
        unknown=frozenset(call.index for call in lost),
    )
    return CrashRepair(
        checkpoint,
        tuple(call.name for call in open_calls if call not in lost),
        tuple(call.name for call in lost),
    )


def _questions(
    calls: Iterable[CallPlan], again: Sequence[CallPlan], waiting: Mapping[str, Any]
) -> Iterator[Question]:
    """What the run waits for, in call order."""
    for call in calls:
        if call in again:
            yield repeat_of(call)
        elif call.name in waiting:
            yield interrupt_of(call, waiting[call.name])


def _check(plan: Plan, **facts: Iterable[str]) -> None:
    names = {call.name for call in plan.calls}
    allowed = ", ".join(call.name for call in plan.calls) or "none"
    problems = [
        f"{field}: {name!r} is no call of {plan.turn_id}. Its calls are {allowed}."
        for field, given in facts.items()
        for name in sorted(set(given) - names)
    ]
    if problems:
        raise CheckpointError("\n".join(problems))


def _approved(plan: Plan, names: Iterable[str], asked: Sequence[CallPlan]) -> frozenset[int]:
    """Calls that need no yes any more; what was entered had its own.

    A yes to running a call once is none to running it again.
    """
    wanted = set(names).difference(call.name for call in asked)
    return frozenset(c.index for c in plan.calls if c.ask is not None and c.name in wanted)


def _stops(plan: Plan, last: int, open_calls: Sequence[CallPlan]) -> frozenset[int]:
    """The stop point after the last call that was entered, where that one is done."""
    following = [call.index for call in open_calls if call.index >= last]
    if last < 0 or plan.calls[last].terms.stop != "after" or last in following:
        return frozenset()
    return frozenset(following[:1])


def _closed(call: CallPlan, *, unknown: bool) -> Outcome:
    if call.verdict.kind == "settled":
        return settled_outcome(call)
    return unknown_outcome() if unknown else _NOT_STARTED
