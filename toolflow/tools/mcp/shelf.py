"""The tools of servers in a toolbox, kept as the servers list them."""

from __future__ import annotations

from typing import Any

from toolflow.errors import UsageError
from toolflow.model.outcome import Outcome
from toolflow.runtime.tool import Tool
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools.mcp.host import Host
from toolflow.tools.mcp.listing import Listed
from toolflow.tools.mcp.names import model_names


class Shelf:
    """Where the tools of one server stand.

    Args:
        tools: The toolbox; tools in it that are not of this server are left alone.
        host: The server.

    Attributes:
        names: The server's own names of its tools, by the names that the model calls them by.
        left_out: Its own names of tools whose names in the toolbox are taken.
    """

    def __init__(self, tools: Toolbox, host: Host) -> None:
        self._tools = tools
        self._host = host
        self._shown: dict[str, tuple[Listed, Tool]] = {}
        self.left_out: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """The server's own names of its tools, by the names that the model calls them by."""
        return {name: listed.name for name, (listed, _) in sorted(self._shown.items())}

    def show(self) -> None:
        """Make the toolbox hold what the server lists now; what has not changed stays."""
        host = self._host
        prefix = host.definition.prefix
        names = model_names(
            f"{host.name}__" if prefix is None else prefix, [tool.name for tool in host.tools]
        )
        wanted = {names[tool.name]: tool for tool in host.tools}
        for name in [name for name in self._shown if name not in wanted]:
            self._take_out(name)
        self.left_out = tuple(
            listed.name for name, listed in wanted.items() if not self._put(name, listed)
        )

    def clear(self) -> None:
        """Take all of them out."""
        for name in list(self._shown):
            self._take_out(name)

    def _put(self, name: str, listed: Listed) -> bool:
        """Put one in; whether its name was free, or its own."""
        shown = self._shown.get(name)
        mine = shown is not None and self._tools.get(name) is shown[1]
        if mine and shown is not None and shown[0] == listed:
            return True
        tool = _tool(self._host, listed, name)
        try:
            self._tools.add(tool, replace=mine)
        except UsageError:
            self._shown.pop(name, None)
            return False
        self._shown[name] = (listed, tool)
        return True

    def _take_out(self, name: str) -> None:
        _, tool = self._shown.pop(name)
        if self._tools.get(name) is tool:  # else somebody put another in its place
            self._tools.remove(name)


def _tool(host: Host, listed: Listed, name: str) -> Tool:
    async def body(**args: Any) -> Outcome:
        return await host.call(listed.name, args)

    return Tool(listed.spec(name, host.name), body, is_async=True)
