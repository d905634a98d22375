"""Faults of other harnesses around interrupts, pauses, timeouts and failures, as runs meet them.

Processes and files are real, and so is time there; what must hold does not depend on times.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from acting import (
    answered,
    assert_accounted,
    assert_told_once,
    chat,
    errors,
    run_with,
    statuses,
    turn,
)

import toolflow
from toolflow.engine import Engine
from toolflow.locks import MemoryStore
from toolflow.model.outcome import Outcome
from toolflow.recording import load_recording, save_recording
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Hooks
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.transcript import Transcript
from toolflow.testing import EventRecorder
from toolflow.tools.workspace import workspace

posix = pytest.mark.skipif(os.name != "posix", reason="commands need process groups")


def readers() -> Toolbox:
    """``read`` takes a second, or as many as told."""
    box = Toolbox()

    @box.tool(safe=True, writes=())
    async def read(path: str = "a.md", seconds: float = 1.0) -> str:
        await anyio.sleep(seconds)
        return f"text of {path}"

    return box


# ---- A: pairing ----


def test_b001_a_turn_that_was_cut_short_has_every_result_and_reading_it_twice_adds_none(
    run, tmp_path
):
    calls = [("read", {"path": "notes.md"}), ("read", {"path": "todo.md", "seconds": 9})]
    transcript, control = Transcript([{"role": "user", "content": "go"}]), Control()
    act = (2, control.abort)
    go = partial(run_with, Engine(readers()), turn(*calls), act)
    result = run(partial(go, control=control, transcript=transcript))
    assert_accounted(result)
    assert answered(transcript.messages) == [
        ("a", "text of notes.md"),
        ("b", "Interrupted by the user."),
    ]
    path = tmp_path / "cut.yaml"
    save_recording(toolflow.Recording(turns=(result.recorded(),)), path)
    texts = set()
    for _ in range(2):
        loaded = load_recording(path)
        (kept,) = loaded.turns
        assert [outcome.status for outcome in kept.outcomes] == ["ok", "aborted"]
        save_recording(loaded, path)
        texts.add(path.read_text("utf-8"))
    assert len(texts) == 1


@pytest.mark.parametrize("name", ["openai-chat", "anthropic"])
def test_b003_an_interrupted_call_is_answered_before_the_next_user_message(run, name):
    box = Toolbox()

    @box.tool
    async def sleep_then_echo(seconds: float) -> str:
        await anyio.sleep(seconds)
        return "echo"

    message: Any = chat(("sleep_then_echo", {"seconds": 5}))
    if name == "anthropic":
        block = {"type": "tool_use", "id": "a", "name": "sleep_then_echo", "input": {"seconds": 5}}
        message = {"role": "assistant", "content": [block]}
    transcript, control = Transcript([]), Control()

    async def main():
        act = (1, control.abort)
        options = {"control": control, "transcript": transcript}
        await run_with(Engine(box), message, act, **options)
        await transcript.append([{"role": "user", "content": "something else"}])

    run(main)
    said, answer, user = transcript.messages
    assert said == message
    assert "Interrupted by the user." in str(answer)
    assert "'a'" in str(answer)
    assert user["content"] == "something else"


# ---- F: approvals and pauses ----


def asking() -> Toolbox:
    box = Toolbox()

    def ask(expected: str) -> Any:
        async def body(ctx: toolflow.Context) -> str:
            answer = ctx.interrupt(f"{expected}?")
            return f"{'right' if answer == expected else 'wrong'}: {answer}"

        return body

    box.tool(name="ask_a", safe=True, writes=())(ask("A"))
    box.tool(name="ask_b", safe=True, writes=())(ask("B"))
    return box


@pytest.mark.parametrize("answers", [{"b": "B", "a": "A"}, {"a": "A", "b": "B"}])
def test_b035_answers_go_to_the_call_that_they_name(run, answers):
    async def main():
        engine = Engine(asking())
        paused = await engine.run(turn("ask_a", "ask_b"))
        return await engine.resume(paused.checkpoint, answers)

    assert [outcome.value for outcome in run(main).outcomes] == ["right: A", "right: B"]


def gated(*tools: str) -> dict[str, Any]:
    return {
        "version": 1,
        "rules": [
            {"tool": tool, "ask": f"{tool} {{{{ args.x }}}}?", "safe": True, "writes": []}
            for tool in tools
        ],
    }


def gates() -> tuple[Toolbox, list[str]]:
    box, ran = Toolbox(), []

    async def body(x: str) -> str:
        ran.append(x)
        return f"did {x}"

    for name in ("g1", "g2", "g3"):
        box.tool(name=name, safe=True, writes=())(body)

    @box.tool(safe=True, writes=())
    async def free(x: str) -> str:
        ran.append(x)
        return f"free {x}"

    return box, ran


THREE = [("g1", {"x": "one"}), ("g2", {"x": "two"}), ("g3", {"x": "three"})]


def test_b036_one_stop_lists_all_pending_calls_in_call_order(run):
    box, ran = gates()
    engine = Engine(box, policy=gated("g1", "g2", "g3"))
    paused = run(partial(engine.run, turn(*THREE)))
    assert [(q.call, q.text) for q in paused.questions] == [
        ("a", "g1 one?"),
        ("b", "g2 two?"),
        ("c", "g3 three?"),
    ]
    assert ran == []


@pytest.mark.parametrize("way", ["approver", "resume"])
def test_b037_a_rejected_call_is_answered_beside_its_sibling(run, way):
    box, ran = gates()
    calls = [("free", {"x": "x"}), ("g1", {"x": "y"})]
    transcript = Transcript()

    async def main():
        engine = Engine(box, policy=gated("g1"))
        if way == "approver":
            no = lambda question: toolflow.Answer(approved=False, reason="not that one")  # noqa: E731
            return await engine.run(turn(*calls), approver=no, transcript=transcript)
        paused = await engine.run(turn(*calls), transcript=transcript)
        answer = toolflow.Answer(approved=False, reason="not that one")
        return await engine.resume(paused.checkpoint, {"b": answer}, transcript=transcript)

    run(main)
    assert answered(transcript.messages) == [
        ("a", "free x"),
        ("b", "Declined by the approver: not that one"),
    ]
    assert ran == ["x"]


def test_b039_approving_the_second_call_runs_the_second_with_its_own_arguments(run):
    box, ran = gates()

    async def approver(question):
        if question.call == "a":
            await anyio.sleep(10)
        return True

    engine = Engine(box, policy=gated("g1", "g2"), approver=approver)
    result = run(partial(engine.run, turn(*THREE[:2])))
    assert ran == ["two", "one"]
    assert [times.started for times in result.times] == [10, 0]
    assert [outcome.value for outcome in result.outcomes] == ["did one", "did two"]


def test_b039_without_an_approver_the_first_stays_pending_until_it_is_answered(run):
    box, ran = gates()

    async def main():
        engine = Engine(box, policy=gated("g1", "g2"))
        paused = await engine.run(turn(*THREE[:2]))
        half = await engine.resume(paused.checkpoint, {"b": True})
        assert [question.call for question in half.questions] == ["a"]
        assert ran == []  # the plan's stop point at the first one holds what is behind it
        return await engine.resume(half.checkpoint, {"a": True})

    assert [outcome.value for outcome in run(main).outcomes] == ["did one", "did two"]
    assert ran == ["one", "two"]


def test_b041_an_abort_after_one_approval_keeps_that_in_the_record(run):
    box, ran = gates()
    control, recorder = Control(), EventRecorder()

    async def approver(question):
        if question.call != "a":
            await anyio.sleep(1000)
        return True

    engine = Engine(box, policy=gated("g1", "g2", "g3"), approver=approver)
    act = (5, control.abort)
    go = partial(run_with, engine, turn(*THREE), act, control=control, on_event=recorder)
    result = run(go)
    assert_accounted(result)
    assert statuses(result) == ["ok", "not_started", "not_started"]
    assert ran == ["one"]  # that it ran is told by its outcome and its times
    assert result.times[0].started is not None
    given = [(e.call, e.data["approved"]) for e in recorder.events if e.kind == "question_answered"]
    assert given == [("a", True)]
    assert result.report.approved == frozenset({0})


def test_b041_an_approved_call_that_had_not_started_is_not_shown_as_run(run):
    box, ran = gates()
    control = Control()
    engine = Engine(box, policy=gated("g1", "g2") | {"approvals": "first"}, approver=None)

    async def approver(question):
        if question.call == "b":
            await anyio.sleep(1000)
        return True

    act = (5, control.abort)
    go = partial(run_with, engine, turn(*THREE[:2]), act, control=control, approver=approver)
    result = run(go)
    assert statuses(result) == ["not_started", "not_started"]
    assert (ran, result.report.approved) == ([], frozenset({0}))


# ---- G: timeout, cancel, lock release ----


@pytest.fixture
def real(run: Any) -> Any:
    """Runs an async function in real time, on each event loop."""
    return partial(anyio.run, backend=run.keywords["backend"])


def nobody_reads(gate: Path) -> bool:
    """Whether no process has a named pipe open for reading."""
    try:
        os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
    except OSError as error:
        return error.errno == errno.ENXIO
    return False


LOOK = (  # the same from within a command
    "import os\n"
    "try: os.open('gate', os.O_WRONLY | os.O_NONBLOCK); print('alive')\n"
    "except OSError: print('gone')"
)


@posix
def test_b043_the_next_command_starts_only_when_nothing_of_the_timed_out_one_is_left(
    real, tmp_path
):
    policy = {"version": 1, "rules": [{"tool": "run_command", "timeout": 3}]}
    engine = Engine(workspace(tmp_path, grace=0.1), policy=policy)
    os.mkfifo(tmp_path / "gate")
    slow = "trap '' TERM; sh -c 'trap \"\" TERM; read line < gate; touch late.flag' & wait"
    look = [sys.executable, "-c", LOOK]
    calls = [("run_command", {"command": slow}), ("run_command", {"command": look})]
    result = real(partial(engine.run, turn(*calls)))
    assert statuses(result) == ["timed_out", "ok"]
    assert result.outcomes[1].value == "gone\n"
    assert not (tmp_path / "late.flag").exists()


@posix
@pytest.mark.parametrize("way", ["abort", "cancel"])
def test_b049_however_a_run_is_ended_the_whole_process_group_ends_with_one_result(
    real, tmp_path, way
):
    os.mkfifo(tmp_path / "gate")
    script = "sh -c 'read line < gate; touch late.flag' & wait"
    recorder, control, transcript = EventRecorder(), Control(), Transcript()
    engine = Engine(workspace(tmp_path, grace=0.1))
    go = partial(
        engine.run,
        turn(("run_command", {"command": script}), ("read_file", {"path": "x"})),
        control=control,
        on_event=recorder,
        transcript=transcript,
    )

    async def main():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(go)
            # Opening returns only when the grandchild has opened its end: it surely waits now.
            held = await anyio.to_thread.run_sync(os.open, tmp_path / "gate", os.O_WRONLY)
            if way == "abort":
                control.abort()
                control.abort()
            else:
                tasks.cancel_scope.cancel()
        os.close(held)

    real(main)
    assert nobody_reads(tmp_path / "gate")
    assert not (tmp_path / "late.flag").exists()
    assert_told_once(recorder.events, "ab")
    first, second = answered(transcript.messages)
    assert first[1].startswith("Interrupted ")
    assert second[1].startswith("Aborted before dispatch ")


def test_b045_a_call_with_effects_that_timed_out_says_that_nobody_knows(run):
    box, sent = Toolbox(), []

    @box.tool(timeout=1)
    async def send(mail: str) -> str:
        await anyio.sleep(0.5)
        sent.append(mail)
        await anyio.sleep(4.5)
        return "sent"

    @box.tool(safe=True, writes=(), timeout=1)
    async def look() -> str:
        await anyio.sleep(5)
        return "seen"

    result = run(partial(Engine(box).run, turn(("send", {"mail": "hi"}), "look")))
    assert sent == ["hi"]
    assert statuses(result) == ["timed_out", "timed_out"]
    assert "not known" in errors(result)[0]
    assert "not known" not in errors(result)[1]


@pytest.mark.parametrize("where", ["same turn", "another run"])
def test_b047_a_holder_that_never_gives_up_its_key_stops_nobody_for_ever(real, where):
    box, ran = Toolbox(), []
    release, holding = threading.Event(), threading.Event()

    @box.tool(safe=True, writes=lambda key: [f"key:{key}"], timeout=2)
    def hang(key: str) -> None:
        holding.set()
        release.wait(30)

    @box.tool(safe=True, writes=lambda key: [f"key:{key}"])
    async def write(key: str) -> str:
        ran.append(key)
        return f"wrote {key}"

    async def main():
        engine = Engine(box, locks=MemoryStore(), grace=0.5)
        w1, w2, w3 = ("hang", {"key": "K"}), ("write", {"key": "K"}), ("write", {"key": "L"})
        if where == "same turn":
            return statuses(await engine.run(turn(w1, w2, w3))), await engine.call("write", w3[1])
        found = {}

        async def go(name: str, call: Any) -> None:
            found[name] = (await engine.run(turn(call))).outcomes[0]

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(go, "w1", w1)
            while not holding.is_set():
                await anyio.lowlevel.checkpoint()
            tasks.start_soon(go, "w2", w2)
            tasks.start_soon(go, "w3", w3)
        return [found[name].status for name in ("w1", "w2", "w3")], found["w3"]

    try:
        found, other = real(main)
    finally:
        release.set()
    assert found == ["timed_out", "held", "ok"]
    assert other.ok
    assert "K" not in ran


def test_b050_a_call_that_goes_on_in_the_background_is_told_as_running_everywhere(run):
    box = readers()

    @box.tool
    async def shell() -> Outcome:
        return Outcome("running", "moved to background, id 9")

    recorder = EventRecorder()
    result = run(partial(Engine(box).run, turn("shell", "read"), on_event=recorder))
    assert statuses(result) == ["running", "ok"]
    told = {e.call: e.data["status"] for e in recorder.events if e.kind == "call_settled"}
    assert told == {"a": "running", "b": "ok"}
    assert [outcome.ok for outcome in result.outcomes] == [False, True]
    assert answered(result.messages)[0] == ("a", "moved to background, id 9")


# ---- H: one failing call and its siblings ----


def test_b051_a_failing_edit_leaves_edits_of_other_files_alone(real, tmp_path: Path):
    for name in ("a.js", "b.js", "c.js"):
        (tmp_path / name).write_text(f"let {name[0]} = 1;\n", "utf-8")
    edits = [
        ("edit_file", {"path": "a.js", "old": "= 1", "new": "= 2"}),
        ("edit_file", {"path": "b.js", "old": "not there", "new": "x"}),
        ("edit_file", {"path": "c.js", "old": "= 1", "new": "= 3"}),
    ]
    result = real(partial(Engine(workspace(tmp_path)).run, turn(*edits)))
    assert statuses(result) == ["ok", "failed", "ok"]
    assert [(tmp_path / name).read_text() for name in ("a.js", "b.js", "c.js")] == [
        "let a = 2;\n",
        "let b = 1;\n",
        "let c = 3;\n",
    ]


@posix
@pytest.mark.parametrize("on_error", ["continue", "stop"])
def test_b053_a_probing_command_that_fails_stops_the_next_only_if_the_rule_says_so(
    real, tmp_path, on_error
):
    policy = {"version": 1, "rules": [{"tool": "run_command", "on_error": on_error}]}
    calls = [("run_command", {"command": "exit 2"}), ("run_command", {"command": "echo here"})]
    result = real(partial(Engine(workspace(tmp_path), policy=policy).run, turn(*calls)))
    assert_accounted(result)
    second = "ok" if on_error == "continue" else "skipped"
    assert statuses(result) == ["failed", second]
    assert ("'a'" in str(errors(result)[1])) == (on_error == "stop")


def test_b055_calls_that_were_stopped_for_a_failure_are_not_failures_themselves(run):
    box, seen = readers(), []

    @box.tool(safe=True, writes=())
    async def fail() -> None:
        await anyio.sleep(0.1)
        raise ValueError("no")

    class Noting(Hooks):
        def after_call(self, call, outcome, context):
            seen.append((call.name, outcome.status))

    policy = {"version": 1, "rules": [{"tool": "fail", "safe": True, "on_error": "stop"}]}
    recorder = EventRecorder()
    engine = Engine(box, policy=policy, hooks=Noting(), pool=2)
    calls = ["fail", ("read", {"seconds": 2}), ("read", {"seconds": 2})]
    result = run(partial(engine.run, turn(*calls), on_event=recorder))
    assert statuses(result) == ["failed", "ok", "skipped"]  # what runs already is not cancelled
    assert errors(result)[2] == "Skipped: call 'a' failed, and its rule says that later calls stop."
    assert seen == [("a", "failed"), ("b", "ok")]
    told = {e.call: e.data["status"] for e in recorder.events if e.kind == "call_settled"}
    assert told["c"] == "skipped"
