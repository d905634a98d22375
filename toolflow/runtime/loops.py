"""Calling back into an event loop from anywhere: its own thread, another one, or after its end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

Caller = Callable[[Callable[[], None]], None]


def loop_caller() -> Caller:
    """A function that runs a callback in the event loop that runs now.

    Returns:
        A function, callable from any thread. In the loop's own thread it runs the callback at
        once; from another thread the loop runs it soon; once the loop has ended the callback is
        dropped, since nobody is left to care.
    """
    thread = threading.get_ident()
    from_elsewhere = _from_other_threads()

    def call(callback: Callable[[], None]) -> None:
        if threading.get_ident() == thread:
            callback()
            return
        try:
            from_elsewhere(callback)
        except RuntimeError:  # asyncio: the loop is closed; trio: RunFinishedError is one too
            pass

    return call


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

    return asyncio.get_running_loop().time
