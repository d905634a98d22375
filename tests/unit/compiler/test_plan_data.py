from __future__ import annotations

import json
import pickle
from typing import Literal

import pytest
from plan_makers import call, plan

from toolflow.compiler import dump_plan, load_plan, plan_data
from toolflow.errors import PlanError, UsageError
from toolflow.model import Limits, Notice, Terms

FORMS: list[Literal["yaml", "json"]] = ["yaml", "json"]

FULL = plan(
    call("a", args={"path": "x.txt", "n": [1, 2.5, None, True, {"k": "v\nw"}]}, reads=["x"]),
    call("call-2", id="", reads=[], writes=["x", "y"], terms=Terms({"gpu": 1}, 120.0), label="two"),
    call("c", "denied", reason="No: never.", rule=0, line=7),
    call(
        "d",
        "exclusive",
        terms=Terms(timeout=0.5, hold="run", stop="after", on_error="stop", idempotent=True),
        ask="Really?",
        rule=4,
        line=9,
    ),
    *[call(f"w{i}", writes=[f"s/{i}"]) for i in range(3)],
    *[call(f"r{i}", reads=["s/**"]) for i in range(3)],
    limits=Limits(3, {"gpu": 2}),
    approvals="first",
    policy_digest="abc",
    notices=(Notice("alias", "A path is a file.", call="a"),),
)


@pytest.mark.parametrize("form", FORMS)
def test_what_was_dumped_loads_as_an_equal_plan(form: Literal["yaml", "json"]) -> None:
    again = load_plan(dump_plan(FULL, form))
    assert again == FULL
    assert again.fingerprint == FULL.fingerprint
    assert again.notices == FULL.notices
    assert dump_plan(again, form) == dump_plan(FULL, form)


def test_data_loads_without_text() -> None:
    assert load_plan(plan_data(FULL)) == FULL


def test_data_are_plain_values_in_reading_order() -> None:
    data = plan_data(FULL)
    assert json.loads(json.dumps(data)) == data
    assert list(data)[:3] == ["format_version", "turn", "approvals"]
    assert data["calls"][3] == {
        "name": "d",
        "tool": "tool",
        "args": {},
        "verdict": "exclusive",
        "reason": "because",
        "rule": 5,
        "line": 9,
        "ask": "Really?",
        "timeout": 0.5,
        "hold": "run",
        "stop": "after",
        "on_error": "stop",
        "idempotent": True,
    }


def test_nothing_declared_and_declared_nothing_stay_apart() -> None:
    found = plan(call("a"), call("b", reads=[], writes=[]))
    again = load_plan(dump_plan(found))
    assert [each.reads for each in again.calls] == [None, ()]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "value",
    [
        "\ud83d alone",
        float("inf"),
        {"\udc00": 1},
        [[[1]]],
        "\x00\x1b[2J\u2028\ufeff",
        10**30,
        "1e3",
    ],
)
def test_odd_arguments_survive(form: Literal["yaml", "json"], value: object) -> None:
    found = plan(call("a", args={"v": value}))
    assert load_plan(dump_plan(found, form)) == found


@pytest.mark.parametrize("form", FORMS)
def test_deep_arguments_survive(form: Literal["yaml", "json"]) -> None:
    deep: object = "end"
    for _ in range(200):
        deep = [deep]
    found = plan(call("a", args={"v": deep}))
    assert load_plan(dump_plan(found, form)) == found


@pytest.mark.parametrize("form", FORMS)
def test_names_with_lone_surrogates_survive(form: Literal["yaml", "json"]) -> None:
    found = plan(call("\ud83d", "exclusive", tool="\udc00"), call("b", writes=["k\ud83d"]))
    text = dump_plan(found, form)
    text.encode()
    assert load_plan(text) == found


def test_a_plan_without_its_own_fingerprint_gets_it() -> None:
    from dataclasses import replace

    assert replace(FULL, fingerprint="nonsense").fingerprint == FULL.fingerprint


def test_arguments_that_are_no_json_are_an_error() -> None:
    found = plan(call("a", args={"v": object}))
    with pytest.raises(PlanError, match="turn-1: The arguments of call 'a' cannot be written"):
        plan_data(found)


def test_another_form_is_refused() -> None:
    with pytest.raises(UsageError, match="Use 'yaml' or 'json'"):
        dump_plan(FULL, "toml")  # type: ignore[arg-type]


def test_a_plan_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(FULL)) == FULL
