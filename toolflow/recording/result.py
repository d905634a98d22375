"""What a run gives back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolflow.compiler.columns import clean, pad, width
from toolflow.model.event import Event
from toolflow.model.outcome import Outcome, Times
from toolflow.model.plan import PlanData
from toolflow.model.recording import RecordedTurn
from toolflow.model.turn import Turn
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.recorder import recorded_turn
from toolflow.runtime.approvals import Question
from toolflow.runtime.report import RunReport

_LINE, _SHOWN = 200, 70  # columns of a line, and of what a call gave
_SAID = 500  # characters that the latter are made of


@dataclass(frozen=True, slots=True)
class RunResult:
    """The end of a run, or its pause.

    Attributes:
        plan: What was run.
        turn: The turn that it was made of.
        report: The facts.
        assistant: The turn's assistant message in the provider's form, with valid ids.
        results: The messages that answer its calls.
        steering: Messages that arrived meanwhile, delivered after the turn.
        texts: What hooks told the model after the results; it is part of them.
        checkpoint: Where a paused run goes on; ``None`` where the run has ended.
    """

    plan: PlanData
    turn: Turn
    report: RunReport
    assistant: tuple[Any, ...] = ()
    results: tuple[Any, ...] = ()
    steering: tuple[Any, ...] = ()
    texts: tuple[str, ...] = ()
    checkpoint: Checkpoint | None = None

    @property
    def status(self) -> Literal["done", "paused", "aborted"]:
        """How the run ended."""
        return self.report.status

    @property
    def ok(self) -> bool:
        """Whether the run is done and every call is ok (or still runs in the background)."""
        return self.status == "done" and all(
            outcome is not None and outcome.status in {"ok", "running"} for outcome in self.outcomes
        )

    @property
    def outcomes(self) -> tuple[Outcome | None, ...]:
        """How each call settled, in call order; ``None`` where a paused run has none yet."""
        return self.report.outcomes

    @property
    def messages(self) -> tuple[Any, ...]:
        """What the transcript grows by, in the provider's form, as committed.

        The assistant message comes first (its ids may have been made valid, so it replaces the
        one that was read), then the results, then steering messages. Empty for a paused run.
        """
        return self.assistant + self.results + self.steering

    @property
    def times(self) -> tuple[Times, ...]:
        """When things happened to each call, in seconds since the run began."""
        return self.report.times

    @property
    def events(self) -> tuple[Event, ...]:
        """The facts of the run, in order."""
        return self.report.events

    @property
    def questions(self) -> tuple[Question, ...]:
        """What a paused run waits for, in call order."""
        return self.report.questions

    @property
    def lingering(self) -> tuple[str, ...]:
        """Names of calls that were reported while their bodies still run."""
        return self.report.lingering

    def outcome(self, name: str) -> Outcome | None:
        """The outcome of a call by its name.

        Raises:
            KeyError: If the plan has no such call.
        """
        for call in self.plan.calls:
            if call.name == name:
                return self.outcomes[call.index]
        raise KeyError(name)

    def __str__(self) -> str:
        """How the run ended, what became of each call, and what it waits for: lines for people."""
        asked = (f"{one.call} waits for an answer: {one.text}" for one in self.questions)
        lines = (clean(line, _LINE) for line in (f"{self.turn.id}: {self.status}", *asked))
        first, *more = lines
        return "\n".join((first, *self.call_lines(), *more))

    def call_lines(self) -> Iterator[str]:
        """A line a call: its name, how it settled, and the beginning of what it gave.

        Values that the policy masks are masked.
        """
        names = [clean(call.name, 60) for call in self.report.calls]
        most = max(map(width, names), default=0)
        for name, outcome in zip(names, self.recorded().outcomes, strict=True):
            status = "-" if outcome is None else outcome.status
            said = "" if outcome is None else " ".join(outcome.text[:_SAID].split())
            yield f"  {pad(name, most)}  {status:<9}  {clean(said, _SHOWN)}".rstrip()

    def recorded(self, *, started_at: str | None = None) -> RecordedTurn:
        """The turn as a recording holds it.

        Args:
            started_at: When the run began, as ISO 8601 text.
        """
        return recorded_turn(self, started_at=started_at)
