"""Faults that real users met, as far as recordings and replay are concerned."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
from acting import later
from recorded_runs import POLICY, PureRun, message_of, plan_of, recording_of

from toolflow import Context, Control, Engine, Outcome, Toolbox
from toolflow.model import RecordedTurn, Recording
from toolflow.recording import (
    Recorder,
    dump_recording,
    load_checkpoint,
    load_recording,
    replay,
    save_checkpoint,
)
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.committed import message_bytes

Runner = Callable[..., Any]


def sleepers(seconds: dict[str, float]) -> Engine:
    tools = Toolbox()

    @tools.tool(name="look")
    async def look(path: str) -> str:
        await anyio.sleep(seconds[path])
        return f"seen {path}"

    return Engine(tools, policy=POLICY, cwd="/repo", pool=5)


def recorded_by(engine: Engine, names: str) -> Callable[[], Any]:
    async def main() -> Recording:
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        recorder.add(await engine.run(message_of([("look", name) for name in names])))
        return recorder.recording

    return main


def test_b029_order_of_finishing_shows_in_the_events_only(run: Runner) -> None:
    recording = run(recorded_by(sleepers({"a": 0.3, "b": 0.1, "c": 0.2}), "abc"))
    (turn,) = load_recording(dump_recording(recording)).turns
    results = [block["content"] for block in turn.messages[1]["content"]]
    assert results == ["seen a", "seen b", "seen c"]
    ended = [event.call for event in turn.events if event.kind == "call_settled"]
    assert ended == ["toolu_02", "toolu_03", "toolu_01"]


def test_b033_committed_bytes_are_equal_after_a_reload(run: Runner) -> None:
    recording = run(recorded_by(sleepers({"a": 0.3, "b": 0.2, "c": 0.1}), "abc"))
    loaded = load_recording(dump_recording(recording))
    before, after = recording.turns[0].messages, loaded.turns[0].messages
    assert message_bytes(before) == message_bytes(after)
    assert message_bytes(replay(loaded).turns[0].messages) == message_bytes(before)


def test_b078_one_corrupt_argument_text_does_not_spoil_the_other_turns() -> None:
    turns: list[RecordedTurn] = []
    for number in range(1, 10):
        plan = plan_of(message_of([("look", f"path-{number}")]))
        turn = PureRun(plan, lambda count: count - 1).run()
        assert plan.turn is not None
        turns.append(replace(turn, turn=replace(plan.turn, id="turn-1"), started_at=f"{number}"))
    text = dump_recording(recording_of(*turns))
    text = text.replace("args: {path: path-2}", "args: '{\"a\":'")
    loaded = load_recording(text)
    assert len(loaded.turns) == 9
    call = loaded.turns[1].turn.calls[0]
    assert call.raw == '{"a":'
    assert call.problem is not None
    (notice,) = [n for n in loaded.notices if "args" in n.message]
    assert notice.line == text[: text.index("args: '")].count("\n") + 1
    report = replay(loaded, strict=False)
    assert not report.ok
    good = [turn for place, turn in enumerate(report.turns) if place != 1]
    assert all(turn.compared == ("plan", "run", "messages") for turn in good)


def resumed(run: Runner, done: dict[int, str], count: int, path: Path) -> list[str]:
    """Resume a turn of which some calls are done, from a file; which bodies run?"""
    ran: list[str] = []
    tools = Toolbox()

    @tools.tool(name="look")
    async def look(path: str) -> str:
        ran.append(path)
        return path

    engine = Engine(tools, policy=POLICY, cwd="/repo", pool=7)
    plan = engine.plan(message_of([("look", f"p{i + 1}") for i in range(count)]))
    outcomes = {index: (Outcome("ok", value), True) for index, value in done.items()}
    save_checkpoint(Checkpoint(plan, outcomes), path)
    result = run(engine.resume, load_checkpoint(path))
    assert result.status == "done"
    assert [outcome.status for outcome in result.outcomes] == ["ok"] * count
    assert {i: result.outcomes[i].value for i in done} == done
    return sorted(ran)


def test_b101_a_call_that_never_ran_runs_after_a_resume(run: Runner, tmp_path: Path) -> None:
    assert resumed(run, {0: "kept"}, 2, tmp_path / "checkpoint.yaml") == ["p2"]


def test_b103_finished_calls_are_matched_by_name_not_by_place(run: Runner, tmp_path: Path) -> None:
    done = {4: "five", 1: "two", 6: "seven"}  # in the order in which they had ended
    assert resumed(run, done, 7, tmp_path / "checkpoint.yaml") == ["p1", "p3", "p4", "p6"]


def test_an_abort_of_a_run_that_waits_for_a_person_is_replayed(run: Runner) -> None:
    """The call had run and asked, so it is told as aborted although it did not start again."""
    tools = Toolbox()

    @tools.tool(name="look", safe=True)
    async def look(path: str, ctx: Context) -> Any:
        await anyio.sleep(0 if path == "asks" else 5)
        return ctx.interrupt("Which one?") if path == "asks" else path

    async def main() -> Recording:
        engine = Engine(tools)
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        message = message_of([("look", "asks"), ("look", "sleeps")])
        paused = await engine.run(message)
        recorder.add(paused)
        stopped = Control()
        stopped.abort()
        assert paused.checkpoint is not None
        recorder.add(await engine.resume(paused.checkpoint, control=stopped))
        async with anyio.create_task_group() as tasks:
            control = Control()
            tasks.start_soon(later, 1, control.abort)
            recorder.add(await engine.run(message, control=control))
        return recorder.recording

    report = replay(load_recording(dump_recording(run(main))))
    assert report.ok


def test_b105_what_is_committed_is_the_same_whatever_ends_first(run: Runner) -> None:
    texts = set()
    for seed in range(5):
        choices = random.Random(seed)
        seconds = {name: choices.random() for name in "abcde"}
        recording = run(recorded_by(sleepers(seconds), "abcde"))
        first, second = replay(recording), replay(recording)
        assert first == second
        texts.add(message_bytes(first.turns[0].messages))
    assert len(texts) == 1
