"""Calls of a recording by name: ``CALL``, or ``TURN/CALL`` where several turns have such a call."""

from __future__ import annotations

from itertools import islice

from toolflow.compiler.faults import known
from toolflow.errors import UsageError
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.turn import call_names
from toolflow.recording.turn_reader import TurnSource, turns_of


def find_call(recording: Recording | TurnSource, name: str) -> tuple[RecordedTurn, int]:
    """Find a call by its name.

    Args:
        recording: The recording, or the reader of one, of which one turn is kept.
        name: The name of the call, or of its turn and it, with a slash between them. A run that
            paused and the runs that resumed it are one turn: the last one counts.

    Returns:
        The turn, and the index of the call in it.

    Raises:
        UsageError: If there is no such call, or several turns have one.
    """
    found: dict[str, tuple[int, int]] = {}  # name of the turn: its place, and that of the call
    kept: tuple[int, RecordedTurn] | None = None
    for place, recorded in enumerate(turns_of(recording)):
        turn, names = recorded.turn.id, names_of(recorded)
        if hits := [at for at, each in enumerate(names) if name in {each, f"{turn}/{each}"}]:
            found[turn] = (place, hits[-1])
            kept = (place, recorded) if len(found) == 1 else kept
        else:
            found.pop(turn, None)
    if len(found) != 1:
        raise UsageError(_not_one(recording, name, list(found)))
    [(place, index)] = found.values()
    if kept is not None and kept[0] == place:
        return kept[1], index
    return next(islice(turns_of(recording), place, None)), index


def _not_one(recording: Recording | TurnSource, name: str, turns: list[str]) -> str:
    if turns:
        forms = ", ".join(repr(f"{turn}/{name}") for turn in turns[:5])
        return f"{len(turns)} turns have a call {name!r}. Use {forms}."
    names = dict.fromkeys(each for turn in turns_of(recording) for each in names_of(turn))
    return f"There is no call {name!r}. {known(names, name)}"


def names_of(recorded: RecordedTurn) -> tuple[str, ...]:
    """The names of the calls of a turn, in call order."""
    if recorded.plan is not None:
        return tuple(call.name for call in recorded.plan.calls)
    return call_names(recorded.turn.calls)
