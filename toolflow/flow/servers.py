"""The MCP servers of a flow: they are up before its first stage, and gone after its last."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from toolflow.errors import FlowError, Problem, ServerError, UsageError
from toolflow.flow.load import Flow
from toolflow.flow.schema import McpServer
from toolflow.runtime.control import Control
from toolflow.runtime.loops import loop_caller
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools.mcp import HttpServer, StdioServer
from toolflow.tools.mcp.definition import START_TIMEOUT, Definition
from toolflow.tools.mcp.sdk import need_sdk

_VARIABLE = re.compile(r"\$\{(\w+)\}")


class _Start:
    """The start of servers, as what a control acts on: an abort ends it, an interrupt waits."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.call_back = loop_caller()

    def halt(self) -> None:
        """The first stage will stop at once."""

    def abort(self, _cause: str) -> None:
        self.scope.cancel()


@asynccontextmanager
async def open_servers(
    flow: Flow, root: Path | None, tools: Toolbox, control: Control
) -> AsyncIterator[bool]:
    """Open the servers of a flow.

    Args:
        flow: The flow.
        root: The folder of its workspace tools, where the servers run, too.
        tools: Where their tools go.
        control: The handle that may abort their start.

    Yields:
        Whether they are open: not where their start was aborted.

    Raises:
        FlowError: If one cannot be started.
    """
    if not flow.tools.mcp:
        yield True
        return
    from toolflow.tools.mcp import McpServers  # noqa: PLC0415  # only where a flow has servers

    servers = McpServers(_definitions(flow, root), tools=tools)
    start, opened = _Start(), False
    with start.scope:
        control.attach(start)
        try:
            async with servers:
                control.detach(over=False)
                opened = True
                yield True
        except ServerError as error:
            where = ("tools", "mcp", error.server)
            raise FlowError(flow.document.problem(where, str(error), key=True)) from error
        finally:
            if not opened:
                control.detach(over=False)
    if not opened:
        yield False


def _definitions(flow: Flow, root: Path | None) -> dict[str, Definition]:
    try:
        need_sdk()
    except UsageError as error:
        problem = flow.document.problem(("tools", "mcp"), str(error), key=True)
        raise FlowError(problem) from error
    problems: list[Problem] = []
    made = {
        name: _definition(flow, name, spec, root or flow.folder, problems)
        for name, spec in flow.tools.mcp.items()
    }
    if problems:
        raise FlowError(problems)
    return made


def _definition(
    flow: Flow, name: str, spec: McpServer, folder: Path, problems: list[Problem]
) -> Definition:
    def filled(field: str, texts: Mapping[str, str]) -> dict[str, str]:
        return {
            key: _filled(text, flow, ("tools", "mcp", name, field, key), problems)
            for key, text in texts.items()
        }

    limit = START_TIMEOUT if spec.start_timeout is None else spec.start_timeout
    if spec.url is not None:
        return HttpServer(
            url=spec.url,
            headers=filled("headers", spec.headers),
            prefix=spec.prefix,
            start_timeout=limit,
            protocol=spec.protocol,
        )
    return StdioServer(
        command=spec.command or "",
        args=spec.args,
        env=filled("env", spec.env),
        cwd=folder / spec.cwd,
        prefix=spec.prefix,
        start_timeout=limit,
        protocol=spec.protocol,
    )


def _filled(text: str, flow: Flow, where: tuple[str, ...], problems: list[Problem]) -> str:
    """The text with ``${NAME}`` replaced by environment variables."""
    missing = [name for name in _VARIABLE.findall(text) if name not in os.environ]
    for name in dict.fromkeys(missing):
        said = f"{'.'.join(where)} names the environment variable {name!r}, which is not set."
        problems.append(flow.document.problem(where, said))
    return _VARIABLE.sub(lambda found: os.environ.get(found[1], ""), text)
