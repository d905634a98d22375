"""What is written of one turn in a trace: its process, its threads, its events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolflow.model import CallPlan, RecordedTurn
from toolflow.render.labels import cut_right, visible
from toolflow.render.timeline import Chart

Entry = dict[str, Any]
LABEL, SENTENCE, MOST = 120, 400, 32
"""How many characters of a label and of a sentence are written, and how many of a list."""


def sentence(text: str, limit: int = SENTENCE) -> str:
    """Text from outside in one line, with all that cannot be seen written out, cut at a limit."""
    return cut_right(visible(" ".join(text[: 4 * limit].split())), limit)


@dataclass(slots=True)
class Sheet:
    """What is written of one turn, and what its events need to know.

    Attributes:
        turn: The turn.
        pid: The number of its process.
        base: When it began, in microseconds on the axis.
        chart: Its timeline.
        numbers: Gives numbers to threads, waits and arrows; no two of a trace have the same.
        entries: What is written so far.
        threads: The numbers of its threads, by name.
    """

    turn: RecordedTurn
    pid: int
    base: int
    chart: Chart
    numbers: Iterator[int]
    entries: list[Entry] = field(default_factory=list)
    threads: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, cat: str, name: str, thread: str, at: int, **more: Any) -> None:
        """Note an event; times are microseconds since the turn began."""
        where = {"ts": self.base + at, "pid": self.pid, "tid": self.thread(thread)}
        self.entries.append({"ph": kind, "cat": cat, "name": name or "-", **where, **more})

    def thread(self, name: str) -> int:
        """The number of a thread, which begins to be one when it is first asked for."""
        if name not in self.threads:
            self.threads[name] = next(self.numbers)
        return self.threads[name]

    @property
    def planned(self) -> tuple[CallPlan, ...]:
        """The calls of the plan that was run; nothing where it is not known."""
        plan = self.turn.plan
        fits = plan is not None and len(plan.calls) == len(self.turn.turn.calls)
        return plan.calls if plan is not None and fits else ()

    @property
    def ran_by_plan(self) -> bool:
        """Whether its plan is what it was run by, not one that only lends it labels."""
        return bool(self.planned) and self.turn.plan is not None and bool(self.turn.plan.nodes)
