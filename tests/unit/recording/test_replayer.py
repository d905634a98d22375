"""Replay: what is compared, and what stands where something is not at hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from recorded_runs import POLICY, PureRun, message_of, plan_of, recording_of

from toolflow import Engine, Toolbox
from toolflow.compiler import load_plan, plan_data
from toolflow.errors import CheckpointError, DivergenceError, ReplayError
from toolflow.model import Call, Notice, Outcome, RecordedTurn, Recording, Times, Turn
from toolflow.policy import load_policy
from toolflow.recording import (
    Recorder,
    dump_recording,
    load_checkpoint,
    load_recording,
    replay,
    save_checkpoint,
)
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.committed import written_messages
from toolflow.runtime.approvals import Question
from toolflow.testing import run_virtual


def recorded(*tools: str) -> Recording:
    calls = [(tool, "a") for tool in tools]
    return recording_of(PureRun(plan_of(message_of(calls)), lambda count: count - 1).run())


def declaring() -> Toolbox:
    tools = Toolbox()

    @tools.tool(
        safe=lambda path, depth=1: path != "b",
        reads=lambda path, depth=1: [f"tree:{path}"],
        timeout=5.0,
    )
    async def walk(path: str, depth: int = 1) -> str:
        return path

    @tools.tool(safe=True, writes=lambda path: [1 // 0])
    async def odd(path: str) -> str:
        return path

    return tools


def run_of(tools: Toolbox, policy: str, calls: list[tuple[str, Any]]) -> Recording:
    async def main() -> Recording:
        engine = Engine(tools, policy=policy, cwd="/repo")
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"}, tools=tools)
        recorder.add(await engine.run(message_of(calls)))
        return recorder.recording

    recording: Recording = run_virtual(main)
    return recording


CALLS = [("walk", "a"), ("walk", "b"), ("walk", 7), ("odd", "a"), ("wlak", "a"), ("walk", "c")]
BY_RULE = "version: 1\nrules:\n  - {tool: walk, hold: turn, reads: ['d:{{ args.depth }}']}\n"


@pytest.mark.parametrize("policy", ["version: 1\nrules: []\n", BY_RULE])
def test_a_recording_needs_no_tools(policy: str) -> None:
    recording = run_of(declaring(), policy, CALLS)
    kinds = [outcome.status for outcome in recording.turns[0].outcomes if outcome is not None]
    assert kinds == ["ok", "ok", "invalid_arguments", "failed", "unknown_tool", "ok"]
    for each in (recording, load_recording(dump_recording(recording))):
        assert replay(each).ok
        assert replay(each, tools=declaring()).ok


def test_a_rule_that_is_gone_is_not_taken_for_the_tools_own_word() -> None:
    recording = run_of(declaring(), BY_RULE, CALLS)
    with pytest.raises(DivergenceError, match="reads d:1, now nothing") as found:
        replay(recording, policy=load_policy(BY_RULE.replace("reads: ['d:{{ args.depth }}']",
                                                             "reads: []")))  # fmt: skip
    assert found.value.call == "toolu_01"
    with pytest.raises(DivergenceError, match="hold turn, now call"):
        replay(recording, policy=load_policy("version: 1\nrules: [{tool: walk, reads: ['d:1']}]\n"))


def test_tools_that_declare_something_else_now_diverge() -> None:
    tools = Toolbox()
    tools.tool(lambda path, depth=1: path, name="walk", description="Walk.")
    recording = run_of(declaring(), "version: 1\nrules: []\n", [("walk", "a")])
    with pytest.raises(DivergenceError, match="toolu_01"):
        replay(recording, tools=tools)


def test_servers_of_tools_are_kept_for_rules_about_servers() -> None:
    tools = Toolbox()
    tools.tool(lambda path: path, name="fs_read", server="fs", description="Read.")
    policy = "version: 1\nrules: [{server: fs, safe: true}]\n"
    recording = run_of(tools, policy, [("fs_read", "a")])
    assert recording.source["servers"] == {"fs_read": "fs"}
    assert replay(load_recording(dump_recording(recording))).ok


def test_without_any_policy_the_recorded_verdicts_stand() -> None:
    recording = replace(recorded("look", "other", "read"), policy=None)
    assert replay(recording).ok


def test_a_policy_in_the_recording_that_cannot_be_used_is_told() -> None:
    with pytest.raises(ReplayError, match="cannot be used"):
        replay(replace(recorded("look"), policy="version: 1\nrulez: []\n"))


def test_a_plan_that_was_edited_before_its_run_is_replayed_as_it_was() -> None:
    plan = plan_of(message_of([("look", "a"), ("look", "b")]))
    data = plan_data(plan)
    data["edges"] = [{"before": "toolu_01", "after": "toolu_02", "causes": ["by hand"]}]
    edited = replace(load_plan(data), turn=plan.turn)
    recording = recording_of(PureRun(edited, lambda count: count - 1).run())
    assert replay(recording).ok
    loaded = load_recording(dump_recording(recording))
    assert loaded == recording
    assert replay(loaded).ok


def test_a_plan_that_was_edited_in_the_recording_diverges() -> None:
    text = dump_recording(recorded("look", "look"))
    edge = "      edges: [{before: toolu_01, after: toolu_02, causes: [by hand]}]\n"
    loaded = load_recording(text.replace("      digests:\n", f"{edge}      digests:\n", 1))
    with pytest.raises(DivergenceError, match=r"it waits for 'toolu_01' \(by hand\), now") as found:
        replay(loaded)
    assert found.value.call == "toolu_02"


def test_turns_of_a_log_are_compiled_and_simulated() -> None:
    calls = (Call(0, "a", "look", {"path": "x"}), Call(1, "b", "other", {}))
    times = (Times(started=1.0, settled=3.0), Times(started=3.0, settled=3.5))
    turn = RecordedTurn(Turn("turn-1", calls), (Outcome("ok", "1"), None), times)
    report = replay(Recording((turn,)), policy=load_policy(POLICY))
    (replayed,) = report.turns
    assert report.ok
    assert replayed.compared == ()
    assert replayed.simulation is not None
    assert replayed.simulation.total == 2.5
    assert str(replayed) == "turn-1: 2 calls, compiled and simulated, nothing to compare with"


def test_several_turns_are_told_apart() -> None:
    good, bad = recorded("look"), recorded("look")
    turn = bad.turns[0]
    changed = replace(turn.turn, id="turn-2", message=message_of([("look", "b")]))
    recording = replace(good, turns=(*good.turns, replace(turn, turn=changed)))
    with pytest.raises(DivergenceError, match=r"^Replay diverged in 'turn-2' at call 'toolu_01': "):
        replay(recording)
    report = replay(recording, strict=False)
    assert [turn.divergence is None for turn in report.turns] == [True, False]
    assert str(report).endswith("1 of 2 turns left the recorded path.")


def test_a_recording_with_a_corrupt_turn_is_not_ok() -> None:
    recording = replace(recorded("look"), notices=(Notice("corrupt_turn", "It is broken."),))
    assert not replay(recording).ok


def test_long_values_are_cut_where_they_differ() -> None:
    recording = recorded("look")
    turn = recording.turns[0]
    outcome = Outcome("ok", "x" * 5000 + "old" + "y" * 5000)
    first = replace(turn, outcomes=(outcome,), committed=None)
    messages = written_messages(first.turn, first.outcomes)
    assert messages is not None
    now = Outcome("ok", "x" * 5000 + "new" + "y" * 5000)
    with pytest.raises(DivergenceError) as found:
        replay(replace(recording, turns=(replace(first, messages=messages, outcomes=(now,)),)))
    assert "xxxold" in str(found.value)
    assert "xxxnew" in str(found.value)
    assert len(str(found.value)) < 400
    assert found.value.call == "toolu_01"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("checkpoint: 2\n", "checkpoint.yaml:1:13: checkpoint is 2. Use 1."),
        ("checkpoint: 1\n", "Use a mapping."),
        ("[]\n", "Use a mapping."),
        ("a: b: c\n", "checkpoint.yaml:1:"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_refused(text: str, said: str, tmp_path: Any) -> None:
    path = tmp_path / "checkpoint.yaml"
    path.write_text(text)
    with pytest.raises(CheckpointError) as found:
        load_checkpoint(path)
    assert said in str(found.value)
    with pytest.raises(CheckpointError, match="no such file"):
        load_checkpoint(tmp_path / "missing.yaml")


def test_every_field_of_a_checkpoint_comes_back(tmp_path: Any) -> None:
    plan = plan_of(message_of([("look", "a"), ("ask", "b"), ("build", "c")]))
    checkpoint = Checkpoint(
        plan,
        {0: (Outcome("ok", "\ud800"), True), 2: (Outcome("failed", error="no"), False)},
        (
            Question("toolu_02", "approval", "Really?", "ask", {"path": "b"}, "abc"),
            Question("toolu_03", "interrupt", {"which": [1]}, "build", {"path": "c"}, "abd"),
        ),
        frozenset({1}),
        {"toolu_03": ("one", {"two": 2})},
        {0: 1, 2: 3},
        frozenset({2}),
        frozenset({0, 1}),
        2.5,
        ("a text",),
    )
    path = tmp_path / "checkpoint.yaml"
    save_checkpoint(checkpoint, path)
    assert load_checkpoint(path) == checkpoint
    text = path.read_text("utf-8")
    for mutilated in (text.replace("toolu_03: 3", "toolu_09: 3"), text.replace("approval", "x")):
        assert mutilated != text
        path.write_text(mutilated)
        with pytest.raises(CheckpointError):
            load_checkpoint(path)
    with pytest.raises(CheckpointError, match="cannot be written"):
        save_checkpoint(checkpoint, tmp_path / "missing" / "checkpoint.yaml")
