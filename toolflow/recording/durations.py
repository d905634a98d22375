"""How long things took in a recording: the times of a turn as a whole, and of each body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from toolflow.model.outcome import Times
from toolflow.model.plan import PlanData
from toolflow.model.recording import RecordedTurn


def whole_turns(turns: Iterable[RecordedTurn]) -> Iterator[RecordedTurn]:
    """Turns in one piece: a run that paused goes with the run that resumed it.

    Args:
        turns: Turns as they stand in a recording.

    Yields:
        The turns in their order; a run in parts stands where its last one does, and one that
        paused and was not resumed at the end. Of a run in parts the last one counts, and each call
        has the times of the part in which its body ran last.
    """
    paused: dict[tuple[str, str], RecordedTurn] = {}
    for turn in turns:
        name = (turn.turn.source, turn.turn.id)
        before = paused.get(name)
        whole = turn
        if before is not None and _goes_on(before, turn):
            del paused[name]
            whole = replace(turn, times=_merged(before.times, turn.times))
        if has_paused(turn) and name not in paused:
            paused[name] = whole
        else:
            yield whole
    yield from paused.values()


def has_paused(recorded: RecordedTurn) -> bool:
    """Whether a run ended with a pause: what has no result then is still to come."""
    return any(event.kind == "run_paused" for event in reversed(recorded.events))


def body_seconds(recorded: RecordedTurn) -> tuple[float | None, ...]:
    """How long the body of each call took, in call order.

    Args:
        recorded: The turn.

    Returns:
        Seconds from when it was entered to when it had really ended (to when its outcome was
        reported, where nothing more is known); ``None`` where it never ran, or no time is known.
    """
    found: list[float | None] = [None] * len(recorded.turn.calls)
    for index, times in enumerate(recorded.times[: len(found)]):
        end = times.stopped if times.stopped is not None else times.settled
        if times.started is not None and end is not None:
            found[index] = max(0.0, end - times.started)
    return tuple(found)


def durations_of(recorded: RecordedTurn, plan: PlanData) -> dict[str, float]:
    """How long the body of each call took, as far as it is recorded.

    Args:
        recorded: The turn.
        plan: Its plan.

    Returns:
        Seconds by the call's name.
    """
    pairs = zip(plan.calls, body_seconds(recorded), strict=False)
    return {call.name: seconds for call, seconds in pairs if seconds is not None}


def recorded_seconds(recorded: RecordedTurn) -> float | None:
    """How long the turn took as it was recorded, questions and pauses included.

    Args:
        recorded: The turn; of a run in parts, the time of its last part.

    Returns:
        Seconds from the begin of the run to the end of the last call, or ``None``.
    """
    moments = [
        at for times in recorded.times for at in (times.settled, times.stopped) if at is not None
    ]
    return max(moments, default=None)


def _goes_on(before: RecordedTurn, after: RecordedTurn) -> bool:
    setup: Any = after.facts[0].data if after.facts and after.facts[0].kind == "setup" else {}
    resumed = any(setup.get(name) for name in ("settled", "passed", "approved", "asking"))
    same = (before.turn.id, before.turn.source) == (after.turn.id, after.turn.source)
    return same and resumed and len(before.turn.calls) == len(after.turn.calls)


def _merged(before: Sequence[Times], after: Sequence[Times]) -> tuple[Times, ...]:
    if len(before) != len(after):
        return tuple(after or before)
    return tuple(
        now if now.started is not None else then for then, now in zip(before, after, strict=True)
    )
