"""Questions to a person, and their answers (spec 8)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolflow.model.batch import CallPlan
from toolflow.model.digest import digest


@dataclass(frozen=True, slots=True)
class Question:
    """Something that a person must answer before a run goes on.

    Attributes:
        call: The call's unique name in its turn.
        kind: ``approval`` (may it run?), ``interrupt`` (its body asks) or ``repeat`` (it had
            started when a process died: may it run again?).
        text: The question; for an interrupt any JSON value.
        tool: The tool's name.
        args: The arguments.
        digest: What a yes is bound to: tool and arguments (spec 8.4).
    """

    call: str
    kind: Literal["approval", "interrupt", "repeat"]
    text: Any
    tool: str
    args: Mapping[str, Any]
    digest: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer to an approval, or to whether a call may run again.

    Attributes:
        approved: Whether the call may run.
        reason: Why not, for the model.
        always: Whether the same goes for every later call of the turn with the same tool and
            arguments.
    """

    approved: bool
    reason: str | None = None
    always: bool = False


Approver = Callable[[Question], Awaitable[Answer | bool] | Answer | bool]


def call_digest(call: CallPlan) -> str:
    """The digest of tool and arguments, to which an approval is bound."""
    return digest([call.tool, call.args])


def approval_of(call: CallPlan) -> Question:
    """The question that a call's rule puts."""
    return Question(call.name, "approval", call.ask, call.tool, call.args, call_digest(call))


def interrupt_of(call: CallPlan, question: Any) -> Question:
    """The question that a call's body asks."""
    return Question(call.name, "interrupt", question, call.tool, call.args, call_digest(call))


def repeat_of(call: CallPlan) -> Question:
    """The question whether a call may run again that had started when a process died."""
    what = f"Call {call.name!r} ({call.label or call.tool})"
    text = f"{what} had started when the process died, and may have taken effect; run it again?"
    return Question(call.name, "repeat", text, call.tool, call.args, call_digest(call))


def as_answer(value: object) -> Answer:
    """Read what an approver gave.

    Raises:
        TypeError: If it is neither an `Answer` nor exactly ``True`` or ``False``.
    """
    if isinstance(value, Answer):
        return value
    if isinstance(value, bool):
        return Answer(approved=value)
    raise TypeError(f"The approver returned {type(value).__name__}. Use an Answer, True or False.")
