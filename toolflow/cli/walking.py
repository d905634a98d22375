"""``toolflow replay --until`` and ``--step``: a recorded run up to a call, or fact by fact."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import typer

from toolflow.cli.console import Output, harmless, say, say_data
from toolflow.errors import UsageError
from toolflow.model.recording import RecordedTurn, Recording
from toolflow.recording.naming import find_call
from toolflow.recording.turn_reader import TurnSource, turns_of
from toolflow.recording.walking import Moment, Walk

_MOST = 20
_HELP = "Enter: next; a number: so many; a call's name: until it starts; q: end"


def until(recording: Recording | TurnSource, name: str, output: Output) -> int:
    """Show a run at the point where a call would start."""
    recorded, index = find_call(recording, name)
    walk = Walk(recorded)
    starts = walk.until(index)
    moment = walk.moment()
    if output != "text":
        say_data(
            {"turn": recorded.turn.id, "call": name, "starts": starts, **moment.data()}, output
        )
        return 0
    call = walk.plan.calls[index].name
    if not starts:
        outcome = recorded.outcomes[index]
        status = "has no outcome" if outcome is None else f"settles as {outcome.status}"
        say(f"{recorded.turn.id}: {call} never starts, it {status}")
    else:
        say(f"{recorded.turn.id}: before {call} starts")
    for line in _state(moment):
        say(line)
    return 0


def walk_through(recording: Recording | TurnSource, name: str | None) -> int:
    """Go through runs, turn by turn, as a person at the terminal says.

    Args:
        recording: The recording.
        name: The call at whose start the walk begins; ``None`` for the begin of the first run.
    """
    turns, index = turns_of(recording), None
    if name is not None:
        recorded, index = find_call(recording, name)
        turns = iter((recorded,))
    for recorded in turns:
        if _walk(recorded, index):
            break
    return 0


def _walk(recorded: RecordedTurn, start: int | None) -> bool:
    """Walk through one turn; whether the person wants to end."""
    walk = Walk(recorded)
    say(str(walk.plan).splitlines()[0])
    if start is not None:
        walk.until(start)
    _show(walk.moment())
    while not walk.over:
        word = _read()
        if word is None or word.lower() in {"q", "quit"}:
            return True
        try:
            _go_on(recorded, walk, word)
        except UsageError as error:
            say(str(error))
            say(_HELP)
    return False


def _go_on(recorded: RecordedTurn, walk: Walk, word: str) -> None:
    if not word or word.isdigit():
        for _ in range(int(word[:6] or 1)):
            if not walk.over:
                walk.step()
                _show(walk.moment())
        return
    _, index = find_call(Recording((recorded,)), word)
    if not walk.will_start(index):
        raise UsageError(f"{word} does not start from here on.")
    walk.until(index)
    _show(walk.moment())


def _read() -> str | None:
    """A line of the person; ``None`` at the end of the input."""
    if sys.stdin.isatty():
        typer.echo(f"[{_HELP}] ", err=True, nl=False)
    line = sys.stdin.readline()
    return line.strip() if line else None


def _show(moment: Moment) -> None:
    if moment.happened:
        at = "" if moment.at is None else f"{moment.at:.3f} s  "
        say(f"{moment.step}/{moment.steps}  {at}{moment.happened}")
        for decided in moment.decided:
            say(f"    -> {decided}")
    for line in _state(moment):
        say(f"    {line}")


def _state(moment: Moment) -> Iterator[str]:
    yield f"done: {_listed(moment.done)}"
    yield f"runs: {_listed(moment.running)}"
    for name, reasons in moment.waiting[:_MOST]:
        yield f"waits: {harmless(name)} for {'; '.join(reasons)}"
    if len(moment.waiting) > _MOST:
        yield f"waits: {len(moment.waiting) - _MOST} more calls"
    yield f"next: {moment.next or 'the end'}"


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_MOST])
    return (f"{shown} … {len(names)} in all" if len(names) > _MOST else shown) or "nothing"
