"""The recording as a value: turns with their plans, events and outcomes (spec 10.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolflow.model.event import Event
from toolflow.model.outcome import Outcome, Times
from toolflow.model.plan import PlanData
from toolflow.model.turn import Notice, Turn


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """One turn with what became of it. The tuples run in call order, one entry a call.

    Attributes:
        turn: The turn as the model sent it.
        outcomes: How each call settled; ``None`` where the log holds no result.
        times: When things happened to each call, in seconds since the turn began.
        plan: The plan that was run, or ``None`` in an imported log.
        events: The events of the run, in order; empty in an imported log.
        messages: What was committed to the transcript, in the provider's form.
        started_at: When the turn began, as ISO 8601 text, or ``None``.
    """

    turn: Turn
    outcomes: tuple[Outcome | None, ...]
    times: tuple[Times, ...] = ()
    plan: PlanData | None = None
    events: tuple[Event, ...] = ()
    messages: tuple[Any, ...] = ()
    started_at: str | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """Turns, plans, events and outcomes of one session.

    Attributes:
        turns: The turns in order.
        source: Where it comes from: ``format``, ``path``, ``session``, ``cwd`` ..., JSON values.
        policy: The policy's YAML text, or ``None`` where only its digest is known.
        policy_digest: The policy's digest, or the empty text.
        notices: Oddities found when it was read: broken lines, results without a call.
    """

    turns: tuple[RecordedTurn, ...]
    source: Mapping[str, Any] = field(default_factory=dict)
    policy: str | None = None
    policy_digest: str = ""
    notices: tuple[Notice, ...] = ()
