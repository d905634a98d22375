"""Waking a task from wherever the lock that it waits for is given back: its own loop or another.

An `anyio.Event` belongs to one event loop. Whoever gives a lease back may be in another thread, in
another loop, or in no loop at all, so each waiter remembers its loop.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import anyio


def running_loop() -> Any:
    """The event loop of the running task: an asyncio loop or a trio token; ``None`` elsewhere."""
    trio = sys.modules.get("trio")  # where it was never imported, no task of it can run
    if trio is not None and trio.lowlevel.in_trio_task():
        return trio.lowlevel.current_trio_token()
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Waiter:
    """One waiting task. Made in that task."""

    __slots__ = ("_event", "_loop")

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._loop = running_loop()

    async def wait(self) -> None:
        """Wait until woken."""
        await self._event.wait()

    def wake(self) -> bool:
        """Wake the task, from any thread.

        Returns:
            Whether that was possible; it is not once the task's loop is closed.
        """
        loop = self._loop
        if running_loop() is loop:
            self._event.set()
            return True
        soon: Callable[..., object] = getattr(loop, "run_sync_soon", None) or (
            loop.call_soon_threadsafe
        )
        try:
            soon(self._event.set)
        except RuntimeError:  # asyncio: the loop is closed; trio: RunFinishedError is one as well
            return False
        return True
