"""Conformance B 33: a mixed batch commits in declared order, in every provider's form."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import anyio
import pytest
from turns import scripted, statuses

from toolflow.engine import Engine
from toolflow.runtime.hooks import Deny, Hooks
from toolflow.runtime.transcript import Transcript

RULES = {
    "version": 1,
    "rules": [{"tool": "asked", "ask": "Sure?"}, {"tool": "drop", "deny": "Never."}],
}
#: ok, declined, unknown, malformed, ok, denied, failed: the first is the last to end.
CALLS: list[tuple[str, Any]] = [
    ("read", {"seconds": 5}),
    ("asked", {}),
    ("nosuch", {}),
    ("read", '{"seconds":'),
    ("read", {"seconds": 1}),
    ("drop", {}),
    ("read", {"raises": "broken"}),
]
WANTED = ["ok", "declined", "unknown_tool", "invalid_arguments", "ok", "denied", "failed"]


def chat() -> Any:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{index}",
                "type": "function",
                "function": {
                    "name": tool,
                    "arguments": args if isinstance(args, str) else json.dumps(args),
                },
            }
            for index, (tool, args) in enumerate(CALLS)
        ],
    }


def anthropic() -> Any:
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": "Let me see."}]
        + [
            {"type": "tool_use", "id": f"call_{index}", "name": tool, "input": args}
            for index, (tool, args) in enumerate(CALLS)
        ],
    }


def plain() -> Any:
    return {
        "calls": [
            {"id": f"call_{index}", "tool": tool, "args": args}
            for index, (tool, args) in enumerate(CALLS)
        ]
    }


def ids_in(messages: Any) -> list[str]:
    found = []
    for message in messages:
        for item in message.get("results", ()):
            found.append(item["id"])
        if message.get("role") == "tool":
            found.append(message["tool_call_id"])
        if isinstance(message.get("content"), list):
            found += [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
    return found


def engine_for(**options: Any) -> Engine:
    tools = scripted()
    tools.add("asked", safe=True)
    tools.add("drop")
    return Engine(tools.toolbox, policy=RULES, **options)


@pytest.mark.parametrize("message", [chat, anthropic, plain])
@pytest.mark.parametrize("approving", ["nobody", "no"])
def test_c033_mixed_batch_keeps_declared_order(run, message, approving):
    async def declines(question):
        await anyio.sleep(3)
        return False

    async def main():
        engine = engine_for(approver=declines if approving == "no" else None)
        transcript = Transcript(["before"])
        result = await engine.run(message(), can_pause=False, transcript=transcript)
        assert statuses(result) == WANTED
        assert ids_in(result.results) == [f"call_{index}" for index in range(len(CALLS))]
        assert transcript.messages == ("before", *result.messages)

    run(main)


@pytest.mark.parametrize("message", [chat, anthropic, plain])
def test_c033_a_mixed_batch_that_paused_keeps_declared_order(run, message):
    async def main():
        engine = engine_for()
        paused = await engine.run(message())
        assert (paused.status, paused.messages) == ("paused", ())
        assert statuses(paused)[1] is None
        result = await engine.resume(paused.checkpoint, {"call_1": False})
        assert statuses(result) == WANTED
        assert ids_in(result.results) == [f"call_{index}" for index in range(len(CALLS))]

    run(main)


@pytest.mark.parametrize("pool", [1, 2])
def test_c033_a_mixed_batch_with_hooks_and_barriers_keeps_declared_order(run, pool):
    class Blocks(Hooks):
        async def before_call(self, call, context):
            await anyio.sleep(1)
            if call.name == "c":
                return Deny("Not this one.")
            if call.name == "d":
                raise ValueError("no hook")
            return None

        async def after_call(self, call, outcome, context):
            context.add_context(f"after {call.name}")
            await anyio.sleep(1)

    names = ["read", "write", "read", "write", "write", "read"]
    calls = [
        {"id": "abcdef"[i], "tool": tool, "args": {"seconds": 6 - i}}
        for i, tool in enumerate(names)
    ]
    engine = engine_for(hooks=Blocks(), pool=pool)
    result = run(partial(engine.run, {"calls": calls}))
    assert statuses(result) == ["ok", "ok", "denied", "failed", "ok", "ok"]
    assert ids_in(result.results) == list("abcdef")
    # The hook's call that raised has no after-hook.
    assert result.report.extra == tuple(f"after {name}" for name in "abcef")


def test_c033_doubled_and_empty_ids_keep_their_places(run):
    async def main():
        calls = [
            {"id": name, "tool": "read", "args": {"seconds": seconds}}
            for name, seconds in [("x", 3), ("y", 2), ("x", 1), ("", 1), ("z", 1)]
        ]
        result = await engine_for().run({"calls": calls})
        assert statuses(result) == ["invalid_id", "ok", "invalid_id", "invalid_id", "ok"]
        written = [item["id"] for item in result.results[0]["results"]]
        assert written == [call["id"] for call in result.assistant[0]["calls"]]
        assert len(set(written)) == 5
        assert (written[1], written[4]) == ("y", "z")

    run(main)
