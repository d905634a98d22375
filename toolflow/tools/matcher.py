"""Which lines match a pattern, in bounded time whatever the pattern (spec 16).

Plain text is looked for right here. A regular expression may need time without end ("(a+)+$"), and
while Python matches, nothing else of the program runs; so it is given to a process of its own,
which is ended when its time is over.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from toolflow.runtime.failure import ToolFailure, brief

_LONGEST = 1000  # characters of a pattern
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_CHILD = str(Path(__file__).with_name("regex_child.py"))

Matcher = Callable[[Sequence[str]], Sequence[int]]


@contextmanager
def matcher(pattern: str, *, literal: bool, ignore_case: bool, seconds: float) -> Iterator[Matcher]:
    """Open a matcher: a function from lines to the indexes of those that match.

    Args:
        pattern: A Python regular expression, or plain text.
        literal: Whether it is plain text.
        ignore_case: Whether upper and lower case are the same.
        seconds: How long a regular expression may take for everything.

    Raises:
        ToolFailure: If the pattern is not usable, or the time is over.
    """
    if not pattern or len(pattern) > _LONGEST:
        raise ToolFailure(f"pattern has {len(pattern)} characters. Use 1 to {_LONGEST}.")
    if literal or not _SPECIAL.search(pattern):
        found = re.compile(re.escape(pattern), re.IGNORECASE if ignore_case else 0).search
        yield lambda lines: [number for number, line in enumerate(lines) if found(line)]
        return
    with _Child(seconds) as child:
        reply = child.ask({"pattern": pattern, "ignore_case": ignore_case})
        if reply["error"] is not None:
            raise ToolFailure(
                f"pattern {pattern!r} is no regular expression ({reply['error']}). "
                "Mend it, or set literal."
            )
        yield child.ask


class _Child:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._late = False

    def __enter__(self) -> Self:
        try:
            self._process = subprocess.Popen(  # noqa: S603  # our own program, no shell
                [sys.executable, "-I", "-S", _CHILD],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, TypeError) as error:  # TypeError: Python does not know where it is
            raise ToolFailure(f"The search could not start a process ({brief(error)}).") from error
        self._timer = threading.Timer(self._seconds, self._end)
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.communicate()

    def _end(self) -> None:
        self._late = True
        self._process.kill()

    def ask(self, message: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = b""
        if not answer:
            if self._late:
                raise ToolFailure(
                    f"The pattern took longer than {self._seconds:g} seconds. "
                    "Use a simpler pattern, or search less."
                )
            raise ToolFailure("The search ended unexpectedly.")
        return json.loads(answer)
