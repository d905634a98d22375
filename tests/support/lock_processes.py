"""Real processes that share a lock store, told what to do by a test."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

_CHILD = Path(__file__).with_name("lock_child.py")
_ROOT = Path(__file__).parents[2]
_PATIENCE = 60_000  # milliseconds; only a test that fails waits so long


class Child:
    """One process. See ``lock_child.py`` for what it understands and tells."""

    def __init__(self, where: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(_CHILD), where],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
            bufsize=0,
        )
        self._rest = b""
        self.at = 0.0  # when a call got its keys last, by the clock of all processes
        assert self.hears() == ["ready"]

    @property
    def pid(self) -> int:
        return self.process.pid

    def tell(self, *what: Any) -> None:
        """Tell it what to do, without waiting for anything."""
        self.process.stdin.write(json.dumps(what).encode() + b"\n")

    def hears(self) -> list[Any]:
        """What it tells next."""
        poll = select.poll()
        poll.register(self.process.stdout, select.POLLIN)
        while b"\n" not in self._rest:
            assert poll.poll(_PATIENCE), "it says nothing"
            more = os.read(self.process.stdout.fileno(), 65536)
            assert more, f"it ended with {self.process.wait()}"
            self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        return json.loads(line)

    def do(self, *what: Any) -> list[Any]:
        """Tell it what to do; gives what it tells then."""
        self.tell(*what)
        return self.hears()

    def takes(self, name: str, *keys: str, inside: tuple[str, ...] = ()) -> str:
        """Let it ask for keys; tells whether it ``runs``, ``waits`` or ``fails``."""
        told = self.do("take", name, keys, inside)
        assert told[1] == name
        return told[0]

    def runs(self, name: str) -> int:
        """Wait until a call has its keys; gives the lease's number."""
        what, who, fence, self.at = self.hears()
        assert (what, who) == ("runs", name)
        return fence

    def ends(self, name: str) -> None:
        assert self.do("end", name) == ["ended", name]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def is_killed(self) -> None:
        """Wait until it has killed itself."""
        assert self.process.wait(60) == -signal.SIGKILL

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)
        self.is_stopped()

    def is_stopped(self) -> None:
        """Wait until it has been stopped."""
        _, status = os.waitpid(self.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it, if it has not ended."""
        self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
