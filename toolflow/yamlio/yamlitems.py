"""The items of a list in a YAML document, one by one, in memory that does not grow with it.

Two ways were tried on 100 MB. Cutting the text of a list in block style at its dashes and reading
each piece as a document of its own is as fast as reading the events of the whole (both spend their
time on the events), but knows one style only, and a wrong cut has to be noticed. So the events are
read from the file, and reading pauses after each item; every style, every limit and every place is
that of a document that is read at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, Any, Final

from toolflow.errors import Problem
from toolflow.yamlio.build import Builder, StopReadingError
from toolflow.yamlio.document import place
from toolflow.yamlio.found import FoundError, Head, Item, NoListError
from toolflow.yamlio.frames import Frame
from toolflow.yamlio.window import FORBIDDEN, Window
from toolflow.yamlio.wording import parse_problem, tab_problems

CHUNK: Final = 1 << 16  # bytes that are read at once
_BLOCK: Final = 1 << 20  # bytes that are looked through at once
_WIDEST: Final = 100  # columns; nobody indents a whole document deeper


class YamlItems(Builder):
    """Reads a document up to the end of one item after the other.

    Args:
        file: The file, at its beginning.
        source: Its name.
        key: The key of the root that holds the list.
        limit: How many characters an item may have, and everything else together.
    """

    def __init__(self, file: IO[bytes], source: str, key: str, limit: int) -> None:
        super().__init__("", source)
        self._name = key
        self._limit = limit
        self._window = Window(file, source, limit, chunk=CHUNK, forbidden=FORBIDDEN)
        self._in_flow = False
        self._list: Frame | None = None
        self._list_at = 0
        self._held = 0
        self._known = 0

    def open(self, event: Any, *, mapping: bool) -> None:
        """Begin a list or a mapping; after the items of the one list reading pauses."""
        super().open(event, mapping=mapping)
        if len(self.stack) == 2:
            if not mapping:
                raise StopReadingError  # there is no key in it
            self._in_flow = bool(event.flow_style)
        elif len(self.stack) == 3 and self._list is None and event.anchor is None:
            outer = self.stack[1]
            if not mapping and outer.mapping and outer.key == self._name:
                self._list, self._list_at = self.stack[2], event.start_mark.index
                self.pause = 3

    def close(self) -> None:
        """End a list or a mapping."""
        if self.stack[-1] is self._list:
            self.pause = 0
        super().close()

    def head(self, file: IO[bytes]) -> Head | None:
        """The mapping without the items of its list.

        Args:
            file: The same file once more, at its beginning, to look for keys behind the list.

        Returns:
            The head; ``None`` where there is no such list.

        Raises:
            FoundError: If the document cannot be read; where nothing of the root can stand behind
                the list, as far as the end of its first item.
            NoListError: If there is too much before the list.
        """
        going, text = self._go()
        outer = self.stack[1] if len(self.stack) > 1 else None
        if going and outer is not None and not self._follows(text, file):
            assert self._list is not None
            spot = {**outer.spot, self._name: (outer.key_mark, self._list.spot[:1])}
            return Head({**outer.value, self._name: []}, spot, text[: self._list_at])
        while going:
            self._taken("")
            going, _ = self._go()
        if self._list is None or not self.root.value:
            return None
        self._taken("")
        return Head(self.root.value[0], self.root.spot[1], "")

    def items(self) -> Iterator[Item]:
        """The items of the list.

        Raises:
            FoundError: If the document cannot be read any further.
        """
        going = True
        while going:
            going, text = self._go()
            yield from self._taken(text)

    def keys(self) -> frozenset[str]:
        """The keys of the root, once all items were read."""
        value = self.root.value[0] if self.root.value else None
        return frozenset(value) if isinstance(value, dict) else frozenset()

    def _go(self) -> tuple[bool, str]:
        """Read on to the end of an item, or of the document; whether an item ended, and the text.

        Raises:
            FoundError: If something is wrong.
        """
        from yaml import YAMLError  # noqa: PLC0415 - heavy: loaded when the first YAML is read

        going, stopped, window = False, False, self._window
        try:
            going = self.read(window)
        except StopReadingError:
            stopped = True
        except (YAMLError, ValueError, OverflowError) as error:
            if window.failure is None:
                said = parse_problem(error, window.text, self.source, begin=window.begin)[0]
                self.problems.append(said)
        if window.failure is not None:
            if window.failure.code == "size" and self._list is None:
                raise NoListError
            raise FoundError((window.failure,))
        begin, line, column = window.begin + window.at, window.line, window.column
        text = window.take(self.end if going else window.begin + len(window.text))
        if not stopped and "\t" in text:
            self.problems += self._tabs(text, begin, line, column)
        self.quoted.clear()
        self._bound_anchors(text)
        if self.problems:
            raise FoundError(sorted(self.problems, key=lambda p: (p.line or 0, p.column or 0)))
        return going, text

    def _tabs(self, text: str, begin: int, line: int, column: int) -> Iterator[Problem]:
        quoted = [(start - begin, end - begin) for start, end in self.quoted]
        for found in tab_problems(text, quoted, len(text), self.source):
            first = found.line == 1
            yield replace(
                found,
                line=(found.line or 0) + line,
                column=(found.column or 0) + (column if first else 0),
            )

    def _bound_anchors(self, text: str) -> None:
        """What an anchor names stays in memory, so there is a bound to that too."""
        if len(self.anchors) != self._known:
            self._known = len(self.anchors)
            self._held += len(text)
            if self._held > self._limit:
                allowed = f"Use at most {self._limit:,} characters with anchors."
                said = Problem(f"The anchors name too much. {allowed}", self.source, code="size")
                self.problems.append(said)

    def _taken(self, text: str) -> Iterator[Item]:
        """Take the items that were read out of the list."""
        if self._list is None:
            return iter(())
        values, spots = self._list.value[:], self._list.spot[1:]
        del self._list.value[:], self._list.spot[1:]
        return (Item(value, spot, text) for value, spot in zip(values, spots, strict=True))

    def _follows(self, text: str, file: IO[bytes]) -> bool:
        """Whether keys of the root may stand behind the list.

        Where the root is in block style each of them begins a line, at the same column; what else
        begins there is taken for one, too. So such lines are counted: here, and in the whole file.
        """
        column = place(self.stack[1].spot[None])[1] - 1
        if self._in_flow or column > _WIDEST:
            return True
        keys, of_lines = (
            re.compile(rb"%s {%d}(?![ \t\r\n#]|-[ \t\r\n])" % (end, column))
            for end in (rb"[\r\n]", rb"\n")  # the second one is seven times as fast
        )
        before = sum(1 for _ in keys.finditer(text[: self._list_at].encode() + b"#"))
        behind = b""
        while block := file.read(_BLOCK):
            found = behind + block
            known = len(found) - column - 3  # up to here what follows is at hand
            for match in (keys if b"\r" in found else of_lines).finditer(found):
                if match.start() >= known:
                    break
                before -= 1
            if before < 0:
                return True
            behind = found[max(known, 0) :]
        return before < sum(1 for _ in keys.finditer(behind + b"#"))
