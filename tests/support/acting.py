"""Acting on runs from outside: at certain seconds, in several ways; what must hold after all."""

from __future__ import annotations

import json
import string
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskStatus

from toolflow.engine import Engine
from toolflow.formats import read_turn
from toolflow.locks import LockStore, acquire
from toolflow.model.event import Event
from toolflow.model.turn import Turn
from toolflow.recording.checkpoint import Checkpoint
from toolflow.recording.result import RunResult

Action = tuple[float, Callable[[], object]]


def chat(*calls: Any) -> dict[str, Any]:
    """A Chat Completions message whose calls are named a, b, c ...

    Each is the tool's name, or a tuple of it and its arguments.
    """
    made = []
    for letter, call in zip(string.ascii_lowercase, calls, strict=False):
        tool, args = (call, "{}") if isinstance(call, str) else call
        text = args if isinstance(args, str) else json.dumps(args)
        function = {"name": tool, "arguments": text}
        made.append({"id": letter, "type": "function", "function": function})
    return {"role": "assistant", "content": None, "tool_calls": made}


def turn(*calls: Any) -> Turn:
    """The same as a turn."""
    return read_turn(chat(*calls))


async def later(when: float, action: Callable[[], object]) -> None:
    """Do something after some seconds."""
    await anyio.sleep(when)
    action()


async def run_with(engine: Engine, what: Any, *actions: Action, **options: Any) -> RunResult:
    """Run a turn, or resume a checkpoint, and do things at certain seconds of it."""
    async with anyio.create_task_group() as tasks:
        for when, action in actions:
            tasks.start_soon(later, when, action)
        if isinstance(what, Checkpoint):
            result = await engine.resume(what, **options)
        else:
            result = await engine.run(what, **options)
        tasks.cancel_scope.cancel()
    return result


@asynccontextmanager
async def held_elsewhere(store: LockStore, *keys: str) -> AsyncIterator[None]:
    """Keys are held by code in another task, so that a run in here has to wait for them."""

    async def hold(*, task_status: TaskStatus[None]) -> None:
        async with acquire(writes=keys, store=store):
            task_status.started()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as tasks:
        await tasks.start(hold)
        try:
            yield
        finally:
            tasks.cancel_scope.cancel()


def statuses(result: RunResult) -> list[str | None]:
    """The kinds of outcomes, in call order."""
    return [None if outcome is None else outcome.status for outcome in result.outcomes]


def errors(result: RunResult) -> list[str | None]:
    """What the model reads of failures, in call order."""
    return [None if outcome is None else outcome.error for outcome in result.outcomes]


def answered(messages: Sequence[Any]) -> list[tuple[str, str]]:
    """The results in a Chat transcript: id and text, in order."""
    return [(m["tool_call_id"], m["content"]) for m in messages if m.get("role") == "tool"]


def assert_accounted(result: RunResult) -> None:
    """Every call has one outcome, one settled event, one result; in order."""
    names = [call.name for call in result.plan.calls]
    assert None not in result.outcomes
    assert [name for name, _ in answered(result.messages)] == names
    assert_told_once(result.events, names)
    for call, times in zip(names, result.times, strict=True):
        begun = [e for e in result.events if e.kind == "call_started" and e.call == call]
        assert len(begun) == (times.started is not None)


def assert_told_once(events: Sequence[Event], names: Sequence[str]) -> None:
    """Every call has exactly one settled event."""
    told = [event.call for event in events if event.kind == "call_settled"]
    assert sorted(told) == sorted(names)
