"""Running the body of a tool: coroutines in a context of their own, functions in threads.

A body runs inside a worker task that outlives it, because a task of its own would cost more than
most of what a short call does. Two things make that invisible to the body: its coroutine is
stepped inside a copy of the caller's context, so that what it sets in context variables reaches no
sibling (conformance 34), and every cancellation goes through a scope that ends with it.
"""

from __future__ import annotations

import contextvars
import math
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from types import CoroutineType, coroutine
from typing import Any

import anyio
from anyio import to_thread
from anyio.lowlevel import RunVar

_threads: RunVar[anyio.CapacityLimiter | None] = RunVar("toolflow_threads", None)


@coroutine
def run_inside(
    context: contextvars.Context,
    start: Callable[[], Awaitable[Any]],
    on_wait: Callable[[], None] | None = None,
) -> Generator[Any, Any, Any]:
    """Start something awaitable and await it, each step inside a context.

    Args:
        context: The context; its variables are changed by what runs, the caller's are not.
        start: Called inside the context; gives what is awaited.
        on_wait: Called when it waits for the first time, if it does.

    Returns:
        What that gives.
    """
    try:
        body, waited_for = context.run(first_step, start)
    except StopIteration as end:
        return end.value
    if on_wait is not None:
        on_wait()
    return (yield from go_on(context, body, waited_for))


@coroutine
def go_on(
    context: contextvars.Context, body: Coroutine[Any, Any, Any], waited_for: Any
) -> Generator[Any, Any, Any]:
    """Await a coroutine that has begun, each step inside a context.

    Args:
        context: The context in which its first step was made.
        body: The coroutine.
        waited_for: What its first step gave, for the event loop.

    Returns:
        What the coroutine returns.
    """
    run = context.run
    while True:
        try:
            sent = yield waited_for
        except BaseException as error:  # noqa: BLE001  # passed on to the body, whatever it is
            step = partial(body.throw, error)
        else:
            step = partial(body.send, sent)
        try:
            waited_for = run(step)
        except StopIteration as end:
            return end.value


def first_step(start: Callable[..., Any], *args: Any) -> tuple[Coroutine[Any, Any, Any], Any]:
    """Start something awaitable; called inside the context in which it is to run.

    Returns:
        What runs, and what it waits for.

    Raises:
        StopIteration: If it has ended without waiting, with its value.
    """
    try:
        body = start(*args)
    except StopIteration as error:  # it is no coroutine that ends here
        raise RuntimeError("The body raised StopIteration.") from error
    if type(body) is not CoroutineType:
        body = _awaiting(body)
    return body, body.send(None)


async def _awaiting(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def stepped(context: contextvars.Context, body: Coroutine[Any, Any, Any]) -> Awaitable[Any]:
    """Await a coroutine, running each of its steps inside a context.

    Args:
        context: The context; its variables are changed by the coroutine, the caller's are not.
        body: The coroutine.

    Returns:
        What the coroutine returns.
    """
    return run_inside(context, lambda: body)


def own_copy(value: Any) -> Any:
    """A value whose lists, mappings and sets nobody else holds.

    Calls may share arguments, and the plan and the message hold them as well; what a body does to
    its own reaches none of them (conformance 26). Other objects are given on as they are.
    """
    kind = type(value)
    if kind is dict:
        return {key: own_copy(item) for key, item in value.items()}
    if kind is list:
        return [own_copy(item) for item in value]
    if kind is tuple:
        return tuple([own_copy(item) for item in value])
    return set(value) if kind is set else value


class ThreadBody:
    """A function that runs in a thread, which nobody can kill.

    Args:
        function: What to run.
        on_late_stop: Called in the thread when the function ends after it was given up; gets
            the value and the error, one of them ``None``.
    """

    def __init__(
        self,
        function: Callable[[], Any],
        on_late_stop: Callable[[Any, BaseException | None], None],
    ) -> None:
        self._function = function
        self._on_late_stop = on_late_stop
        self._lock = threading.Lock()
        self._given_up = False
        self._begun = False
        self.ended = False  # whether the function has returned or raised
        self._value: Any = None
        self._error: BaseException | None = None

    async def run(self) -> Any:
        """Run the function in a worker thread and wait for it.

        Returns:
            What it returns.

        Raises:
            BaseException: What it raises; or the event loop's cancellation, see `give_up`.
        """
        await to_thread.run_sync(self._work, abandon_on_cancel=True, limiter=_limiter())
        return self.result()

    def give_up(self) -> bool:
        """Stop waiting for the function.

        Returns:
            Whether it runs; then ``on_late_stop`` is called when it ends. A function that no
            thread has begun never will be.
        """
        with self._lock:
            self._given_up = True
            return self._begun and not self.ended

    def result(self) -> Any:
        """What an ended function returned; or raise what it raised."""
        if self._error is not None:
            raise self._error
        return self._value

    def _work(self) -> None:
        # What the function gives is kept here, not handed through the loop: trio refuses
        # coroutines, asyncio refuses some exceptions.
        with self._lock:
            self._begun = not self._given_up
        if not self._begun:  # the loop may drop what no thread has begun: then none ever shall
            return
        try:
            self._value = self._function()
        except BaseException as raised:  # noqa: BLE001  # raised in `result`, whatever it is
            self._error = raised
        with self._lock:
            self.ended = True
            late = self._given_up
        if late:
            self._on_late_stop(self._value, self._error)


def _limiter() -> anyio.CapacityLimiter:
    """A limiter without a limit: permits bound the calls of a run already.

    Nested runs need threads while their parents hold some, so a limit could stop both for ever.
    """
    limiter = _threads.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(math.inf)
        _threads.set(limiter)
    return limiter
