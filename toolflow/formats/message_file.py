"""Files of conversations, for the doctor: found in the file, examined, mended, written back.

A file is one conversation (a list of messages as JSON or YAML, or one message a line), or it holds
one in each of its records: the body of a request, a log line with a request in it, an entry of a
data set. What is around the lists is kept, and a file in which nothing has to change is written
back as the text that it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from toolflow import yamlio
from toolflow.errors import DocumentError, TurnError
from toolflow.formats.base import Format
from toolflow.formats.doctor import Report, examine
from toolflow.formats.jsontext import json_text, yaml_text
from toolflow.formats.registry import FORMATS, find_format
from toolflow.formats.repair import Repaired, repair
from toolflow.model import Notice

Shape = Literal["json", "yaml", "lines"]
Path = tuple[str | int, ...]
_LISTS = ("messages", "contents", "input")
_CHUNKS_LOOKED_AT = 8


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation in a file.

    Attributes:
        form: Its wire format.
        messages: Its messages.
        lines: The line of each of its messages, where each has one of its own.
        line: The line that the whole conversation stands in, where lines are conversations.
        name: What it is called where a document holds several; else empty.
        record: The index of its record, of those that could be read.
        path: Where its list is in the record; ``None`` for a message that stands alone.
    """

    form: Format
    messages: list[Any]
    lines: tuple[int, ...] = ()
    line: int | None = None
    name: str = ""
    record: int = 0
    path: Path | None = ()

    def where(self, notice: Notice) -> str:
        """The place of a message in the file, as people read it."""
        if self.lines:
            return str(self.lines[(notice.line or 1) - 1])
        places = [str(self.line) if self.line is not None else "", self.name]
        return ":".join([*filter(None, places), f"message {notice.line}"])


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
        names = [self.notice.turn, f"call '{self.notice.call}'" if self.notice.call else None]
        who = " ".join(filter(None, names))
        return ": ".join(filter(None, [self.where, who, self.notice.message]))


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
                values[talk.record] = _put(values[talk.record], talk.path, one.messages)
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
    shape, records = _records(whole, source)
    values = [value for _, value in records if not isinstance(value, _Fault)]
    numbers = tuple(number for number, value in records if not isinstance(value, _Fault))
    broken = tuple(
        Found(Notice("broken_line", value.text), str(number), number)
        for number, value in records
        if isinstance(value, _Fault)
    )
    if shape == "lines":
        talks = list(_of_lines(values, numbers, format))
    else:
        talks = list(_of_document(values[0], format))
    return MessageFile(whole, shape, values, tuple(talks), broken) if talks else None


class _Fault(Exception):  # noqa: N818  # a value that stands for a line that cannot be read
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def _records(text: str, source: str) -> tuple[Shape, list[tuple[int, Any]]]:
    whole = _parsed(text)
    if not isinstance(whole, _Fault):
        return "json", [(1, whole)]
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    values = [(number, _parsed(line)) for number, line in lines] if len(lines) > 1 else []
    if sum(isinstance(value, dict | list) for _, value in values) * 2 > len(lines):
        return "lines", values
    data = text.encode("utf-8", "surrogateescape")
    return "yaml", [(1, yamlio.load(data, source=source, error=TurnError).value)]


def _parsed(text: str) -> Any:
    try:
        text.encode()
        return json.loads(text)
    except UnicodeEncodeError:
        return _Fault("The line is not UTF-8.")
    except json.JSONDecodeError as error:
        place = f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"
        return _Fault(f"The line is not JSON ({place}).")
    except (ValueError, RecursionError):
        return _Fault("The line is JSON that cannot be read: a number or a nesting is too large.")


def _form(messages: Sequence[Any], name: str | None) -> Format | None:
    """The format of a conversation that can be examined, or ``None``."""
    head = messages[:_CHUNKS_LOOKED_AT]
    if any(form.is_chunk(item) for form in FORMATS.values() for item in head):
        return None
    try:
        form = find_format(list(messages), name)
    except DocumentError:
        return None
    return form if form.steps is not None and form.layout is not None else None


def _inside(record: Any) -> Path | None:
    """Where in a record the list of messages is, or ``None`` where it has none."""
    if not isinstance(record, dict) or "role" in record or "choices" in record:
        return None
    request = record.get("request")
    above, body = (("request",), request) if isinstance(request, dict) else ((), record)
    return next(((*above, key) for key in _LISTS if isinstance(body.get(key), list)), None)


def _of_lines(values: list[Any], lines: tuple[int, ...], name: str | None) -> Iterator[Talk]:
    paths = [() if isinstance(value, list) else _inside(value) for value in values]
    if all(path is None for path in paths):
        form = _form(values, name)
        if form is not None:
            yield Talk(form, values, lines=lines)
        return
    for record, (value, line, path) in enumerate(zip(values, lines, paths, strict=True)):
        if path is not None:
            messages = _at(value, path)
            form = _form(messages, name) if messages else None
            if form is not None:
                yield Talk(form, messages, line=line, record=record, path=path)


def _of_document(value: Any, name: str | None) -> Iterator[Talk]:
    if not isinstance(value, list):
        path = _inside(value)
        messages = [value] if path is None else _at(value, path)
        if isinstance(value, dict) and messages and (form := _form(messages, name)) is not None:
            yield Talk(form, messages, path=path)
        return
    paths = [_inside(record) for record in value]
    if any(path is not None for path in paths):
        for number, (record, path) in enumerate(zip(value, paths, strict=True), 1):
            messages = [] if path is None else _at(record, path)
            form = _form(messages, name) if messages else None
            if path is not None and form is not None:
                title = f"conversation {number}"
                yield Talk(form, messages, name=title, path=(number - 1, *path))
    elif value and (form := _form(value, name)) is not None:
        yield Talk(form, value)


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def _put(value: Any, path: Path | None, messages: list[Any]) -> Any:
    """The value with other messages at a place; a message that stood alone becomes a list.

    A list is changed itself: it may have a conversation in each of its records.
    """
    if not path:
        return messages
    key = path[0]
    inner = _put(value[key], path[1:], messages)
    if isinstance(key, str):
        return {**value, key: inner}
    value[key] = inner
    return value


def _ordered(found: list[Found]) -> list[Found]:
    """What is told, in the order of the lines; in a document in the order in which it came."""
    return sorted(found, key=lambda one: one.line or 0)


def _told(talk: Talk, notices: Sequence[Notice]) -> Iterator[Found]:
    for notice in notices:
        line = talk.lines[(notice.line or 1) - 1] if talk.lines else talk.line
        yield Found(notice, talk.where(notice), line)
