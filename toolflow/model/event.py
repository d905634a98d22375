"""Events: frozen facts of a run, for showing progress (spec 9.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from toolflow.model.turn import EMPTY

EventKind = Literal[
    "run_started",
    "call_queued",  # it waits for keys or resources; data: keys, holder
    "call_started",  # its body was entered
    "call_stopped",  # its body has really ended; only where that is later than the settled event
    "call_settled",  # its outcome is final; data: status
    "question_asked",  # data: question
    "question_answered",  # data: approved, reason
    "run_paused",  # data: stop points and questions
    "turn_committed",  # data: messages, the snapshot that is the truth
    "run_finished",  # data: status
]


class Event(NamedTuple):
    """One fact. A named tuple: a turn of many calls makes two of these a call.

    Attributes:
        kind: What happened.
        seq: Counted from 0 within the run, without gaps.
        at: Seconds since the run began.
        run: The run's name.
        turn: The turn's name.
        message_id: The provider's id of the message, where it has one.
        call: The call's name, or ``None`` for facts of the run as a whole.
        source: ``main``, or the parent call of a nested turn.
        data: Whatever else belongs to the kind.
    """

    kind: EventKind
    seq: int
    at: float
    run: str
    turn: str
    message_id: str | None = None
    call: str | None = None
    source: str = "main"
    data: Mapping[str, Any] = EMPTY
