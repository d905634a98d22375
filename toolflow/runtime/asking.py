"""Putting questions to the approver while the run goes on (spec 8.1)."""

from __future__ import annotations

import inspect
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskStatus

from toolflow.model.outcome import Outcome
from toolflow.runtime.approvals import (
    Answer,
    Question,
    approval_of,
    as_answer,
    call_digest,
    interrupt_of,
    repeat_of,
)
from toolflow.runtime.failure import brief
from toolflow.scheduler.decisions import ASKING, DONE, PREPARING, READY, WAITING

if TYPE_CHECKING:
    from toolflow.runtime.run import Run


class Asking:
    """The open questions of one run.

    Args:
        run: The run that it belongs to.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._always: dict[str, Answer] = {}
        self._approved = set(run.options.approved)
        self._queue: deque[tuple[int, Question]] = deque()
        self._putting = False

    @property
    def approved(self) -> frozenset[int]:
        """Calls whose question was answered with yes."""
        return frozenset(self._approved)

    def ask(self, index: int) -> None:
        """Put a call's question; a question of it that is still open counts no more."""
        self.forget(index)
        record = self._run.records[index]
        question = approval_of(self._run.scheduler.calls[index])
        question = replace(question, call=self._run.names[index])
        record.question = question
        self._run.note("question_asked", index, question=question.text)
        if question.digest in self._always:
            self._answered(index, question, self._always[question.digest])
        else:
            self._queue.append((index, question))
            if not self._putting:
                self._putting = True
                self._run.spawn(self._put)

    def withdraw(self, index: int) -> None:
        """An answer counts no more: the call is not the one that it was given for."""
        self._approved.discard(index)

    def forget(self, index: int) -> None:
        """Take a question back."""
        record = self._run.records[index]
        record.question = None
        if record.asking is not None:
            record.asking.cancel()
            record.asking = None

    def stop(self) -> None:
        """Stop asking; what is open stays open."""
        for record in self._run.records:
            if record.asking is not None:
                record.asking.cancel()

    close = stop

    def open_questions(self) -> tuple[Question, ...]:
        """What a paused run waits for, in call order.

        These are the questions of bodies, and every approval that a call which has not run needs
        and was not given, also of calls behind the stop point: a person sees all of them at once.
        """
        found = []
        for call in self._run.scheduler.calls:
            index = call.index
            if self._run.scheduler.phase[index] == ASKING:
                again = index in self._run.options.unknown and index in self._run.options.asking
                asked = self._run.interrupts[index]
                found.append(repeat_of(call) if again else interrupt_of(call, asked))
            elif (
                call.ask is not None
                and index not in self._approved
                and self._run.scheduler.phase[index] in {WAITING, READY, PREPARING}
            ):
                found.append(approval_of(call))
        return tuple(found)

    async def _put(self) -> None:
        """Put questions one after the other, without waiting for answers.

        The next task starts when the approver has been entered: tasks that start together run in
        any order on trio, and a person is to be asked in call order.
        """
        with anyio.CancelScope(shield=True):
            while self._queue:
                await self._run.started(self._ask, *self._queue.popleft())
        self._putting = False

    async def _ask(self, index: int, question: Question, *, task_status: TaskStatus[None]) -> None:
        task_status.started()
        run = self._run
        record = run.records[index]
        if record.question is not question or run.scheduler.ended:
            return
        answer: Answer | None = None
        with anyio.CancelScope(shield=True) as scope:
            record.asking = scope
            assert run.options.approver is not None
            try:
                given = run.options.approver(question)
                answer = as_answer(await given if inspect.isawaitable(given) else given)
            except KeyboardInterrupt as error:
                run.stopped_by(error, "by the keyboard")
            except BaseException as error:  # an approver that fails approves nothing
                if scope.cancel_called:
                    raise
                answer = Answer(approved=False, reason=f"The approver failed: {brief(error)}.")
        if record.asking is scope:
            record.asking = None
        if answer is not None and not scope.cancel_called:
            self._answered(index, question, answer)

    def _answered(self, index: int, question: Question, answer: Answer) -> None:
        run = self._run
        record = run.records[index]
        call = run.scheduler.calls[index]
        if record.question is not question or call_digest(call) != question.digest:
            return
        record.question = None
        run.note("question_answered", index, approved=answer.approved, reason=answer.reason)
        if answer.always:
            self._always[question.digest] = answer
        if answer.approved:
            self._approved.add(index)
        else:
            reason = f": {answer.reason}" if answer.reason else "."
            record.unrun(Outcome("declined", error=f"Declined by the approver{reason}"))
        run.scheduler.answered(index, approved=answer.approved)
        run.known(index)
        if answer.always:
            self._answer_alike(question, answer)
        run.pump()

    def _answer_alike(self, question: Question, answer: Answer) -> None:
        for index, record in enumerate(self._run.records):
            alike = record.question
            if alike is not None and alike.digest == question.digest:
                if record.asking is not None:
                    record.asking.cancel()
                    record.asking = None
                if self._run.scheduler.phase[index] != DONE:
                    self._answered(index, alike, answer)
