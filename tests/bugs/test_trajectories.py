"""Faults of pairing, ids and reading (kinds A, B, K, N), in every layout of a trajectory."""

from __future__ import annotations

import json
from typing import Any

import pytest
from session_logs import codes, read_value, statuses
from trajectories import BUILDERS, WITHOUT_IDS

WITH_IDS = sorted(set(BUILDERS) - WITHOUT_IDS)
WITH_TEXT = [name for name in WITH_IDS if name != "inspect"]  # its arguments are no text
INNER = ("history", "messages", "generated_items")


def results(value: Any) -> list[Any]:
    """The list of a document that ends with the last result."""
    if isinstance(value, dict):
        if "samples" in value:
            return results(value["samples"][0])
        return next(value[key] for key in INNER if key in value)
    if "traj" in value[-1]:
        return value[-1]["traj"]
    return value


def replaced(value: Any, old: str, new: str) -> Any:
    """A document in which one text is another."""
    text = json.dumps(value)
    assert json.dumps(old) in text
    return json.loads(text.replace(json.dumps(old), json.dumps(new)))


@pytest.mark.parametrize("layout", WITH_IDS)
def test_b013_an_id_that_comes_back_without_a_result_is_unanswered(tmp_path, layout):
    form, build = BUILDERS[layout]
    value = replaced(build([[7], [1], [2]]), "c2", "c1")
    results(value).pop()

    recording = read_value(tmp_path / "x.json", value, format=form)

    assert statuses(recording) == [["ok"], ["ok"], [None]]
    assert codes(recording) == {"no_result": 1}


@pytest.mark.parametrize("layout", WITH_IDS)
def test_b009_results_of_a_doubled_id_are_given_to_no_call(tmp_path, layout):
    form, build = BUILDERS[layout]
    value = replaced(build([[7], [1, 2]]), "c2", "c1")

    recording = read_value(tmp_path / "x.json", value, format=form)

    assert statuses(recording) == [["ok"], [None, None]]
    assert codes(recording) == {"doubled_id": 1, "no_result": 2}


@pytest.mark.parametrize("layout", WITH_IDS)
def test_b001_calls_that_an_interrupt_left_without_results_are_told(tmp_path, layout):
    form, build = BUILDERS[layout]
    value = build([[7], [1, 2]])
    results(value).pop()

    recording = read_value(tmp_path / "x.json", value, format=form)

    assert statuses(recording) == [["ok"], ["ok", None]]
    assert recording.turns[1].outcomes[0].value == "r1"
    assert codes(recording) == {"no_result": 1}


@pytest.mark.parametrize("layout", WITH_IDS)
def test_b103_results_in_another_order_are_given_by_id(tmp_path, layout):
    form, build = BUILDERS[layout]
    value = build([[7], [1, 2, 3]])
    inside = results(value)
    inside[-3:] = inside[-1], inside[-3], inside[-2]

    recording = read_value(tmp_path / "x.json", value, format=form)

    assert [outcome.value for outcome in recording.turns[1].outcomes if outcome] == [
        "r1",
        "r2",
        "r3",
    ]


@pytest.mark.parametrize("layout", WITH_TEXT)
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a":', "are not JSON"),
        ('{"ns":"a"}{"ns":"b"}', "are two objects in one field"),
        ("[1]", "are a list, not an object"),
    ],
)
def test_b078_corrupt_arguments_are_the_problem_of_their_call_alone(
    tmp_path, layout, text, problem
):
    form, build = BUILDERS[layout]
    value = replaced(build([[7], [1], [2]]), '{"command": "do 1"}', text)

    recording = read_value(tmp_path / "x.json", value, format=form)

    calls = [turn.turn.calls[0] for turn in recording.turns]
    assert [call.problem is None for call in calls] == [True, False, True]
    assert problem in str(calls[1].problem)
    assert calls[1].raw == text
    assert statuses(recording) == [["ok"], ["ok"], ["ok"]]


@pytest.mark.parametrize("layout", WITH_TEXT)
def test_b075_blank_arguments_are_an_empty_object(tmp_path, layout):
    form, build = BUILDERS[layout]
    value = replaced(build([[7], [1]]), '{"command": "do 1"}', "")

    call = read_value(tmp_path / "x.json", value, format=form).turns[1].turn.calls[0]

    assert (dict(call.args), call.problem) == ({}, None)
