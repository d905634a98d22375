"""The recording as a value: turns with their plans, events and outcomes (spec 10.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from toolflow.model.event import Event
from toolflow.model.outcome import Outcome, Times
from toolflow.model.plan import PlanData
from toolflow.model.turn import EMPTY, Notice, Turn
from toolflow.model.value import quick

FactKind = Literal[
    "setup",
    "begin",
    "prepared",
    "refused",
    "answered",
    "changed",
    "started",
    "gave_up",
    "reported",
    "stopped",
    "interrupted",
    "after_done",
    "grace_over",
    "halt",
    "abort",
    "fail",
]


class Fact(NamedTuple):
    """One thing that the scheduler of a run was told; the kinds are its methods, after ``setup``.

    Events are for showing progress and leave some of it out (hooks, an abort's moment); the facts
    are all that decided how a run went, so that a replay needs nothing else.

    Attributes:
        kind: What it was told.
        call: The index of the call, or -1 for the run as a whole.
        data: What belongs to it, by the names of the method's arguments; for ``setup`` those of
            the scheduler itself, as far as they are not the default.
    """

    kind: FactKind
    call: int = -1
    data: Mapping[str, Any] = EMPTY


@dataclass(frozen=True, slots=True)
class Committed:
    """What was committed, where the messages can be written again from turn and outcomes.

    Attributes:
        digest: The digest of the committed messages as JSON text, as 64 hexadecimal digits.
        results: The first 12 digits of the digest of each call's outcome, in call order.
        texts: What hooks told the model after the results.
        steering: Messages that arrived meanwhile and follow the results.
    """

    digest: str
    results: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    steering: tuple[Any, ...] = ()


@quick
@dataclass(frozen=True, slots=True)
class LoggedResult:
    """What a log tells of a call's result beside its outcome.

    Attributes:
        line: The number of its line.
        seconds: How long the body took, where the log has measured that; else ``None``.
        before: The text of the file before the call changed it, where the log keeps it.
    """

    line: int
    seconds: float | None = None
    before: str | None = None


@quick
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
        facts: All that the scheduler was told, in order; empty in an imported log. Where there are
            events and no facts, the facts are those that the events tell.
        committed: What was committed, for a replay to compare with; ``None``: ``messages`` is the
            only record of it.
        line: The number of its first line in the log that it was read from, or ``None``.
        results: What that log tells of each call's result beside the outcome; ``None`` where there
            is no result; empty where it was read from no log. Neither is part of a recording's
            file.
    """

    turn: Turn
    outcomes: tuple[Outcome | None, ...]
    times: tuple[Times, ...] = ()
    plan: PlanData | None = None
    events: tuple[Event, ...] = ()
    messages: tuple[Any, ...] = ()
    started_at: str | None = None
    facts: tuple[Fact, ...] = ()
    committed: Committed | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False)
    results: tuple[LoggedResult | None, ...] = field(default=(), compare=False)


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
