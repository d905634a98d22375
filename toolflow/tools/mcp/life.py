"""What is known of how a server is doing: whether it is there, and what it said besides.

Transport, host and calls of a server share one of these; the transport is the first to know that
the server has gone.
"""

from __future__ import annotations

import re
from collections import deque

import anyio

_LINES = 20  # lines of stderr that are kept
_WIDTH = 500  # characters of a line
_TOLD = 3  # lines that a message shows
CLOSED = "it was closed"
LOST = "its connection was lost"
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


class Life:
    """The life of one server.

    Attributes:
        why: Why it is going or has gone, as the end of a sentence; ``None`` while it is there.
        gone: Set when it has gone, and what it had still answered was heard.
        odd: How many lines of its output were no messages.
    """

    def __init__(self) -> None:
        self.gone = anyio.Event()
        self.why: str | None = None
        self.odd = 0
        self._odd_line: str | None = None
        self._lines: deque[str] = deque(maxlen=_LINES)
        self._rest = b""

    def going(self, why: str) -> None:
        """It is going: new calls fail at once. The first reason counts."""
        if self.why is None:
            self.why = why

    def is_going(self) -> bool:
        """Whether it is going or has gone."""
        return self.why is not None

    def explain(self, why: str) -> str:
        """What went wrong with its connection is known now.

        Args:
            why: As the end of a sentence.

        Returns:
            The reason: this one, unless the server has gone by itself.
        """
        if self.why not in {None, LOST}:
            return self.why or why
        self.why = f"{LOST} ({why})"
        return why

    def end(self, why: str) -> None:
        """It has gone."""
        self.going(why)
        self.gone.set()

    def take_errors(self, chunk: bytes) -> None:
        """Keep the last lines of what it writes to stderr.

        Args:
            chunk: The next bytes of it, of any number.
        """
        *lines, rest = (self._rest + chunk).split(b"\n")
        self._lines.extend(clean for line in lines[-_LINES:] if (clean := clean_line(line)))
        self._rest = rest[-4 * _WIDTH :]

    def take_odd(self, line: bytes) -> None:
        """Count a line of its output that is no message."""
        self.odd += 1
        self._odd_line = clean_line(line)

    @property
    def errors(self) -> tuple[str, ...]:
        """The last lines that it wrote to stderr."""
        rest = clean_line(self._rest)
        return (*self._lines, rest) if rest else tuple(self._lines)

    @property
    def last_words(self) -> str:
        """What it said that may explain its end, as a sentence of one line; or nothing."""
        if errors := self.errors:
            return f" It wrote last: {' | '.join(errors[-_TOLD:])}"
        if self._odd_line is not None:
            return f" It wrote, which is no message: {self._odd_line}"
        return ""


def clean_line(line: bytes) -> str:
    """A line as text that is harmless on a terminal, cut to a reasonable width."""
    text = _ESCAPES.sub("", line[: 4 * _WIDTH].decode("utf-8", "replace"))
    text = "".join(sign if sign.isprintable() else " " for sign in text).strip()
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."
