"""Forks: what is kept, what runs again, with which arguments, answers and approvals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import pytest
from recorded_runs import POLICY, message_of

from toolflow import Answer, Context, Engine, Toolbox
from toolflow.errors import UsageError
from toolflow.model import RecordedTurn, Recording
from toolflow.recording import (
    Recorder,
    dump_recording,
    fork_at,
    load_checkpoint,
    load_recording,
    replay,
    save_checkpoint,
)

Runner = Callable[..., Any]
CALLS = [
    ("look", "a"), ("write", "b"), ("read", "b"), ("forbidden", "x"), ("ask", "c"), ("look", "d"),
    ("build", "e"), ("look", "f"),
]  # fmt: skip
SECONDS = {"a": 0.5, "b": 0.1, "c": 0.2, "d": 0.3}


class Tools:
    """Tools that count how often they ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.box = Toolbox()
        for name in ("look", "read", "write", "ask", "build", "forbidden"):
            self.box.tool(self.body, name=name)

    async def body(self, path: str) -> str:
        self.ran.append(path)
        await anyio.sleep(SECONDS.get(path, 0.0))
        return f"content of {path}"


def engine_of(tools: Tools, **more: Any) -> Engine:
    return Engine(tools.box, policy=POLICY, cwd="/repo", **more)


def recorded(run: Runner, calls: list[tuple[str, str]] = CALLS, **more: Any) -> Recording:
    async def main() -> Recording:
        engine = engine_of(Tools(), approver=lambda question: True, **more)
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        recorder.add(await engine.run(message_of(calls)))
        return load_recording(dump_recording(recorder.recording))

    made: Recording = run(main)
    return made


def forked(run: Runner, recording: Recording, call: str, **more: Any) -> tuple[list[str], Any]:
    """What ran again, and the result; the fork is recorded and must replay."""
    tools = Tools()
    engine = engine_of(tools)
    checkpoint = fork_at(recording, call, policy=engine.policy, tools=engine.tools, **more)

    async def main() -> Any:
        return await engine.resume(checkpoint)

    result = run(main)
    recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
    recorder.add(result)
    assert replay(load_recording(dump_recording(recorder.recording))).ok
    return tools.ran, result


@pytest.mark.parametrize(
    ("call", "ran"),
    [
        ("toolu_01", ["a", "b", "c", "b", "d", "e", "f"]),
        ("toolu_03", ["a", "b", "c", "d", "e", "f"]),  # a and c ran when b was read
        ("toolu_07", ["e", "f"]),
        ("toolu_08", ["f"]),
    ],
)
def test_what_had_settled_when_the_call_started_is_kept(
    run: Runner, call: str, ran: list[str]
) -> None:
    recording = recorded(run)

    again, result = forked(run, recording, call)

    assert sorted(again) == sorted(ran)
    assert result.status == "done"
    assert result.outcomes == recording.turns[0].outcomes


def test_kept_outcomes_are_the_recorded_ones(run: Runner) -> None:
    recording = recorded(run)
    (turn,) = recording.turns
    assert turn.outcomes[0] is not None
    other = replace(turn.outcomes[0], value="as recorded")
    recording = replace(
        recording, turns=(replace(turn, outcomes=(other, *turn.outcomes[1:]), committed=None),)
    )

    _, result = forked(run, recording, "toolu_07")

    assert result.outcomes[0].value == "as recorded"
    assert result.messages[1]["content"][0]["content"] in (
        "as recorded",
        [{"type": "text", "text": "as recorded"}],
    )


def test_other_arguments_are_classified_and_keyed_again(run: Runner) -> None:
    recording = recorded(run, [("look", "a"), ("write", "b"), ("read", "d")])

    checkpoint = fork_at(recording, "toolu_02", args={"toolu_03": {"path": "b"}})

    assert checkpoint.plan.call("toolu_03").reads == ("file:b",)
    assert [edge.after for edge in checkpoint.plan.why("toolu_02", "toolu_03")] == ["toolu_03"]
    ran, result = forked(run, recording, "toolu_02", args={"toolu_03": {"path": "b"}})
    assert ran == ["a", "b", "b"]
    assert result.outcomes[2].value == "content of b"


def test_an_approval_holds_for_the_same_arguments_only(run: Runner) -> None:
    recording = recorded(run, [("look", "a"), ("ask", "b")])

    assert fork_at(recording, "toolu_02").approved == {1}
    assert fork_at(recording, "toolu_02", args={"toolu_02": {"path": "b"}}).approved == {1}
    assert fork_at(recording, "toolu_02", args={"toolu_02": {"path": "c"}}).approved == set()
    _, result = forked(run, recording, "toolu_02", args={"toolu_02": {"path": "c"}})
    assert (result.status, result.questions[0].call) == ("paused", "toolu_02")


def test_answers_are_a_yes_or_a_no(run: Runner) -> None:
    recording = recorded(run, [("look", "a"), ("ask", "b"), ("look", "c")])
    other = {"toolu_02": {"path": "d"}}

    ran, result = forked(run, recording, "toolu_02", args=other, answers={"toolu_02": True})
    assert "d" in ran
    assert result.outcomes[1].value == "content of d"
    ran, result = forked(
        run, recording, "toolu_02", answers={"toolu_02": Answer(approved=False, reason="late")}
    )
    assert "b" not in ran
    assert result.outcomes[1].status == "declined"
    assert "late" in result.outcomes[1].error
    with pytest.raises(UsageError, match="asked for a yes or a no"):
        fork_at(recording, "toolu_02", answers={"toolu_02": "perhaps"})


def test_a_call_that_was_declined_can_be_approved(run: Runner) -> None:
    async def main() -> Recording:
        engine = engine_of(Tools(), approver=lambda question: False)
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        recorder.add(await engine.run(message_of([("look", "a"), ("ask", "b"), ("build", "c")])))
        return recorder.recording

    recording = run(main)

    ran, result = forked(run, recording, "toolu_02", answers={"toolu_02": True})

    assert "b" in ran
    assert [outcome.status for outcome in result.outcomes] == ["ok", "ok", "ok"]


def test_a_question_of_a_body_gets_any_value(run: Runner) -> None:
    box = Toolbox()

    @box.tool(safe=True)
    async def choose(ctx: Context) -> str:
        return f"chose {ctx.interrupt('Which?')}"

    engine = Engine(box)

    async def main() -> Recording:
        recorder = Recorder(policy=engine.policy)
        paused = await engine.run({"calls": [{"id": "a", "tool": "choose", "args": {}}]})
        recorder.add(paused)
        assert paused.checkpoint is not None
        recorder.add(await engine.resume(paused.checkpoint, {"a": "red"}))
        return recorder.recording

    recording = run(main)
    assert recording.turns[-1].outcomes[0].value == "chose red"
    checkpoint = fork_at(recording, "a", tools=box, answers={"a": {"hue": 7}})

    result = run(lambda: engine.resume(checkpoint))
    assert result.outcomes[0].value == "chose {'hue': 7}"


def test_a_run_in_parts_is_forked_in_the_part_in_which_the_call_ran(run: Runner) -> None:
    async def main() -> Recording:
        engine = engine_of(Tools())
        recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
        paused = await engine.run(message_of([("look", "a"), ("ask", "b"), ("look", "c")]))
        recorder.add(paused)
        assert paused.checkpoint is not None
        recorder.add(await engine.resume(paused.checkpoint, {"toolu_02": True}))
        return recorder.recording

    recording = run(main)

    assert sorted(forked(run, recording, "toolu_01")[0]) == ["a", "b", "c"]
    assert sorted(forked(run, recording, "toolu_03")[0]) == ["b", "c"]


def test_the_checkpoint_is_one_that_can_be_saved(run: Runner, tmp_path: Any) -> None:
    checkpoint = fork_at(recorded(run), "toolu_07", args={"toolu_08": {"path": "new"}})

    save_checkpoint(checkpoint, tmp_path / "c.yaml")

    loaded = load_checkpoint(tmp_path / "c.yaml")
    assert loaded.outcomes == checkpoint.outcomes
    assert loaded.plan.call("toolu_08").args == {"path": "new"}


def test_of_a_log_what_stands_before_the_call_is_kept(run: Runner) -> None:
    (turn,) = recorded(run).turns
    log = Recording((RecordedTurn(turn.turn, turn.outcomes),), {"cwd": "/repo"})

    ran, _ = forked(run, log, "toolu_07")

    assert ran == ["e", "f"]


@pytest.mark.parametrize(
    ("call", "more", "said"),
    [
        ("nobody", {}, "There is no call 'nobody'"),
        (
            "toolu_07",
            {"args": {"toolu_01": {}}},
            "'toolu_01' had settled before 'toolu_07' started",
        ),
        ("toolu_07", {"answers": {"toolu_05": True}}, "'toolu_05' had settled before"),
        ("toolu_07", {"args": {"toolu_8": {}}}, "no call 'toolu_8'"),
        ("toolu_07", {"args": {"toolu_08": [1]}}, "Use a mapping"),
        ("toolu_07", {"args": {"toolu_08": {1: 2}}}, "Use a mapping"),
        ("toolu_01", {"args": {"toolu_04": {"path": "y"}}}, "toolu_04"),
    ],
)
def test_what_cannot_be_forked_is_refused(call: str, more: Any, said: str) -> None:
    from toolflow.testing import run_virtual

    with pytest.raises(UsageError, match=said):
        fork_at(recorded(run_virtual), call, **more)


def test_other_arguments_need_a_policy(run: Runner) -> None:
    recording = replace(recorded(run), policy=None)

    with pytest.raises(UsageError, match="Name a policy"):
        fork_at(recording, "toolu_07", args={"toolu_08": {"path": "new"}})
    assert fork_at(recording, "toolu_07").plan == recording.turns[0].plan


SECRET = """\
version: 1
redact: [password]
rules:
  - {tool: login, safe: true}
  - {tool: look, safe: false}
"""


def secretive() -> Toolbox:
    box = Toolbox()
    box.tool(lambda password: f"in with {password}", name="login")
    box.tool(lambda path: f"seen {path}", name="look")
    return box


def test_a_call_with_masked_arguments_is_kept_or_gets_others(run: Runner) -> None:
    engine = Engine(secretive(), policy=SECRET)
    calls = [
        {"id": "a", "tool": "login", "args": {"password": "hunter2"}},
        {"id": "b", "tool": "look", "args": {"path": "x"}},
    ]

    async def main() -> Recording:
        recorder = Recorder(policy=engine.policy)
        recorder.add(await engine.run({"calls": calls}))
        return load_recording(dump_recording(recorder.recording))

    recording = run(main)
    with pytest.raises(UsageError, match="'a' are masked"):
        fork_at(recording, "a")

    def go_on(checkpoint: Any) -> Recording:
        result = run(lambda: engine.resume(checkpoint))
        recorder = Recorder(policy=engine.policy)
        recorder.add(result)
        text = dump_recording(recorder.recording)
        assert "hunter" not in text
        made = load_recording(text)
        assert replay(made).ok
        return made

    for options in ({}, {"tools": engine.tools, "policy": engine.policy}):
        made = go_on(fork_at(recording, "b", **options))
        assert made.turns[0].outcomes == recording.turns[0].outcomes
        made = go_on(fork_at(recording, "a", args={"a": {"password": "hunter3"}}, **options))
        assert made.turns[0].outcomes[0].value == "in with ***"
