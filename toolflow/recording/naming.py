"""Calls of a recording by name: ``CALL``, or ``TURN/CALL`` where several turns have such a call."""

from __future__ import annotations

from toolflow.compiler.faults import known
from toolflow.errors import UsageError
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.model.turn import call_names


def find_call(recording: Recording, name: str) -> tuple[RecordedTurn, int]:
    """Find a call by its name.

    Args:
        recording: The recording.
        name: The name of the call, or of its turn and it, with a slash between them. A run that
            paused and the runs that resumed it are one turn: the last one counts.

    Returns:
        The turn, and the index of the call in it.

    Raises:
        UsageError: If there is no such call, or several turns have one.
    """
    turns = {recorded.turn.id: recorded for recorded in recording.turns}
    found = {
        turn: (recorded, index)
        for turn, recorded in turns.items()
        for index, each in enumerate(names_of(recorded))
        if name in {each, f"{turn}/{each}"}
    }
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        names = [each for recorded in turns.values() for each in names_of(recorded)]
        raise UsageError(f"There is no call {name!r}. {known(dict.fromkeys(names), name)}")
    forms = ", ".join(repr(f"{turn}/{name}") for turn in list(found)[:5])
    raise UsageError(f"{len(found)} turns have a call {name!r}. Use {forms}.")


def names_of(recorded: RecordedTurn) -> tuple[str, ...]:
    """The names of the calls of a turn, in call order."""
    if recorded.plan is not None:
        return tuple(call.name for call in recorded.plan.calls)
    return call_names(recorded.turn.calls)
