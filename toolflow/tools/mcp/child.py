"""The process of a server: its pipes, and its end with everything that it started (spec 6.8).

The package's own client for such servers ends a process group only where the server does not end
by itself in time; what a server that does leaves behind goes on. So the process is ours, and only
the session is the package's.

The pipes are read and written by the event loop, so nothing here holds a thread but the wait for
the end of the process. Whatever becomes of the loop, `Child.kill` needs none: the group is ended
even where a second Ctrl-C breaks off an orderly end.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import anyio

from toolflow.tools.mcp.definition import StdioServer
from toolflow.tools.process import end_process, how_it_ended, in_thread, signal_group, start_process

_CHUNK = 65_536  # bytes that are read at once
_REAP = 5.0  # seconds in which the system lets a killed process end


class Child:
    """The process of one server.

    Args:
        server: What to start.

    Attributes:
        exited: Set when the process itself has ended, though others of its group may live on; or
            when nobody waits for that any more.

    Raises:
        ToolFailure: If it cannot be started.
    """

    def __init__(self, server: StdioServer) -> None:
        from mcp.client.stdio import get_default_environment  # noqa: PLC0415  # slow to import

        self._grace = server.grace
        self._process = start_process(
            [server.command, *server.args],
            str(server.cwd) if server.cwd is not None else str(Path.cwd()),
            {**get_default_environment(), **(server.env or {})},
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.exited = anyio.Event()
        self._ended = False
        self._waits: set[anyio.CancelScope] = set()
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._pipes = [pipe for pipe in pipes if pipe is not None]
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in self._pipes)
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)

    @property
    def how_it_ended(self) -> str | None:
        """How the process ended, as the end of a sentence; ``None`` while it runs."""
        code = self._process.returncode
        return None if code is None else how_it_ended(code)

    async def wait(self) -> None:
        """Wait for the process itself to end; who reads then gets the rest, and then nothing."""
        try:
            await in_thread(self._process.wait)
        finally:
            self.exited.set()
            for scope in self._waits:
                scope.cancel()

    async def read_output(self) -> bytes:
        """The next bytes of what it writes to stdout; none when that has ended."""
        return await self._read(self._stdout)

    async def read_errors(self) -> bytes:
        """The next bytes of what it writes to stderr; none when that has ended."""
        return await self._read(self._stderr)

    async def _read(self, pipe: int) -> bytes:
        """Read; whoever else holds the pipe of a process that has ended is not waited for."""
        while True:
            with anyio.CancelScope() as scope:
                self._waits.add(scope)
                if self.exited.is_set():
                    scope.cancel()
                await anyio.wait_readable(pipe)  # first, so that a flood leaves others their turn
            self._waits.discard(scope)
            try:
                return os.read(pipe, _CHUNK)
            except BlockingIOError:
                if self.exited.is_set():
                    return b""

    async def write(self, data: bytes) -> None:
        """Write to its stdin.

        Args:
            data: All of it is written before this returns.

        Raises:
            OSError: If it reads no more.
        """
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(self._stdin, rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._stdin)

    def close_input(self) -> None:
        """Close its stdin, which tells it to end. Nobody may be writing."""
        self._pipes[0].close()

    async def end(self) -> None:
        """End the process and its group: it may end by itself, is asked to, is made to."""
        with anyio.move_on_after(self._grace):
            await self.exited.wait()
            if self._process.returncode is None:
                return  # the loop itself is being ended: `kill` does not wait
        await end_process(self._process, self._grace)
        self._ended = True

    def kill(self) -> None:
        """See to it that nothing of the group is left, now; called last, in any case."""
        if not self._ended:
            signal_group(self._process.pid, signal.SIGKILL)
            try:
                self._process.wait(_REAP)
            except subprocess.TimeoutExpired:  # the system cannot end it; there is no more to do
                pass
        for pipe in self._pipes:
            pipe.close()
