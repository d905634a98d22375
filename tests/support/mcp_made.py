"""An MCP server made with the official package. A script: ``mcp_made.py [PORT]``.

Without a port it talks over its standard input and output.
"""

from __future__ import annotations

import base64
import sys

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import BaseModel

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
server = MCPServer("made")


class Weather(BaseModel):
    city: str
    degrees: float


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def weather(city: str) -> Weather:
    """How warm it is."""
    return Weather(city=city, degrees=21.5)


@server.tool()
def names() -> list[str]:
    """Some names."""
    return ["Ada", "Grace"]


@server.tool(structured_output=False)
def picture() -> list[object]:
    """A picture with a text."""
    return ["one dot", Image(data=DOT, format="png")]


@server.tool()
def mixed() -> CallToolResult:
    """A text, a sound, a file."""
    page = TextResourceContents(uri="file:///notes.txt", text="the notes")
    return CallToolResult(
        content=[
            TextContent(type="text", text="a text"),
            AudioContent(type="audio", data="AAAA", mimeType="audio/wav"),
            EmbeddedResource(type="resource", resource=page),
        ]
    )


@server.tool()
def broken(why: str) -> str:
    """Fail."""
    raise ValueError(why)


@server.tool()
async def grow(ctx: Context) -> str:
    """Add one more tool, and tell of it."""
    server.add_tool(lambda: "grown", name="grown", description="New.")
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "done"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
