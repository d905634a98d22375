"""What carries messages to a server and back: streams as the MCP package wants them.

A transport is entered and left by the server's own task (`toolflow.tools.mcp.host`), which is what
task groups ask for. The one for commands is a class and no generator, so that an error that passes
through it stays what it is, and does not become a group of one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from toolflow.runtime.failure import first_of
from toolflow.tools.mcp.child import Child
from toolflow.tools.mcp.definition import Definition, HttpServer, StdioServer
from toolflow.tools.mcp.life import LOST, Life
from toolflow.tools.mcp.wire import Lines, TooLong, read_line, refusal, write_line

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared.message import SessionMessage

    Sent = MemoryObjectSendStream[SessionMessage]
    Got = MemoryObjectReceiveStream[SessionMessage | Exception]
    Streams = tuple[Got, Sent]

_LAST = 0.5  # seconds for what may still be queued for a server that is to end
_DYING = 2.0  # seconds in which a server that closed a pipe may turn out to have ended
_UNREAD = 64  # messages that were read and nobody has looked at; then the server has to wait
_CONNECT = 30.0  # seconds; how long an answer may take is for the policy to say


def transport(server: Definition, life: Life) -> AbstractAsyncContextManager[Streams]:
    """The transport to a server; entering it starts the server where that is a command.

    Args:
        server: How it is reached.
        life: Is told when the server goes, and what it writes besides.
    """
    return StdioTransport(server, life) if isinstance(server, StdioServer) else _http(server)


@asynccontextmanager
async def _http(server: HttpServer) -> AsyncIterator[Streams]:
    import httpx2  # noqa: PLC0415  # comes with the package mcp, an extra
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415  # an extra

    timeout = httpx2.Timeout(_CONNECT, read=None)
    async with (
        httpx2.AsyncClient(headers=dict(server.headers or {}), timeout=timeout) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams  # type: ignore[misc]  # protocols there, the classes behind them here


class StdioTransport:
    """A process that reads messages from its stdin and writes others to its stdout.

    Args:
        server: What to start.
        life: See `transport`.
    """

    def __init__(self, server: StdioServer, life: Life) -> None:
        self._server = server
        self._life = life
        self._tasks = anyio.create_task_group()
        self._scopes: list[anyio.CancelScope] = []
        self._written = anyio.Event()
        self._errors_ended = anyio.Event()

    async def __aenter__(self) -> Streams:
        """Start the server.

        Raises:
            ToolFailure: If it cannot be started.
        """
        # What goes out is queued without bound, so that a call that is cut off, and the word of
        # it to the server, never wait for a server that does not read.
        self._outgoing: Sent
        self._outgoing, self._to_write = anyio.create_memory_object_stream(float("inf"))
        self._was_read: MemoryObjectSendStream[SessionMessage | Exception]
        self._incoming: Got
        self._was_read, self._incoming = anyio.create_memory_object_stream(_UNREAD)
        try:
            self._child = Child(self._server)
        except BaseException:
            self._close_streams()
            raise
        try:
            await self._tasks.__aenter__()
        except BaseException:
            self._close()
            raise
        self._writing = self._start(self._write)
        for work in (self._child.wait, self._read, self._read_errors):
            self._start(work)
        return self._incoming, self._outgoing

    def _start(self, work: Callable[[], Awaitable[None]]) -> anyio.CancelScope:
        """Start a task that goes on while the transport is being left, also by cancellation."""
        scope = anyio.CancelScope(shield=True)

        async def shielded() -> None:
            with scope:
                await work()

        self._scopes.append(scope)
        self._tasks.start_soon(shielded)
        return scope

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the server with its whole process group, whatever happens.

        A second Ctrl-C may come while the first one is still being carried out, inside of any
        step on the way here. Then nobody waits for an orderly end any more.
        """
        self._life.going(LOST)  # if it has not gone by itself, how it ends now is no reason
        try:
            if error is None or first_of(error, KeyboardInterrupt) is None:
                with anyio.CancelScope(shield=True):
                    await self._end()
        finally:
            for scope in self._scopes:
                scope.cancel()
            try:
                await self._tasks.__aexit__(None, None, None)
            finally:
                self._close()

    async def _end(self) -> None:
        self._outgoing.close()
        self._incoming.close()
        with anyio.move_on_after(_LAST):  # what is queued, such as the word that a call is over
            await self._written.wait()
        self._writing.cancel()
        with anyio.move_on_after(_LAST):  # a second Ctrl-C may have broken the task off anywhere
            await self._written.wait()
        self._child.close_input()
        await self._child.end()
        with anyio.move_on_after(_LAST):
            await self._errors_ended.wait()

    def _close(self) -> None:
        self._child.kill()
        self._close_streams()

    def _close_streams(self) -> None:
        for stream in (self._outgoing, self._to_write, self._was_read, self._incoming):
            stream.close()

    # ---- the tasks ----

    async def _read(self) -> None:
        why = "it closed its output"
        lines = Lines()
        try:
            while chunk := await self._child.read_output():
                for line in lines.feed(chunk):
                    await self._take(line)
        except TooLong:
            why = "it sent a message that is too long"
        await self._gone(why)

    async def _take(self, line: bytes) -> None:
        message = read_line(line)
        if message is not None:
            await self._deliver(message)
        elif line.strip():
            self._life.take_odd(line)

    async def _deliver(self, message: SessionMessage) -> None:
        try:
            await self._was_read.send(message)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # nobody listens any more; read on all the same, so that the server can end

    async def _read_errors(self) -> None:
        while chunk := await self._child.read_errors():
            self._life.take_errors(chunk)
        self._errors_ended.set()

    async def _write(self) -> None:
        try:
            async for message in self._to_write:
                await self._write_one(message)
        except OSError:
            with anyio.move_on_after(_DYING):
                await self._child.exited.wait()
                return  # its last answers may still be in the pipe; who reads them tells its end
            await self._gone("it closed its input")
        finally:
            self._child.close_input()
            self._written.set()

    async def _write_one(self, message: SessionMessage) -> None:
        try:
            line = write_line(message)
        except ValueError:
            answer = refusal(message, "what the call says cannot be written as JSON")
            if answer is not None:
                await self._deliver(answer)
            return
        await self._child.write(line)

    async def _gone(self, why: str) -> None:
        with anyio.move_on_after(_DYING):  # how it ended, if it did, says more
            await self._child.exited.wait()
        how = self._child.how_it_ended
        why = why if how is None else f"it {how}"
        self._life.going(why)  # first: calls that wait look there, once the stream is closed
        self._was_read.close()
        with anyio.move_on_after(_LAST):  # answers that came in time are results
            while self._incoming.statistics().current_buffer_used:
                await anyio.lowlevel.checkpoint()
        self._life.end(why)
