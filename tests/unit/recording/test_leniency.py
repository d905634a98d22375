"""Lenient modes: each passes over its own kind of difference, tells it, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from recorded_runs import POLICY, PureRun, message_of, plan_of, recording_of

from toolflow.errors import DivergenceError, UsageError
from toolflow.model import RecordedTurn, Recording, Times
from toolflow.policy import load_policy
from toolflow.recording import replay
from toolflow.recording.leniency import IGNORABLE, ignored_kinds

CALLS = [
    ("look", "a"), ("look", "b"), ("write", "c"), ("read", "c"), ("forbidden", "x"), ("ask", "d"),
]  # fmt: skip


def recorded(**more: Any) -> RecordedTurn:
    turn = PureRun(plan_of(message_of(CALLS)), lambda count: count - 1).run()
    return replace(turn, **more)


def swapped_starts() -> Recording:
    turn = recorded()
    facts = list(turn.facts)
    one, two = (at for at, fact in enumerate(facts) if fact.kind == "started" and fact.call < 2)
    facts[one], facts[two] = facts[two], facts[one]
    return recording_of(replace(turn, facts=tuple(facts)))


def other_policy(old: str, new: str) -> tuple[Recording, dict[str, Any]]:
    assert old in POLICY
    return recording_of(recorded()), {"policy": load_policy(POLICY.replace(old, new))}


def other_times() -> Recording:
    turn = recorded()
    wrong = Times(0.0, 0.0, 5.0, 5.0, 4.0)
    return recording_of(replace(turn, times=(wrong, *turn.times[1:])))


def other_messages() -> Recording:
    turn = recorded()
    assert turn.committed is not None
    return recording_of(replace(turn, committed=replace(turn.committed, digest="0" * 64)))


def other_ids() -> Recording:
    turn = recorded()
    assert turn.plan is not None
    calls = (replace(turn.plan.calls[0], id="other"), *turn.plan.calls[1:])
    return recording_of(replace(turn, plan=replace(turn.plan, calls=calls)))


CASES: dict[str, Any] = {
    "ids": lambda: (other_ids(), {}),
    "keys": lambda: other_policy(
        'writes: ["file:{{ args.path }}"]', 'writes: ["other:{{ args.path }}"]'
    ),
    "limits": lambda: other_policy("pool: 3", "pool: 1"),
    "messages": lambda: (other_messages(), {}),
    "order": lambda: (swapped_starts(), {}),
    "terms": lambda: other_policy(
        "{tool: look, safe: true}", "{tool: look, safe: true, timeout: 9s}"
    ),
    "text": lambda: other_policy("Not here.", "Never."),
    "times": lambda: (other_times(), {}),
}


def test_there_is_a_case_for_every_mode() -> None:
    assert CASES.keys() == IGNORABLE.keys()


@pytest.mark.parametrize("kind", sorted(IGNORABLE))
def test_a_mode_passes_over_its_own_kind_and_tells_it(kind: str) -> None:
    recording, options = CASES[kind]()

    with pytest.raises(DivergenceError) as caught:
        replay(recording, **options)
    assert caught.value.kind == kind
    report = replay(recording, ignore=[kind], **options)
    assert report.ok
    (turn,) = report.turns
    assert {each.kind for each in turn.ignored} == {kind}
    assert str(turn.ignored[0]) == str(caught.value)
    assert f"; ignored: {kind} {len(turn.ignored)}" in str(report)


@pytest.mark.parametrize("kind", sorted(IGNORABLE))
def test_all_other_modes_do_not_pass_over_it(kind: str) -> None:
    recording, options = CASES[kind]()

    with pytest.raises(DivergenceError) as caught:
        replay(recording, ignore=IGNORABLE.keys() - {kind}, **options)
    assert caught.value.kind == kind


def test_a_question_in_other_words_is_text_and_no_question_is_not() -> None:
    recording, options = other_policy('ask: "Really?"', 'ask: "Sure?"')
    assert replay(recording, ignore=["text"], **options).ok

    recording, options = other_policy('ask: "Really?", ', "")
    with pytest.raises(DivergenceError, match="question Really"):
        replay(recording, ignore=IGNORABLE, **options)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{tool: look, safe: true}", "{tool: look}"),
        ('{tool: forbidden, deny: "Not here."}', "{tool: forbidden, safe: true}"),
        ("{tool: look, safe: true}", "{tool: look, deny: No.}"),
    ],
)
def test_other_verdicts_always_count(old: str, new: str) -> None:
    recording, options = other_policy(old, new)

    with pytest.raises(DivergenceError):
        replay(recording, ignore=IGNORABLE, **options)


@pytest.mark.parametrize("what", ["tool", "input"])
def test_another_call_in_the_message_always_counts(what: str) -> None:
    turn = recorded()
    calls = message_of([("read" if what == "tool" else "look", "a2"), *CALLS[1:]])
    other = recording_of(replace(turn, turn=replace(turn.turn, message=calls)))

    with pytest.raises(DivergenceError, match="toolu_01"):
        replay(other, ignore=IGNORABLE)


def test_a_recording_that_is_exact_ignores_nothing() -> None:
    report = replay(recording_of(recorded()), ignore=IGNORABLE)

    assert report.turns[0].ignored == ()
    assert "ignored" not in str(report)


def test_unknown_modes_are_refused_with_the_list() -> None:
    with pytest.raises(UsageError) as caught:
        ignored_kinds(["order", "tims"])
    assert str(caught.value) == (
        "ignore: 'tims' is unknown. Did you mean 'times'? "
        "Use ids, keys, limits, messages, order, terms, text, times."
    )
