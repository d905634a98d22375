"""Recorded turns for pages: with plans, times and the events that these times tell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import plans

from toolflow.model import Call, Event, Outcome, PlanData, RecordedTurn, Recording, Times, Turn
from toolflow.render.report import report_html

OUTCOMES = (
    Outcome("ok", "def login(name): ..."),
    Outcome("failed", error="No such file: user.py"),
    Outcome("ok", {"places": ["auth.py:7", "app.py:12"]}),
    Outcome("ok", "Replaced 1 place."),
    Outcome("timed_out", error="It took longer than 300 ms."),
    Outcome("ok", "12 passed"),
    Outcome("unknown_tool", error='There is no tool "frobnicate".'),
    Outcome("ok", ""),
    Outcome("declined", error="A person said no.", note="at night"),
)
TIMES = (
    Times(0, 0, 0.001, 0.21, 0.21),
    Times(0, 0, 0.002, 0.12, 0.12),
    Times(0, 0.25, 0.25, 0.61, 0.61),
    Times(0, 0, 0.003, 0.35, 0.35),
    Times(0.35, 0.36, 0.36, 0.66, 0.9),
    Times(0.9, 0.9, 0.9, 1.8, 1.8),
    Times(settled=0),
    Times(0, 1.8, 1.8, 1.95, 1.95),
    Times(1.95, settled=2.1),
)


def run_of(
    plan: PlanData, outcomes: Sequence[Outcome | None], times: Sequence[Times]
) -> RecordedTurn:
    """A turn with the calls of a plan, and the events that its times tell."""
    calls = tuple(Call(one.index, one.id, one.tool, one.args) for one in plan.calls)
    turn = Turn(plan.turn_id, calls)
    messages = (
        {"role": "assistant", "content": f"I call {len(calls)} tools."},
        {"role": "user", "content": [outcome.text for outcome in outcomes if outcome is not None]},
    )
    events = tuple(_events(plan, outcomes, times))
    return RecordedTurn(turn, tuple(outcomes), tuple(times), plan, events, messages)


def _events(
    plan: PlanData, outcomes: Sequence[Outcome | None], times: Sequence[Times]
) -> list[Event]:
    found: list[tuple[float, str, str | None, dict[str, Any]]] = []
    for call, outcome, one in zip(plan.calls, outcomes, times, strict=True):
        status = {} if outcome is None else {"status": outcome.status}
        if one.started is not None:
            found.append((one.started, "call_started", call.name, {}))
        if one.settled is not None:
            found.append((one.settled, "call_settled", call.name, status))
        if one.stopped is not None and one.stopped != one.settled:
            found.append((one.stopped, "call_stopped", call.name, {}))
    found.sort(key=lambda each: each[0])
    end = found[-1][0] if found else 0.0
    found.insert(0, (0.0, "run_started", None, {"calls": len(plan.calls)}))
    found.append((end, "turn_committed", None, {"messages": 2}))
    found.append((end, "run_finished", None, {"status": "done"}))
    return [
        Event(kind, seq, at, "run-1", plan.turn_id, None, name, data=data)  # type: ignore[arg-type]
        for seq, (at, kind, name, data) in enumerate(found)
    ]


def nine() -> RecordedTurn:
    """Nine calls in which nearly everything happens."""
    return run_of(plans.nine(), OUTCOMES, TIMES)


def three(turn_id: str = "turn-2") -> RecordedTurn:
    """Three calls that are all well."""
    plan = replace(plans.three(), turn_id=turn_id)
    times = (Times(0, 0, 0, 0.1, 0.1), Times(0, 0, 0, 0.2, 0.2), Times(0.2, 0.2, 0.2, 0.5, 0.5))
    return run_of(plan, (Outcome("ok", "one"), Outcome("ok", "two"), Outcome("ok", "three")), times)


def large(count: int) -> RecordedTurn:
    """Many calls, one after the other in rows of ten."""
    plan = plans.large(count)
    outcomes = [
        Outcome("failed", error=f"broke at {at}") if at % 50 == 7 else Outcome("ok", f"result {at}")
        for at in range(count)
    ]
    times = [Times(at / 10, at / 10, at / 10, at / 10 + 1, at / 10 + 1) for at in range(count)]
    return run_of(plan, outcomes, times)


def session(*turns: RecordedTurn) -> Recording:
    """A recording of turns."""
    return Recording(turns or (nine(), three()), {"session": "s-1", "cwd": "/repo"})


def hostile(*texts: str) -> Recording:
    """A turn in which every text that a model or a tool can choose is one of these."""
    calls = [
        plans.call(
            text,
            tool=text,
            name=f"{at}{text}",
            writes=[text],
            reads=[f"r{text}"],
            reason=text,
            args={text: text, "list": [text, {text: 1}]},
            ask=text,
        )
        for at, text in enumerate(texts)
    ]
    plan = replace(plans.plan(*calls), turn_id=texts[0])
    outcomes = [
        Outcome(
            "failed" if at % 2 else "ok", {text: [text]}, error=text if at % 2 else None, note=text
        )
        for at, text in enumerate(texts)
    ]
    times = [Times(at, at, at, at + 1, at + 1) for at in range(len(texts))]
    turn = run_of(plan, outcomes, times)
    messages = tuple({"role": text, "content": text} for text in texts)
    more = Event(
        "question_asked", len(turn.events), 9.0, texts[0], "t", data={"question": texts[0]}
    )
    turn = replace(turn, messages=messages, events=(*turn.events, more), started_at=texts[0])
    return Recording((turn,), {"session": texts[0], texts[-1]: texts[0]}, policy="\n".join(texts))


class Page(HTMLParser):
    """What an HTML parser finds in a page.

    Attributes:
        elements: Each start of an element: its name, with its attributes in order.
        texts: The text inside elements, by name.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.texts: dict[str, str] = {}
        self._open = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(attrs)))
        kind = dict(attrs).get("type")
        self._open = f"{tag} {kind}" if kind else tag

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        self.texts[self._open] = self.texts.get(self._open, "") + data

    @property
    def data(self) -> Any:
        """The data of the page."""
        data = json.loads(self.texts["script application/json"])
        for turn, place in zip(data["turns"], data["places"], strict=True):
            turn.update(place)
        return data


def page_of(recording: Any, **options: Any) -> Page:
    """A page as a parser sees it, without pictures of plans unless they are asked for."""
    return Page(report_html(recording, **{"pictures": False, **options}))
