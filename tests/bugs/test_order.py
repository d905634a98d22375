"""Faults of kind E (order) that real users met: 29, 30, 31."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
from turns import scripted, spans, starts, statuses, turn

from toolflow.engine import Engine
from toolflow.runtime.approvals import Answer
from toolflow.runtime.hooks import Deny, Hooks
from toolflow.testing import EventRecorder
from toolflow.tools import workspace


def committed(result: Any) -> list[str]:
    return [item["id"] for item in result.results[0]["results"]]


def test_b029_results_are_committed_in_call_order_and_the_trace_keeps_the_order_of_ends(run):
    recorder = EventRecorder()
    engine = Engine(scripted().toolbox)
    calls = turn(("read", 0.3), ("read", 0.1), ("read", 0.2))
    result = run(partial(engine.run, calls, on_event=recorder))
    assert committed(result) == ["a", "b", "c"]
    assert [call for _, call in recorder.kinds("call_settled")] == ["b", "c", "a"]


@pytest.mark.parametrize("seed", range(10))
def test_b029_whatever_the_times_and_the_pool(run, seed):
    chance = random.Random(seed)
    tools = [("read",), ("write",), ("edit", "k"), ("edit", "m"), ("nosuch",)]
    calls = [(*chance.choice(tools), chance.randint(0, 5)) for _ in range(12)]
    engine = Engine(scripted().toolbox, pool=chance.randint(1, 5))
    result = run(partial(engine.run, turn(*calls)))
    assert committed(result) == list("abcdefghijkl")


class Refuses(Hooks):
    def before_call(self, call, context):
        return Deny("No.") if call.name == "b" else None


DENY = {"version": 1, "rules": [{"tool": "edit", "deny": "Never."}]}
ASK = {"version": 1, "rules": [{"tool": "edit", "ask": "Sure?"}]}


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"policy": DENY}, "denied"),
        ({"hooks": Refuses()}, "denied"),
        ({"policy": ASK, "approver": lambda question: Answer(approved=False)}, "declined"),
    ],
    ids=["policy", "hook", "person"],
)
def test_b030_a_call_refused_before_it_started_stays_behind_an_earlier_one_still_running(
    run, options, status
):
    engine = Engine(scripted().toolbox, **options)
    recorder = EventRecorder()
    result = run(partial(engine.run, turn(("read", 9), ("edit", "k")), on_event=recorder))
    assert statuses(result) == ["ok", status]
    assert committed(result) == ["a", "b"]
    assert result.results[0]["results"][1]["status"] == status


def test_b031_a_read_behind_a_write_of_the_same_file_sees_what_was_written(run, tmp_path):
    engine = Engine(workspace(tmp_path), cwd=tmp_path)
    calls = [
        {"id": "a", "tool": "write_file", "args": {"path": "out.txt", "text": "x"}},
        {"id": "b", "tool": "read_file", "args": {"path": "out.txt"}},
    ]
    result = run(partial(engine.run, {"calls": calls}))
    assert statuses(result) == ["ok", "ok"]
    assert "x" in result.outcomes[1].text
    (why,) = result.plan.why("a", "b")
    assert "out.txt" in str(why.causes)


@pytest.mark.parametrize("spelling", ["out.txt", "./out.txt", "sub/../out.txt"])
def test_b031_in_whatever_spelling(run, tmp_path, spelling):
    (tmp_path / "sub").mkdir()
    engine = Engine(workspace(tmp_path), cwd=tmp_path)
    calls = [
        {"id": "a", "tool": "write_file", "args": {"path": str(tmp_path / "out.txt"), "text": "x"}},
        {"id": "b", "tool": "read_file", "args": {"path": spelling}},
        {"id": "c", "tool": "write_file", "args": {"path": spelling, "text": "y"}},
        {"id": "d", "tool": "read_file", "args": {"path": "out.txt"}},
    ]
    result = run(partial(engine.run, {"calls": calls}))
    assert statuses(result) == ["ok"] * 4
    assert ("x" in result.outcomes[1].text, "y" in result.outcomes[3].text) == (True, True)


def test_b031_a_write_behind_a_read_of_the_same_key_waits_and_others_do_not(run):
    rules = {
        "version": 1,
        "rules": [
            {"tool": "edit", "safe": True, "writes": ["key:{{ args.key }}"]},
            {"tool": "look", "safe": True, "reads": ["key:{{ args.key }}"]},
        ],
    }
    tools = scripted()
    tools.add("look", safe=True)
    engine = Engine(tools.toolbox, policy=rules)
    calls = [("look", 3, "k"), ("edit", 1, "k"), ("look", 1, "k"), ("look", 1, "m")]
    result = run(partial(engine.run, turn(*calls)))
    assert starts(result) == [0, 3, 4, 0]
    assert spans(result)[1] == (3, 4)
