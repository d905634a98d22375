"""MCP servers that tests start, and what they need; the scripts stand beside this file."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from toolflow.engine import Engine
from toolflow.model.outcome import Outcome
from toolflow.tools.mcp import StdioServer

HERE = Path(__file__).parent
RAW, MADE = str(HERE / "mcp_raw.py"), str(HERE / "mcp_made.py")
PATIENCE = 120  # seconds; only a test that fails waits so long
SAFE = {"version": 1, "rules": [{"server": "*", "safe": True, "writes": []}]}

needs_mcp = pytest.mark.skipif(
    importlib.util.find_spec("mcp") is None,
    reason="the package mcp is not installed here (pip install 'toolflow[mcp]')",
)
posix = pytest.mark.skipif(os.name != "posix", reason="servers need process groups")


def raw(*, options: dict[str, Any] | None = None, **how: Any) -> StdioServer:
    """A server that does what it is told; see ``mcp_raw.py``."""
    args = [RAW, json.dumps(how)]
    return StdioServer(command=sys.executable, args=args, **{"grace": PATIENCE, **(options or {})})


def made(**options: Any) -> StdioServer:
    """A server made with the official package."""
    return StdioServer(command=sys.executable, args=[MADE], **{"grace": PATIENCE, **options})


def turn(tool: str, *args: dict[str, Any]) -> dict[str, Any]:
    """Calls of one tool."""
    return {"calls": [{"id": f"c{n}", "tool": tool, "args": one} for n, one in enumerate(args, 1)]}


async def outcomes(engine: Engine, tool: str, *args: dict[str, Any]) -> list[Outcome]:
    """What calls of one tool in one turn give."""
    result = await engine.run(turn(tool, *args))
    return [outcome for outcome in result.outcomes if outcome is not None]


class Notes:
    """What servers note, as it comes: the other end of their ``log``.

    Args:
        folder: Where the pipe is made.
    """

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "notes")
        os.mkfifo(self.path)
        self._pipe = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        self._text = b""

    @property
    def lines(self) -> list[str]:
        """What they have noted so far."""
        try:
            while chunk := os.read(self._pipe, 65_536):
                self._text += chunk
        except BlockingIOError:
            pass
        return self._text.decode().split("\n")[:-1]

    async def until(self, line: str, count: int = 1) -> None:
        """Wait until they have noted a line so many times."""
        while self.lines.count(line) < count:
            await anyio.wait_readable(self._pipe)

    def close(self) -> None:
        """Close the pipe."""
        os.close(self._pipe)


class Changes:
    """Told of every change of servers, so that a test can wait for one."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._event: anyio.Event | None = None

    def __call__(self, server: str) -> None:
        self.told.append(server)
        if self._event is not None:
            self._event.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that changes of servers bring about."""
        while not holds():
            self._event = anyio.Event()
            await self._event.wait()
