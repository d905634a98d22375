"""What the fuzzers share: a bound on the time of every input, the command line, the loop."""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager


class HangError(BaseException):
    """An input took too long. No `Exception`, so that nothing takes it for a fault of its own."""


@contextmanager
def hangs_found() -> Iterator[None]:
    """In here, `bounded` works."""

    def hang(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGVTALRM, hang)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise a `HangError` where what is in here takes more seconds of processor time."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def options(about: str | None, *, bound: float) -> argparse.Namespace:
    """Read the command line of a fuzzer.

    Args:
        about: What it does.
        bound: Seconds of processor time that one input may take, where nothing else is said.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--bound", type=float, default=bound, help="seconds for one input")
    parser.add_argument("--only", type=int, help="one input, with what happens in it")
    return parser.parse_args()


def batches(given: argparse.Namespace, size: int) -> Iterator[tuple[int, int]]:
    """The inputs that were asked for, until the time is over.

    Args:
        given: What the command line says.
        size: How many inputs belong together.

    Returns:
        For each batch the number of its first input, and how many it has.
    """
    begin, at, end = time.monotonic(), given.first, given.first + given.inputs
    while at < end and time.monotonic() - begin < given.seconds:
        count = min(size, end - at)
        yield at, count
        at += count
