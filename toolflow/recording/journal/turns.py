"""One turn of a journal: how it can go on, and what a recording holds of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from toolflow.compiler import Plan
from toolflow.model.outcome import Outcome
from toolflow.model.turn import Turn
from toolflow.recording.checkpoint import Checkpoint, turn_of
from toolflow.recording.crash import CrashRepair, after_crash
from toolflow.recording.journal.state import TurnState
from toolflow.runtime.record import unknown_outcome

_SECRET: Final = "Its arguments held secrets, which a journal does not keep"  # noqa: S105  # text


@dataclass(frozen=True, slots=True)
class JournalTurn:
    """One turn of a journal, as far as it had come.

    Attributes:
        state: All that its lines tell.
        continued: Whether a later turn of the journal is the rest of this one.
    """

    state: TurnState
    continued: bool = False

    @property
    def number(self) -> int:
        """Its number in the journal."""
        return self.state.number

    @property
    def id(self) -> str:
        """The turn's name."""
        return self.plan.turn_id

    @property
    def plan(self) -> Plan:
        """What was run."""
        return self.state.plan

    @property
    def turn(self) -> Turn:
        """The turn that the plan was made of."""
        return turn_of(self.plan)

    @property
    def source(self) -> str:
        """``main``, or the path of parent calls of a nested turn."""
        return self.state.source

    @property
    def started_at(self) -> str | None:
        """When it began, as ISO 8601 text."""
        value = self.state.head.get("started_at")
        return value if isinstance(value, str) else None

    @property
    def status(self) -> Literal["open", "done", "aborted", "failed", "paused"]:
        """How it ended; ``open`` where nobody wrote that: it still runs, or its process died."""
        return self.state.status  # type: ignore[return-value]  # one of these, see `state`

    @property
    def unfinished(self) -> bool:
        """Whether it can go on: a main turn that paused or whose process died."""
        return (
            self.status in {"open", "paused", "failed"}
            and not self.continued
            and self.source == "main"
        )

    @property
    def outcomes(self) -> tuple[Outcome | None, ...]:
        """How each call settled, in call order; ``None`` where nobody knows yet."""
        known = self._known
        return tuple(
            known[call.index][0] if call.index in known else None for call in self.plan.calls
        )

    @property
    def _known(self) -> dict[int, tuple[Outcome, bool]]:
        base = self.state.base
        known = dict(base.outcomes) if base is not None else {}
        place = {call.name: call.index for call in self.plan.calls}
        return known | {place[name]: each for name, each in self.state.outcomes.items()}

    # ---- going on ----

    def repair(self) -> CrashRepair:
        """What becomes of its calls, and where it goes on.

        A turn that paused goes on from its pause. Of one whose process died `after_crash` decides.
        A call that has not run and whose arguments the journal masked cannot run any more: it
        settles as failed, or as unknown where it had been entered.

        Returns:
            The same every time that it is asked.
        """
        state = self.state
        if state.pause is not None:
            pause = self._without_secrets(state.pause)
            done = {*pause.outcomes, *pause.unknown}
            calls = [c.name for c in pause.plan.calls if c.verdict.kind != "settled"]
            names = [call.name for call in pause.plan.calls]
            left = [name for name in calls if names.index(name) not in done]
            return CrashRepair(pause, tuple(left), tuple(names[i] for i in sorted(pause.unknown)))
        base = state.base or Checkpoint(state.plan, {})
        names = [call.name for call in state.plan.calls]
        known = {names[index]: each for index, each in base.outcomes.items()} | state.outcomes
        entered = state.entered.copy()
        if state.damaged:
            entered.update(name for name in names if name not in known and not entered[name])
        asked = {q.call: q.text for q in base.questions if q.kind == "interrupt"} | state.asked
        asked = {name: text for name, text in asked.items() if self._waits(name, known, entered)}
        attempts = {names[index]: count for index, count in base.attempts.items()}
        for name in asked:
            attempts[name] = attempts.get(name, 0) + entered.pop(name, 0)
        doubtful = {names[index] for index in base.unknown if names[index] not in known}
        known |= self._void(known, {*entered, *doubtful})
        repair = after_crash(
            state.plan,
            started=entered.elements(),
            outcomes={name: outcome for name, (outcome, _) in known.items()},
            attempts=attempts,
            approved={*(names[index] for index in base.approved), *state.approved},
            answers=base.answers,
            unhooked=[name for name, (_, hooked) in known.items() if not hooked],
            asked=asked,
            unknown=doubtful,
        )
        checkpoint = self._as_before(repair.checkpoint, base)
        return replace(repair, checkpoint=self._without_secrets(checkpoint))

    def _waits(self, name: str, known: Mapping[str, object], entered: Mapping[str, int]) -> bool:
        """Whether the question of a body is still open: it was not entered again since."""
        return name not in known and (name in self.state.asked or not entered.get(name))

    def _void(
        self, known: Mapping[str, object], entered: set[str]
    ) -> dict[str, tuple[Outcome, bool]]:
        """What an abort made of calls before the process died: they never run (fault 107)."""
        cause = self.state.abort
        if cause is None:
            return {}
        never = Outcome("not_started", error=f"Aborted before dispatch ({cause}).")
        unknown = unknown_outcome(f"The run was aborted {cause}, and its process died.")
        return {
            call.name: (unknown if call.name in entered else never, True)
            for call in self.plan.calls
            if call.name not in known and call.verdict.kind != "settled"
        }

    def _as_before(self, checkpoint: Checkpoint, base: Checkpoint) -> Checkpoint:
        """What else the run had been told, and what of it is left."""
        setup, limit = self.state.head.get("setup", {}), self.state.head.get("timeout")
        last = max(checkpoint.passed, default=-1)
        stops = {index for index in indexes(setup, "stops", self.plan) if index > last}
        spent = max(0.0, limit - self.state.last) if isinstance(limit, int | float) else None
        order = [call.name for call in self.plan.calls if call.name in self.state.texts]
        texts = tuple(text for name in order for text in self.state.texts[name])
        return replace(
            checkpoint,
            stops=checkpoint.stops | stops,
            passed=checkpoint.passed | indexes(setup, "passed", self.plan),
            timeout=spent,
            extra=(*base.extra, *texts),
            steering=base.steering,
        )

    def _without_secrets(self, checkpoint: Checkpoint) -> Checkpoint:
        """Calls that would have to run with masked arguments are settled instead."""
        masked = self.state.head.get("masked")
        if not isinstance(masked, list):
            return checkpoint
        settled = {
            call.index: (_secret(unknown=call.index in checkpoint.unknown), True)
            for call in checkpoint.plan.calls
            if call.name in masked
            and call.index not in checkpoint.outcomes
            and call.verdict.kind != "settled"
        }
        names = {checkpoint.plan.calls[index].name for index in settled}
        return replace(
            checkpoint,
            outcomes={**checkpoint.outcomes, **settled},
            questions=tuple(q for q in checkpoint.questions if q.call not in names),
            unknown=checkpoint.unknown.difference(settled),
            prepared=checkpoint.prepared.difference(settled),
        )


def _secret(*, unknown: bool) -> Outcome:
    if unknown:
        return unknown_outcome(f"{_SECRET}, so it cannot run again.")
    return Outcome("failed", error=f"{_SECRET}, so it cannot run any more. Ask for it anew.")


def indexes(setup: Any, name: str, plan: Plan) -> frozenset[int]:
    """The calls that a field of a run's set-up names."""
    given = setup.get(name, ()) if isinstance(setup, Mapping) else ()
    count = len(plan.calls)
    return frozenset(i for i in given if type(i) is int and 0 <= i < count)
