"""Recorded runs without an event loop: a small driver that does to the scheduler what runs do.

Everything that may happen in a run is drawn from one source of choices, so that Hypothesis can
shrink a run, and a seed can repeat one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from toolflow.compiler import Plan, compile_plan
from toolflow.formats import read_turn, write_turn
from toolflow.model import (
    Committed,
    Event,
    Outcome,
    RecordedTurn,
    Recording,
    Times,
)
from toolflow.policy import load_policy
from toolflow.recording.committed import committed_of
from toolflow.runtime.record import settled_outcome
from toolflow.scheduler.decisions import ACQUIRING, HOOKING, PREPARING, RUNNING
from toolflow.scheduler.trace import TracedScheduler

POLICY = """\
version: 1
limits: {pool: 3, resources: {cpu: 2}}
rules:
  - {tool: look, safe: true}
  - {tool: read, safe: true, reads: ["file:{{ args.path }}"]}
  - {tool: write, safe: true, writes: ["file:{{ args.path }}"]}
  - {tool: grind, safe: true, uses: {cpu: 1}}
  - {tool: ask, ask: "Really?", safe: true}
  - {tool: build, on_error: stop}
  - {tool: forbidden, deny: "Not here."}
"""
TOOLS = ("look", "read", "write", "grind", "ask", "build", "forbidden", "other")
Choose = Callable[[int], int]  # a number from 0 up to, and without, the given one


_loaded = cache(load_policy)


def message_of(tools: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """An Anthropic message with one call a pair of tool and path."""
    blocks = [
        {"type": "tool_use", "id": f"toolu_{i + 1:02}", "name": tool, "input": {"path": path}}
        for i, (tool, path) in enumerate(tools)
    ]
    return {"role": "assistant", "content": blocks}


def plan_of(message: dict[str, Any], policy: str = POLICY) -> Plan:
    """The plan of a message."""
    return compile_plan(_loaded(policy).classify(read_turn(message), cwd="/repo"))


def recording_of(*turns: RecordedTurn, policy: str = POLICY) -> Recording:
    """A recording of turns, with their policy."""
    loaded = _loaded(policy)
    return Recording(turns, {"cwd": "/repo"}, loaded.text, loaded.digest)


@dataclass
class PureRun:
    """One run, driven by choices.

    Attributes:
        plan: What to run.
        choose: Draws a number below the given one.
        hooks: Whether there are hooks.
        trouble: Whether aborts, halts, timeouts and questions of bodies may come.
    """

    plan: Plan
    choose: Choose
    hooks: bool = False
    approver: bool = True
    trouble: bool = False
    now: float = 0.0
    events: list[Event] = field(default_factory=list)
    queue: list[int] = field(default_factory=list)
    todo: list[tuple[str, int]] = field(default_factory=list)
    end: str = ""

    def run(self) -> RecordedTurn:
        """Run to the end, and record."""
        count = len(self.plan.calls)
        self.times: list[dict[str, float]] = [{} for _ in range(count)]
        self.outcomes: list[Outcome | None] = [None] * count
        self.scheduler = TracedScheduler(
            self.plan, hooks=self.hooks, approver=self.approver, pausable=True
        )
        self.tell("run_started", data={"calls": count})
        for call in self.plan.calls:
            if call.verdict.kind == "settled":
                self.settled(call.index, settled_outcome(call))
        self.scheduler.begin()
        self.carry_out()
        while self.queue or self.todo:
            self.step()
            self.carry_out()
        self.tell("run_paused" if self.end == "pause" else "run_finished")
        return self.recorded()

    def step(self) -> None:
        self.now = round(self.now + self.choose(4) / 10, 6)
        if self.trouble and self.choose(12) == 0:
            self.make_trouble()
            return
        place = self.choose(len(self.todo) + bool(self.queue))
        if place == len(self.todo):
            self.start(self.queue.pop(0))
        else:
            getattr(self, f"do_{self.todo[place][0]}")(self.todo.pop(place)[1])

    def make_trouble(self) -> None:
        kind = self.choose(4)
        running = [i for what, i in self.todo if what == "stop"]
        if kind == 0:
            self.scheduler.abort()
            self.todo = [item for item in self.todo if item[0] != "answer"]
        elif kind == 1:
            self.scheduler.halt()
        elif running:
            index = running[self.choose(len(running))]
            if kind == 2 and self.scheduler.phase[index] == RUNNING:
                self.outcomes[index] = Outcome("timed_out", error="Timed out.")
                self.times[index]["settled"] = self.now
                self.scheduler.reported(index)
                self.known(index)
                if self.choose(2):
                    self.carry_out()
                    self.scheduler.grace_over(index)

    def carry_out(self) -> None:
        while decisions := self.scheduler.take():
            for kind, index, status, _ in decisions:
                if kind == "start":
                    self.queue.append(index)
                elif kind == "settle":
                    self.todo = [item for item in self.todo if item != ("answer", index)]
                    self.settled(index, Outcome(status, error=f"It was {status}."))
                elif kind in {"prepare", "after"}:
                    self.todo.append((kind, index))
                elif kind == "ask":
                    self.tell("question_asked", index, {"question": "Really?"})
                    self.todo.append(("answer", index))
                elif kind == "cancel":
                    self.cancel(index)
                else:
                    self.end = kind
                    self.todo = [item for item in self.todo if item[0] != "answer"]

    def cancel(self, index: int) -> None:
        phase = self.scheduler.phase[index]
        if phase in {PREPARING, HOOKING}:
            self.todo = [item for item in self.todo if item[1] != index or item[0] == "answer"]
            if phase == PREPARING:
                self.scheduler.prepared(index)
            else:
                self.do_after(index)
        elif phase == ACQUIRING:
            if index in self.queue:
                self.queue.remove(index)
            else:
                self.todo.remove(("granted", index))
            self.scheduler.gave_up(index)

    def start(self, index: int) -> None:
        call = self.plan.calls[index]
        if call.reads or call.writes or call.terms.uses:
            self.times[index]["queued"] = self.now
            if self.choose(4) == 0:
                self.tell("call_queued", index, {"waits": ["another run"]})
                self.todo.append(("granted", index))
                return
            self.times[index]["granted"] = self.now
        self.enter(index)

    def do_granted(self, index: int) -> None:
        self.times[index]["granted"] = self.now
        self.enter(index)

    def enter(self, index: int) -> None:
        self.scheduler.started(index)
        self.times[index]["started"] = self.now
        self.tell("call_started", index)
        self.todo.append(("stop", index))

    def do_stop(self, index: int) -> None:
        self.times[index]["stopped"] = self.now
        if index in self.scheduler.lingering:
            self.tell("call_stopped", index)
            self.scheduler.stopped(index, failed=True)
            return
        failed = self.choose(5) == 0
        value = f"result of {self.plan.calls[index].name} at {self.now}"
        outcome = Outcome("failed", error="It broke.") if failed else Outcome("ok", value)
        self.outcomes[index] = outcome
        self.times[index]["settled"] = self.now
        self.scheduler.stopped(index, failed=failed)
        self.known(index)

    def do_prepare(self, index: int) -> None:
        if self.choose(8) == 0:
            self.outcomes[index] = Outcome("denied", error="A hook said no.")
            self.scheduler.refused(index, hooked=True)
            self.known(index)
        else:
            self.scheduler.prepared(index)

    def do_after(self, index: int) -> None:
        self.settled(index, self.outcomes[index])
        self.scheduler.after_done(index)

    def do_answer(self, index: int) -> None:
        approved = self.choose(4) > 0
        self.tell("question_answered", index, {"approved": approved, "reason": None})
        if not approved:
            self.outcomes[index] = Outcome("declined", error="Declined by the approver.")
        self.scheduler.answered(index, approved=approved)
        if not approved:
            self.known(index)

    def known(self, index: int) -> None:
        if self.scheduler.phase[index] == 8:
            self.settled(index, self.outcomes[index])

    def settled(self, index: int, outcome: Outcome | None) -> None:
        assert outcome is not None
        self.outcomes[index] = outcome
        self.times[index].setdefault("settled", self.now)
        self.tell("call_settled", index, {"status": outcome.status})

    def tell(self, kind: str, index: int = -1, data: dict[str, Any] | None = None) -> None:
        name = self.plan.calls[index].name if index >= 0 else None
        self.events.append(
            Event(
                kind,
                len(self.events),
                self.now,
                "run-1",
                self.plan.turn_id,
                None,
                name,
                data=data or {},
            )
        )

    def recorded(self) -> RecordedTurn:
        turn = self.plan.turn
        assert turn is not None
        messages: tuple[Any, ...] = ()
        committed: Committed | None = None
        if self.end == "finish":
            outcomes = [outcome for outcome in self.outcomes if outcome is not None]
            assistant, results = write_turn(turn, outcomes)
            messages = (*assistant, *results)
            committed = committed_of(turn, self.outcomes, messages)
        return RecordedTurn(
            turn,
            tuple(self.outcomes),
            tuple(Times(**times) for times in self.times),
            self.plan,
            tuple(self.events),
            messages,
            None,
            self.scheduler.facts,
            committed,
        )
