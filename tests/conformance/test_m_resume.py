"""Conformance M: what interrupts, pool sizes and exports do not change, lines 150, 152 and 153."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from corpus import corpus_dir
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolflow.engine import Engine
from toolflow.formats.session import read_session
from toolflow.locks import MemoryStore
from toolflow.model.event import Event
from toolflow.recording import dump_recording, load_checkpoint, load_recording, save_checkpoint
from toolflow.recording.result import RunResult
from toolflow.runtime.context import Context
from toolflow.runtime.control import Control
from toolflow.runtime.hooks import Hooks
from toolflow.runtime.toolbox import Toolbox
from toolflow.runtime.transcript import Transcript
from toolflow.testing import run_virtual

# ---- 150 ----

RULES = {
    "version": 1,
    "limits": {"pool": 3},
    "rules": [{"tool": "publish", "ask": "Publish?", "safe": True}],
}
CALLS = [
    ("edit", {"key": "k", "seconds": 2}),
    ("edit", {"key": "k", "seconds": 1}),
    ("colour", {}),
    ("build", {"seconds": 1}),
    ("publish", {"seconds": 1}),
]
NAMES = ["toolu_a", "toolu_b", "toolu_c", "toolu_d", "toolu_e"]
MESSAGE = {
    "role": "assistant",
    "content": [
        {"type": "tool_use", "id": name, "name": tool, "input": args}
        for name, (tool, args) in zip(NAMES, CALLS, strict=True)
    ],
}
ANSWERS = {"Which colour?": "blue", "Which shade?": "light", "Publish?": True}


class World:
    """Outlives every process: what the tools did, in order, so that doing it twice is seen."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.events = 0

    def tools(self, *, asks: bool = True) -> Toolbox:
        tools = Toolbox()

        @tools.tool(safe=True, writes=lambda key: [f"key:{key}"])
        async def edit(key: str, seconds: float, ctx: Context) -> list[str]:
            before = [what for what in self.done if what.endswith(key)]
            await anyio.sleep(seconds)
            self.done.append(f"{ctx.name} {key}")
            return [*before, ctx.name]

        @tools.tool(safe=True)
        async def colour(ctx: Context) -> str:
            await anyio.sleep(1)
            questions = ("Which colour?", "Which shade?")
            return " ".join(ctx.interrupt(what) if asks else ANSWERS[what] for what in questions)

        @tools.tool
        async def build(seconds: float) -> list[str]:
            await anyio.sleep(seconds)
            self.done.append("build")
            return sorted(self.done)

        @tools.tool
        async def publish(seconds: float) -> list[str]:
            await anyio.sleep(seconds)
            self.done.append("publish")
            return sorted(self.done)

        return tools


class Noting(Hooks):
    async def after_call(self, call, outcome, context):
        await anyio.sleep(0.25)
        context.add_context(f"{call.name} was seen")


def engine_of(tools: Toolbox, **options: Any) -> Engine:
    return Engine(tools, locks=MemoryStore(), **{"policy": RULES, **options})


async def uninterrupted(**options: Any) -> tuple[Any, list[str]]:
    """The transcript and the deeds of a run in which nobody has to wait for an answer."""
    world, transcript = World(), Transcript(["before"])
    engine = engine_of(world.tools(asks=False), approver=lambda question: True, **options)
    result = await engine.run(MESSAGE, transcript=transcript)
    assert result.ok
    return transcript.messages, world.done


async def to_its_end(
    folder: Path,
    disturb: Callable[[Control, int], None] = lambda control, number: None,
    first: dict[str, Any] | None = None,
    **options: Any,
) -> tuple[Any, list[str], int]:
    """Run the turn with its pauses, each resumed by a new engine from a file.

    ``disturb`` is called at each event with a control and the event's number over all runs.
    """
    world, transcript, file = World(), Transcript(["before"]), folder / "checkpoint.yaml"

    def watching() -> dict[str, Any]:
        control = Control()

        def sink(event: Event) -> None:
            disturb(control, world.events)
            world.events += 1

        return {"control": control, "on_event": sink, "transcript": transcript}

    engine = engine_of(world.tools(), **options)
    result: RunResult = await engine.run(MESSAGE, **watching(), **(first or {}))
    for _ in range(30):
        if result.checkpoint is None:
            break
        assert transcript.messages == ("before",)
        save_checkpoint(result.checkpoint, file)
        answers = {question.call: ANSWERS[question.text] for question in result.questions}
        engine = engine_of(world.tools(), **options)
        result = await engine.resume(load_checkpoint(file), answers, **watching())
    assert result.status == "done"
    return transcript.messages, world.done, world.events


ENGINES = [{}, {"pool": 1}, {"hooks": Noting()}, {"policy": {**RULES, "approvals": "first"}}]


@pytest.mark.parametrize("options", ENGINES)
def test_c150_a_pause_before_any_calls_gives_the_same_transcript(run, tmp_path, options):
    async def main():
        expected = await uninterrupted(**options)
        for name in NAMES:
            found = await to_its_end(tmp_path, first={"stop_at": [name]}, **options)
            assert found[:2] == expected, name
        assert (await to_its_end(tmp_path, first={"step": True}, **options))[:2] == expected

    run(main)


def test_c150_pauses_before_any_calls_together_give_the_same_transcript(run, tmp_path):
    async def main():
        expected = await uninterrupted()
        for count in range(2, len(NAMES)):
            for names in itertools.combinations(NAMES, count):
                found = await to_its_end(tmp_path, first={"stop_at": names})
                assert found[:2] == expected, names

    run(main)


@pytest.mark.parametrize("options", ENGINES)
def test_c150_an_interrupt_at_any_event_gives_the_same_transcript(run, tmp_path, options):
    async def main():
        expected = await uninterrupted(**options)
        number = total = 0
        while number <= total:  # an interrupt makes events of its own
            at = number

            def disturb(control: Control, event: int, at: int = at) -> None:
                if event == at:
                    control.interrupt()

            *found, total = await to_its_end(tmp_path, disturb, **options)
            assert tuple(found) == expected, number
            number += 1
        assert number > 15

    run(main)


def test_c150_interrupts_at_two_events_give_the_same_transcript(run, tmp_path):
    async def main():
        expected = await uninterrupted()
        *_, total = await to_its_end(tmp_path)
        for pair in itertools.combinations(range(0, total, 2), 2):

            def disturb(control: Control, event: int, pair: tuple[int, ...] = pair) -> None:
                if event in pair:
                    control.interrupt()

            found = await to_its_end(tmp_path, disturb)
            assert found[:2] == expected, pair

    run(main)


@pytest.mark.parametrize("approver", [True, False])
def test_c150_an_interrupt_at_any_time_gives_the_same_transcript(run, tmp_path, approver):
    async def main():
        expected = await uninterrupted()
        options = {"approver": lambda question: True} if approver else {}
        for quarter in range(24):
            controls: list[Control] = []

            async def later(controls: list[Control] = controls, at: float = quarter / 4) -> None:
                await anyio.sleep(at)
                controls[-1].interrupt()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(later)
                found = await to_its_end(
                    tmp_path, lambda control, event, kept=controls: kept.append(control), **options
                )
            assert found[:2] == expected, quarter

    run(main)


# ---- 152 ----

CELLS = ("a", "b", "t/x", "t/y")
SAFE_KEYS = ("cell:a", "cell:b", "cell:t/x", "cell:t/**")


def cells_of(keys: list[str]) -> list[str]:
    """The cells that keys stand for."""
    found = []
    for cell in CELLS:
        name = f"cell:{cell}"
        if any(key == name or (key.endswith("/**") and name.startswith(key[:-2])) for key in keys):
            found.append(cell)
    return found


def simulated(*, declared: bool = True) -> Toolbox:
    """Tools over a store of cells: they read, take their time, and write what they read."""
    tools = Toolbox()
    store = dict.fromkeys(CELLS, 0)

    async def work(name: int, look: list[str], change: list[str], seconds: float) -> list[int]:
        seen = [store[cell] for cell in sorted({*look, *change})]
        await anyio.sleep(seconds)
        for cell in change:
            store[cell] = zlib.crc32(repr((name, cell, seen)).encode())
        return seen

    @tools.tool(
        safe=True,
        reads=(lambda reads: reads) if declared else (),
        writes=(lambda writes: writes) if declared else (),
    )
    async def touch(name: int, reads: list[str], writes: list[str], seconds: float) -> list[int]:
        return await work(name, cells_of(reads), cells_of(writes), seconds)

    @tools.tool(
        safe=True,
        reads=(lambda reads: reads) if declared else (),
        writes=(lambda writes: writes) if declared else (),
    )
    async def fail(name: int, reads: list[str], writes: list[str], seconds: float) -> None:
        seen = await work(name, cells_of(reads), cells_of(writes), seconds)
        raise ValueError(f"It failed after it saw {seen}.")

    @tools.tool  # it declares nothing, so it runs alone
    async def anything(name: int, reads: list[str], writes: list[str], seconds: float) -> list[int]:
        return await work(name, list(CELLS), cells_of(writes), seconds)

    return tools


def keyed_turn(calls: list[tuple[str, list[str], list[str], int]]) -> dict[str, Any]:
    return {
        "calls": [
            {
                "id": f"call-{number}",
                "tool": tool,
                "args": {"name": number, "reads": reads, "writes": writes, "seconds": seconds},
            }
            for number, (tool, reads, writes, seconds) in enumerate(calls)
        ]
    }


def transcript_of(tools: Toolbox, message: dict[str, Any], pool: int, backend: Any) -> Any:
    transcript = Transcript()
    engine = Engine(tools, locks=MemoryStore(), pool=pool)
    run_virtual(partial(engine.run, message, transcript=transcript), backend=backend)
    return transcript.messages


some_keys = st.lists(st.sampled_from(SAFE_KEYS), max_size=2)
some_calls = st.lists(
    st.tuples(
        st.sampled_from(["touch", "touch", "touch", "fail", "anything", "nosuch"]),
        some_keys,
        some_keys,
        st.integers(0, 5),
    ),
    max_size=9,
)


@settings(max_examples=30, deadline=None)
@given(some_calls, st.sampled_from(["asyncio", "trio"]))
@example([("touch", [], ["cell:a"], 5), ("touch", [], ["cell:a"], 1)], "trio")
@example([("touch", ["cell:t/**"], [], 5), ("touch", [], ["cell:t/x"], 1)], "asyncio")
def test_c152_a_wider_pool_never_changes_the_transcript_of_tools_that_keep_to_their_keys(
    calls, backend
):
    message = keyed_turn(calls)
    one_by_one = transcript_of(simulated(), message, 1, backend)
    for pool in range(2, 9):
        assert transcript_of(simulated(), message, pool, backend) == one_by_one


def test_c152_the_simulated_store_tells_tools_that_do_not_keep_to_their_keys():
    message = keyed_turn([("touch", [], ["cell:a"], 5), ("touch", [], ["cell:a"], 1)])
    one, two = (
        transcript_of(simulated(declared=False), message, pool, "asyncio") for pool in (1, 2)
    )
    assert one != two


# ---- 153 ----

CLAUDE_CODE = (
    "action-sample-turns.json",
    "agentsessions-claude-small.jsonl",
    "cclog-representative_messages.jsonl",
    "cclog-todowrite_examples.jsonl",
    "ccviewer-1af7fc5e.jsonl",
    "ccviewer-5c0375b4.jsonl",
    "episodic-large.jsonl",
    "episodic-medium.jsonl",
    "episodic-tiny.jsonl",
    "mclaude-21037e11.jsonl",
    "mclaude-343e3472.jsonl",
    "mclaude-3cfce0ff.jsonl",
    "mclaude-95f81cf4.jsonl",
    "mclaude-f551142a.jsonl",
    "polylogue-normalization-main.jsonl",
)


@pytest.mark.parametrize("form", ["yaml", "json"])
@pytest.mark.parametrize("name", CLAUDE_CODE)
def test_c153_a_session_that_is_exported_and_imported_again_is_the_same_recording(name, form):
    path = corpus_dir("claude-code", name)
    recording = read_session(path)
    assert read_session(path) == recording
    text = dump_recording(recording, form)
    again = load_recording(text)
    assert again == recording
    assert dump_recording(again, form) == text  # also what equality leaves out


def test_c153_no_session_of_the_corpus_is_left_out():
    found = {path.name for path in corpus_dir("claude-code").iterdir()}
    assert found == set(CLAUDE_CODE)
