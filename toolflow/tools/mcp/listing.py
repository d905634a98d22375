"""What a server says of its tools, and the declarations that are made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolflow.model.tool import ToolSpec
from toolflow.model.turn import EMPTY
from toolflow.runtime.results import ToolFailure
from toolflow.runtime.schema_check import schema_check

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import Tool

_PAGES = 1_000  # pages of tools that are asked for
_NOT_THERE = -32601  # JSON-RPC: there is no such method


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as a server lists it.

    Attributes:
        name: The server's own name for it.
        description: What the model is told.
        parameters: The JSON Schema of its arguments.
        hints: The annotations, verbatim.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    hints: Mapping[str, Any] = EMPTY

    def spec(self, name: str, server: str) -> ToolSpec:
        """Its declaration.

        Args:
            name: The name by which the model calls it.
            server: The server's name.
        """
        return ToolSpec(
            name,
            description=self.description,
            parameters=self.parameters,
            server=server,
            hints=self.hints,
            parse=schema_check(self.parameters),
        )


async def list_tools(client: Client) -> tuple[Listed, ...]:
    """Ask a server for all of its tools.

    Args:
        client: A connected client.

    Returns:
        The tools, sorted by name; of two with one name, the first.

    Raises:
        ToolFailure: If the list has no end.
        Exception: What the client raises.
    """
    from mcp import MCPError  # noqa: PLC0415  # an extra, and slow to import

    found: dict[str, Listed] = {}
    cursor: str | None = None
    for _ in range(_PAGES):
        try:
            page = await client.list_tools(cursor=cursor)
        except MCPError as error:
            if error.code == _NOT_THERE and cursor is None:
                return ()
            raise
        for tool in page.tools:
            found.setdefault(tool.name, _listed(tool))
        cursor = page.next_cursor
        if cursor is None:
            return tuple(found[name] for name in sorted(found))
    raise ToolFailure("its list of tools has no end")


def _listed(tool: Tool) -> Listed:
    said = tool.model_dump(by_alias=True, mode="json", exclude_unset=True)
    hints = said.get("annotations") or {}
    described = said.get("description") or said.get("title") or hints.get("title") or ""
    return Listed(tool.name, described, said["inputSchema"], hints)
