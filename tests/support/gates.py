"""Pipes that processes wait on, so that a test can tell without a clock who still lives."""

from __future__ import annotations

import errno
import os
import select
from pathlib import Path

import anyio.to_thread

_PATIENCE = 60_000  # milliseconds; only a test that fails waits so long


def make_gate(folder: Path) -> Path:
    """A pipe called ``gate``: opening it for writing waits for somebody who reads, and back."""
    gate = folder / "gate"
    os.mkfifo(gate)
    return gate


async def hold(gate: Path) -> int:
    """The writing end of a gate, once somebody surely has it open for reading."""
    return await anyio.to_thread.run_sync(os.open, gate, os.O_WRONLY, abandon_on_cancel=True)


def nobody_waits(gate: Path) -> bool:
    """Whether nobody has the pipe open for reading, or whoever has is just ending."""
    try:
        held = os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        return error.errno == errno.ENXIO
    return has_no_reader(held)


def has_no_reader(held: int) -> bool:
    """Whether the last reader of this writing end goes away; closes it.

    A process that was killed does nothing any more, but the system takes its files from it a
    moment later; the system tells when.
    """
    poll = select.poll()
    poll.register(held, 0)
    try:
        return any(event & select.POLLERR for _, event in poll.poll(_PATIENCE))
    finally:
        os.close(held)
