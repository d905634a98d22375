"""Walking through a run: what runs, who waits for what, what comes next, at every fact."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from recorded_runs import TOOLS, PureRun, message_of, plan_of, recording_of

from toolflow.errors import DivergenceError, UsageError
from toolflow.model import RecordedTurn
from toolflow.recording import dump_recording, load_recording
from toolflow.recording.naming import find_call
from toolflow.recording.walking import Walk

CALLS = [
    ("look", "a"), ("write", "b"), ("read", "b"), ("grind", "c"), ("grind", "d"), ("grind", "e"),
    ("build", "f"), ("look", "g"),
]  # fmt: skip


def recorded(calls: list[tuple[str, str]] = CALLS, first: bool = True) -> RecordedTurn:
    choose = (lambda count: 0) if first else (lambda count: count - 1)
    return PureRun(plan_of(message_of(calls)), choose).run()


def test_it_tells_what_runs_and_who_waits_for_what() -> None:
    walk = Walk(recorded(first=False))
    assert walk.until(3)  # toolu_04 is about to start

    moment = walk.moment()

    assert moment.running == ("toolu_01", "toolu_02")
    assert (
        dict(moment.waiting)
        == {
            "toolu_03": ("toolu_02 (key file:b read after write)",),
            "toolu_04": ("its start: it has a permit",),
            "toolu_05": ("a permit (pool 3)",),
            "toolu_06": ("a permit (pool 3)",),
            "toolu_07": ("pool-1 (toolu_01, toolu_02, toolu_03, toolu_04, toolu_05, toolu_06)",),
            "toolu_08": ("barrier-2 (toolu_07)",),
        }
        or moment.waiting
    )
    assert moment.next == "toolu_04 starts"


def test_a_scarce_resource_and_a_question_are_named() -> None:
    walk = Walk(recorded([("grind", "a"), ("grind", "b"), ("grind", "c")], first=False))
    walk.until(1)
    walk.step()
    assert dict(walk.moment().waiting)["toolu_03"] == ("a resource (cpu)",)

    walk = Walk(recorded([("ask", "a")]))
    walk.step()
    assert walk.moment().waiting == (("toolu_01", ("an answer to its question",)),)
    assert walk.moment().next == "toolu_01 is answered with no"


def test_every_fact_is_told_in_words_with_its_time() -> None:
    turn = recorded([("look", "a")])
    walk = Walk(turn)
    seen = []
    while not walk.over:
        walk.step()
        moment = walk.moment()
        seen.append((moment.step, moment.at, moment.happened, moment.decided))

    assert turn.outcomes[0] is not None
    status = turn.outcomes[0].status
    assert seen == [
        (1, 0.0, "the run begins", ("toolu_01 may start",)),
        (2, turn.times[0].started, "toolu_01 starts", ()),
        (3, turn.times[0].stopped, f"toolu_01 stops ({status})", ("the run is finished",)),
    ]
    assert walk.moment().next == ""
    walk.step()  # nothing more happens
    assert walk.moment().step == 3


@pytest.mark.parametrize("seed", range(40))
def test_at_every_fact_of_any_run_the_picture_holds_together(seed: int) -> None:
    choices = random.Random(seed)
    tools = [(choices.choice(TOOLS), choices.choice("abc")) for _ in range(10)]
    turn = PureRun(plan_of(message_of(tools)), choices.randrange, hooks=True, trouble=True).run()
    (turn,) = load_recording(dump_recording(recording_of(turn))).turns
    walk = Walk(turn)
    inside: set[int] = set()

    while (fact := walk.next) is not None:
        walk.step()
        if fact.kind == "started":
            inside.add(fact.call)
        elif fact.kind in {"stopped", "interrupted"}:
            inside.discard(fact.call)
        moment = walk.moment()
        waiting = [name for name, _ in moment.waiting]
        names = [*moment.done, *moment.running, *waiting]
        assert len(names) == len(set(names))
        assert set(moment.running) == {walk.plan.calls[index].name for index in inside}
        assert all(reasons for _, reasons in moment.waiting)
    assert walk.moment().happened


def test_a_call_that_never_starts_is_told_at_the_end() -> None:
    walk = Walk(recorded([("forbidden", "a"), ("look", "b")]))

    assert not walk.will_start(0)
    assert walk.will_start(1)
    assert not walk.until(0)
    assert walk.over


def test_a_changed_recording_diverges_where_it_was_changed() -> None:
    turn = recorded([("look", "a"), ("build", "b")])
    facts = [fact for fact in turn.facts if fact.kind != "stopped"]
    walk = Walk(replace(turn, facts=tuple(facts)))

    with pytest.raises(DivergenceError, match="toolu_02"):
        walk.until(9)


def test_a_log_cannot_be_walked_through() -> None:
    with pytest.raises(UsageError, match="no recorded run to walk through"):
        Walk(replace(recorded(), plan=None, events=(), facts=()))


def test_calls_are_found_by_name_and_by_turn_where_names_are_not_enough() -> None:
    one = recorded([("look", "a"), ("look", "b")])
    other = replace(one, turn=replace(one.turn, id="t/2"))
    both = recording_of(one, other)

    assert find_call(recording_of(one), "toolu_02") == (one, 1)
    assert find_call(both, "turn-1/toolu_02") == (one, 1)
    assert find_call(both, "t/2/toolu_01") == (other, 0)
    assert find_call(recording_of(one, one), "toolu_01") == (one, 0)  # a pause and its resume
    with pytest.raises(UsageError) as caught:
        find_call(both, "toolu_01")
    assert str(caught.value) == (
        "2 turns have a call 'toolu_01'. Use 'turn-1/toolu_01', 't/2/toolu_01'."
    )
    with pytest.raises(UsageError, match=r"There is no call 'toolu_03'\. Did you mean"):
        find_call(both, "toolu_03")
