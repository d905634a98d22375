"""Secrets that a policy names (`redact`) do not reach the journal (spec 9.4).

A journal is written while secrets still come to be known: those in the turn's arguments at its
begin, others in results and in what hooks make of arguments. What is known when a line is written
is masked in all of its texts. Only values go through the mask, never the words that the lines are
made of: a password may be any word, ``call`` as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from toolflow.policy.masks import Mask
from toolflow.recording.checkpoint import turn_of
from toolflow.recording.masking import masked_checkpoint

if TYPE_CHECKING:
    from toolflow.model.batch import CallPlan
    from toolflow.model.turn import Turn
    from toolflow.policy import Redactor
    from toolflow.recording.checkpoint import Checkpoint


class Masker:
    """Masks the secrets of one turn.

    Args:
        redactor: What knows the names.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.mask = Mask(redactor)

    def learn(self, turn: Turn | None = None, values: Iterable[Any] = ()) -> None:
        """Take in the secrets of a turn, or of values.

        Args:
            turn: The turn.
            values: Arguments and results.
        """
        known = self.mask.secrets
        found = self._redactor.of(turn, values=values).secrets | known
        if found != known:
            self.mask = Mask(self._redactor, found)

    def value(self, value: Any) -> Any:
        """Arguments or a result, whose own secrets are known from now on."""
        self.learn(values=[value])
        return self.mask.value(value)

    def text(self, text: str) -> str:
        """A text that people or models read."""
        return self.mask.text(text)

    def planned(self, call: CallPlan) -> CallPlan:
        """A call of a plan, whose secrets are known from now on."""
        self.learn(values=[call.args])
        return self.mask.planned(call)

    def outcome(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """An outcome as data, whose secrets are known from now on."""
        fields = {name: data[name] for name in ("value", "error", "note") if name in data}
        return {**data, **{name: self.value(each) for name, each in fields.items()}}

    def checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        """Where a run paused, without its secrets; they are known from now on."""
        plan = checkpoint.plan
        values = [outcome.value for outcome, _ in checkpoint.outcomes.values()]
        self.learn(turn_of(plan), [*values, *(call.args for call in plan.calls)])
        return masked_checkpoint(replace(checkpoint, plan=replace(plan, redactor=self._redactor)))
