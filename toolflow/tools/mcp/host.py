"""One server: its connection, its tools, its calls.

The package's client opens task groups, which one task has to enter and leave. That is the server's
own task (`Host.run`): it connects, tells that the tools are there, waits for changes of them, and
leaves when the server has gone or is to end. Calls come from the tasks of runs; they only send a
request and wait for its answer, which any task may do.

Nothing leaves `Host.run` but cancellation: what goes wrong with one server is told, and is no
reason to end what goes on beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio
from anyio.lowlevel import RunVar

from toolflow.model.outcome import Outcome
from toolflow.runtime.failure import brief, first_of
from toolflow.runtime.results import ToolFailure
from toolflow.tools.mcp.definition import Definition
from toolflow.tools.mcp.life import CLOSED, LOST, Life
from toolflow.tools.mcp.listing import Listed, list_tools
from toolflow.tools.mcp.results import outcome_of_result
from toolflow.tools.mcp.sdk import client_info
from toolflow.tools.mcp.transport import transport

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client.session import IncomingMessage

_CUT = "Connection closed"  # what the package says of a call whose connection has ended
_PAUSE = 1.0  # seconds until a lost subscription is asked for again; doubled each time, up to ...
_LONGEST_PAUSE = 60.0

_loop: RunVar[object] = RunVar("toolflow_mcp_loop")


class Host:
    """One server.

    Args:
        name: Its name.
        definition: How it is reached.
        changed: Called when it is up, when its tools have changed, and when it has gone.

    Attributes:
        up: Whether it came up, be it that it has gone since.
        tools: Its tools, as listed last.
        failure: Why it did not come up, as the end of a sentence, or ``None``.
        life: How it is doing.
        version: The version of the protocol that it talks, or ``None``.
    """

    def __init__(self, name: str, definition: Definition, changed: Callable[[Host], None]) -> None:
        self.name = name
        self.definition = definition
        self.up = False
        self.tools: tuple[Listed, ...] = ()
        self.failure: str | None = None
        self.life = Life()
        self.version: str | None = None
        self._changed = changed
        self._client: Client | None = None
        self._stale = anyio.Event()
        self._home = _home()

    # ---- its task ----

    async def run(self) -> None:
        """Connect, and stay until the server has gone or this is cancelled."""
        from mcp import Client  # noqa: PLC0415  # an extra, and slow to import

        limit = self.definition.start_timeout
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + limit) as scope:
                async with Client(
                    transport(self.definition, self.life),
                    mode="auto" if self.definition.protocol == "auto" else "legacy",
                    message_handler=self._hear,
                    client_info=client_info(),
                    cache=None,
                ) as client:
                    self.tools = await list_tools(client)
                    scope.deadline = math.inf
                    await self._stay(client)
            if scope.cancelled_caught:
                self.failure = f"it did not list its tools within {limit:g} seconds"
        except Exception as error:  # noqa: BLE001  # whatever a server makes the package raise
            self.failure = self.life.explain(_why(error))
        finally:
            self.life.end(self.failure or CLOSED)
            self._changed(self)

    def close(self) -> None:
        """Tell it that it is going to be cancelled."""
        self.life.going(CLOSED)

    async def _stay(self, client: Client) -> None:
        self.version = client.protocol_version
        self._client, self.up = client, True
        self._changed(self)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._follow, client)
                tasks.start_soon(self._listen, client)
                await self.life.gone.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._client = None
            self.life.end(LOST)  # before the client ends: it makes calls that wait fail

    # ---- changes of its tools ----

    async def _hear(self, message: IncomingMessage) -> None:
        from mcp.types import ToolListChangedNotification  # noqa: PLC0415  # an extra

        if isinstance(message, ToolListChangedNotification):
            self._stale.set()

    async def _listen(self, client: Client) -> None:
        """Newer servers tell of changes only to those who ask."""
        from mcp.client.subscriptions import SubscriptionLost  # noqa: PLC0415  # an extra

        pause = _PAUSE
        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    self._stale.set()
                    async for _ in changes:
                        self._stale.set()
                        pause = _PAUSE
            except SubscriptionLost:
                pass
            except Exception:  # noqa: BLE001  # an older server, or one that does not tell
                return
            await anyio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _follow(self, client: Client) -> None:
        """Ask for the tools again whenever the server says that they have changed."""
        while True:
            await self._stale.wait()
            self._stale = anyio.Event()
            try:
                tools = await list_tools(client)
            except Exception:  # noqa: BLE001, S112  # the list as it was is better than none
                continue
            if tools != self.tools:
                self.tools = tools
                self._changed(self)

    # ---- calls ----

    async def call(self, tool: str, args: Mapping[str, Any]) -> Outcome:
        """Call a tool of the server. Cancelling this tells the server to stop.

        Args:
            tool: The server's own name for it.
            args: The arguments.

        Returns:
            What came back.

        Raises:
            ToolFailure: If nothing came back.
        """
        from mcp import MCPError  # noqa: PLC0415  # an extra

        client = self._client
        if client is None or self.life.is_going():
            raise ToolFailure(self._gone())
        if self._home is not _home():
            raise ToolFailure(f"Server {self.name!r} was opened in another event loop.")
        try:
            result = await client.call_tool(tool, dict(args))
        except MCPError as error:
            if self.life.is_going() or str(error) == _CUT:
                raise ToolFailure(self._gone()) from error
            raise ToolFailure(f"Server {self.name!r} refused the call: {error}") from error
        except Exception as error:
            raise ToolFailure(f"Server {self.name!r} gave no result: {_why(error)}.") from error
        return outcome_of_result(result)

    def _gone(self) -> str:
        return f"Server {self.name!r} is gone: {self.life.why or LOST}."


def _home() -> object:
    """Something that stands for the event loop in which this is called."""
    home = _loop.get(None)
    if home is None:
        home = object()
        _loop.set(home)
    return home


def _why(error: BaseException) -> str:
    """Why a server cannot be used, as the end of a sentence."""
    from pydantic import ValidationError  # noqa: PLC0415  # slow to import; loaded by now

    if (failure := first_of(error, ToolFailure)) is not None:
        text = str(failure).rstrip(".")
        return text[:1].lower() + text[1:]
    if (invalid := first_of(error, ValidationError)) is not None:
        fault = invalid.errors(include_url=False, include_input=False)[0]
        return f"what it sent is not valid ({'.'.join(map(str, fault['loc']))}: {fault['msg']})"
    return brief(error)
