"""tau-bench: a list of runs, each with the messages of its conversation in ``traj``.

Source: the result files of the benchmark's runner. Messages are those of OpenAI Chat. Each run is
a source of its own, ``run-1``, ``run-2`` ..., by its place in the file: a file holds several trials
of one task, and ids come back within a run, so that results must stay in their run and turn.

A result says in its text alone that a call failed: the runner writes ``Error: `` before the error
of a tool, and ``Unknown action`` before a name that no tool has. Lines are runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.parts import content
from toolflow.formats.session.turns import chat_turn, take
from toolflow.model import Notice, Outcome, RecordedTurn
from toolflow.model.outcome import Status

NAME = "tau-bench"
_FACTS = ("task_id", "trial", "reward")
_SENTENCES: tuple[tuple[str, Status], ...] = (
    ("Error: ", "failed"),
    ("Unknown action ", "unknown_tool"),
)


def _recognise(head: Sequence[Any]) -> bool:
    return any(
        isinstance(run, dict) and isinstance(run.get("traj"), list) and "task_id" in run
        for run in head
    )


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    conversation = Conversation(reading)
    runs = []
    for number, run in reading.objects(log):
        messages = run.get("traj")
        if not isinstance(messages, list):
            reading.skip(number, "it holds no list 'traj'")
            continue
        facts = {name: run[name] for name in _FACTS if name in run}
        runs.append({"source": f"run-{number}", **facts})
        for place, message in enumerate(messages, 1):
            if isinstance(message, dict):
                _take(conversation, message, facts, number)
            else:
                text = f"Message {place} of the run cannot be read: it is no JSON object."
                reading.oddities.append(Notice("unreadable", text, line=number))
        yield from conversation.rest()
    reading.note(runs=runs)


def _take(
    conversation: Conversation, message: dict[str, Any], facts: dict[str, Any], number: int
) -> None:
    source = f"run-{number}"
    if message.get("role") == "assistant":
        turn = chat_turn(message, extra=facts)
        take(conversation, turn, message, line=number, source=source)
    elif message.get("role") == "tool":
        outcome = _outcome(message.get("content"))
        conversation.result(message.get("tool_call_id"), outcome, line=number, source=source)


def _outcome(told: Any) -> Outcome:
    value, images = content(told)
    for beginning, status in _SENTENCES:
        if isinstance(value, str) and value.startswith(beginning):
            return Outcome(status, None, value, images)
    return Outcome("ok", value, images=images)


FORMAT = SessionFormat(
    name=NAME,
    about="a list of runs with a task_id and the messages of a conversation in traj",
    recognise=_recognise,
    read=_read,
)
