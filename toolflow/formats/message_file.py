"""Files of conversations, for the doctor: found in the file, examined, mended, written back.

A file is one conversation (a list of messages as JSON or YAML, or one message a line), or it holds
one in each of its records: the body of a request, a log line with a request in it, an entry of a
data set. What is around the lists is kept, and a file in which nothing has to change is written
back as the text that it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolflow.formats.base import printable, quoted
from toolflow.formats.doctor import Report, examine
from toolflow.formats.jsontext import json_text, yaml_text
from toolflow.formats.repair import Repaired, repair
from toolflow.formats.talks import (
    Fault,
    Shape,
    Talk,
    put,
    read_records,
    talks_of_document,
    talks_of_lines,
)
from toolflow.model import Notice


def who(notice: Notice) -> str:
    """The turn and the call that a notice is about, on one line: ``turn-3 call 'x'``."""
    call = None if notice.call is None else f"call {quoted(notice.call)}"
    return " ".join(filter(None, [notice.turn and printable(notice.turn), call]))


@dataclass(frozen=True, slots=True)
class Found:
    """Something that is told about a file of messages.

    Attributes:
        notice: What is told; its ``line`` is the number of a message.
        where: The place in the file.
        line: The line in the file, where it is known.
    """

    notice: Notice
    where: str
    line: int | None = None

    def __str__(self) -> str:
        return ": ".join(filter(None, [self.where, who(self.notice), self.notice.message]))


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file that holds conversations.

    Attributes:
        text: Its text.
        shape: How it is written.
        values: The values of its records: one of a document, one a line else.
        talks: Its conversations.
        broken: What is told of the lines that could not be read.
    """

    text: str
    shape: Shape
    values: list[Any] = field(repr=False)
    talks: tuple[Talk, ...] = ()
    broken: tuple[Found, ...] = ()

    def examined(self, *, whole: bool = False) -> tuple[list[Report], list[Found]]:
        """What is right and what is wrong with each conversation (see `doctor.examine`).

        Args:
            whole: Whether last turns have to have their results too.

        Returns:
            A report for each, and all findings in the order of the file.
        """
        reports = [examine(t.messages, format=t.form.name, whole=whole) for t in self.talks]
        pairs = zip(self.talks, reports, strict=True)
        told = (each for talk, report in pairs for each in _told(talk, report.findings))
        return reports, _ordered([*self.broken, *told])

    def repaired(self, *, whole: bool = False) -> Mended:
        """The file with every conversation mended (see `repair.repair`).

        Args:
            whole: Whether last turns get results too.
        """
        mended = [repair(t.messages, format=t.form.name, whole=whole) for t in self.talks]
        pairs = list(zip(self.talks, mended, strict=True))
        values = [list(value) if isinstance(value, list) else value for value in self.values]
        for talk, one in pairs:
            if one.changes and not talk.lines:
                values[talk.record] = put(values[talk.record], talk.path, one.messages)
        if self.talks and self.talks[0].lines:
            values = mended[0].messages
        dropped = [
            Found(
                Notice("line_left_out", "The line cannot be read. It was left out."),
                one.where,
                one.line,
            )
            for one in self.broken
        ]
        changes = [each for talk, one in pairs for each in _told(talk, one.changes)]
        left = [each for talk, one in pairs for each in _told(talk, one.left)]
        return Mended(self, values, mended, _ordered([*dropped, *changes]), left)


@dataclass(frozen=True, slots=True)
class Mended:
    """A file of messages after its repair.

    Attributes:
        file: The file as it was.
        values: The values of its records.
        repaired: Each conversation.
        changes: What was done.
        left: What is still wrong.
    """

    file: MessageFile
    values: list[Any] = field(repr=False)
    repaired: list[Repaired] = field(repr=False)
    changes: list[Found]
    left: list[Found]

    def text(self, shape: Shape | None = None) -> str:
        """The file's new text; the old one where nothing was changed.

        Args:
            shape: How it is to be written, if otherwise than it was.
        """
        file = self.file
        if not self.changes and shape in {None, file.shape}:
            return file.text
        values = self.values
        if (shape or file.shape) == "lines":
            if file.shape != "lines" and isinstance(values[0], list):
                values = values[0]
            return "".join(json_text(value, None) + "\n" for value in values)
        value = values if file.shape == "lines" else values[0]
        if (shape or file.shape) == "yaml":
            return yaml_text(value)
        return json_text(value, 2 if "\n" in file.text.strip() else None) + "\n"


def open_messages(
    text: str | bytes,
    *,
    source: str,
    format: str | None = None,  # noqa: A002  # the option's name everywhere
) -> MessageFile | None:
    """Find the conversations in the text of a file.

    Args:
        text: The text, or its bytes in UTF-8.
        source: The file's name, for messages.
        format: The name of the wire format; detected where it is not given.

    Returns:
        The file, or ``None`` where it holds none: chunks of a stream, plain calls, something else.

    Raises:
        TurnError: If it is neither JSON, nor JSON lines, nor YAML.
        UsageError: If there is no format of that name.
    """
    whole = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
    whole = whole.removeprefix("\ufeff")
    shape, records = read_records(whole, source)
    values = [value for _, value in records if not isinstance(value, Fault)]
    numbers = tuple(number for number, value in records if not isinstance(value, Fault))
    broken = tuple(
        Found(Notice("broken_line", value.text), str(number), number)
        for number, value in records
        if isinstance(value, Fault)
    )
    if shape == "lines":
        talks = list(talks_of_lines(values, numbers, format))
    else:
        talks = list(talks_of_document(values[0], format))
    return MessageFile(whole, shape, values, tuple(talks), broken) if talks else None


def _ordered(found: list[Found]) -> list[Found]:
    """What is told, in the order of the lines; in a document in the order in which it came."""
    return sorted(found, key=lambda one: one.line or 0)


def _told(talk: Talk, notices: Sequence[Notice]) -> Iterator[Found]:
    for notice in notices:
        line = talk.lines[(notice.line or 1) - 1] if talk.lines else talk.line
        yield Found(notice, talk.where(notice), line)
