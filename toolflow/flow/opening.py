"""A flow's tools, policy and locks at hand, for whoever runs single turns with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from toolflow.engine import Engine
from toolflow.errors import UsageError
from toolflow.flow.load import Flow
from toolflow.flow.servers import open_servers
from toolflow.flow.toolset import toolbox_of, workspace_root
from toolflow.locks import LockStore, open_store
from toolflow.runtime.control import Control


@asynccontextmanager
async def open_engine(
    flow: Flow, *, out: Path, locks: LockStore | None = None, control: Control | None = None
) -> AsyncIterator[Engine]:
    """Put an engine together as a run of the flow has it, with its MCP servers up.

    Args:
        flow: The flow.
        out: Where a copied workspace goes.
        locks: Where keys are taken, instead of where the flow says.
        control: The handle that may abort the start of servers.

    Yields:
        The engine.

    Raises:
        FlowError: If its tools cannot be put together, or a server does not start.
        UsageError: If the start of servers was aborted.
    """
    root = workspace_root(flow, out)
    store = locks if locks is not None else open_store(flow.locks or "memory")
    tools = toolbox_of(flow, root)
    engine = Engine(tools, policy=flow.policy, cwd=root or flow.folder, locks=store)
    async with open_servers(flow, root, tools, control or Control()) as opened:
        if not opened:
            raise UsageError("It was aborted while the servers started.")
        yield engine
