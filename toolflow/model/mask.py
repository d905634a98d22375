"""What masks secrets: the shape of it, for the values that carry one along (spec 9.4).

The policy makes it (`toolflow.policy.Redactor`); a plan carries it, so that whoever writes the plan
or what became of it needs no policy to leave the secrets out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from toolflow.model.batch import CallPlan
    from toolflow.model.outcome import Outcome
    from toolflow.model.turn import Notice, Turn


class TurnMask(Protocol):
    """Masks what belongs to one turn."""

    def value(self, value: Any) -> Any:
        """Arguments or a result."""

    def text(self, text: str) -> str:
        """A text that people or models read."""

    def message(self, value: Any) -> Any:
        """A message in a provider's form."""

    def turn(self, turn: Turn) -> Turn:
        """A turn."""

    def notices(self, notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
        """What was odd about a turn."""

    def outcome(self, outcome: Outcome) -> Outcome:
        """An outcome."""

    def planned(self, call: CallPlan) -> CallPlan:
        """A call of a plan."""

    def data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What belongs to an event."""


class Masks(Protocol):
    """Makes the mask of a turn."""

    def of(
        self,
        turn: Turn | None,
        outcomes: Iterable[Outcome | None] = (),
        values: Iterable[Any] = (),
    ) -> TurnMask:
        """What masks everything that belongs to one turn.

        Args:
            turn: The turn.
            outcomes: How its calls settled.
            values: What else holds its secrets, such as arguments that hooks changed.
        """
