"""Replay over its newer modes: questions, lenient modes, walks and forks are as exact as it is."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from recorded_runs import POLICY, TOOLS, PureRun, message_of, plan_of, recording_of

from toolflow import Engine, Toolbox
from toolflow.errors import DivergenceError
from toolflow.model import Recording
from toolflow.policy import load_policy
from toolflow.recording import (
    Recorder,
    diff_recordings,
    dump_recording,
    fork_at,
    load_recording,
    replay,
    simulate,
    what_if,
)
from toolflow.recording.durations import durations_of
from toolflow.recording.leniency import IGNORABLE
from toolflow.recording.walking import Walk
from toolflow.testing import run_virtual

Runner = Callable[..., Any]
NAMES = ("look", "read", "write", "grind", "ask", "build", "forbidden")


def toolbox() -> Toolbox:
    tools = Toolbox()

    async def body(path: str) -> str:
        await anyio.sleep(float(path))
        return f"content of {path}"

    for name in NAMES:
        tools.tool(body, name=name)
    return tools


def calls_of(seed: int, count: int = 12) -> list[tuple[str, str]]:
    """Calls whose bodies all take another time, so that no two things happen at once."""
    choices = random.Random(seed)
    seconds = [str(number / 64) for number in choices.sample(range(1, 400), count)]
    return [(choices.choice(NAMES), each) for each in seconds]


async def recorded(calls: list[tuple[str, str]], **more: Any) -> Recording:
    engine = Engine(toolbox(), policy=POLICY, cwd="/repo", approver=lambda question: True, **more)
    recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
    recorder.add(await engine.run(message_of(calls)))
    return load_recording(dump_recording(recorder.recording))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_c148_the_question_about_its_own_rules_gives_the_recorded_run_50_of_50(
    backend: str,
) -> None:
    for seed in range(50):
        recording = run_virtual(recorded, calls_of(seed), backend=backend)
        (own,) = recording.turns

        (turn,) = what_if(recording).turns

        started = [event.call for event in own.events if event.kind == "call_started"]
        assert list(turn.after.simulation.order) == started
        assert turn.same
        assert turn.after.total == pytest.approx(turn.seconds or 0.0)
        for times, simulated in zip(own.times, turn.after.simulation.times, strict=True):
            assert simulated.started == pytest.approx(times.started)


@pytest.mark.parametrize("pool", [1, 2, 5])
def test_c148_a_question_is_answered_as_a_real_run_under_these_rules_would_go(
    run: Runner, pool: int
) -> None:
    """The recording is made under one pool, the answer compared with a run under another."""
    calls = calls_of(7, 16)
    recording, other = run(recorded, calls), run(lambda: recorded(calls, pool=pool))

    (turn,) = what_if(recording, pool=pool).turns

    (real,) = other.turns
    started = [event.call for event in real.events if event.kind == "call_started"]
    assert list(turn.after.simulation.order) == started
    assert turn.after.total == pytest.approx(max(t.stopped or 0.0 for t in real.times))
    assert turn.diff == turn.before.plan.diff(real.plan)  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(20))
def test_c148_totals_are_those_of_the_simulation_and_never_below_the_bound(seed: int) -> None:
    choices = random.Random(seed)
    tools = [(choices.choice(TOOLS), choices.choice("abc")) for _ in range(12)]
    recorded_turn = PureRun(plan_of(message_of(tools)), choices.randrange, hooks=True).run()
    recording = recording_of(recorded_turn)
    for pool in (None, 1, 4):
        (turn,) = what_if(recording, pool=pool).turns
        for side in (turn.before, turn.after):
            statuses = [outcome.status for outcome in recorded_turn.outcomes if outcome]
            names = [call.name for call in side.plan.calls]
            run = simulate(
                side.plan,
                durations_of(recorded_turn, side.plan),
                failed=[n for n, s in zip(names, statuses, strict=True) if s == "failed"],
                declined=[n for n, s in zip(names, statuses, strict=True) if s == "declined"],
            )
            assert side.simulation == run
            assert side.total >= side.lower_bound - 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_c148_a_walk_through_any_run_ends_where_the_run_ended(seed: int) -> None:
    choices = random.Random(seed)
    tools = [(choices.choice(TOOLS), choices.choice("abc")) for _ in range(10)]
    turn = PureRun(plan_of(message_of(tools)), choices.randrange, hooks=True, trouble=True).run()
    for index, times in enumerate(turn.times):
        walk = Walk(turn)
        assert walk.until(index) == (times.started is not None)
        while not walk.over:
            walk.step()
        assert walk.end == ("pause" if turn.events[-1].kind == "run_paused" else "finish")


CHANGES: dict[str, tuple[str, str]] = {
    "a rule": ("{tool: look, safe: true}", "{tool: look}"),
    "a denial": ('deny: "Not here."', "safe: true"),
    "a key": ('writes: ["file:{{ args.path }}"]', 'writes: ["k:{{ args.path }}"]'),
    "a limit": ("pool: 3", "pool: 1"),
    "a capacity": ("cpu: 2", "cpu: 1"),
    "a term": ("{tool: build, on_error: stop}", "{tool: build}"),
    "a question": ('ask: "Really?"', 'ask: "Sure?"'),
}
CALLS = [
    ("look", "0.5"), ("write", "0.25"), ("grind", "0.75"), ("grind", "1.5"), ("forbidden", "1"),
    ("ask", "2"), ("build", "3"), ("look", "0.125"),
]  # fmt: skip


@pytest.mark.parametrize("what", sorted(CHANGES))
def test_c149_one_change_is_a_divergence_a_question_and_a_difference(
    run: Runner, what: str
) -> None:
    old, new = CHANGES[what]
    assert old in POLICY
    recording = run(recorded, CALLS)
    other = load_policy(POLICY.replace(old, new))

    with pytest.raises(DivergenceError) as caught:
        replay(recording, policy=other)
    assert caught.value.call is not None
    (turn,) = what_if(recording, policy=other).turns
    assert not turn.same
    assert not turn.diff.same
    if caught.value.kind not in {"", "limits"}:
        assert turn.diff.of_call(caught.value.call)
    others = IGNORABLE.keys() - {caught.value.kind}
    with pytest.raises(DivergenceError):
        replay(recording, policy=other, ignore=others)


@pytest.mark.parametrize("field", ["name", "input"])
def test_c149_one_changed_call_is_told_whatever_is_ignored(run: Runner, field: str) -> None:
    recording = run(recorded, CALLS)
    for place, (tool, path) in enumerate(CALLS):
        changed = [*CALLS]
        changed[place] = ("other", path) if field == "name" else (tool, "9")
        (turn,) = recording.turns
        message = replace(turn.turn, message=message_of(changed))
        other = replace(recording, turns=(replace(turn, turn=message),))

        with pytest.raises(DivergenceError) as caught:
            replay(other, ignore=IGNORABLE)
        assert caught.value.call == f"toolu_{place + 1:02}"


def test_c150_a_fork_at_every_call_gives_the_transcript_of_the_whole_run(run: Runner) -> None:
    calls = [call for call in calls_of(3, 14) if call[0] != "forbidden"]
    recording = run(recorded, calls)
    (whole,) = recording.turns
    engine = Engine(toolbox(), policy=POLICY, cwd="/repo")
    kept = set()
    for index in range(len(calls)):
        fork = fork_at(recording, f"toolu_{index + 1:02}", tools=engine.tools)
        approvals = {i for i, call in enumerate(fork.plan.calls) if call.ask is not None}
        assert fork.approved | fork.outcomes.keys() >= approvals

        result = run(engine.resume, fork)

        assert result.messages == whole.messages
        kept.add(len(fork.outcomes))
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        recorder.add(result)
        again = load_recording(dump_recording(recorder.recording))
        assert replay(again).ok
        changed = {c.kind for t in diff_recordings(recording, again).turns for c in t.changes}
        assert changed <= {"order"}  # what was kept does not start again
    assert len(kept) > 3
