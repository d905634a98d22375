"""The command in a process of its own: what it says, how long it takes, the most memory it has."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

MB = 1_000_000


class Peak(NamedTuple):
    """What a run of the command took.

    Attributes:
        out: What it wrote to standard output: the last 100,000 bytes of it.
        seconds: Seconds of processor time.
        megabytes: The most of its resident set, as the system tells it.
    """

    out: str
    seconds: float
    megabytes: float


def peak(*words: str) -> Peak:
    """Run the command.

    Args:
        words: The words behind the program's name.

    Raises:
        AssertionError: If it does not end with 0.
    """
    command = [sys.executable, "-m", "toolflow", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        out = b""
        while piece := process.stdout.read(1 << 16):
            out = (out + piece)[-100_000:]
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.stderr is not None
        assert process.returncode == 0, process.stderr.read().decode()
    kilobytes = used.ru_maxrss if sys.platform != "darwin" else used.ru_maxrss / 1024
    return Peak(out.decode(), used.ru_utime + used.ru_stime, kilobytes * 1024 / MB)
