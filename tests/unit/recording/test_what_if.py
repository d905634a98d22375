"""What if: both plans in virtual time, with the recorded times; and the sweep over pool sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from recorded_runs import POLICY, PureRun, message_of, plan_of, recording_of

from toolflow import Engine, Toolbox
from toolflow.errors import UsageError
from toolflow.model import Outcome, RecordedTurn, Recording, Times
from toolflow.policy import load_policy
from toolflow.recording import Recorder, dump_recording, load_recording, simulate, sweep, what_if
from toolflow.recording.asking_data import what_if_data
from toolflow.recording.durations import whole_turns

Runner = Callable[..., Any]
CALLS = [("look", "a"), ("look", "b"), ("write", "a"), ("read", "a"), ("build", "a"), ("look", "c")]
SECONDS = [3.0, 1.0, 2.0, 1.5, 0.5, 1.0]
CAREFUL = load_policy("version: 1\nlimits: {pool: 2}\nrules: [{tool: look, safe: true}]\n")


def timed(calls: list[tuple[str, str]] = CALLS, seconds: list[float | None] = SECONDS) -> Recording:
    """A recording whose bodies took so long; who started when does not matter here."""
    turn = PureRun(plan_of(message_of(calls)), lambda count: count - 1).run()
    times = tuple(
        Times(0.0, 0.0, 10.0, 10.0 + each, 10.0 + each) if each is not None else Times()
        for each in seconds
    )
    return recording_of(replace(turn, times=times))


def named(recording: Recording, seconds: list[float]) -> dict[str, float]:
    plan = recording.turns[0].plan
    assert plan is not None
    return {call.name: each for call, each in zip(plan.calls, seconds, strict=True)}


def test_totals_order_and_waiting_are_those_of_the_simulation() -> None:
    recording = timed()
    durations = named(recording, SECONDS)

    (turn,) = what_if(recording, policy=CAREFUL, pool=1).turns

    before = simulate(recording.turns[0].plan, durations)  # type: ignore[arg-type]
    after = simulate(turn.after.plan, durations)
    assert turn.before.simulation == before
    assert turn.after.simulation == after
    assert turn.after.total == sum(SECONDS)
    assert (turn.before.total, turn.before.waiting) == (before.total, sum(before.waiting.values()))
    assert turn.before.critical_seconds == turn.before.lower_bound == 3.5 + 0.5 + 1.0
    assert turn.before.critical_path == ("toolu_03", "toolu_04", "toolu_05", "toolu_06")
    assert turn.diff.changes[0].name == "pool"
    assert turn.missing == ()


@pytest.mark.parametrize("pool", [1, 2, 3, 4, 9])
def test_a_pool_alone_is_the_recorded_plan_with_that_pool(pool: int) -> None:
    recording = timed()
    plan = recording.turns[0].plan
    assert plan is not None

    (turn,) = what_if(recording, pool=pool).turns

    assert turn.after.simulation == simulate(plan, named(recording, SECONDS), pool=pool)
    assert turn.after.total >= turn.after.lower_bound - 1e-9
    assert turn.same == (pool == 3)
    if pool >= 3:  # no more than 3 can run at once
        assert turn.after.simulation == turn.before.simulation


def test_a_real_run_starts_in_the_recorded_order_under_its_own_rules(run: Runner) -> None:
    seconds = {"a": 0.4, "b": 0.1, "c": 0.25}
    tools = Toolbox()

    async def body(path: str) -> str:
        await anyio.sleep(seconds[path])
        return path

    for name in ("look", "read", "write", "grind", "build"):
        tools.tool(body, name=name)
    calls = [
        (tool, path) for tool in ("look", "grind", "write", "read", "build") for path in "abc"
    ] + [("look", "a"), ("grind", "b"), ("grind", "c")]

    async def main() -> Recording:
        engine = Engine(tools, policy=POLICY, cwd="/repo")
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        recorder.add(await engine.run(message_of(calls)))
        return recorder.recording

    recording = run(main)
    (turn,) = what_if(recording).turns

    (recorded,) = recording.turns
    started = [event.call for event in recorded.events if event.kind == "call_started"]
    assert list(turn.after.simulation.order) == started
    assert turn.same
    assert turn.after.total == pytest.approx(turn.seconds)
    for times, simulated in zip(recorded.times, turn.after.simulation.times, strict=True):
        assert simulated.started == pytest.approx(times.started)


def test_calls_without_a_time_count_as_none_or_as_the_median_of_their_tool() -> None:
    calls = [("look", "a"), ("look", "b"), ("look", "c"), ("read", "x"), ("build", "y")]
    recording = timed(calls, [1.0, 3.0, None, None, 5.0])

    (turn,) = what_if(recording).turns
    assert turn.missing == ("toolu_03", "toolu_04")
    assert turn.before.total == 3.0 + 5.0
    (turn,) = what_if(recording, pool=1, missing="median").turns
    assert turn.after.total == 1.0 + 3.0 + 2.0 + 3.0 + 5.0  # of `look` 2, of all tools 3
    with pytest.raises(UsageError, match="missing is 'most'"):
        what_if(recording, missing="most")  # type: ignore[arg-type]


def test_a_call_that_a_new_policy_denies_does_not_run_and_one_that_it_allows_does() -> None:
    recording = timed([("look", "a"), ("forbidden", "b")], [2.0, None])
    other = load_policy(
        "version: 1\nrules:\n  - {tool: look, deny: No.}\n  - {tool: forbidden, safe: true}\n"
    )

    (turn,) = what_if(recording, policy=other).turns

    assert turn.before.simulation.order == ("toolu_01",)
    assert turn.after.simulation.order == ("toolu_02",)
    assert turn.missing == ("toolu_02",)
    assert turn.after.total == 0.0


def test_what_failed_fails_again_and_what_was_declined_is_declined_again() -> None:
    recording = timed([("build", "a"), ("look", "b")], [1.0, 2.0])
    failed = (Outcome("failed", error="No."), Outcome("skipped", error="Skipped."))
    recording = replace(recording, turns=(replace(recording.turns[0], outcomes=failed),))
    (turn,) = what_if(recording).turns
    assert turn.before.simulation.skipped == ("toolu_02",)

    recording = timed([("ask", "a"), ("look", "b")], [None, 2.0])
    declined = (Outcome("declined", error="No."), Outcome("ok", "b"))
    recording = replace(recording, turns=(replace(recording.turns[0], outcomes=declined),))
    (turn,) = what_if(recording).turns
    assert turn.before.simulation.order == ("toolu_02",)
    assert turn.missing == ()


def test_capacities_change_who_waits_and_one_too_small_is_refused() -> None:
    calls = [("grind", "a"), ("grind", "b"), ("grind", "c")]
    recording = timed(calls, [1.0, 1.0, 1.0])

    (turn,) = what_if(recording, resources={"cpu": 1}).turns
    assert (turn.before.total, turn.after.total) == (2.0, 3.0)
    assert turn.after.waiting == 3.0
    (turn,) = what_if(recording, resources={"cpu": 3}).turns
    assert turn.after.total == 1.0
    heavy = load_policy(
        "version: 1\nlimits: {resources: {cpu: 2}}\nrules: [{tool: grind, uses: {cpu: 2}}]\n"
    )
    with pytest.raises(UsageError, match=r"'toolu_01'.*uses 2 of the resource 'cpu'.*there are 1"):
        what_if(recording, policy=heavy, resources={"cpu": 1})
    with pytest.raises(UsageError, match="pool is 0"):
        what_if(recording, pool=0)


def test_a_run_that_paused_is_one_turn_with_the_run_that_resumed_it(run: Runner) -> None:
    tools = Toolbox()

    async def body(path: str) -> str:
        await anyio.sleep(0.5)
        return path

    tools.tool(body, name="look")
    tools.tool(body, name="ask")

    async def main() -> Recording:
        engine = Engine(tools, policy=POLICY, cwd="/repo")
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        paused = await engine.run(message_of([("look", "a"), ("ask", "b"), ("look", "c")]))
        recorder.add(paused)
        assert paused.checkpoint is not None
        recorder.add(await engine.resume(paused.checkpoint, {"toolu_02": True}))
        return recorder.recording

    recording = run(main)
    assert len(recording.turns) == 2
    assert len(list(whole_turns(load_recording(dump_recording(recording)).turns))) == 1

    (turn,) = what_if(recording, pool=1).turns
    assert turn.missing == ()
    assert turn.after.total == pytest.approx(1.5)


def test_a_log_without_plans_is_planned_with_its_policy_and_may_have_no_times() -> None:
    recording = timed()
    (own,) = recording.turns
    bare = RecordedTurn(own.turn, own.outcomes)
    (turn,) = what_if(replace(recording, turns=(bare,)), pool=1).turns

    assert len(turn.missing) == len(CALLS)
    assert (turn.before.total, turn.after.total, turn.seconds) == (0.0, 0.0, None)
    assert what_if(replace(recording, turns=())).turns == ()


def test_secrets_that_a_policy_names_are_in_no_answer() -> None:
    (own,) = timed([("look", "hunter2")], [1.0]).turns
    log = Recording((RecordedTurn(own.turn, own.outcomes, own.times),))
    other = load_policy("version: 1\nredact: [path]\nrules: [{tool: look, safe: true}]\n")

    report = what_if(log, policy=other)

    assert "hunter2" not in str(what_if_data(report))
    assert "hunter2" not in str(report.turns[0].before.plan)
    assert report.turns[0].diff.changes[0].field == "verdict"


def test_data_holds_both_sides() -> None:
    data = what_if_data(what_if(timed(), policy=CAREFUL))

    (turn,) = data["turns"]
    assert turn["before"]["nodes"][0] == {
        "id": "pool-1", "kind": "pool", "calls": [f"toolu_0{n}" for n in (1, 2, 3, 4)],
    }  # fmt: skip
    assert turn["after"]["pool"] == 2
    assert turn["after"]["calls"][2]["started"] == 3.0
    assert data["after"] == turn["after"]["total"]


def test_the_answer_as_text_is_a_line_a_turn() -> None:
    assert str(what_if(timed(), pool=1)) == (
        "turn-1: 1 change of the plan, 5 s before, 9 s after\n"
        "1 of 1 turn changes: 5 s before, 9 s after."
    )
    assert str(what_if(timed())).startswith("turn-1: as recorded, 5 s\n")


# ---- the sweep ----


def test_a_sweep_is_the_simulation_under_each_size() -> None:
    recording = timed()
    plan = recording.turns[0].plan
    assert plan is not None

    found = sweep(recording, [4, 1, 2, 2])

    durations = named(recording, SECONDS)
    assert [row.pool for row in found.rows] == [1, 2, 4]
    for row in found.rows:
        assert row.total == simulate(plan, durations, pool=row.pool).total
        assert row.speedup == found.serial / row.total
        assert row.utilisation == pytest.approx(sum(SECONDS) / (row.pool * row.total))
    assert found.rows[0].utilisation == 1.0
    assert found.serial == sum(SECONDS)
    assert found.critical_seconds == 5.0


def test_it_says_where_a_wider_pool_stops_paying() -> None:
    recording = timed([("look", str(n)) for n in range(8)], [1.0] * 8)

    assert sweep(recording, [1, 2, 4, 8, 16]).enough == 8
    assert sweep(recording, [1, 2, 4]).enough == 4
    assert sweep(recording, [5, 6, 7]).enough == 5  # two rounds, with any of them
    assert sweep(recording, [3]).rows[0].speedup == pytest.approx(8 / 3)


def test_turns_follow_each_other_and_calls_without_a_time_are_counted() -> None:
    one = timed([("look", "a"), ("look", "b")], [1.0, None])
    twice = replace(one, turns=one.turns * 2)

    found = sweep(twice, [1])
    assert (found.serial, found.unknown) == (2.0, 2)
    assert sweep(twice, [1], missing="median").serial == 4.0
    assert sweep(replace(one, turns=()), [1, 2]).rows[1].speedup == 1.0


@pytest.mark.parametrize("sizes", [[], [0], [1, -2], [True], [1.5], range(1, 2000)])
def test_sizes_that_are_none_are_refused(sizes: Any) -> None:
    with pytest.raises(UsageError, match="The sweep has"):
        sweep(timed(), sizes)
