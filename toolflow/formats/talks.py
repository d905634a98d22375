"""Where in the text of a file conversations are: as a document, in its records, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolflow import yamlio
from toolflow.errors import DocumentError, TurnError
from toolflow.formats.base import Format
from toolflow.formats.registry import FORMATS, find_format
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
class Fault:
    """Stands for the value of a line that cannot be read.

    Attributes:
        text: Why, as a sentence.
    """

    text: str


def read_records(text: str, source: str) -> tuple[Shape, list[tuple[int, Any]]]:
    """The values of a file with their lines, and how it is written.

    Args:
        text: Its text; bytes that are not UTF-8 are halves of surrogate pairs in it.
        source: Its name, for messages.

    Raises:
        TurnError: If it is neither JSON, nor JSON lines, nor YAML.
    """
    whole = _parsed(text)
    if not isinstance(whole, Fault):
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
        return Fault("The line is not UTF-8.")
    except json.JSONDecodeError as error:
        place = f"{error.msg.removesuffix(' at')} at character {error.pos + 1}"
        return Fault(f"The line is not JSON ({place}).")
    except (ValueError, RecursionError):
        return Fault("The line is JSON that cannot be read: a number or a nesting is too large.")


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


def talks_of_lines(values: list[Any], lines: tuple[int, ...], name: str | None) -> Iterator[Talk]:
    """The conversations of a file of lines: one of all lines, or one in each.

    Args:
        values: The values of the lines that could be read.
        lines: Their numbers.
        name: The name of the wire format; ``None``: it is detected.
    """
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


def talks_of_document(value: Any, name: str | None) -> Iterator[Talk]:
    """The conversations of a document: it is one, has one, or has one in each of its records.

    Args:
        value: Its value.
        name: The name of the wire format; ``None``: it is detected.
    """
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


def put(value: Any, path: Path | None, messages: list[Any]) -> Any:
    """The value with other messages at a place; a message that stood alone becomes a list.

    A list is changed itself: it may have a conversation in each of its records.
    """
    if not path:
        return messages
    key = path[0]
    inner = put(value[key], path[1:], messages)
    if isinstance(key, str):
        return {**value, key: inner}
    value[key] = inner
    return value
