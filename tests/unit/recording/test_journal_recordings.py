"""A recording made from a journal is the one that `Recorder` makes of the same run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from acting import chat, later

from toolflow import Context, Engine, Toolbox
from toolflow.compiler import dump_plan, load_plan
from toolflow.errors import JournalError
from toolflow.locks import MemoryStore
from toolflow.model.outcome import Image, Outcome
from toolflow.recording import Recorder, dump_recording, load_recording, replay
from toolflow.recording.journal import JournalRecording, open_journal, read_journal
from toolflow.recording.result import RunResult
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Deny, Hooks

Runner = Callable[..., Any]
POLICY = """\
version: 1
limits: {pool: 2, resources: {cpu: 1}}
rules:
  - {tool: nap, safe: true}
  - {tool: read, safe: true, reads: ["file:{{ args.path }}"]}
  - {tool: write, safe: true, writes: ["file:{{ args.path }}"]}
  - {tool: grind, safe: true, uses: {cpu: 1}}
  - {tool: hang, safe: true, timeout: 2}
  - {tool: publish, safe: true, ask: "Publish?"}
  - {tool: fail, safe: true, on_error: stop}
  - {tool: odd, safe: true}
  - {tool: colour, safe: true}
  - {tool: forbidden, deny: "Not here."}
"""


def engine_of(**options: Any) -> Engine:
    tools = Toolbox()
    for name in ("nap", "read", "write", "grind", "hang", "publish", "build"):

        async def body(path: str = "a", seconds: float = 1.0, tool: str = name) -> str:
            await anyio.sleep(30 if tool == "hang" else seconds)
            return f"{tool} ran"

        tools.tool(body, name=name)

    @tools.tool
    async def fail() -> str:
        raise ValueError("no, \ud800 not\nthis")

    @tools.tool
    async def odd(kind: str = "list") -> Any:
        await anyio.sleep(0.5)
        return {"list": [1, None, {"a": 1.5}], "none": None, "picture": b"\x89PNG", "set": {3}}[
            kind
        ]

    @tools.tool
    async def colour(ctx: Context) -> str:
        return ctx.interrupt({"which": ["colour"]})

    return Engine(tools, **{"policy": POLICY, "cwd": "/repo", "locks": MemoryStore(), **options})


class Meddling(Hooks):
    """Hooks that change arguments and outcomes, refuse, and add texts."""

    async def before_call(self, call: Any, context: Any) -> Any:
        await anyio.sleep(0.25)
        if call.tool == "grind":
            return Deny("No grinding.")
        return {"path": "b", **call.args} if call.tool in {"read", "build"} else None

    async def after_call(self, call: Any, outcome: Outcome, context: Any) -> Any:
        await anyio.sleep(0.25)
        context.add_context(f"{call.name} is over")
        if call.tool == "odd":
            return Outcome("ok", {"kept": 1}, images=(Image("image/png", "aGk="),), note="Changed.")
        return "replaced" if call.tool == "write" else None


CALLS: tuple[Any, ...] = (
    "nap",
    ("read", {"path": "x"}),
    ("write", {"path": "x"}),
    "odd",
    ("odd", {"kind": "none"}),
    "forbidden",
    "nosuch",
    "build",
    "grind",
    "grind",
    ("odd", {"kind": "picture"}),
)


def kept(path: Path) -> Any:
    assert JournalRecording(path).recording() == read_journal(path).recording()
    return read_journal(path).recording(source={"cwd": "/repo"})


def told(engine: Engine, result: RunResult, path: Path) -> Any:
    recorder = Recorder(policy=engine.policy, source={"cwd": "/repo"})
    recorder.add(result, started_at=read_journal(path).turns[-1].started_at)
    return recorder.recording


def same(engine: Engine, result: RunResult, path: Path) -> None:
    made, expected = kept(path), told(engine, result, path)
    assert made.turns[-1].events == expected.turns[0].events
    assert made.turns[-1].times == expected.turns[0].times
    assert made.turns[-1].facts == expected.turns[0].facts
    assert made.turns[-1].outcomes == expected.turns[0].outcomes
    assert made.turns[-1] == expected.turns[0]
    assert made.policy == expected.policy
    assert made.notices == ()


@pytest.mark.parametrize("durability", ["none", "batch", "strict"])
def test_of_a_run_with_everything_in_it(run: Runner, tmp_path: Path, durability: Any) -> None:
    engine, path = engine_of(), tmp_path / "j.jsonl"
    with open_journal(path, durability=durability) as journal:
        result = run(partial(engine.run, chat(*CALLS), journal=journal))
    assert len(result.outcomes) == len(CALLS)
    same(engine, result, path)
    assert dump_recording(kept(path)) == dump_recording(told(engine, result, path))
    assert replay(load_recording(dump_recording(kept(path)))).ok


def test_of_a_run_with_hooks(run: Runner, tmp_path: Path) -> None:
    engine, path = engine_of(hooks=Meddling()), tmp_path / "j.jsonl"
    result = run(partial(engine.run, chat(*CALLS), journal=path))
    assert result.texts
    same(engine, result, path)


def test_of_a_run_with_timeouts_and_a_late_end(run: Runner, tmp_path: Path) -> None:
    engine, path = engine_of(grace=1.0), tmp_path / "j.jsonl"

    @engine.tools.tool(safe=True, replace=True)
    async def hang(path: str = "a") -> str:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(2.5)
        return "late"

    calls = ("hang", "nap", ("nap", {"seconds": 4}))
    result = run(partial(engine.run, chat(*calls), journal=path))
    assert result.outcomes[0].status == "timed_out"
    assert "later" in result.outcomes[0].note
    same(engine, result, path)


@pytest.mark.parametrize("tool", ["nap", "fail"])
def test_of_a_run_that_was_aborted(run: Runner, tmp_path: Path, tool: str) -> None:
    engine, path, control = engine_of(), tmp_path / "j.jsonl", Control()
    control.steer({"role": "user", "content": "hurry"})

    async def main() -> RunResult:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(later, 1.5, control.abort)
            return await engine.run(chat(tool, *CALLS), control=control, journal=path)

    result = run(main)
    assert result.steering
    same(engine, result, path)


@pytest.mark.parametrize("hooks", [(), Meddling()])
def test_of_a_run_that_pauses_and_goes_on(run: Runner, tmp_path: Path, hooks: Any) -> None:
    engine, path = engine_of(hooks=hooks), tmp_path / "j.jsonl"
    calls = ("nap", ("read", {"path": "x"}), "colour", "publish", "nap")
    paused = run(partial(engine.run, chat(*calls), journal=path))
    assert paused.status == "paused"
    same(engine, paused, path)
    (turn,) = read_journal(path).turns
    assert turn.unfinished
    assert turn.repair().checkpoint == paused.checkpoint
    answers: dict[str, Any] = {"c": "blue"}
    again = run(partial(engine.resume, turn.repair().checkpoint, answers, journal=path))
    same(engine, again, path)
    first, second = read_journal(path).turns
    assert (first.continued, second.unfinished) == (True, True)
    last = second.repair().checkpoint
    assert last == again.checkpoint
    done = run(partial(engine.resume, last, {"d": True}, journal=path))
    assert done.ok
    same(engine, done, path)
    assert [turn.unfinished for turn in read_journal(path).turns] == [False] * 3


def test_of_a_run_whose_questions_are_answered_at_once(run: Runner, tmp_path: Path) -> None:
    engine, path = engine_of(approver=lambda q: q.call == "b"), tmp_path / "j.jsonl"
    result = run(
        partial(engine.run, chat("publish", "publish", "nap", "fail", "nap"), journal=path)
    )
    assert [outcome.status for outcome in result.outcomes][:2] == ["declined", "ok"]
    same(engine, result, path)


def test_of_functions_in_threads(tmp_path: Path) -> None:
    engine, path = engine_of(), tmp_path / "j.jsonl"

    @engine.tools.tool(safe=True, replace=True)
    def odd(kind: str = "") -> str:
        return f"{kind} in a thread"

    result = engine.run_sync(chat("odd", ("odd", {"kind": "b"}), "nosuch"), journal=path)
    same(engine, result, path)


def test_of_a_plan_that_was_edited_by_hand(run: Runner, tmp_path: Path) -> None:
    engine, path = engine_of(), tmp_path / "j.jsonl"
    plan = load_plan(dump_plan(engine.plan(chat("build", "nap"))).replace("build", "nap"))
    assert any(notice.code == "edited" for notice in plan.notices)
    result = run(partial(engine.run, plan, journal=path))
    made = kept(path).turns[0]
    assert made.plan == result.plan
    assert made.events == told(engine, result, path).turns[0].events


def test_nested_turns_stand_in_it_with_their_source(run: Runner, tmp_path: Path) -> None:
    engine, path = engine_of(), tmp_path / "j.jsonl"
    inner: list[RunResult] = []

    @engine.tools.tool(safe=True)
    async def outer() -> str:
        inner.append(await engine.run(chat("nap", "odd")))
        await engine.call("nap")
        return "done"

    result = run(partial(engine.run, chat("outer", "nap"), journal=path))
    turns = read_journal(path).turns
    assert [(turn.source, turn.status) for turn in turns] == [
        ("main", "done"),
        ("a", "done"),
        ("a#2", "done"),
    ]
    recording = kept(path)
    assert recording.turns[0].events == told(engine, result, path).turns[0].events
    assert recording.turns[1].events == inner[0].recorded().events
    assert not any(turn.unfinished for turn in turns)


def test_an_empty_turn_leaves_an_empty_turn(run: Runner, tmp_path: Path) -> None:
    engine, path = engine_of(), tmp_path / "j.jsonl"
    result = run(partial(engine.run, chat(), journal=path))
    assert kept(path).turns[0] == told(engine, result, path).turns[0]


def test_several_turns_of_one_session(run: Runner, tmp_path: Path) -> None:
    engine, path = engine_of(), tmp_path / "j.jsonl"
    results = []
    with open_journal(path, about={"source": {"session": "s"}}) as journal:
        for _ in range(3):
            results.append(run(partial(engine.run, chat("nap", "odd"), journal=journal)))
    made = kept(path)
    assert [turn.outcomes for turn in made.turns] == [result.outcomes for result in results]
    assert made.source == {"format": "toolflow", "session": "s", "cwd": "/repo"}
    with pytest.raises(JournalError, match="is closed"):
        run(partial(engine.run, chat("nap"), journal=journal))
