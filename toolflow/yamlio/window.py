"""A file of text as a parser reads it: only what it has not passed yet is in memory.

Parsers say where something stands by counting characters from the beginning. The window keeps the
text between what was taken and what was read, so that such a place can be looked at.
"""

from __future__ import annotations

import codecs
import re
from typing import IO, Final

from toolflow.errors import Problem

_BETWEEN: Final = re.compile(r"[\s,-]*")  # what may stand before an item
FORBIDDEN: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # YAML 1.2.2, 5.1
)


class Window:
    """What of a file is at hand; a file of bytes for a parser.

    Args:
        file: The file.
        source: Its name, for problems.
        limit: How many characters may be at hand when more is to be read.
        chunk: How many bytes are read at least.
        forbidden: Characters that may not be in it; ``None``: every character may.

    Attributes:
        text: What is at hand.
        begin: How many characters stand before ``text``.
        at: How many characters of ``text`` are taken; they go when more is read.
        line: The line of the first character that is not taken, counted from 0.
        column: Its column, counted from 0.
        failure: What is wrong with the file itself. It seems to end there.
        over: Whether the whole file was read.
    """

    def __init__(
        self,
        file: IO[bytes],
        source: str,
        limit: int,
        *,
        chunk: int,
        forbidden: re.Pattern[str] | None = None,
    ) -> None:
        self.text = ""
        self.begin = self.at = self.line = self.column = 0
        self.failure: Problem | None = None
        self.over = False
        self._file = file
        self._source = source
        self._limit = limit
        self._chunk = chunk
        self._forbidden = forbidden
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._first = True

    def read(self, size: int = 0) -> bytes:  # noqa: ARG002  # a file's; parsers take what comes
        """The next bytes, without a byte order mark; none at the end, and where something is wrong.

        Where nothing of it is taken, as much is read as is at hand, so that a large item does not
        take longer than its size.

        Args:
            size: Of no account.
        """
        if self.over or self.failure is not None:
            return b""
        self.text, self.begin, self.at = self.text[self.at :], self.begin + self.at, 0
        if len(self.text) > self._limit:
            self.text = _BETWEEN.match(self.text)[0]  # type: ignore[index]  # it always matches
            allowed = f"Use at most {self._limit:,} characters for each."
            self._fail(f"The part that begins here is too big. {allowed}", "size")
            return b""
        data = self._file.read(max(self._chunk, len(codecs.BOM_UTF8), len(self.text)))
        self.over = not data
        try:
            more = self._decoder.decode(data, final=self.over)
        except UnicodeDecodeError as error:
            self.text += error.object[: error.start].decode()
            bad = f"0x{error.object[error.start]:02x}"
            self._fail(f"The byte {bad} is not UTF-8. Save the file as UTF-8.", "encoding")
            return b""
        if self._first:
            self._first = False
            data, more = data.removeprefix(codecs.BOM_UTF8), more.removeprefix("\ufeff")
        if self._forbidden is not None and (found := self._forbidden.search(more)):
            self.text += more[: found.start()]
            self._fail(forbidden_message(found.group()), "character")
            return b""
        self.text += more
        return data

    def take(self, end: int) -> str:
        """The text from what was taken last to a place.

        Args:
            end: The place, in characters from the beginning of the file.
        """
        piece = self.text[self.at : end - self.begin]
        self.line, self.column = self._place(piece)
        self.at += len(piece)
        return piece

    def _place(self, passed: str) -> tuple[int, int]:
        """Line and column behind some text that is not taken yet."""
        last = passed.rfind("\n")
        column = self.column + len(passed) if last < 0 else len(passed) - last - 1
        return self.line + passed.count("\n"), column

    def _fail(self, message: str, code: str) -> None:
        line, column = self._place(self.text[self.at :])
        self.failure = Problem(message, self._source, line + 1, column + 1, code)


def forbidden_message(character: str) -> str:
    """The sentence for a character that YAML does not allow."""
    allowed = "Write it as an escape in double quotes."
    return f"The character U+{ord(character):04X} is not allowed. {allowed}"
