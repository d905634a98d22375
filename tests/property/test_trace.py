"""Traces of random runs: every call once, nothing overlaps, what belongs together pairs up."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded_runs import TOOLS, PureRun, message_of, plan_of
from traces import Process, processes

from toolflow.model import Call, Outcome, RecordedTurn, Times, Turn
from toolflow.render import trace_text
from toolflow.render.axis import micro
from toolflow.render.lanes import lanes_of

CALLS = st.lists(
    st.tuples(st.sampled_from(TOOLS), st.sampled_from(["a", "b", "c"])), min_size=1, max_size=9
)
SETTINGS = settings(max_examples=80, suppress_health_check=list(HealthCheck))
NUMBER = st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.floats(0, 10)


def run_of(data: st.DataObject) -> RecordedTurn:
    def choose(count: int) -> int:
        return data.draw(st.integers(0, count - 1)) if count > 1 else 0

    plan = plan_of(message_of(data.draw(CALLS)))
    hooks, approver, trouble = (data.draw(st.booleans()) for _ in range(3))
    run = PureRun(plan, choose, hooks=hooks, approver=approver, trouble=trouble).run()
    moment = st.none() | st.datetimes().map(lambda moment: moment.isoformat())
    return replace(run, started_at=data.draw(moment))


def assert_tells(process: Process, turn: RecordedTurn) -> None:
    """Every call is there once, with the times that it had."""
    bodies, others = process.of("X", cat="call"), process.of("i", cat="call")
    times = turn.times
    names = [call.name for call in turn.plan.calls] if turn.plan else []
    told = [entry["args"]["call"] for entry in (*bodies, *others)]
    assert sorted(told) == sorted(names)
    base = process.of("X", cat="run")[0]["ts"]
    spans = {
        names[at]: (micro(each.started), micro(each.settled) - micro(each.started))
        for at, each in enumerate(times)
        if each.started is not None and each.settled is not None
    }
    drawn = {entry["args"]["call"]: (entry["ts"] - base, entry["dur"]) for entry in bodies}
    assert {name: drawn[name] for name in spans} == spans
    late = sum(entry["dur"] for entry in process.of("X", cat="late"))
    assert late == sum(
        max(0, micro(each.stopped) - micro(each.settled))
        for each in times
        if None not in {each.started, each.settled, each.stopped}
    )


@SETTINGS
@given(st.data())
def test_a_trace_tells_every_run_as_it_was(data: st.DataObject) -> None:
    turns = [run_of(data) for _ in range(data.draw(st.integers(1, 3)))]
    text = trace_text(turns)
    assert text == trace_text(turns)
    for process, turn in zip(processes(text), turns, strict=True):
        assert_tells(process, turn)


@SETTINGS
@given(st.data())
def test_what_is_waited_for_ends_before_the_body_begins(data: st.DataObject) -> None:
    turn = run_of(data)
    process = processes(trace_text([turn]))[0]
    begun = {entry["args"]["call"]: entry["ts"] for entry in process.of("X", cat="call")}
    calls = {entry["id2"]["local"]: entry["args"]["call"] for entry in process.of("b")}
    waited: dict[str, int] = {}
    spans = {entry["id2"]["local"]: entry["ts"] for entry in process.of("b")}
    for entry in process.of("e"):
        call = calls[entry["id2"]["local"]]
        assert entry["ts"] <= begun.get(call, entry["ts"])
        waited[call] = waited.get(call, 0) + entry["ts"] - spans[entry["id2"]["local"]]
    for call, span in waited.items():
        assert span <= begun.get(call, span)  # what one call waits for does not overlap


@given(
    st.lists(st.builds(Times, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER), max_size=5),
    st.text(st.characters(codec=None), max_size=20),
)
def test_any_times_and_texts_make_a_trace(times: list[Times], text: str) -> None:
    turn = Turn(text, tuple(Call(at, f"{text}{at}", text) for at in range(len(times))))
    outcomes = tuple(Outcome("failed", error=text) for _ in times)
    written = trace_text([RecordedTurn(turn, outcomes, tuple(times), started_at=text)])
    written.encode()
    assert not any(ord(char) < 32 and char != "\n" for char in written)
    found = processes(written)[0]
    assert len(found.of("X", "i", cat="call")) == len(times)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=30))
def test_lanes_are_as_few_as_can_be_and_hold_nothing_twice(spans: list[tuple[int, int]]) -> None:
    made = [(start, start + length) for start, length in spans]
    lanes = lanes_of(made)
    for lane in set(lanes):
        inside = sorted(span for span, at in zip(made, lanes, strict=True) if at == lane)
        assert all(end <= begin for (_, end), (begin, _) in pairwise(inside))
    at_once = [sum(a <= at < max(b, a + 1) for a, b in made if b > a) for at, _ in made]
    assert len(set(lanes)) <= max([1 if made else 0, *at_once]) + 1
