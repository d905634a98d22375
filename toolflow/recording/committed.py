"""The committed bytes of a turn: how a recording keeps them, and how a replay compares them.

The results in the provider's form say once more what the outcomes say. So a recording keeps their
digest, and one of each outcome, and writes the messages again when it is read; where they cannot
be written again from the turn, it keeps the messages themselves.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from toolflow.errors import DivergenceError, ToolflowError, UsageError
from toolflow.formats import write_turn
from toolflow.model.outcome import Outcome
from toolflow.model.recording import Committed, RecordedTurn
from toolflow.model.turn import Turn
from toolflow.recording.compare import first_difference, path_text
from toolflow.recording.drive import diverged
from toolflow.recording.forms import outcome_data
from toolflow.recording.show import shown

# What writers raise where a message is not the one that their reader made the calls of.
_MISFITS = (AttributeError, LookupError, StopIteration, TypeError, ValueError)
SHORT = 12  # digits of the digest of one outcome


def message_bytes(messages: Sequence[Any]) -> bytes:
    """Messages as the bytes that a provider would get: JSON without blanks, keys in their order."""
    text = json.dumps(list(messages), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def message_digest(messages: Sequence[Any]) -> str:
    """The SHA-256 digest of messages, as 64 hexadecimal digits."""
    return hashlib.sha256(message_bytes(messages)).hexdigest()


def outcome_digest(outcome: Outcome) -> str:
    """The first digits of the digest of an outcome."""
    text = json.dumps(outcome_data(outcome), ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:SHORT]


def written_messages(
    turn: Turn,
    outcomes: Sequence[Outcome | None],
    *,
    texts: Sequence[str] = (),
    steering: Sequence[Any] = (),
) -> tuple[Any, ...] | None:
    """The messages of a turn, written anew.

    Args:
        turn: The turn.
        outcomes: How each call settled.
        texts: What hooks told the model after the results.
        steering: Messages that follow the results.

    Returns:
        All messages, or ``None`` where a call has no outcome, so that nothing can be written.

    Raises:
        UsageError: If an outcome holds what JSON cannot, the format is not known, or the message
            is not that of the calls, as in a recording that was changed by hand.
    """
    known = [outcome for outcome in outcomes if outcome is not None]
    if len(known) < len(outcomes):
        return None
    try:
        assistant, results = write_turn(turn, known, texts=texts)
    except _MISFITS as error:
        problem = f"The message of turn {turn.id!r} does not hold the calls of the turn."
        raise UsageError(problem) from error
    return (*assistant, *results, *steering)


def committed_of(
    turn: Turn,
    outcomes: Sequence[Outcome | None],
    messages: Sequence[Any],
    *,
    texts: Sequence[str] = (),
    steering: Sequence[Any] = (),
) -> Committed | None:
    """What a recording keeps of committed messages.

    Args:
        turn: The turn.
        outcomes: How each call settled.
        messages: What was committed.
        texts: What hooks told the model after the results.
        steering: Messages that follow the results.

    Returns:
        Digests, or ``None`` where the messages cannot be written again just so.
    """
    if not messages:
        return None
    try:
        again = written_messages(turn, outcomes, texts=texts, steering=steering)
    except ToolflowError:
        return None
    digest = message_digest(messages)
    if again is None or message_digest(again) != digest:
        return None
    results = tuple(outcome_digest(outcome) for outcome in outcomes if outcome is not None)
    return Committed(digest, results, tuple(texts), tuple(steering))


def compare_messages(
    recorded: RecordedTurn, now: Sequence[Any], outcomes: Sequence[Outcome | None]
) -> DivergenceError | None:
    """The first call whose committed bytes are not those of the record.

    Args:
        recorded: The turn in the recording.
        now: The messages as written now.
        outcomes: The outcomes that they were written of.
    """
    kept = recorded.committed
    digest = message_digest(now)
    if digest == (kept.digest if kept is not None else message_digest(recorded.messages)):
        return None
    if kept is None:
        return _messages_differ(recorded.turn, recorded.messages, now)
    for call, before, outcome in zip(recorded.turn.calls, kept.results, outcomes, strict=False):
        if outcome is not None and outcome_digest(outcome) != before:
            now_text = f"{outcome_digest(outcome)} ({outcome.status} {shown(outcome.text)})"
            return diverged(call.id, f"a result of digest {before}", now_text, kind="messages")
    words = f"messages of digest {kept.digest[:SHORT]}", digest[:SHORT]
    return diverged(None, *words, kind="messages")


def _messages_differ(turn: Turn, recorded: Sequence[Any], now: Sequence[Any]) -> DivergenceError:
    path, before, after = first_difference(list(recorded), list(now))
    where = path_text(path)
    return diverged(
        _call_at(turn, path),
        f"{where} {shown(before, after)}",
        f"{where} {shown(after, before)}",
        what="the committed messages",
        kind="messages",
    )


def _call_at(turn: Turn, path: Sequence[str | int]) -> str | None:
    """The call whose result stands at a place of the messages.

    The turn is written once more with the index of each call as its result; the smallest part
    around the place that holds the mark of one call only belongs to it.
    """
    marks = {f"\0{call.index}\0": call.id for call in turn.calls}
    assistant, results = write_turn(turn, [Outcome("ok", mark) for mark in marks])
    around: list[Any] = [[*assistant, *results]]
    for step in path:
        here = around[-1]
        inside = isinstance(here, dict) and step in here
        inside = inside or (isinstance(here, list) and isinstance(step, int) and step < len(here))
        if not inside:
            break
        around.append(here[step])
    for part in reversed(around):
        text = json.dumps(part)
        found = [name for mark, name in marks.items() if json.dumps(mark)[1:-1] in text]
        if len(found) == 1:
            return found[0]
        if found:
            return None
    return None
