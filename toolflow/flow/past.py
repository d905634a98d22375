"""What earlier processes made of a flow, as its journal tells (spec 8.5 and 10.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolflow.errors import UsageError
from toolflow.recording.journal import JournalContent, JournalTurn
from toolflow.runtime.approvals import Question


@dataclass(frozen=True, slots=True)
class Past:
    """What there is to go on from.

    Attributes:
        turns: The last turn of each stage that was begun, by the stage's name.
        answers: Answers to open questions, by stage and call.
        pool: How many calls run at once in stages that go on; as before by default.
    """

    turns: Mapping[str, JournalTurn] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    pool: int | None = None

    def questions(self) -> Iterator[tuple[str, Question]]:
        """What its stages wait for, each with the stage's name."""
        for stage, turn in self.turns.items():
            if turn.unfinished:
                for question in turn.repair().checkpoint.questions:
                    yield stage, question


NO_PAST = Past()


def past_of(content: JournalContent) -> Past:
    """What a flow's journal tells of its stages.

    Args:
        content: The journal.
    """
    turns = [turn for turn in content.turns if turn.source == "main" and not turn.continued]
    return Past({turn.id: turn for turn in turns})


def addressed(past: Past, answers: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Tell which stage each answer is for.

    Args:
        past: What there is to go on from.
        answers: By call, or by ``STAGE/CALL`` where calls of several stages have one name.

    Returns:
        The answers by stage and call.

    Raises:
        UsageError: If an answer is for a call that does not wait for one, or for several.
    """
    waiting = [(stage, question.call) for stage, question in past.questions()]
    found: dict[str, dict[str, Any]] = {}
    for name, answer in answers.items():
        meant = [each for each in waiting if name in {each[1], f"{each[0]}/{each[1]}"}]
        if len(meant) != 1:
            allowed = ", ".join(f"{stage}/{call}" for stage, call in waiting) or "none"
            several = "is one of several stages" if meant else "waits for no answer"
            raise UsageError(f"--answer: the call {name!r} {several}. Waiting: {allowed}.")
        ((stage, call),) = meant
        found.setdefault(stage, {})[call] = answer
    return found
