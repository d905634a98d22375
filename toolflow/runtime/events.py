"""The event log of a run, and those who listen to it (spec 9.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolflow.model.event import Event, EventKind
from toolflow.model.turn import EMPTY

Sink = Callable[[Event], object]


class EventLog:
    """Numbers the facts of a run, keeps them, and shows them to observers as they happen.

    An observer that raises is called no less often for it, and changes nothing: its error is
    counted. Sinks are called in the event loop's thread and should not block it; one that has slow
    work to do puts it into a queue of its own. The time that they take all the same is counted, so
    that no body's timeout suffers from it.

    Args:
        head: The names of run and turn, and the provider's id of the message.
        source: ``main``, or the path of parent calls of a nested turn.
        names: What each call is called in events, by index.
        sinks: The observers.
    """

    def __init__(
        self,
        head: tuple[str, str, str | None],
        source: str,
        names: Sequence[str],
        sinks: Sequence[Sink],
    ) -> None:
        self._head = head
        self._source = source
        self._names = names
        self._sinks = tuple(sinks)
        # Kind, time, call and data of each fact, one behind the other: a tuple a fact would be one
        # more object a call for the garbage collector to look at.
        self._facts: list[Any] = []
        self.notes = self._facts  # for the journal, which reads what is new
        self.observer_errors = 0
        self.clock: Callable[[], float] = float
        self.pressed: Callable[[KeyboardInterrupt], object] = repr  # what ends the run
        self.blocked = 0.0  # seconds spent in observers

    def add(
        self, kind: EventKind, at: float, call: int = -1, data: Mapping[str, Any] = EMPTY
    ) -> None:
        """Note a fact.

        Args:
            kind: What happened.
            at: Seconds since the run began.
            call: The call's index, or -1 for a fact of the run as a whole.
            data: What else belongs to it.
        """
        self._facts += (kind, at, call, data)
        if self._sinks:
            self.show(*self._events(len(self._facts) // 4 - 1))

    def show(self, event: Event) -> None:
        """Show an event to the observers: one of this run, or of a nested one."""
        begun = self.clock()
        for sink in self._sinks:
            try:
                sink(event)
            except KeyboardInterrupt as error:
                self.pressed(error)
            except BaseException:  # noqa: BLE001  # an observer never changes an outcome
                self.observer_errors += 1
        self.blocked += self.clock() - begun

    @property
    def watched(self) -> bool:
        """Whether anybody listens."""
        return bool(self._sinks)

    def events(self) -> tuple[Event, ...]:
        """All facts so far, in order."""
        return self._events(0)

    def _events(self, first: int) -> tuple[Event, ...]:
        run, turn, message_id = self._head
        names, source = self._names, self._source
        facts = iter(self._facts[4 * first :])
        make = tuple.__new__  # what `Event` itself comes down to
        return tuple(
            [
                make(
                    Event,
                    (
                        kind,
                        seq,
                        at,
                        run,
                        turn,
                        message_id,
                        names[call] if call >= 0 else None,
                        source,
                        data,
                    ),
                )
                for seq, (kind, at, call, data) in enumerate(
                    zip(facts, facts, facts, facts, strict=True), first
                )
            ]
        )
