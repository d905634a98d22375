"""What the lines of one turn in a journal tell: pure, from lines to facts (spec 10.1).

A line is believed as far as it can be read. One that cannot says nothing about its own call, so
where such a line may have told of a start, no call of the turn counts as not started.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from toolflow.compiler import Plan
from toolflow.errors import CheckpointError, JournalError, RecordingError
from toolflow.model.event import EventKind
from toolflow.model.outcome import Outcome, Times
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.checkpoint_file import checkpoint_from, state_from
from toolflow.recording.journal.line_values import Line, outcome_in, seconds, times_in
from toolflow.recording.journal.plan_reading import plan_of
from toolflow.recording.turn_form import turn_from

EVENTS: Final[Mapping[str, EventKind]] = {
    "begun": "run_started",
    "queued": "call_queued",
    "stopped": "call_stopped",
    "asked": "question_asked",
    "answered": "question_answered",
    "pausing": "run_paused",
    "committed": "turn_committed",
    "finished": "run_finished",
}
_BODIES: Final[Mapping[str, EventKind]] = {"s": "call_started", "e": "call_settled"}
Told = tuple[EventKind, float, str | None, Mapping[str, Any]]


@dataclass
class TurnState:
    """All that a journal tells of one turn so far.

    Attributes:
        number: Its number in the journal.
        plan: What is run, with its turn.
        head: The line that it began with.
        base: What it went on from, if it is the rest of an earlier one.
        status: ``open`` until it has ended; then ``done``, ``aborted``, ``failed`` or ``paused``.
        entered: How often each body may have been entered, by the call's name.
        outcomes: By name: how a call settled, and whether nothing more happens to it.
        asked: Open questions of bodies, by name.
        approved: Names of calls whose question was answered with yes.
        texts: What hooks told the model, by call.
        abort: Why it was aborted, or ``None``.
        events: Its events in the order of the lines.
        starts: When each body was entered last, by name.
        times: Times of calls, by name, where they are not the usual ones.
        end: The line that it ended with.
        pause: The checkpoint, where it has paused.
        damaged: Whether a line may be missing that told of one of its calls.
        last: Seconds since it began, at its last line.
        names: The names of its calls.
    """

    number: int
    plan: Plan
    head: Line
    base: Checkpoint | None = None
    status: str = "open"
    entered: Counter[str] = field(default_factory=Counter)
    outcomes: dict[str, tuple[Outcome, bool]] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)
    approved: set[str] = field(default_factory=set)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    abort: str | None = None
    events: list[Told] = field(default_factory=list)
    starts: dict[str, float] = field(default_factory=dict)
    times: dict[str, Times] = field(default_factory=dict)
    end: Line | None = None
    pause: Checkpoint | None = None
    damaged: bool = False
    last: float = 0.0
    names: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self.names = frozenset(call.name for call in self.plan.calls)

    @property
    def source(self) -> str:
        """``main``, or the path of parent calls of a nested turn."""
        return str(self.head.get("source", "main"))

    def tell(self, line: Line) -> None:
        """Take a line in.

        Raises:
            JournalError: If it cannot be understood; nothing of it is taken in.
        """
        kind = line["line"]
        handler = _HANDLERS.get(kind)
        if handler is None:
            raise JournalError(f"{kind!r} is no kind of line")
        try:
            handler(self, line)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise JournalError(f"{type(error).__name__}: {error}") from error
        except (CheckpointError, RecordingError) as error:
            raise JournalError(str(error).splitlines()[0]) from error

    def name(self, line: Line) -> str:
        """The call that a line is about."""
        name = line["call"]
        if name not in self.names:
            raise ValueError(f"{name!r} is no call of the turn")
        return str(name)


def turn_state(line: Line, notice: Callable[[str, str], None]) -> TurnState:
    """The state of a turn that begins.

    Args:
        line: Its first line.
        notice: Told of what is odd.

    Raises:
        JournalError: If it cannot be understood.
    """
    number = line.get("turn")
    if type(number) is not int:
        raise JournalError("it has no number")
    if "since" not in line:
        return TurnState(number, plan_of(line, notice), line)
    try:
        base = checkpoint_from(line["since"])
    except CheckpointError as error:
        raise JournalError(str(error).splitlines()[0]) from error
    return TurnState(number, base.plan, line, base)


# ---- one function a kind of line ----


def _event(state: TurnState, line: Line, data: Mapping[str, Any], name: str | None) -> None:
    at = seconds(line["at"])
    state.last = max(state.last, at)
    state.events.append((EVENTS[line["line"]], at, name, data))


def _events(state: TurnState, line: Line) -> None:
    calls = state.plan.calls
    rows = []
    for kind, index, at in zip(line["of"], line["calls"], line["at"], strict=True):
        if type(index) is not int or not 0 <= index < len(calls) or kind not in _BODIES:
            raise ValueError(f"{kind!r} of {index!r} is no event of a call")
        rows.append((_BODIES[kind], calls[index].name, seconds(at)))
    for event, name, at in rows:
        state.last = max(state.last, at)
        if event == "call_started":
            state.starts[name] = at
            state.events.append((event, at, name, {}))
        elif (known := state.outcomes.get(name)) is not None:  # else the line of its result is lost
            state.events.append((event, at, name, {"status": known[0].status}))
            state.times.setdefault(name, Times(None, None, state.starts.get(name), at, at))


def _of_run(state: TurnState, line: Line) -> None:
    _event(state, line, dict(line.get("data", {})), None)


def _queued(state: TurnState, line: Line) -> None:
    _event(state, line, dict(line.get("data", {})), state.name(line))


def _started(state: TurnState, line: Line) -> None:
    names = [state.name({"call": name}) for name in line["calls"]]
    state.last = max(state.last, seconds(line["at"]))
    state.entered.update(names)
    for name in names:
        state.asked.pop(name, None)


def _recalled(state: TurnState, line: Line) -> None:
    names = [state.name({"call": name}) for name in line["calls"]]
    state.entered.subtract(names)
    state.entered += Counter()  # those that were never entered are not in it


def _settled(state: TurnState, line: Line) -> None:
    name = state.name(line)
    outcome = state.outcomes[name][0] if line.get("same") else outcome_in(line)
    times = times_in(line["times"]) if "times" in line else None
    state.outcomes[name] = (outcome, True)
    if times is not None:
        state.times[name] = times
    else:
        state.times.pop(name, None)  # of an earlier attempt; the line of events tells them
    if "texts" in line:
        state.texts[name] = tuple(line["texts"])


def _stopped(state: TurnState, line: Line) -> None:
    name = state.name(line)
    outcome = outcome_in(line) if "status" in line else None
    _event(state, line, dict(line.get("data", {})), name)
    told = name in state.outcomes and state.outcomes[name][1]
    if outcome is not None:
        state.outcomes[name] = (outcome, told)
    if told and name in state.times:
        before = state.times[name]
        at = seconds(line["at"])
        state.times[name] = Times(before.queued, before.granted, before.started, before.settled, at)


def _ended_body(state: TurnState, line: Line) -> None:
    name = state.name(line)
    outcome = outcome_in(line)
    state.outcomes.setdefault(name, (outcome, False))


def _asked(state: TurnState, line: Line) -> None:
    name, data = state.name(line), dict(line.get("data", {}))
    times = times_in(line["times"]) if "times" in line else None
    _event(state, line, data, name)
    if line.get("body"):
        state.asked[name] = data.get("question")
    if times is not None:
        state.times[name] = times


def _answered(state: TurnState, line: Line) -> None:
    name, data = state.name(line), dict(line.get("data", {}))
    _event(state, line, data, name)
    if data.get("approved") is True:
        state.approved.add(name)


def _prepared(state: TurnState, line: Line) -> None:
    state.name(line)  # its hook runs again; the arguments stand there for people


def _aborted(state: TurnState, line: Line) -> None:
    state.abort = str(line["cause"])


def _ended(state: TurnState, line: Line) -> None:
    if line["status"] not in {"done", "aborted", "failed"}:
        raise ValueError(f"status is {line['status']!r}")
    state.status, state.end = line["status"], line


def _paused(state: TurnState, line: Line) -> None:
    plan = state.plan
    if "plan" in line:
        changed = turn_from(line["plan"]).plan
        if not isinstance(changed, Plan):
            raise ValueError("its plan cannot be read")
        plan = changed
    index = {call.name: call.index for call in plan.calls}
    outcomes = dict(state.base.outcomes) if state.base is not None else {}
    outcomes |= {index[name]: known for name, known in state.outcomes.items()}
    state.pause = state_from(line["state"], plan, outcomes)
    state.status, state.end = "paused", line


_HANDLERS: Final[Mapping[str, Callable[[TurnState, Line], None]]] = {
    "begun": _of_run,
    "pausing": _of_run,
    "committed": _of_run,
    "finished": _of_run,
    "queued": _queued,
    "started": _started,
    "recalled": _recalled,
    "settled": _settled,
    "events": _events,
    "stopped": _stopped,
    "outcome": _ended_body,
    "asked": _asked,
    "answered": _answered,
    "prepared": _prepared,
    "aborted": _aborted,
    "ended": _ended,
    "paused": _paused,
}
