"""Recordings: random turns, random runs, one mutation at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from recorded_runs import POLICY, TOOLS, PureRun, message_of, plan_of, recording_of

from toolflow.errors import DivergenceError
from toolflow.model import Fact, RecordedTurn
from toolflow.policy import load_policy
from toolflow.recording import dump_recording, load_recording, replay

CALLS = st.lists(
    st.tuples(st.sampled_from(TOOLS), st.sampled_from(["a", "b", "c"])), min_size=1, max_size=7
)
SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def run_of(data: st.DataObject, *, trouble: bool = False) -> RecordedTurn:
    def choose(count: int) -> int:
        return data.draw(st.integers(0, count - 1)) if count > 1 else 0

    plan = plan_of(message_of(data.draw(CALLS)))
    hooks, approver = data.draw(st.booleans()), data.draw(st.booleans())
    return PureRun(plan, choose, hooks=hooks, approver=approver, trouble=trouble).run()


@SETTINGS
@given(st.data())
def test_every_run_is_replayed_exactly_and_loads_as_it_was(data: st.DataObject) -> None:
    recording = recording_of(run_of(data, trouble=data.draw(st.booleans())))
    report = replay(recording)
    assert report.ok
    text = dump_recording(recording)
    loaded = load_recording(text)
    assert loaded == recording
    assert dump_recording(loaded) == text
    assert str(replay(loaded)) == str(report)
    assert replay(loaded).turns[0].messages == recording.turns[0].messages


@SETTINGS
@given(st.data())
def test_a_changed_argument_in_the_message_names_its_call(data: st.DataObject) -> None:
    turn = run_of(data)
    index = data.draw(st.integers(0, len(turn.turn.calls) - 1))
    blocks = [dict(block) for block in turn.turn.message["content"]]
    blocks[index]["input"] = {"path": "changed"}
    message = {**turn.turn.message, "content": blocks}
    recording = recording_of(replace(turn, turn=replace(turn.turn, message=message)))
    with pytest.raises(DivergenceError) as found:
        replay(recording)
    call = turn.turn.calls[index]
    assert found.value.call == call.id
    assert str(found.value) == (
        f"Replay diverged at call '{call.id}': recorded {call.tool} path '{call.args['path']}', "
        "now path 'changed'."
    )


@SETTINGS
@given(st.data())
def test_a_changed_rule_names_the_first_call_that_it_is_about(data: st.DataObject) -> None:
    turn = run_of(data)
    tools = [call.tool for call in turn.turn.calls]
    assume("look" in tools)
    policy = POLICY.replace("{tool: look, safe: true}", "{tool: look}")
    with pytest.raises(DivergenceError) as found:
        replay(recording_of(turn), policy=load_policy(policy))
    assert found.value.call == turn.turn.calls[tools.index("look")].id


@SETTINGS
@given(st.data(), st.booleans())
def test_a_changed_result_names_its_call(data: st.DataObject, kept: bool) -> None:
    turn = run_of(data)
    ok = [i for i, outcome in enumerate(turn.outcomes) if outcome is not None and outcome.ok]
    assume(ok and turn.messages)
    index = data.draw(st.sampled_from(ok))
    outcomes = list(turn.outcomes)
    outcomes[index] = replace(outcomes[index], value="something else")  # type: ignore[type-var]
    changed = replace(turn, outcomes=tuple(outcomes))
    if not kept:
        changed = replace(changed, committed=None)
    with pytest.raises(DivergenceError, match="something else") as found:
        replay(recording_of(changed))
    assert found.value.call == turn.turn.calls[index].id


@SETTINGS
@given(st.data())
def test_two_starts_the_other_way_round_name_one_of_them(data: st.DataObject) -> None:
    turn = run_of(data)
    waited = {event.call for event in turn.events if event.kind == "call_queued"}
    names = [call.id for call in turn.turn.calls]
    places = [i for i, fact in enumerate(turn.facts) if fact.kind == "started"]
    pairs = [
        (a, b)
        for a, b in pairwise(places)
        if not {names[turn.facts[i].call] for i in (a, b)} & waited
    ]
    assume(pairs)
    a, b = data.draw(st.sampled_from(pairs))
    facts = list(turn.facts)
    facts[a], facts[b] = facts[b], facts[a]
    with pytest.raises(DivergenceError) as found:
        replay(recording_of(replace(turn, facts=tuple(facts))))
    assert found.value.call in {names[facts[a].call], names[facts[b].call]}


@SETTINGS
@given(st.data())
def test_a_start_that_is_missing_or_made_up_is_seen(data: st.DataObject) -> None:
    turn = run_of(data)
    places = [i for i, fact in enumerate(turn.facts) if fact.kind == "started"]
    assume(places)
    place = data.draw(st.sampled_from(places))
    call = turn.facts[place].call
    facts = turn.facts[:place] + turn.facts[place + 1 :]
    if data.draw(st.booleans()):
        facts = (*turn.facts[: place + 1], Fact("started", call), *turn.facts[place + 1 :])
    with pytest.raises(DivergenceError) as found:
        replay(recording_of(replace(turn, facts=facts)))
    assert found.value.call == turn.turn.calls[call].id


@SETTINGS
@given(st.data(), st.integers(1, 6))
def test_another_pool_diverges_only_where_the_order_of_starts_does(
    data: st.DataObject, pool: int
) -> None:
    turn = run_of(data)
    recording = recording_of(turn)
    report = replay(recording, pool=pool, strict=False)
    if report.ok:
        assert report.turns[0].starts == replay(recording).turns[0].starts
    else:
        assert report.divergences[0].call is not None
        assert "limits.pool 3" in str(report.divergences[0])
        assert f"limits.pool {pool}" in str(report.divergences[0])
