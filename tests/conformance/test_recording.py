"""Conformance of recordings and replay."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from recorded_runs import POLICY, TOOLS, PureRun, message_of, plan_of, recording_of

from toolflow import Answer, Control, Deny, Engine, Hooks, Toolbox
from toolflow.errors import DivergenceError
from toolflow.model import Limits, Recording
from toolflow.policy import load_policy
from toolflow.recording import (
    Recorder,
    dump_recording,
    load_checkpoint,
    load_recording,
    replay,
    save_checkpoint,
)
from toolflow.runtime.context import current_context
from toolflow.testing import run_virtual

Runner = Callable[..., Any]
SECONDS = {"a": 0.3, "b": 0.1, "c": 0.2}


def toolbox() -> Toolbox:
    tools = Toolbox()

    async def body(path: str) -> str:
        await anyio.sleep(SECONDS.get(path, 0.0))
        if path == "broken":
            raise ValueError("It is broken.")
        return f"content of {path}"

    for name in ("look", "read", "write", "grind", "ask", "build", "forbidden"):
        tools.tool(body, name=name)
    tools.tool(body, name="declared", safe=True, reads=lambda path: [f"file:/d/{path}"])
    return tools


class Changing(Hooks):
    """Changes one path, denies another, adds a text."""

    def before_call(self, call: Any, context: Any) -> Any:
        if call.args["path"] == "change me":
            return {"path": "b"}
        return Deny("Not this one.") if call.args["path"] == "deny me" else None

    def after_call(self, call: Any, outcome: Any, context: Any) -> Any:
        context.add_context(f"{call.name} was seen")
        return replace(outcome, note="seen") if outcome.ok else None


def twice(recording: Recording) -> str:
    """Replay it as it is and as it loads again; both must be exact."""
    text = dump_recording(recording)
    loaded = load_recording(text)
    assert loaded == recording
    first, second = replay(recording), replay(loaded)
    assert first.ok
    assert str(first) == str(second)
    for turn, recorded in zip(second.turns, recording.turns, strict=True):
        assert turn.messages == recorded.messages
    return text


MIXED = [
    ("look", "a"), ("read", "b"), ("write", "b"), ("declared", "a"), ("grind", "a"), ("grind", "b"),
    ("grind", "c"), ("unheard", "x"), ("forbidden", "x"), ("look", "broken"), ("build", "a"),
    ("read", "change me"), ("look", "deny me"), ("ask", "a"),
]  # fmt: skip


@pytest.mark.parametrize("hooks", [(), Changing()], ids=["no hooks", "hooks"])
def test_c148_replay_of_a_real_run_is_exact_100_of_100(run: Runner, hooks: Any) -> None:
    async def main() -> Recording:
        engine = Engine(toolbox(), policy=POLICY, cwd="/repo", hooks=hooks, approver=lambda q: True)
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        recorder.add(await engine.run(message_of(MIXED)), started_at="2026-01-05T09:00:00Z")
        return recorder.recording

    recording = run(main)
    twice(recording)
    reports = {str(replay(recording)) for _ in range(100)}
    (report,) = reports
    assert report == (
        "turn-1: 14 calls, plan, order of starts and committed bytes as recorded\n"
        "1 turn replayed, 1 of them compared: no divergence."
    )


def test_c148_both_event_loops_record_the_same_run() -> None:
    """Where no two things happen at once, that is: then a loop may take either first."""
    tools = [tool for tool, _ in MIXED[:11]]
    calls = [(tool, f"{(5 * place + 3) % 11 + place / 64}") for place, tool in enumerate(tools)]

    async def main() -> str:
        toolbox = Toolbox()
        for name in {*tools, "declared"} - {"unheard"}:
            toolbox.tool(timed, name=name)
        engine = Engine(toolbox, policy=POLICY, cwd="/repo")
        result = await engine.run(message_of(calls), can_pause=False)
        recording = Recording((result.recorded(),), {}, engine.policy.text, engine.policy.digest)
        return dump_recording(recording).replace(result.events[0].run, "run-N")

    async def timed(path: str) -> str:
        await anyio.sleep(float(path))
        return path

    assert run_virtual(main, backend="asyncio") == run_virtual(main, backend="trio")


@pytest.mark.parametrize("seed", range(20))
def test_c148_runs_with_aborts_pauses_and_late_bodies_replay(seed: int) -> None:
    choices = random.Random(seed)
    tools = [(choices.choice(TOOLS), choices.choice("abc")) for _ in range(12)]
    turn = PureRun(plan_of(message_of(tools)), choices.randrange, hooks=True, trouble=True).run()
    twice(recording_of(turn))


@pytest.mark.parametrize("after", [0.0, 0.05, 0.15, 0.25, 0.35])
@pytest.mark.parametrize("how", ["abort", "interrupt", "timeout"])
def test_c148_a_run_that_was_stopped_from_outside_replays(
    run: Runner, how: str, after: float
) -> None:
    async def main() -> Recording:
        engine = Engine(toolbox(), policy=POLICY, cwd="/repo", hooks=Changing())
        control = Control()
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})

        async def stop() -> None:
            await anyio.sleep(after)
            control.abort() if how == "abort" else control.interrupt()

        async with anyio.create_task_group() as tasks:
            if how != "timeout":
                tasks.start_soon(stop)
            limit = after if how == "timeout" else None
            calls = message_of(MIXED[:12])
            recorder.add(await engine.run(calls, control=control, timeout=limit))
        return recorder.recording

    twice(run(main))


def test_c148_a_key_held_by_another_run_replays(run: Runner) -> None:
    async def main() -> Recording:
        engine = Engine(toolbox(), policy=POLICY, cwd="/repo")
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        results: list[Any] = []

        async def one(calls: list[tuple[str, str]]) -> None:
            results.append(await engine.run(message_of(calls)))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, [("write", "a"), ("look", "b")])
            tasks.start_soon(one, [("write", "a"), ("look", "b"), ("read", "b")])
        for result in results:
            recorder.add(result)
        return recorder.recording

    text = twice(run(main))
    assert "call_queued" in text


def test_c148_timeouts_with_bodies_that_go_on_replay(run: Runner) -> None:
    tools = Toolbox()

    @tools.tool(safe=True)
    async def stubborn(path: str) -> str:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(2)
        return "late"

    @tools.tool(safe=True, writes=lambda path: [f"file:{path}"])
    async def write(path: str) -> str:
        return "written"

    policy = "version: 1\nrules:\n  - {tool: stubborn, timeout: 1s, writes: ['file:a']}\n"

    async def main(grace: float) -> Recording:
        engine = Engine(tools, policy=policy, cwd="/repo", grace=grace)
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        calls = [("stubborn", "a"), ("write", "a"), ("write", "b")]
        recorder.add(await engine.run(message_of(calls)))
        return recorder.recording

    for grace in (0.5, 5.0):
        text = twice(run(main, grace))
        assert "status=timed_out" in text


def test_c148_a_nested_run_replays(run: Runner) -> None:
    tools = toolbox()
    inner: list[Any] = []

    async def main() -> Recording:
        engine = Engine(tools, policy=POLICY, cwd="/repo")

        async def outer(path: str) -> str:
            inner.append(await engine.run(message_of([("read", path), ("look", path)])))
            return "done"

        tools.tool(outer, name="outer", safe=True, writes=["file:/outer"])
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        result = await engine.run(message_of([("outer", "a"), ("look", "b")]))
        recorder.add(result)
        recorder.add(inner.pop())
        return recorder.recording

    text = twice(run(main))
    assert "source: toolu_01" in text


@pytest.mark.parametrize("hooks", [(), Changing()], ids=["no hooks", "hooks"])
def test_c148_pause_and_resume_in_another_process_replay(
    run: Runner, hooks: Any, tmp_path: Any
) -> None:
    tools = toolbox()

    @tools.tool(safe=True)
    async def asking(path: str) -> str:
        answer = current_context().interrupt("Which one?")
        return f"it is {answer}"

    calls = [("look", "a"), ("read", "change me"), ("asking", "b"), ("ask", "c"), ("build", "b")]

    async def main() -> Recording:
        engine = Engine(tools, policy=POLICY, cwd="/repo", hooks=hooks)
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        result = await engine.run(message_of(calls))
        recorder.add(result)
        answers: dict[str, Any] = {"toolu_03": "that one", "toolu_04": Answer(approved=True)}
        for _ in range(5):
            if result.checkpoint is None:
                break
            path = tmp_path / "checkpoint.yaml"
            save_checkpoint(result.checkpoint, path)
            checkpoint = load_checkpoint(path)
            assert checkpoint == result.checkpoint
            given = {q.call: answers[q.call] for q in checkpoint.questions}
            result = await engine.resume(checkpoint, given)
            recorder.add(result)
        assert result.status == "done"
        assert [outcome.status for outcome in result.outcomes if outcome] == ["ok"] * 5
        return recorder.recording

    recording = run(main)
    assert len(recording.turns) > 1
    twice(recording)


def test_c148_tools_that_change_during_the_run_replay(run: Runner) -> None:
    tools = toolbox()

    async def main() -> Recording:
        async def grow(path: str) -> str:
            tools.tool(late, name="late", safe=True)
            return "grown"

        async def late(path: str) -> str:
            return "late"

        tools.tool(grow, name="grow")
        tools.tool(late, name="late")
        engine = Engine(tools, policy=POLICY, cwd="/repo")
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        calls = [("look", "b"), ("grow", "a"), ("late", "a"), ("late", "b"), ("look", "a")]
        recorder.add(await engine.run(message_of(calls)))
        return recorder.recording

    twice(run(main))


# ---- 149 ----


def recorded(tools: list[tuple[str, str]]) -> Recording:
    return recording_of(PureRun(plan_of(message_of(tools)), lambda count: count - 1).run())


@pytest.mark.parametrize(
    ("old", "new", "call", "said"),
    [
        ("{tool: look, safe: true}", "{tool: look}", "toolu_01",
         ("recorded safe (rule 1 (line 4) says safe), "
          "now exclusive (rule 1 (line 4) does not say safe, and neither does the tool)")),
        ("file:{{ args.path }}\"]}\n  - {tool: write", "disk:{{ args.path }}\"]}\n  - {tool: write",
         "toolu_02", "recorded reads file:a, now disk:a"),
        ("uses: {cpu: 1}", "uses: {cpu: 2}", "toolu_03", "recorded uses cpu 1, now cpu 2"),
        ("uses: {cpu: 1}", "timeout: 1m, uses: {cpu: 1}", "toolu_03",
         "recorded timeout none, now 60.0"),
        ("on_error: stop", "on_error: continue", "toolu_04",
         "recorded on_error stop, now continue"),
        ("Not here.", "Not there.", "toolu_05", "recorded reason 'Not here.', now 'Not there.'"),
        ("deny: \"Not here.\"", "safe: true", "toolu_05",
         "recorded settled (Not here), now safe (rule 7 (line 10) says safe)"),
        ("Really?", "Surely?", "toolu_06", "recorded question Really?, now Surely?"),
    ],
)  # fmt: skip
def test_c149_a_changed_rule_names_call_and_both_values(
    old: str, new: str, call: str, said: str
) -> None:
    recording = recorded(
        [("look", "a"), ("read", "a"), ("grind", "a"), ("build", "a"), ("forbidden", "a"),
         ("ask", "a")]
    )  # fmt: skip
    assert old in POLICY
    with pytest.raises(DivergenceError) as found:
        replay(recording, policy=load_policy(POLICY.replace(old, new, 1)))
    assert str(found.value) == f"Replay diverged at call '{call}': {said}."
    assert found.value.call == call
    assert str(found.value.expected) in said
    assert str(found.value.actual) in said


def test_c149_a_policy_that_says_the_same_in_other_words_is_no_divergence() -> None:
    recording = recorded([("look", "a"), ("read", "a")])
    policy = POLICY.replace("{tool: look, safe: true}", "{tool: [look, peek], safe: true}")
    assert replay(recording, policy=load_policy(policy)).ok


def test_c149_an_edited_policy_text_is_seen() -> None:
    recording = recorded([("look", "a"), ("read", "a")])
    policy = POLICY.replace("{tool: look, safe: true}", "{tool: look}")
    with pytest.raises(DivergenceError, match="toolu_01"):
        replay(replace(recording, policy=policy))


def test_c149_a_changed_argument_is_told_like_this() -> None:
    recording = recorded([("look", "x"), ("look", "y"), ("read", "a.txt")])
    text = dump_recording(recording).replace("input: {path: a.txt}", "input: {path: b.txt}")
    with pytest.raises(DivergenceError) as found:
        replay(load_recording(text))
    assert str(found.value) == (
        "Replay diverged at call 'toolu_03': recorded read path 'a.txt', now path 'b.txt'."
    )


def test_c149_a_changed_tool_names_its_call() -> None:
    text = dump_recording(recorded([("look", "x"), ("read", "a")]))
    text = text.replace("id: toolu_02, name: read", "id: toolu_02, name: write")
    with pytest.raises(DivergenceError) as found:
        replay(load_recording(text))
    assert str(found.value) == "Replay diverged at call 'toolu_02': recorded tool read, now write."


def test_c149_a_limit_that_matters_names_the_first_call_that_starts_otherwise() -> None:
    recording = recorded([("look", "a")] * 5)
    with pytest.raises(DivergenceError) as found:
        replay(recording, pool=2)
    assert str(found.value) == (
        "Replay diverged at call 'toolu_03': recorded it starts (limits.pool 3), "
        "now no start (limits.pool 2)."
    )
    policy = load_policy(POLICY.replace("pool: 3", "pool: 2"))
    with pytest.raises(DivergenceError, match="toolu_03"):
        replay(recording, policy=policy)


def test_c149_a_limit_that_does_not_matter_is_no_divergence() -> None:
    recording = recorded([("look", "a"), ("look", "b")])
    assert replay(recording, pool=2).ok
    policy = load_policy(POLICY.replace("pool: 3", "pool: 9"))
    assert replay(recording, policy=policy).ok


def test_c149_a_resource_that_is_too_scarce_now_names_its_call() -> None:
    policy = load_policy(POLICY.replace("uses: {cpu: 1}", "uses: {cpu: 3}"))
    with pytest.raises(DivergenceError, match=r"toolu_02.*uses 3 of the resource 'cpu'") as found:
        replay(recorded([("look", "a"), ("grind", "a")]), policy=policy)
    assert found.value.call == "toolu_02"


def test_c149_a_changed_result_names_its_call() -> None:
    text = dump_recording(recorded([("look", "a"), ("look", "b")]))
    text = text.replace("result of toolu_02", "outcome of toolu_02")
    with pytest.raises(DivergenceError, match=r"toolu_02.*outcome of toolu_02") as found:
        replay(load_recording(text))
    assert found.value.call == "toolu_02"


def test_c149_a_pool_that_an_engine_was_given_is_part_of_the_record(run: Runner) -> None:
    async def main() -> Recording:
        engine = Engine(toolbox(), policy=POLICY, cwd="/repo", pool=2)
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        recorder.add(await engine.run(message_of([("look", "a")] * 4)))
        return recorder.recording

    recording = run(main)
    twice(recording)
    plan = recording.turns[0].plan
    assert plan is not None
    assert plan.limits == Limits(2, {"cpu": 2})
    policy = load_policy(POLICY.replace("pool: 3", "pool: 4"))
    assert replay(recording, policy=policy).ok  # the engine's own number still stands


# ---- 33, 139 ----


def test_c033_a_mixed_batch_is_recorded_and_replayed_in_declared_order(run: Runner) -> None:
    async def main() -> Recording:
        def approve(question: Any) -> bool:
            return False

        engine = Engine(toolbox(), policy=POLICY, cwd="/repo", approver=approve)
        calls = message_of([("look", "a"), ("ask", "a"), ("unheard", "a"), ("look", "b")])
        calls["content"].insert(
            3, {"type": "tool_use", "id": "toolu_x", "name": "look", "input": "{"}
        )
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        recorder.add(await engine.run(calls))
        return recorder.recording

    recording = run(main)
    twice(recording)
    (turn,) = recording.turns
    statuses = [outcome.status for outcome in turn.outcomes if outcome is not None]
    assert statuses == ["ok", "declined", "unknown_tool", "invalid_arguments", "ok"]
    results = [block["tool_use_id"] for block in turn.messages[1]["content"]]
    assert results == [call.id for call in turn.turn.calls]


def test_c139_the_same_recording_is_the_same_bytes_in_another_process() -> None:
    script = (
        "from recorded_runs import *\n"
        "from toolflow.recording import dump_recording\n"
        "run = PureRun(plan_of(message_of([(t, 'a') for t in TOOLS])), lambda n: n // 2)\n"
        "print(dump_recording(recording_of(run.run())), end='')\n"
    )
    run_ = PureRun(plan_of(message_of([(tool, "a") for tool in TOOLS])), lambda n: n // 2)
    here = dump_recording(recording_of(run_.run()))
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        there = subprocess.run(
            [sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True
        )
        assert there.stdout == here


def test_an_outcome_of_a_call_that_is_not_replayed_is_reported() -> None:
    recording = recorded([("look", "a"), ("look", "b")])
    policy = load_policy(POLICY.replace("{tool: look, safe: true}", "{tool: look, deny: No.}"))
    report = replay(recording, policy=policy, strict=False)
    assert report.unused == (("turn-1", "toolu_01"), ("turn-1", "toolu_02"))
    assert not report.ok


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_c148_functions_in_threads_in_real_time_replay(backend: str) -> None:
    tools = Toolbox()

    @tools.tool(name="look")
    def look(path: str) -> str:
        return f"seen {path}"

    @tools.tool(name="write")
    def write(path: str) -> str:
        return f"written {path}"

    async def main() -> Recording:
        engine = Engine(tools, policy=POLICY, cwd="/repo")
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        for _ in range(5):
            calls = [(tool, path) for tool in ("look", "write", "write") for path in "abc"]
            recorder.add(await engine.run(message_of(calls)))
        return recorder.recording

    twice(anyio.run(main, backend=backend))
