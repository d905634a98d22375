"""MCP servers whose tools are in a toolbox, as long as they are open (spec 13)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import anyio

from toolflow.errors import ServerError, UsageError
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools.mcp.definition import Definition, HttpServer, StdioServer, check_name
from toolflow.tools.mcp.host import Host
from toolflow.tools.mcp.sdk import need_sdk
from toolflow.tools.mcp.shelf import Shelf


@dataclass(frozen=True, slots=True)
class ServerStatistics:
    """How a server is doing.

    Attributes:
        name: Its name.
        gone: Why it is not there any more, as the end of a sentence; ``None`` while it is.
        tools: Its own names of its tools, by the names that the model calls them by.
        left_out: Its own names of tools that are not there, for other tools have their names.
        protocol: The version of the protocol that it talks, or ``None`` where it never did.
        errors: The last lines that it wrote to stderr.
        odd_lines: How many lines of its output were no messages.
    """

    name: str
    gone: str | None
    tools: Mapping[str, str]
    left_out: tuple[str, ...]
    protocol: str | None
    errors: tuple[str, ...]
    odd_lines: int


class McpServers:
    """MCP servers, used as ``async with McpServers({"fs": StdioServer(command=...)}) as servers``.

    Inside the block their tools are in the toolbox; when a server changes its tools, so does the
    toolbox. When the block is left, however it is, the tools are taken out and every server is
    ended with all that it started. The block has to be entered and left in one task, and can be
    entered once.

    Args:
        servers: The servers by name. The name is the tool's ``server`` in the policy.
        tools: Where their tools go; a new toolbox by default.
        on_change: Called with a server's name after its tools have changed, and when it has gone.
            What it raises is passed over.

    Attributes:
        tools: The toolbox.

    Raises:
        UsageError: If a name is not allowed, or is given something that is no server.
    """

    def __init__(
        self,
        servers: Mapping[str, Definition],
        *,
        tools: Toolbox | None = None,
        on_change: Callable[[str], object] | None = None,
    ) -> None:
        for name, server in servers.items():
            check_name(name)
            if not isinstance(server, StdioServer | HttpServer):
                raise UsageError(f"server {name!r} is {server!r}. Use a StdioServer or HttpServer.")
        self.tools = tools if tools is not None else Toolbox()
        self._servers = dict(servers)
        self._on_change = on_change
        self._hosts: dict[str, Host] = {}
        self._shelves: dict[str, Shelf] = {}
        self._entered = False
        self._open = False

    async def __aenter__(self) -> Self:
        """Start all servers, side by side.

        Raises:
            UsageError: If the package mcp is not installed, or the block was entered before.
            ServerError: If one does not start, or the name of one's tool is taken. Then none is
                left running.
        """
        if self._entered:
            raise UsageError("these servers were opened before. Make another McpServers.")
        need_sdk()
        self._entered = True
        self._news = anyio.Event()
        self._hosts = {name: Host(name, to, self._hear) for name, to in self._servers.items()}
        self._shelves = {name: Shelf(self.tools, host) for name, host in self._hosts.items()}
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        try:
            for host in self._hosts.values():
                self._tasks.start_soon(host.run)
            failed = await self._all_up()
            taken = None if failed else self._show_all()
        except BaseException:
            await self.__aexit__()
            raise
        if failed is not None or taken is not None:
            await self.__aexit__()  # first: what a server says in its end may tell why
            raise taken or _did_not_start(failed)
        self._open = True
        return self

    async def __aexit__(self, *error: object) -> None:
        """Take the tools out, and end every server with all that it started."""
        self._open = False
        for name, shelf in self._shelves.items():
            self._hosts[name].close()
            shelf.clear()
        self._tasks.cancel_scope.cancel()
        await self._tasks.__aexit__(None, None, None)

    def statistics(self) -> tuple[ServerStatistics, ...]:
        """How the servers are doing, in the order in which they were given."""
        return tuple(_statistics(host, self._shelves[name]) for name, host in self._hosts.items())

    async def _all_up(self) -> Host | None:
        """Wait until all servers are up, or one is not to be; then it is the answer."""
        hosts = self._hosts.values()
        while True:
            failed = next((host for host in hosts if host.failure and not host.up), None)
            if failed is not None or all(host.up for host in hosts):
                return failed
            await self._news.wait()
            self._news = anyio.Event()

    def _show_all(self) -> ServerError | None:
        """Put in all tools, in the order of the servers; the error where a name is taken."""
        for name, shelf in self._shelves.items():
            shelf.show()
            if shelf.left_out:
                told = f"server {name!r} has a tool {shelf.left_out[0]!r}, whose name is taken"
                return ServerError(f"{told}. Give the server a prefix of its own.", server=name)
        return None

    def _hear(self, host: Host) -> None:
        self._news.set()
        if not self._open:
            return
        self._shelves[host.name].show()
        if self._on_change is not None:
            try:
                self._on_change(host.name)
            except Exception:  # noqa: BLE001, S110  # an observer never changes an outcome
                pass


def _did_not_start(host: Host | None) -> ServerError:
    assert host is not None
    life = host.life
    return ServerError(
        f"server {host.name!r} did not start: {host.failure}.{life.last_words}",
        server=host.name,
        output=life.errors,
    )


def _statistics(host: Host, shelf: Shelf) -> ServerStatistics:
    life = host.life
    return ServerStatistics(
        host.name,
        life.why,
        shelf.names,
        shelf.left_out,
        host.version,
        life.errors,
        life.odd,
    )
