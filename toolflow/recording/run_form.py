"""The form of a run in a recording: its events and facts, a line each.

What all events of a run have in common stands once, under ``run``; the sequence numbers are the
places of the lines. An event that does not fit the others says so in a pair ``head=``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar, get_args

from toolflow.compiler import compile_plan, load_plan, plan_data
from toolflow.errors import PlanError
from toolflow.model.batch import Batch, CallPlan, Limits
from toolflow.model.event import Event
from toolflow.model.plan import PlanData
from toolflow.model.recording import Fact, FactKind, RecordedTurn
from toolflow.model.turn import EMPTY, Turn
from toolflow.recording.facts import PLAIN_SETUP, facts_of_events
from toolflow.recording.lines import (
    EVENT_KINDS,
    LineError,
    line,
    seconds_of,
    seconds_text,
    split,
    word,
)
from toolflow.recording.reader import Path, Reader

T = TypeVar("T")
RUN_FIELDS: Final = (
    "id",
    "source",
    "hooks",
    "approver",
    "pausable",
    "stops",
    "passed",
    "approved",
    "settled",
    "failed",
    "prepared",
    "asking",
)
_FLAGS: Final = ("hooks", "approver", "pausable")
_LISTS: Final = ("stops", "passed", "approved", "failed", "prepared", "asking")
_HEAD: Final = ("seq", "run", "turn", "message_id", "source")
_FACT_DATA: Final[Mapping[str, tuple[str, ...]]] = {
    "prepared": ("call", "ask_again"),
    "refused": ("hooked",),
    "answered": ("approved",),
    "changed": ("call",),
    "reported": ("failed",),
    "stopped": ("failed",),
    "after_done": ("failed",),
}
_NEEDED: Final = {"answered": "approved", "changed": "call", "stopped": "failed"}
_OF_RUN: Final = frozenset({"begin", "halt", "abort", "fail"})


def run_data(recorded: RecordedTurn) -> dict[str, Any]:
    """The fields ``run``, ``events`` and ``facts`` of a turn; empty where nothing ran.

    Args:
        recorded: The turn.
    """
    data: dict[str, Any] = {}
    plan, events, facts = recorded.plan, recorded.events, recorded.facts
    setup = facts[0].data if facts and facts[0].kind == "setup" else PLAIN_SETUP.data
    names = [call.name for call in plan.calls] if plan is not None else []
    fields: dict[str, Any] = {}
    if events:
        fields["id"] = events[0].run
        if events[0].source != "main":
            fields["source"] = events[0].source
    for name in _FLAGS:
        if setup.get(name, False) is not (name == "pausable"):
            fields[name] = setup.get(name, False)
    for name in _LISTS:
        if setup.get(name):
            fields[name] = [names[index] for index in setup[name]]
    if setup.get("settled"):
        fields["settled"] = {names[index]: after for index, after in setup["settled"].items()}
    if fields:
        data["run"] = fields
    if events:
        head = _head(recorded.turn, events)
        data["events"] = _text(event_line(event, seq, head) for seq, event in enumerate(events))
    told = facts[1:] if facts and facts[0].kind == "setup" else facts
    if not facts and events:
        data["facts"] = ""
    elif plan is not None and told != facts_of_events(plan, events):
        data["facts"] = _text(fact_line(fact, names, plan) for fact in told)
    return data


def read_run(
    reader: Reader, data: Mapping[str, Any], path: Path, turn: Turn, plan: PlanData | None
) -> tuple[tuple[Event, ...], tuple[Fact, ...]]:
    """Read the fields ``run``, ``events`` and ``facts`` of a turn at a path."""
    run = reader.mapping(data.get("run", {}), (*path, "run"), RUN_FIELDS)
    names = {call.name: call.index for call in plan.calls} if plan is not None else {}
    setup = _read_setup(reader, run, (*path, "run"), names)
    source = reader.field(run, (*path, "run"), "source", str, "main")
    head = (
        reader.field(run, (*path, "run"), "id", str, "run"),
        turn.id,
        turn.message_id,
        source,
    )
    events = tuple(
        _lines(reader, data, path, "events", lambda text, seq: read_event(text, seq, head))
    )
    if plan is None or not ("run" in data or events):
        return events, ()
    if "facts" not in data:
        return events, (Fact("setup", -1, setup), *facts_of_events(plan, events))
    facts = tuple(_lines(reader, data, path, "facts", lambda text, _: read_fact(text, names, plan)))
    return events, (Fact("setup", -1, setup), *facts) if facts else ()


def event_line(event: Event, seq: int, head: tuple[str, str, str | None, str]) -> str:
    """An event as a line.

    Args:
        event: The event.
        seq: The number that its place says.
        head: Run, turn, message id and source of most events.
    """
    words = [seconds_text(event.at), event.kind]
    if event.call is not None:
        words.append(word(event.call))
    own = (event.run, event.turn, event.message_id, event.source)
    if own == head and event.seq == seq and "head" not in event.data:
        return line(words, event.data)
    odd = dict(zip(_HEAD, (event.seq, *own), strict=True))
    return line(words, {"head": odd, "data": dict(event.data)})


def read_event(text: str, seq: int, head: tuple[str, str, str | None, str]) -> Event:
    """Read an event from a line.

    Raises:
        LineError: If it is none.
    """
    words, data = split(text)
    if not 2 <= len(words) <= 3:
        raise LineError("An event is a time, a kind and perhaps the name of a call.")
    if words[1] not in EVENT_KINDS:
        raise LineError(f"{words[1]!r} is no event. Use one of {', '.join(sorted(EVENT_KINDS))}.")
    call = words[2] if len(words) == 3 else None
    run, turn, message_id, source = head
    if "head" in data:
        odd, data = data["head"], data.get("data", EMPTY)
        if not isinstance(odd, dict) or set(odd) != set(_HEAD) or not isinstance(data, dict):
            raise LineError(f"head has other fields than {', '.join(_HEAD)}.")
        seq, run, turn, message_id, source = (odd[name] for name in _HEAD)
    at = seconds_of(words[0])
    return Event(words[1], seq, at, run, turn, message_id, call, source, data)  # type: ignore[arg-type]  # one of the kinds, see above


def fact_line(fact: Fact, names: Sequence[str], plan: PlanData) -> str:
    """A fact as a line; a changed call stands as JSON in it."""
    words = [str(fact.kind)]
    if fact.call >= 0:
        words.append(word(names[fact.call]))
    data = fact.data
    if "call" in data:
        data = {**data, "call": _call_data(data["call"], plan)}
    return line(words, data)


def read_fact(text: str, names: Mapping[str, int], plan: PlanData) -> Fact:
    """Read a fact from a line.

    Raises:
        LineError: If it is none.
    """
    words, data = split(text)
    kind = words[0] if words else ""
    if kind not in get_args(FactKind) or kind == "setup":
        raise LineError(f"{kind!r} is no fact. Use one of {', '.join(get_args(FactKind)[1:])}.")
    if len(words) != (1 if kind in _OF_RUN else 2):
        raise LineError(f"{kind} is followed by {'nothing' if kind in _OF_RUN else 'one call'}.")
    index = -1
    if kind not in _OF_RUN:
        if words[1] not in names:
            raise LineError(f"{words[1]!r} is no call of this turn.")
        index = names[words[1]]
    allowed = _FACT_DATA.get(kind, ())
    for name, value in data.items():
        if name not in allowed or type(value) is not (dict if name == "call" else bool):
            raise LineError(f"{name}={value!r} does not belong to {kind}.")
    if kind in _NEEDED and _NEEDED[kind] not in data:
        raise LineError(f"{_NEEDED[kind]} is missing.")
    if "call" in data:
        data = {**data, "call": _call_from(data["call"], plan.calls[index], plan.limits)}
    return Fact(kind, index, data)  # type: ignore[arg-type]  # one of the kinds, see above


def _head(turn: Turn, events: Sequence[Event]) -> tuple[str, str, str | None, str]:
    return events[0].run, turn.id, turn.message_id, events[0].source


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{each}\n" for each in lines)


def _lines(
    reader: Reader,
    data: Mapping[str, Any],
    path: Path,
    name: str,
    read: Callable[[str, int], T],
) -> list[T]:
    found = []
    text = reader.field(data, path, name, str, "")
    for number, each in enumerate(text.removesuffix("\n").split("\n") if text else ()):
        try:
            found.append(read(each, number))
        except (LineError, PlanError) as error:
            reader.line_problem((*path, name), number, str(error))
    return found


def _read_setup(
    reader: Reader, run: Mapping[str, Any], path: Path, names: Mapping[str, int]
) -> dict[str, Any]:
    setup: dict[str, Any] = {}
    for name in _FLAGS:
        if reader.field(run, path, name, bool, name == "pausable"):
            setup[name] = True
    for name in _LISTS:
        found = tuple(
            _index(reader, place, item, names) for place, item in reader.items(run, path, name, str)
        )
        if found:
            setup[name] = found
    settled = {}
    for call, after in reader.field(run, path, "settled", dict, {}).items():
        place = (*path, "settled", call)
        if not isinstance(after, bool):
            reader.wrong(place, after, "Use true or false: whether its after-hook has run.")
        settled[_index(reader, place, call, names)] = after is True
    if settled:
        setup["settled"] = settled
    return setup


def _index(reader: Reader, path: Path, name: str, names: Mapping[str, int]) -> int:
    if name not in names:
        reader.wrong(path, name, "Use the name of a call of this turn.")
    return names.get(name, 0)


def _call_data(call: CallPlan, plan: PlanData) -> dict[str, Any]:
    """A changed call, as the compiler writes it in plans."""
    return dict(plan_data(_alone(call, plan.limits))["calls"][0])


def _call_from(data: Mapping[str, Any], before: CallPlan, limits: Limits) -> CallPlan:
    kinds = {"safe": "pool-1", "exclusive": "barrier-1"}
    whole = {
        "format_version": 1,
        "turn": "turn",
        "limits": {"pool": limits.pool, "resources": dict(limits.resources)},
        "calls": [{**data, "name": before.name}],
        "nodes": [{"id": kinds.get(str(data.get("verdict")), "settled-1"), "calls": [before.name]}],
    }
    (call,) = load_plan(whole).calls
    return replace(call, index=before.index)


def _alone(call: CallPlan, limits: Limits) -> PlanData:
    return compile_plan(Batch(Turn("turn", ()), (replace(call, index=0),), limits))
