"""Tools for flows in tests, and flows written in a few lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from toolflow import Context, Toolbox
from toolflow.flow import Flow, load_flow

toolbox = Toolbox()
LOG: list[str] = []
"""What bodies began and ended, in order; a test that looks at it clears it first."""


@toolbox.tool(safe=True)
async def give(ctx: Context, value: Any = None, seconds: float = 0) -> Any:
    """Give a value after a while."""
    LOG.append(f"{ctx.name} starts")
    await anyio.sleep(seconds)
    LOG.append(f"{ctx.name} ends")
    return value


@toolbox.tool(safe=True)
async def fail(text: str = "no") -> None:
    """Fail."""
    raise ValueError(text)


@toolbox.tool(safe=True)
async def colour(ctx: Context) -> object:
    """Ask a person."""
    return ctx.interrupt("Which colour?")


def flow_file(folder: Path, stages: str, **fields: str) -> Path:
    """Write a flow with these tools.

    Args:
        folder: Where.
        stages: Its stages, as YAML.
        **fields: Other fields of it, as YAML.
    """
    path = folder / "flow.yaml"
    given = {"name": "trial", "policy": "{version: 1, rules: []}", **fields}
    head = [f"{name}: {value}" for name, value in given.items()]
    text = "\n".join(["version: 1", 'tools: {python: ["flow_tools:toolbox"]}', *head, "stages:"])
    path.write_text(f"{text}\n{stages}")
    return path


def made_flow(folder: Path, stages: str, **fields: str) -> Flow:
    """Write a flow with these tools, and load it; the arguments are those of `flow_file`."""
    return load_flow(flow_file(folder, stages, **fields))


def values(result: Any) -> Mapping[str, list[Any]]:
    """The values of all calls of every stage that ran; the status where a call is not ok."""
    return {
        stage.stage: [o.value if o.ok else o.status for o in stage.run.outcomes]
        for stage in result.stages
        if stage.run is not None
    }
