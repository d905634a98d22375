"""Running a command to its end, with everything that it started (spec 6.8).

The command leads a process group of its own. When it ends, times out or is cancelled, whatever is
left of the group is ended too: first asked (SIGTERM), then, after a grace, made to (SIGKILL). So
when the call is over, nothing of it goes on writing. What leaves the group on purpose (``setsid``)
is out of reach.

Threads wait and read, not the event loop's own subprocess support: there, waiting for the end of
a process also waits for everybody who holds its output, such as a server left in the background.
"""

from __future__ import annotations

import codecs
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import anyio
import anyio.to_thread

from toolflow.model.outcome import Outcome
from toolflow.runtime.results import ToolFailure

MAX_OUTPUT = 200_000  # bytes of output that are kept, half from its head, half from its tail
GRACE = 2.0  # seconds between asking a process to end and making it
_DRAIN = 1.0  # seconds for output that somebody outside the group still holds open
_SHELL = "/bin/sh"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Its exit code; the negative number of the signal that ended it.
        output: What it wrote to stdout and stderr, in the order of writing.
        timed_out: Whether its time was over and it was ended.
        note: What is odd about the output, or ``None``.
    """

    code: int
    output: str
    timed_out: bool = False
    note: str | None = None


async def run_process(
    command: str | Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    grace: float = GRACE,
    max_output: int = MAX_OUTPUT,
    keep: Callable[[str], object] | None = None,
) -> Ended:
    """Run a command to its end; on cancellation too, nothing of it is left.

    Args:
        command: A program with its arguments; or text for the shell.
        cwd: The folder that it runs in.
        env: Its whole environment, or ``None`` for the present one.
        timeout: Seconds until it is ended, or ``None``.
        grace: Seconds between asking it to end and making it.
        max_output: Bytes of output that are kept.
        keep: Is given the output so far whenever there is more, in a thread.

    Returns:
        How it ended. The exit code says nothing of processes that it left behind.

    Raises:
        ToolFailure: If it cannot be started.
    """
    process = start_process(command, cwd, env)
    output = _Output(max_output, keep)
    assert process.stdout is not None
    reader = threading.Thread(target=output.read, args=(process.stdout,), daemon=True)
    try:
        reader.start()
        with anyio.move_on_after(timeout) as scope:
            await in_thread(process.wait)
    finally:
        with anyio.CancelScope(shield=True):
            await end_process(process, grace)
            with anyio.move_on_after(_DRAIN):
                await in_thread(output.read_all.wait)
    text, note = output.text()
    if not output.read_all.is_set():
        note = "A process that left the command's group still holds its output."
    return Ended(process.returncode, text, scope.cancelled_caught, note)


def outcome_of_command(ended: Ended, timeout: float | None) -> Outcome:
    """The outcome of a command: ok only with exit code 0."""
    if ended.timed_out:
        error = f"The command was ended after {timeout:g} seconds, with all that it had started."
        return Outcome("timed_out", ended.output or None, error, note=ended.note)
    if ended.code == 0:
        return Outcome("ok", ended.output or "(no output)", note=ended.note)
    error = f"The command {how_it_ended(ended.code)}."
    return Outcome("failed", ended.output or None, error, note=ended.note)


def how_it_ended(code: int) -> str:
    """What an exit code says, as the end of a sentence: ``ended with exit code 1``."""
    return f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"


def start_process(
    command: str | Sequence[str],
    cwd: str,
    env: Mapping[str, str] | None,
    *,
    stdin: int = subprocess.DEVNULL,
    stderr: int = subprocess.STDOUT,
) -> subprocess.Popen[bytes]:
    """Start a command as the leader of a process group of its own.

    Args:
        command: A program with its arguments; or text for the shell.
        cwd: The folder that it runs in.
        env: Its whole environment, or ``None`` for the present one.
        stdin: What it reads, as for `subprocess.Popen`.
        stderr: Where its errors go; by default where its output goes, which is a pipe.

    Returns:
        The process; end it with `end_process`.

    Raises:
        ToolFailure: If it cannot be started.
    """
    if os.name != "posix":
        raise ToolFailure("Commands need process groups, which this system has not.")
    argv = [_SHELL, "-c", command] if isinstance(command, str) else list(command)
    if not command or not argv[0]:
        raise ToolFailure("The command is empty. Give a program with its arguments.")
    if not Path(cwd).is_dir():
        raise ToolFailure("The folder to run in is not there, or is no folder.")
    try:
        return subprocess.Popen(  # noqa: S603  # running commands is what this tool is for
            argv,
            cwd=cwd,
            env=None if env is None else dict(env),
            bufsize=0,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise ToolFailure(f"There is no {error.filename!r} to run.") from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ToolFailure(f"{argv[0]!r} cannot be run: {why}.") from error


async def end_process(process: subprocess.Popen[bytes], grace: float) -> None:
    """End a process that `start_process` started, with its group.

    Args:
        process: The process. Its number is not given to others while a member of the group is
            there.
        grace: Seconds between asking it to end and making it.
    """
    if process.returncode is None:
        signal_group(process.pid, signal.SIGTERM)
        with anyio.move_on_after(grace):
            await in_thread(process.wait)
    signal_group(process.pid, signal.SIGKILL)
    await in_thread(process.wait)


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to all processes of a group, if there are any."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):  # nobody left; macOS says so for the dead, too
        pass


async def in_thread(wait: Callable[[], object]) -> None:
    """Wait in a thread of its own, so that no pool of threads can run dry of waiting ones."""
    await anyio.to_thread.run_sync(wait, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Output:
    """Head and tail of a stream of any length."""

    def __init__(self, most: int, keep: Callable[[str], object] | None) -> None:
        self.read_all = threading.Event()
        self._keep = keep
        self._using = threading.Lock()
        self._half = most // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def read(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), 65_536):
                self._add(chunk)
                if self._keep is not None:
                    self._keep(self.text()[0])
        self.read_all.set()

    def _add(self, chunk: bytes) -> None:
        with self._using:
            room = self._half - len(self._head)
            self._head += chunk[:room]
            self._tail += chunk[room:]
            over = max(0, len(self._tail) - self._half)
            del self._tail[:over]
            self._left_out += over

    def text(self) -> tuple[str, str | None]:
        """The text, cut at characters, and a note where bytes were no UTF-8."""
        with self._using:
            head, tail, left_out = bytes(self._head), bytes(self._tail), self._left_out
        if left_out == 0:
            return _decoded(head + tail)
        whole_head, whole_tail = _whole_head(head), _whole_tail(tail)
        left_out += len(head) + len(tail) - len(whole_head) - len(whole_tail)
        first, odd = _decoded(whole_head)
        last, odd_too = _decoded(whole_tail)
        return f"{first}\n[... {left_out} bytes left out ...]\n{last}", odd or odd_too


def _decoded(data: bytes) -> tuple[str, str | None]:
    try:
        return data.decode(), None
    except UnicodeDecodeError:
        return data.decode(errors="replace"), "Bytes of the output that are no UTF-8 were replaced."


def _whole_head(data: bytes) -> bytes:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    pending, _ = decoder.getstate()
    return data[: len(data) - len(pending)]


def _whole_tail(data: bytes) -> bytes:
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]
