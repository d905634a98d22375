"""MCP servers as tools; needs the extra: ``pip install 'toolflow[mcp]'``."""

from toolflow.errors import ServerError
from toolflow.tools.mcp.definition import HttpServer, StdioServer
from toolflow.tools.mcp.servers import McpServers, ServerStatistics

__all__ = ["HttpServer", "McpServers", "ServerError", "ServerStatistics", "StdioServer"]
