"""MCP servers as tools; needs the extra: ``pip install 'toolflow[mcp]'``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolflow.errors import ServerError
from toolflow.tools.mcp.definition import HttpServer, StdioServer

if TYPE_CHECKING:
    from toolflow.tools.mcp.servers import McpServers as McpServers
    from toolflow.tools.mcp.servers import ServerStatistics as ServerStatistics

__all__ = ["HttpServer", "McpServers", "ServerError", "ServerStatistics", "StdioServer"]


def __getattr__(name: str) -> Any:
    if name in {"McpServers", "ServerStatistics"}:  # flows check addresses without any server
        from toolflow.tools.mcp import servers  # noqa: PLC0415  # see above

        return getattr(servers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
