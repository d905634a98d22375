"""Short turns of scripted tools: who ran when, in virtual seconds."""

from __future__ import annotations

import string
from typing import Any

from toolflow.model.turn import Call, Turn
from toolflow.recording.result import RunResult
from toolflow.testing import ScriptedTools

LETTERS = string.ascii_lowercase + string.ascii_uppercase


def scripted() -> ScriptedTools:
    """``read`` is safe, ``write`` exclusive, ``edit`` safe and writes its ``key``."""
    tools = ScriptedTools()
    tools.add("read", safe=True)
    tools.add("write")
    tools.add("edit", safe=True, writes=lambda key: [f"key:{key}"])
    return tools


def turn(*calls: Any, ids: str = LETTERS) -> Turn:
    """A turn of calls named a, b, c ...

    Each is the tool's name, or a tuple of it with seconds, with a key, or with arguments.
    """
    made = []
    for index, call in enumerate(calls):
        tool, *rest = (call,) if isinstance(call, str) else call
        args: dict[str, Any] = {"name": ids[index]}
        for more in rest:
            if isinstance(more, dict):
                args |= more
            else:
                args["key" if isinstance(more, str) else "seconds"] = more
        made.append(Call(index, ids[index], tool, args))
    return Turn("turn-1", tuple(made))


def starts(result: RunResult) -> list[float | None]:
    """When each body was entered, in call order."""
    return [time.started for time in result.times]


def spans(result: RunResult) -> list[tuple[float | None, float | None]]:
    """When each body was entered and had ended, in call order."""
    return [(time.started, time.stopped) for time in result.times]


def statuses(result: RunResult) -> list[str | None]:
    """The kinds of outcomes, in call order."""
    return [None if outcome is None else outcome.status for outcome in result.outcomes]
