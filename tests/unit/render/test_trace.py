"""Traces for chrome://tracing and Perfetto."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import plans
import pytest
from traces import Process, processes

from toolflow.compiler import compile_plan
from toolflow.errors import UsageError
from toolflow.formats import read_turn
from toolflow.model import Call, Edge, Event, Outcome, PlanData, RecordedTurn, Times, Turn
from toolflow.policy import load_policy
from toolflow.render import trace_pieces, trace_text
from toolflow.render.axis import Axis, micro
from toolflow.render.lanes import lanes_of

OK = Outcome("ok")


def recorded(
    plan: PlanData, *runs: tuple[Outcome | None, Times], events: tuple[Event, ...] = (), **more: Any
) -> RecordedTurn:
    calls = tuple(Call(one.index, one.id, one.tool) for one in plan.calls)
    outcomes, times = zip(*runs, strict=True)
    return RecordedTurn(Turn(plan.turn_id, calls), outcomes, times, plan, events, **more)


def one(*turns: RecordedTurn) -> Process:
    return processes(trace_text(turns))[0]


def event(kind: str, at: float, call: str | None = None, **data: Any) -> Event:
    return Event(kind, 0, at, "run-1", "turn-1", None, call, data=data)  # type: ignore[arg-type]


def waits(process: Process) -> list[tuple[str, str, int, int]]:
    ends = {entry["id2"]["local"]: entry["ts"] for entry in process.of("e")}
    return [
        (entry["args"]["call"], entry["name"], entry["ts"], ends[entry["id2"]["local"]])
        for entry in process.of("b")
    ]


def test_bodies_lie_in_as_many_slots_as_ran_at_once() -> None:
    plan = plans.plan(*[plans.read(f"{at}") for at in range(4)])
    trace = one(
        recorded(
            plan,
            (OK, Times(0, 0, 0, 2, 2)),
            (OK, Times(0, 0, 0, 1, 1)),
            (OK, Times(0, 1, 1, 3, 3)),
            (OK, Times(0, 2, 2, 3, 3)),
        )
    )
    calls = {
        lane: [(entry["args"]["call"], entry["ts"], entry["dur"]) for entry in entries]
        for lane, entries in trace.lanes().items()
        if lane.startswith("slot")
    }
    assert calls["slot 1"] == [("c1", 0, 2_000_000), ("c4", 2_000_000, 1_000_000)]
    assert calls["slot 2"] == [("c2", 0, 1_000_000), ("c3", 1_000_000, 2_000_000)]
    assert len(calls) == 2


def test_what_was_reported_but_had_not_stopped_keeps_its_slot() -> None:
    plan = plans.plan(plans.read("a"), plans.read("b"))
    late = Outcome("timed_out", error="It took too long.")
    trace = one(recorded(plan, (late, Times(0, 0, 0, 1, 3)), (OK, Times(0, 2, 2, 4, 4))))
    body, rest = trace.lanes()["slot 1"]
    assert (body["name"], body["dur"]) == ("read_file src/a · timed out", 1_000_000)
    assert (rest["cat"], rest["name"]) == ("late", "not yet stopped: read_file src/a")
    assert (rest["ts"], rest["dur"]) == (1_000_000, 2_000_000)
    assert [entry["args"]["call"] for entry in trace.lanes()["slot 2"]] == ["c2"]


def test_a_body_that_took_no_time_stands_before_what_began_in_that_moment() -> None:
    plan = plans.plan(plans.read("a"), plans.read("b"))
    trace = one(recorded(plan, (OK, Times(0, 0, 0, 1, 1)), (OK, Times(0, 0, 0, 0, 0))))
    slices = trace.lanes()["slot 1"]
    assert [(entry["args"]["call"], entry["dur"]) for entry in slices] == [
        ("c2", 0),
        ("c1", 1_000_000),
    ]


def test_barriers_are_told_by_category_and_by_words() -> None:
    plan = plans.plan(plans.read("a"), plans.call("make", kind="exclusive"))
    trace = one(recorded(plan, (OK, Times(0, 0, 0, 1, 1)), (OK, Times(1, 1, 1, 3, 3))))
    assert [entry["args"]["call"] for entry in trace.of("X", cat="barrier")[1:]] == ["c2"]
    nodes = trace.lanes()["pools and barriers"]
    assert [(entry["name"], entry["cat"]) for entry in nodes] == [
        ("pool-1 · 1 call", "pool"),
        ("barrier-2 · runs alone", "barrier"),
    ]


def test_waiting_is_told_by_what_was_waited_for() -> None:
    plan = plans.plan(
        plans.read("a"),
        plans.call("make", kind="exclusive"),
        plans.edit("x", ask="Really?"),
        plans.edit("y"),
        pool=1,
    )
    events = (
        event("question_asked", 1.0, "c3", question="Really?"),
        event("question_answered", 3.0, "c3", approved=True),
        event("call_queued", 5.0, "c4", waits=("key file:/y, held by run-2",)),
    )
    trace = one(
        recorded(
            plan,
            (OK, Times(None, None, 0, 1, 1)),
            (OK, Times(None, None, 1, 2, 2)),
            (OK, Times(4, 4, 4, 5, 5)),
            (OK, Times(5, 7, 7, 8, 8)),
            events=events,
        )
    )
    second = 1_000_000
    assert waits(trace) == [
        ("c2", "waits for order", 0, second),
        ("c3", "waits for order", 0, 2 * second),
        ("c4", "waits for order", 0, 2 * second),
        ("c3", "waits for an answer", 2 * second, 3 * second),
        ("c4", "waits for a permit", 2 * second, 5 * second),
        ("c3", "waits for a permit", 3 * second, 4 * second),
        ("c4", "waits for keys and resources", 5 * second, 7 * second),
    ]
    held = next(one for one in trace.of("b") if one["name"].endswith("resources"))
    assert held["args"]["held by"] == "key file:/y, held by run-2"


def test_without_a_plan_only_what_the_times_say_is_told() -> None:
    turn = Turn("t", (Call(0, "a", "read"), Call(1, "b", "read")))
    trace = one(RecordedTurn(turn, (OK, None), (Times(0, 0.5, 0.5, 1, 1), Times(None, None, 2, 3))))
    assert waits(trace) == [("a", "waits for a permit, resource or key", 0, 500_000)]
    assert [entry["args"] for entry in trace.of("X", cat="call")] == [
        {"call": "a", "tool": "read", "outcome": "ok"},
        {"call": "b", "tool": "read"},
    ]


def test_a_key_edge_is_an_arrow_from_body_to_body() -> None:
    plan = plans.chain(3)
    trace = one(
        recorded(
            plan,
            (OK, Times(0, 0, 0, 1, 1)),
            (OK, Times(0, 1, 1, 2, 2)),
            (OK, Times(0, 2, 2, 3, 3)),
        )
    )
    tails, heads = trace.of("s"), trace.of("f")
    assert [entry["ts"] for entry in tails] == [999_999, 1_999_999]
    assert [entry["ts"] for entry in heads] == [1_000_000, 2_000_000]
    assert {entry["bp"] for entry in heads} == {"e"}
    assert tails[0]["name"] == "key file:/repo/project/src/server/handlers.py write"


def test_a_gate_is_passed_over_from_the_call_that_opened_it() -> None:
    runs = [(OK, Times(0, 0, 0, at, at)) for at in (1, 2, 6, 4, 5, 3)]
    last = [(OK, Times(0, 6, 6, 7, 7)), (OK, Times(0, 0, 0, 1, 1))]
    trace = one(recorded(plans.gated(), *runs, *last))
    assert [(entry["ts"], trace.threads[entry["tid"]]) for entry in trace.of("s")] == [
        (5_999_999, "slot 3")
    ]
    assert ("c7", "waits for order", 0, 6_000_000) in waits(trace)


def test_a_chain_of_gates_is_passed_over_too() -> None:
    calls = [plans.read("a"), plans.read("b"), plans.edit("c")]
    causes = ("key t write",)
    edges = [
        Edge("gate-2", "c3", causes),
        Edge("gate-1", "gate-2", causes),
        Edge("c1", "gate-1", causes),
        Edge("c2", "gate-2", causes),
    ]
    gates = [replace(plans.gated().gates[0], name=f"gate-{at}") for at in (1, 2)]
    plan = plans.plan(*calls, edges=edges, gates=gates)
    runs = [(OK, Times(0, 0, 0, 2, 2)), (OK, Times(0, 0, 0, 1, 1)), (OK, Times(0, 2, 2, 3, 3))]
    trace = one(recorded(plan, *runs))
    assert [entry["ts"] for entry in trace.of("s")] == [1_999_999]


def test_an_arrow_that_would_run_back_in_time_is_left_out() -> None:
    trace = one(recorded(plans.chain(2), (OK, Times(0, 0, 0, 2, 2)), (OK, Times(0, 0, 1, 3, 3))))
    assert trace.of("s") == []


def test_calls_that_never_ran_are_instants_with_their_reason() -> None:
    plan = plans.nine()
    runs = [(OK, Times(0, 0, 0, 1, 1))] * 6
    runs += [(Outcome("unknown_tool"), Times(settled=0.5)), (OK, Times(0, 0, 0, 1, 1))]
    runs += [(Outcome("declined", error="No."), Times(1, settled=2))]
    found = one(recorded(plan, *runs)).of("i", cat="call")
    assert [(entry["name"], entry["ts"]) for entry in found] == [
        ("frobnicate x=1 · unknown tool", 500_000),
        ("deploy_web service=web · declined", 2_000_000),
    ]
    assert found[0]["args"]["reason"].startswith('There is no tool "frobnicate"')
    assert found[1]["args"]["error"] == "No."


def test_questions_pauses_aborts_and_the_end_are_instants() -> None:
    events = (
        event("run_started", 0.0),
        event("question_asked", 0.5, "c1", question="Really?"),
        event("question_answered", 0.7, "c1", approved=False),
        event("call_settled", 1.5, "c1", status="aborted"),
        event("call_settled", 1.6, "c2", status="not_started"),
        event("run_paused", 1.7),
        event("turn_committed", 1.8),
        event("run_finished", 2.0, status="aborted"),
    )
    plan = plans.plan(plans.read("a"), plans.read("b"))
    runs = [(Outcome("aborted"), Times(0, 0, 0, 1.5, 2)), (Outcome("not_started"), Times())]
    found = one(recorded(plan, *runs, events=events)).of("i", cat="run")
    assert [(entry["name"], entry["ts"]) for entry in found] == [
        ("asks: Really?", 500_000),
        ("declined", 700_000),
        ("abort", 1_500_000),
        ("paused", 1_700_000),
        ("committed", 1_800_000),
        ("run finished: aborted", 2_000_000),
    ]


def test_a_body_whose_end_nobody_knows_lasts_until_the_end_and_says_so() -> None:
    plan = plans.plan(plans.read("a"), plans.read("b"))
    trace = one(recorded(plan, (None, Times(0, 0, 1)), (OK, Times(0, 0, 0, 4, 4))))
    body = trace.lanes()["slot 2"][0]
    assert (body["name"], body["ts"], body["dur"]) == (
        "read_file src/a · end not known",
        1_000_000,
        3_000_000,
    )


def test_what_was_decided_stands_with_each_call() -> None:
    plan = plans.plan(plans.edit("a", timeout=2.0, reason="rule 2 says so"))
    run = (Outcome("failed", {"value": "secret"}, "It broke."), Times(0, 0, 0, 1, 1))
    args = one(recorded(plan, run)).of("X", cat="call")[0]["args"]
    assert args == {
        "call": "c1",
        "tool": "edit_file",
        "verdict": "safe",
        "reason": "rule 2 says so",
        "keys": ["writes file:/repo/project/src/a"],
        "terms": "timeout 2 s",
        "outcome": "failed",
        "error": "It broke.",
    }


def test_turns_lie_where_they_began_or_one_after_the_other() -> None:
    def turn(started_at: str | None) -> RecordedTurn:
        run = (OK, Times(0, 0, 0, 2, 2))
        return recorded(plans.plan(plans.read("a")), run, started_at=started_at)

    turns = [turn("2026-01-01T10:00:00Z"), turn("2026-01-01T11:00:10+01:00"), turn(None), turn("?")]
    begun = [process.of("X", cat="run")[0]["ts"] for process in processes(trace_text(turns))]
    assert begun == [0, 10_000_000, 12_000_000, 14_000_000]


@pytest.mark.parametrize(
    ("moments", "places"),
    [
        ((None, "2026-01-01", "2026-01-01T00:00:09"), (0, 2, 11)),
        (("2026-01-01", "2025-01-01", None), (0, 0, 2)),
        (("0001-01-01", None, "9999-12-31T23:59:59"), (0, 2, 2**53 / 1e6)),
        (("9999-12-31T23:59:59-14:00", "x" * 99), (0, 2)),
    ],
)
def test_moments_that_make_no_sense_do_no_harm(
    moments: tuple[str | None, ...], places: tuple[float, ...]
) -> None:
    axis = Axis()
    found = [axis.place(moment, 2_000_000) for moment in moments]
    assert found == [round(place * 1e6) for place in places]


@pytest.mark.parametrize(
    ("seconds", "micros"),
    [(1.5, 1_500_000), (float("nan"), 0), (float("inf"), 2**53), (-1.0, 0), (1e-9, 0)],
)
def test_seconds_become_whole_microseconds(seconds: float, micros: int) -> None:
    assert micro(seconds) == micros


def test_a_nested_turn_names_its_parent() -> None:
    turn = recorded(plans.plan(plans.read("a")), (OK, Times()))
    nested = replace(turn, turn=replace(turn.turn, source="outer"))
    assert one(nested).name == "turn-1 in outer"


def test_evil_texts_are_texts_without_control_characters() -> None:
    plan = plans.evil()
    run = (Outcome("failed", error=plans.EVIL[5]), Times(0, 0, 0, 1, 1))
    events = (event("question_asked", 0.0, None, question=plans.EVIL[6]),)
    turn = recorded(plan, *[run] * len(plan.calls), events=events, started_at="\x1b[0m\ud800")
    text = trace_text([turn])
    text.encode()
    assert not any(ord(char) < 32 and char != "\n" for char in text)
    assert len(processes(text)[0].of("X", cat="call")) == len(plan.calls)


def test_no_text_ends_with_a_backslash_which_perfetto_reads_wrongly() -> None:
    plan = plans.plan(plans.call("dir C:\\", writes=["file:C:\\"], tool="t\\"))
    text = trace_text([recorded(plan, (OK, Times(0, 0, 0, 1, 1)))])
    assert 'dir C:\\\\ "' in text
    assert '\\\\"' not in text


def test_secrets_of_the_policy_are_in_no_trace() -> None:
    policy = load_policy(
        "version: 1\nredact: [token]\nrules:\n"
        "  - {tool: login, safe: true, writes: ['t:{{ args.token }}'], show: '{{ args.token }}'}\n"
    )
    call = {"id": "a", "tool": "login", "args": {"token": "hunter2-secret"}}
    turn = read_turn({"calls": [call]})
    plan = compile_plan(policy.classify(turn))
    assert plan.redactor is not None
    outcome = Outcome("failed", error="hunter2-secret is wrong")
    events = (event("call_queued", 0.0, "a", waits=("key t:hunter2-secret",)),)
    times = (Times(0, 1, 1, 2, 2),)
    text = trace_text([RecordedTurn(turn, (outcome,), times, plan, events)])
    assert "hunter2" not in text


def test_pieces_come_turn_by_turn_and_make_the_text() -> None:
    asked: list[int] = []

    def turns() -> Iterator[RecordedTurn]:
        for at in range(3):
            asked.append(at)
            yield recorded(plans.chain(2), *[(OK, Times(0, 0, 0, 1, 1))] * 2)

    pieces = trace_pieces(turns())
    for _ in range(3):
        next(pieces)
    assert asked == [0]
    for _ in pieces:
        pass
    assert asked == [0, 1, 2]
    assert "".join(trace_pieces(turns())) == trace_text(turns())


def test_no_turns_make_an_empty_trace() -> None:
    assert json.loads(trace_text([])) == {"displayTimeUnit": "ms", "traceEvents": []}


def test_memory_does_not_grow_with_the_turns() -> None:
    turn = recorded(plans.large(10), *[(OK, Times(0, 0, 0, 1, 1))] * 10)

    def peak(count: int) -> int:
        tracemalloc.start()
        for _ in trace_pieces(turn for _ in range(count)):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(300)  # Python keeps what small tuples took, up to a bound
    assert peak(400) < 1.5 * peak(100)


def test_as_many_times_as_calls() -> None:
    turn = recorded(plans.three(), *[(OK, Times(0, 0, 0, 1, 1))] * 3)
    with pytest.raises(UsageError, match=r"^times: 2 given for 3 calls"):
        trace_text([replace(turn, times=turn.times[:2])])


def test_lanes_are_the_lowest_that_are_free() -> None:
    assert lanes_of([(0, 5), (1, 2), (2, 3), (5, 6), (5, 5), (4, 9)]) == [0, 1, 1, 0, 0, 1]
    assert lanes_of([]) == []
    with pytest.raises(UsageError, match=r"ends at 1, before it begins at 2"):
        lanes_of([(2, 1)])
