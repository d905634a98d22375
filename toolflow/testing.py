"""Helpers for tests of harnesses and tools: virtual time on both event loops, scripted tools.

In virtual time a clock stands still while anything can run, and jumps to the next deadline when
nothing can: a test that waits a thousand seconds takes a few milliseconds. On asyncio it always
goes the same way; trio draws the order in which it takes up what is ready at the same time, and a
test has to hold in every order. Threads are real, so a test of functions in threads should use
events, not times.
"""

from __future__ import annotations

import asyncio
import errno
import os
import selectors
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

import anyio

from toolflow.model.batch import CallPlan
from toolflow.model.event import Event
from toolflow.recording.journal.disk import Disk, FileDisk
from toolflow.runtime.toolbox import Toolbox

T = TypeVar("T")
Backend = Literal["asyncio", "trio"]


class _VirtualSelector(selectors.SelectSelector):
    """A selector that never waits for time: it moves the clock instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(0)
        if not ready:
            self.now += timeout
        return ready


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _VirtualSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def run_virtual(
    function: Callable[..., Awaitable[T]], *args: Any, backend: Backend = "asyncio"
) -> T:
    """Run an async function to its end in virtual time.

    Args:
        function: The async function.
        *args: Its arguments.
        backend: ``asyncio`` or ``trio`` (which must be installed).

    Returns:
        What the function returns.
    """
    if backend == "trio":
        import trio.testing  # noqa: PLC0415  # an extra: only who asks for it needs it

        clock = trio.testing.MockClock(autojump_threshold=0)
        return anyio.run(partial(function, *args), backend="trio", backend_options={"clock": clock})
    options = {"loop_factory": _VirtualLoop}
    return anyio.run(partial(function, *args), backend="asyncio", backend_options=options)


@dataclass(slots=True)
class ScriptedTools:
    """Tools that do what a test says, and note when.

    A call of any of them takes ``seconds`` (default 0), then returns ``returns`` (default its own
    ``name``) or raises ``RuntimeError(raises)``.

    Attributes:
        toolbox: The tools, for an engine.
        log: ``("start", name)`` and ``("end", name)`` in the order in which they happened.
        running: Names of calls whose bodies run now.
        most: The largest number of bodies that ran at once.
    """

    toolbox: Toolbox = field(default_factory=Toolbox)
    log: list[tuple[str, str]] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    most: int = 0

    def add(self, name: str, **declared: Any) -> None:
        """Add a scripted tool.

        Args:
            name: Its name.
            **declared: What `Toolbox.tool` takes: ``safe``, ``reads``, ``writes`` ...
        """
        self.toolbox.tool(name=name, **declared)(self._scripted(name))

    def _scripted(self, tool: str) -> Callable[..., Awaitable[Any]]:
        async def body(
            name: str = tool,
            seconds: float = 0.0,
            returns: Any = None,
            raises: str | None = None,
            key: str | None = None,  # noqa: ARG001  # for declarations that make keys of it
        ) -> Any:
            self.log.append(("start", name))
            self.running.add(name)
            self.most = max(self.most, len(self.running))
            try:
                await anyio.sleep(seconds)
            finally:
                self.running.discard(name)
                self.log.append(("end", name))
            if raises is not None:
                raise RuntimeError(raises)
            return name if returns is None else returns

        return body

    @property
    def order(self) -> list[str]:
        """The names of the calls in the order in which their bodies started."""
        return [name for what, name in self.log if what == "start"]


@dataclass(slots=True)
class EventRecorder:
    """A sink that keeps every event.

    Attributes:
        events: The events in order.
    """

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)

    def kinds(self, *wanted: str) -> list[tuple[str, str | None]]:
        """Kind and call of all events, or of those of certain kinds, in order."""
        return [(e.kind, e.call) for e in self.events if not wanted or e.kind in wanted]


class ProcessDied(BaseException):
    """Stands for the end of a process in the middle of something: nothing should catch it."""


@dataclass
class DiskFaults:
    """What goes wrong with the disk of a journal. Give ``faults.open`` as ``make_disk``.

    Attributes:
        room: How many more bytes fit; ``None``: as many as are wanted.
        read_only: Whether nothing can be written.
        dies_at: The write at which the process dies: its number, counted from 1, or what it
            contains; the first such.
        dies: Whether it does so ``before`` anything of it is written, in its middle (``during``),
            or ``after`` all of it.
        dying: What happens then: by default nothing but that `ProcessDied` is raised; a test with
            a process of its own really ends it.
        dead: Whether it has died; then nothing is written any more.
        log: ``write`` and ``sync`` with the bytes written, in order.
    """

    room: int | None = None
    read_only: bool = False
    dies_at: int | bytes | None = None
    dies: Literal["before", "during", "after"] = "during"
    dying: Callable[[], object] = bool
    dead: bool = False
    log: list[tuple[Literal["write", "sync"], bytes]] = field(default_factory=list)

    def open(self, path: Path) -> Disk:
        """Open a file that has these faults."""
        return _FaultyDisk(path, self)

    @property
    def writes(self) -> int:
        """How many writes there were."""
        return sum(what == "write" for what, _ in self.log)

    def on_disk(self) -> bytes:
        """What was written before the last sync."""
        last = max((place for place, (what, _) in enumerate(self.log) if what == "sync"), default=0)
        return b"".join(data for what, data in self.log[:last] if what == "write")


class _FaultyDisk(FileDisk):
    def __init__(self, path: Path, faults: DiskFaults) -> None:
        super().__init__(path)
        self._faults = faults

    def write(self, data: bytes) -> int:
        faults = self._faults
        self._alive()
        if faults.read_only:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        if faults.room is not None:
            data = data[: faults.room]
            faults.room -= len(data)
        if not data:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        faults.log.append(("write", data))
        at = faults.dies_at
        if not (at in data if isinstance(at, bytes) else at == faults.writes):
            return super().write(data)
        parts = {"before": 0, "during": len(data) // 2, "after": len(data)}
        if size := parts[faults.dies]:
            super().write(data[:size])
        faults.dead = True
        faults.dying()
        raise ProcessDied

    def sync(self) -> None:
        self._alive()
        super().sync()
        self._faults.log.append(("sync", b""))

    def cut(self, size: int) -> None:
        self._alive()
        super().cut(size)

    def _alive(self) -> None:
        if self._faults.dead:
            raise ProcessDied


def names(calls: tuple[CallPlan, ...]) -> list[str]:
    """The names of calls, in order."""
    return [call.name for call in calls]
