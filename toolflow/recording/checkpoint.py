"""The checkpoint: what a paused run needs to go on, here or in another process (spec 8.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from toolflow.compiler import Plan, recompile
from toolflow.errors import CheckpointError
from toolflow.model.outcome import Outcome
from toolflow.model.plan import PlanData
from toolflow.model.turn import Call, Turn
from toolflow.runtime.approvals import Answer, Question, call_digest
from toolflow.runtime.options import RunOptions
from toolflow.runtime.record import unknown_outcome
from toolflow.runtime.report import RunReport


@dataclass(frozen=True, slots=True)
class Given:
    """A checkpoint with answers, as a run takes it."""

    outcomes: Mapping[int, tuple[Outcome, bool]]
    approved: frozenset[int]
    passed: frozenset[int]
    answers: Mapping[str, tuple[Any, ...]]
    attempts: Mapping[int, int]
    prepared: frozenset[int]
    asking: Mapping[int, Any]
    unknown: frozenset[int]

    def options(self) -> dict[str, Any]:
        """All of it, as the options of a run."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A paused run.

    Attributes:
        plan: The plan, with calls as hooks had changed them; it holds limits and timeouts.
        outcomes: Finished calls by index: outcome, and whether the after-hook has run.
        questions: What the run waits for, in call order.
        approved: Indexes of calls that were approved.
        answers: Answers to interrupts so far, by the call's name, in the order asked.
        attempts: How often each call was entered, by index.
        stops: Indexes of calls before which the run still stops.
        passed: Indexes of calls whose stop point counts no more.
        timeout: What is left of the run's total limit in seconds, or ``None``.
        extra: Texts of hooks for the model so far.
        prepared: Indexes of calls whose before-hook has run; it does not run again.
        steering: Messages that arrived meanwhile; they are delivered after the turn.
        unknown: Indexes of calls that a process which died had entered, and that have not run
            since: whatever keeps them from running again, their outcome is unknown.
    """

    plan: Plan
    outcomes: Mapping[int, tuple[Outcome, bool]]
    questions: tuple[Question, ...] = ()
    approved: frozenset[int] = frozenset()
    answers: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    attempts: Mapping[int, int] = field(default_factory=dict)
    stops: frozenset[int] = frozenset()
    passed: frozenset[int] = frozenset()
    timeout: float | None = None
    extra: tuple[str, ...] = ()
    prepared: frozenset[int] = frozenset()
    steering: tuple[Any, ...] = ()
    unknown: frozenset[int] = frozenset()

    def answered(self, answers: Mapping[str, Any]) -> Given:
        """This checkpoint with answers.

        Args:
            answers: By call name; see `Engine.resume`.

        Returns:
            What the resumed run starts from.

        Raises:
            CheckpointError: If an answer is for a call that does not wait, or is neither an
                `Answer` nor a boolean where it must be one. Nothing is half applied (spec 8.4).
        """
        questions = {question.call: question for question in self.questions}
        index = {call.name: call.index for call in self.plan.calls}
        outcomes, approved = dict(self.outcomes), set(self.approved)
        replies = dict(self.answers)
        for name, answer in self._with_alike(answers).items():
            question = questions.get(name)
            if question is None or name not in index:
                waiting = ", ".join(questions) or "none"
                raise CheckpointError(
                    f"There is an answer for {name!r}, which waits for none. Waiting: {waiting}."
                )
            self._check(question, index[name])
            if question.kind == "interrupt":
                replies[name] = (*replies.get(name, ()), answer)
            elif (decision := _decision(name, answer)).approved:
                approved.add(index[name])
            else:
                outcomes[index[name]] = (_refused(question, decision), False)
        return Given(
            outcomes,
            frozenset(approved),
            self.passed,
            replies,
            self.attempts,
            self.prepared,
            {
                index[question.call]: question.text
                for question in self.questions
                if question.kind != "approval" and question.call not in answers
            },
            self.unknown.difference(outcomes),
        )

    def with_given(self, given: Given) -> Checkpoint:
        """This checkpoint as a run takes it up: answers are in it, questions are those left."""
        left = tuple(q for q in self.questions if self.plan_index(q.call) in given.asking)
        return replace(
            self,
            outcomes=given.outcomes,
            approved=given.approved,
            answers=given.answers,
            unknown=given.unknown,
            questions=left,
        )

    def plan_index(self, name: str) -> int:
        """The place of a call in the plan; -1 where it has none."""
        return next((call.index for call in self.plan.calls if call.name == name), -1)

    def _check(self, question: Question, index: int) -> None:
        """Refuse an answer that was asked for with another tool or other arguments."""
        call = self.plan.calls[index]
        if question.kind != "interrupt" and question.digest != call_digest(call):
            raise CheckpointError(
                f"The question of {call.name!r} was put for another tool or other arguments than "
                "the plan has now. Resume without an answer to it, and it is put again."
            )

    def _with_alike(self, answers: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answers, and those that go for calls with the same tool and arguments as well."""
        approvals = {q.call: q.digest for q in self.questions if q.kind == "approval"}
        always = {
            approvals[name]: answer
            for name, answer in answers.items()
            if name in approvals and isinstance(answer, Answer) and answer.always
        }
        alike = {name: always[digest] for name, digest in approvals.items() if digest in always}
        return {**alike, **answers}


def checkpoint_of(
    plan: Plan,
    report: RunReport,
    options: RunOptions,
    *,
    extra: tuple[str, ...] = (),
    steering: tuple[Any, ...] = (),
) -> Checkpoint:
    """Make the checkpoint of a run that paused.

    Args:
        plan: The plan that was run.
        report: What became of it so far.
        options: How it was run.
        extra: Texts of hooks for the model so far.
        steering: Messages that arrived so far.
    """
    attempts = dict(options.attempts)
    for call in report.calls:
        if report.times[call.index].started is not None:
            attempts[call.index] = attempts.get(call.index, 0) + 1
    passed = options.passed
    if report.stop_point >= 0:
        passed |= {report.stop_point}
    return Checkpoint(
        plan=plan if plan.calls == report.calls else recompile(plan, report.calls),
        outcomes={
            index: (outcome, report.hooked[index])
            for index, outcome in enumerate(report.outcomes)
            if outcome is not None
        },
        questions=report.questions,
        approved=report.approved,
        answers={name: tuple(given) for name, given in options.answers.items()},
        attempts=attempts,
        stops=options.stops,
        passed=passed,
        timeout=None if options.total is None else max(0.0, options.total - report.seconds),
        extra=extra,
        prepared=report.prepared,
        steering=steering,
        unknown=frozenset(
            index
            for index in options.unknown
            if report.outcomes[index] is None and report.times[index].started is None
        ),
    )


def turn_of(plan: PlanData) -> Turn:
    """The turn of a plan, made of its calls where it was loaded without its message."""
    if plan.turn is not None:
        return plan.turn
    calls = tuple(Call(call.index, call.id, call.tool, call.args) for call in plan.calls)
    return Turn(plan.turn_id, calls, message_id=plan.message_id, source=plan.source)


def _refused(question: Question, decision: Answer) -> Outcome:
    """The outcome of a call to which a person said no."""
    said = f"Declined by the approver{f': {decision.reason}' if decision.reason else '.'}"
    if question.kind == "repeat":
        return unknown_outcome(said)
    return Outcome("declined", error=said)


def _decision(name: str, answer: object) -> Answer:
    if isinstance(answer, Answer):
        return answer
    if isinstance(answer, bool):
        return Answer(approved=answer)
    raise CheckpointError(f"The answer for {name!r} is {answer!r}: use True, False or an Answer.")
