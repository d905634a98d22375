"""Calling back into an event loop from anywhere: its own thread, another one, or after its end."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from typing import TypeVar

import anyio
import anyio.lowlevel

from toolflow.errors import UsageError

T = TypeVar("T")
Caller = Callable[[Callable[[], None]], None]


class Mailbox:
    """Callbacks that a task is to run, and that task's wait for the end.

    Args:
        run: Runs a callback, and lets none of its errors out.
    """

    def __init__(self, run: Callable[[Callable[[], None]], None]) -> None:
        self._run = run
        self._inbox: deque[Callable[[], None]] = deque()
        self._bell: anyio.Event | None = None
        self._closed = False

    def deliver(self, callback: Callable[[], None]) -> None:
        """Leave a callback; called in the loop's thread, maybe outside of all tasks."""
        if self._closed:  # nothing can start any more, so it needs no task
            self._run(callback)
        else:
            self._inbox.append(callback)
            self.ring()

    def ring(self) -> None:
        """Have the task look again whether its wait is over."""
        if self._bell is not None:
            self._bell.set()

    async def until(self, over: Callable[[], bool]) -> None:
        """Run what is delivered, until something holds.

        Args:
            over: Tells whether it holds; asked after every ring.
        """
        while True:
            while self._inbox:
                self._run(self._inbox.popleft())
            if over():
                await anyio.lowlevel.checkpoint()  # so that a cancellation is not overheard
                return
            self._bell = anyio.Event()
            await self._bell.wait()

    def close(self) -> None:
        """Nobody waits any more: run what is left, and what comes at once."""
        self._closed = True
        while self._inbox:
            self._run(self._inbox.popleft())


def _at_once(callback: Callable[[], None]) -> None:
    callback()


def loop_caller(deliver: Callable[[Callable[[], None]], None] = _at_once) -> Caller:
    """A function that runs a callback in the event loop that runs now.

    A callback may start tasks, and on asyncio that takes a task to do it from. So it is not enough
    to be in the loop's thread: a signal handler and a timer of the loop are outside of all tasks.

    Args:
        deliver: Called in the loop's thread, maybe outside of all tasks, with a callback that a
            task is to run. By default it is run right there.

    Returns:
        A function, callable from anywhere. In a task of the loop it runs the callback at once;
        from elsewhere the callback is delivered soon; once the loop has ended it is dropped,
        since nobody is left to care.
    """
    thread = threading.get_ident()
    from_elsewhere = _from_other_threads()

    def call(callback: Callable[[], None]) -> None:
        if threading.get_ident() == thread and in_task():
            callback()
            return
        try:
            from_elsewhere(partial(deliver, callback))
        except RuntimeError:  # asyncio: the loop is closed; trio: RunFinishedError is one too
            pass

    return call


def in_task() -> bool:
    """Whether a task of an event loop runs here."""
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        return True
    import asyncio  # noqa: PLC0415  # only where a loop of it runs, so it is loaded anyway

    try:
        return asyncio.current_task() is not None
    except RuntimeError:  # no loop runs here
        return False


def in_own_loop(function: Callable[[], Awaitable[T]], name: str) -> T:
    """Run an async function from code that is not asynchronous, in an event loop of its own.

    Args:
        function: The function.
        name: The method of the engine that it stands for.

    Returns:
        What it returns.

    Raises:
        UsageError: If an event loop runs in this thread already: it would stand still meanwhile.
    """
    if _loop_runs():
        raise UsageError(
            f"{name}_sync: an event loop runs in this thread. Use `await engine.{name}(...)`."
        )
    return anyio.run(function)


def _loop_runs() -> bool:
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_run():
        return True
    import asyncio  # noqa: PLC0415  # anyio.run loads it anyway

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def next_turn() -> Callable[[Callable[[], None]], object]:
    """What has the event loop that runs now call something in its next turn, outside of all tasks.

    It is for the loop's own thread.
    """
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_run():
        return trio.lowlevel.current_trio_token().run_sync_soon  # type: ignore[no-any-return]
    import asyncio  # noqa: PLC0415  # only where a loop of it runs, so it is loaded anyway

    return asyncio.get_running_loop().call_soon


def _from_other_threads() -> Callable[[Callable[[], None]], object]:
    trio = sys.modules.get("trio")  # a loop of a library that was never imported does not run
    if trio is not None:
        try:
            return trio.lowlevel.current_trio_token().run_sync_soon  # type: ignore[no-any-return]
        except RuntimeError:
            pass
    import asyncio  # noqa: PLC0415  # only where a loop of it runs, so it is loaded anyway

    return asyncio.get_running_loop().call_soon_threadsafe


def loop_clock() -> Callable[[], float]:
    """The clock of the event loop that runs now, in seconds, without a look-up at every call."""
    trio = sys.modules.get("trio")
    if trio is not None:
        try:
            trio.lowlevel.current_task()
        except RuntimeError:
            pass
        else:
            return trio.current_time  # type: ignore[no-any-return]
    import asyncio  # noqa: PLC0415  # only where a loop of it runs, so it is loaded anyway

    loop = asyncio.get_running_loop()
    # The plain loop's clock is this one, with a function around it.
    return monotonic if type(loop).time is asyncio.BaseEventLoop.time else loop.time


def in_order() -> bool:
    """Whether the event loop that runs now takes up what is ready in the order of becoming ready.

    asyncio does. trio takes it up in any order, on purpose.
    """
    trio = sys.modules.get("trio")
    return trio is None or not trio.lowlevel.in_trio_run()
