"""What the scheduler was told, where it is not recorded: read off the events of a run.

In a run without hooks, aborts and the like the events say it all, so files leave the facts out and
they are worked out again here. Where a run had more to it, the file lists the facts themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from toolflow.model.event import Event
from toolflow.model.plan import PlanData
from toolflow.model.recording import Fact, RecordedTurn

PLAIN_SETUP = Fact("setup", -1, {"pausable": True})


def facts_of(recorded: RecordedTurn) -> tuple[Fact, ...]:
    """The facts of a recorded run: those in the record, else those that its events tell.

    Args:
        recorded: A turn with its plan.

    Returns:
        The facts, the set-up first; none where there are no events either.
    """
    if recorded.facts or recorded.plan is None or not recorded.events:
        return recorded.facts
    return (PLAIN_SETUP, *facts_of_events(recorded.plan, recorded.events))


def facts_of_events(plan: PlanData, events: Sequence[Event]) -> tuple[Fact, ...]:
    """The facts that the events of a run tell, without the set-up.

    Args:
        plan: The plan of the run.
        events: Its events, in order.
    """
    names = {call.name: call.index for call in plan.calls}
    prefix = f"{events[0].source}/" if events and events[0].source != "main" else ""
    return tuple(_told(events, {f"{prefix}{name}": index for name, index in names.items()}))


def _told(events: Sequence[Event], names: dict[str, int]) -> Iterator[Fact]:
    late = {event.call for event in events if event.kind == "call_stopped"}
    running: set[str] = set()
    for event in events:
        kind, name = event.kind, event.call
        if kind == "run_started":
            yield Fact("begin")
        if name is None or name not in names:
            continue
        index = names[name]
        if kind == "call_started":
            running.add(name)
            yield Fact("started", index)
        elif kind == "call_settled" and name in running:
            running.discard(name)
            failed = {"failed": event.data.get("status") != "ok"}
            yield Fact("reported" if name in late else "stopped", index, failed)
        elif kind == "call_stopped":
            yield Fact("stopped", index, {"failed": True})
        elif kind == "question_asked" and name in running:
            yield Fact("interrupted", index)
        elif kind == "question_answered":
            yield Fact("answered", index, {"approved": event.data.get("approved") is True})
