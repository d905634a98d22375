"""A walk through a recorded run, fact by fact: what runs, who waits for what, what comes next.

It is pure: a scheduler that is told one recorded fact after the other. The terminal that a person
sits at is a thin skin around it (`toolflow.cli.walking`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolflow.errors import UsageError
from toolflow.model.batch import CallPlan
from toolflow.model.recording import Fact, RecordedTurn
from toolflow.recording.drive import Drive
from toolflow.recording.facts import facts_of
from toolflow.recording.projection import as_plan
from toolflow.recording.waiting import Waiting
from toolflow.scheduler.decisions import AFTER, DONE, HOOKING

_SETTLED = frozenset({AFTER, HOOKING, DONE})
_WORDS = {
    "begin": "the run begins",
    "prepared": "{name}: its before-hook is done",
    "refused": "{name} gets its outcome without running ({status})",
    "changed": "{name} is decided about anew",
    "started": "{name} starts",
    "gave_up": "{name} gives up its place",
    "reported": "{name} is reported ({status}) while its body goes on",
    "stopped": "{name} stops ({status})",
    "interrupted": "{name} asks a question",
    "after_done": "{name}: its after-hook is done",
    "grace_over": "{name} does not stop: who waits for it fails",
    "halt": "the run is interrupted",
    "abort": "the run is aborted",
    "fail": "the run fails",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """Where a walk stands.

    Attributes:
        step: How many facts the scheduler has been told.
        steps: How many there are.
        at: Seconds since the run began, or ``None`` where it is not known.
        happened: The last fact, as words; empty before the first one.
        decided: What the scheduler decided on it, as words.
        done: Names of calls that are done, in call order.
        running: Names of calls whose bodies run.
        waiting: What each other call waits for, by name.
        next: The next fact, as words; empty at the end.
    """

    step: int
    steps: int
    at: float | None
    happened: str
    decided: tuple[str, ...]
    done: tuple[str, ...]
    running: tuple[str, ...]
    waiting: tuple[tuple[str, tuple[str, ...]], ...]
    next: str

    def data(self) -> dict[str, Any]:
        """The moment as JSON values."""
        return {
            "step": self.step,
            "steps": self.steps,
            "at": self.at,
            "happened": self.happened,
            "decided": list(self.decided),
            "done": list(self.done),
            "running": list(self.running),
            "waiting": {name: list(reasons) for name, reasons in self.waiting},
            "next": self.next,
        }


class Walk:
    """A run that is walked through; `step` goes on by one fact.

    Args:
        recorded: A turn with its plan and a recorded run.

    Raises:
        UsageError: If the turn has none, as in an imported log.
    """

    def __init__(self, recorded: RecordedTurn) -> None:
        facts = facts_of(recorded)
        if recorded.plan is None or not facts:
            raise UsageError(
                f"Turn {recorded.turn.id!r} has no recorded run to walk through: it is of an "
                "imported log. Use a recording that toolflow wrote."
            )
        self.plan = as_plan(recorded.plan)
        self._recorded = recorded
        self._facts: Sequence[Fact] = [fact for fact in facts if fact.kind != "setup"]
        everybody = range(len(recorded.plan.calls))  # another run may hold what each waits for
        self._drive = Drive(recorded.plan, facts, recorded.outcomes, everybody)
        self._waiting = Waiting(recorded.plan)
        self._step = 0
        self._decided: tuple[str, ...] = ()

    @property
    def over(self) -> bool:
        """Whether all facts are told."""
        return self._step >= len(self._facts)

    @property
    def end(self) -> str:
        """``finish`` or ``pause`` once the scheduler has decided it, else the empty text."""
        return self._drive.end

    @property
    def next(self) -> Fact | None:
        """The next fact."""
        return None if self.over else self._facts[self._step]

    @property
    def settled(self) -> frozenset[int]:
        """Indexes of the calls whose outcome is known by now."""
        phases = enumerate(self._drive.scheduler.phase)
        return frozenset(index for index, phase in phases if phase in _SETTLED)

    def step(self) -> None:
        """Tell the scheduler the next fact; at the end nothing happens.

        Raises:
            DivergenceError: If the fact cannot be true now: the recording was changed.
        """
        if (fact := self.next) is None:
            return
        self._step += 1
        decisions = self._drive.tell(fact)
        self._decided = tuple(
            words for each in decisions if (words := self._decision(each.kind, each.call))
        )

    def will_start(self, index: int) -> bool:
        """Whether the body of a call starts from here on."""
        return any(
            fact.kind == "started" and fact.call == index for fact in self._facts[self._step :]
        )

    def until(self, index: int) -> bool:
        """Go on until the next fact is the start of a call, or to the end.

        Args:
            index: The call's index.

        Returns:
            Whether the call is about to start; if not, it never does from here on.

        Raises:
            DivergenceError: As `step` does.
        """
        while (fact := self.next) is not None:
            if fact.kind == "started" and fact.call == index:
                return True
            self.step()
        return False

    def moment(self) -> Moment:
        """Where the walk stands."""
        scheduler = self._drive.scheduler
        running = self._waiting.running(scheduler)
        fact = self._facts[self._step - 1] if self._step else None
        waiting = [
            (call.name, reasons)
            for call in scheduler.calls
            if (reasons := self._waiting.of(scheduler, call))
        ]
        return Moment(
            self._step,
            len(self._facts),
            None if fact is None else self._at(fact),
            "" if fact is None else self._words(fact),
            self._decided,
            tuple(
                call.name
                for call in scheduler.calls
                if scheduler.phase[call.index] == DONE and call.name not in running
            ),
            tuple(running),
            tuple(waiting),
            "" if self.next is None else self._words(self.next),
        )

    def _words(self, fact: Fact) -> str:
        if fact.kind == "answered":
            yes = "yes" if fact.data.get("approved") else "no"
            return f"{self._call(fact.call).name} is answered with {yes}"
        if fact.call < 0:
            return _WORDS[fact.kind]
        outcome = self._recorded.outcomes[fact.call]
        status = "no outcome" if outcome is None else outcome.status
        return _WORDS[fact.kind].format(name=self._call(fact.call).name, status=status)

    def _decision(self, kind: str, index: int) -> str:
        words = {
            "start": "{name} may start",
            "settle": "{name} settles without running",
            "ask": "{name} needs an answer",
            "prepare": "the before-hook of {name} runs",
            "after": "the after-hook of {name} runs",
            "cancel": "{name} is cancelled",
            "finish": "the run is finished",
            "pause": "the run pauses",
        }.get(kind, kind)
        return words.format(name=self._call(index).name) if index >= 0 else words

    def _at(self, fact: Fact) -> float | None:
        if not 0 <= fact.call < len(self._recorded.times):
            return 0.0 if fact.kind == "begin" else None
        times = self._recorded.times[fact.call]
        if fact.kind == "started":
            return times.started
        if fact.kind == "reported":
            return times.settled
        return times.stopped if fact.kind == "stopped" else None

    def _call(self, index: int) -> CallPlan:
        return self._drive.calls[index]
