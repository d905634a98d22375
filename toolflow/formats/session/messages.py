"""Lists of messages of any wire format that has conversations: requests, transcripts, data sets.

A file is one conversation (a JSON or YAML list of messages, or one message a line), or holds one in
each of its records: the body of a request (``messages``, ``contents``, ``input``), a log line with
a request and its ``response`` (as LiteLLM writes it), or a bare list. The format of each
conversation is detected by itself. The reader knows nothing of any provider: what is a message and
what a result, the format says (`Format.steps`).

One conversation is ``main``, and lines are the places of its messages; of several each is a source,
``conversation-1`` ..., and lines are the records. A log of one message a line is read in pieces of
some hundred messages, cut where the results of a turn have ended, so that its size is no matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolflow.errors import TurnError
from toolflow.formats.base import Answer, Format
from toolflow.formats.plain import text_of
from toolflow.formats.registry import FORMATS, read_all
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log, Record
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.walk import Item, kinds, walk
from toolflow.model import Notice, RecordedTurn, Turn

NAME = "messages"
PIECE = 500
"""From how many messages on a piece of a log is read as soon as it can be cut."""
_LISTS = ("messages", "contents", "input")


def _recognise(head: Sequence[Any]) -> bool:
    if any(_conversation(record) is not None for record in head):
        return any(_form_of(_conversation(record) or []) is not None for record in head)
    return _form_of(list(head)) is not None


def _form_of(items: list[Any]) -> Format | None:
    """The wire format of a conversation; chunks of a stream are none."""
    talking = [form for form in FORMATS.values() if form.steps is not None]
    if any(form.is_chunk(item) for form in talking for item in items[:8]):
        return None
    return next((form for form in talking if form.recognise(items)), None)


def _conversation(record: Any) -> list[Any] | None:
    """The messages that a record holds, or ``None`` where it is a message itself, or nothing."""
    if isinstance(record, list):
        return record
    if not isinstance(record, dict) or "role" in record or "choices" in record:
        return None
    request = record.get("request")
    body = request if isinstance(request, dict) else record
    return next((body[key] for key in _LISTS if isinstance(body.get(key), list)), None)


def _read(log: Log, reading: Reading) -> Iterator[RecordedTurn]:
    reader = _Reader(reading)
    records = log.records()
    first = next(records, None)
    second = next(records, None)
    if first is None:
        return
    alone = second is None
    for record in (first, *(() if second is None else (second,))):
        yield from reader.take(record, alone=alone)
    for record in records:
        yield from reader.take(record, alone=False)
    yield from reader.end()


class _Reader:
    """Takes the records of one log. Mutable; lives in one reading only."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._talk = Conversation(reading)
        self._piece: list[Item] = []
        self._form: Format | None = None

    def take(self, record: Record, *, alone: bool) -> Iterator[RecordedTurn]:
        """Take the next record; gives the turns that nothing can change any more."""
        inside = _conversation(record.value) if record.fault is None else None
        if inside is not None:
            yield from self._take_list(record, inside, alone=alone)
        elif self._reading.usable(record):
            if len(self._piece) >= PIECE and self._is_cut(record.value):
                self._walk()
                yield from self._talk.finished()
            self._piece.append((record.number, record.value))

    def end(self) -> Iterator[RecordedTurn]:
        """Take what is left."""
        self._walk()
        yield from self._talk.rest()

    def _walk(self) -> None:
        items, self._piece = self._piece, []
        messages = [item for _, item in items]
        if self._form is None or not self._form.recognise(messages):
            self._form = _form_of(messages) or self._form
        if self._form is not None and items:
            walk(self._form, items, self._talk, source="main")

    def _is_cut(self, item: Any) -> bool:
        """Whether a message begins something new: results have ended before it."""
        form = self._form or _form_of([item for _, item in self._piece])
        before = self._piece[-1][1]
        return form is not None and Answer in kinds(form, before) - kinds(form, item)

    def _take_list(
        self, record: Record, messages: list[Any], *, alone: bool
    ) -> Iterator[RecordedTurn]:
        source = "main" if alone else f"conversation-{record.number}"
        if alone:
            items = self._usable(messages)
        else:
            self._reading.lines += 1
            items = [(record.number, message) for message in messages]
        form = _form_of([item for _, item in items])
        if form is not None:
            walk(form, items, self._talk, source=source)
        elif items:
            text = "The format of the messages cannot be told."
            self._reading.oddities.append(Notice("unreadable", text, line=record.number))
        if isinstance(record.value, dict):
            number = len(messages) + 1 if alone else record.number
            ended = form is not None and bool(items) and kinds(form, items[-1][1]) == {Turn}
            latest = self._talk.latest(source) if ended else None
            self._response(record.value, latest, number, source)
        yield from self._talk.rest()

    def _usable(self, messages: list[Any]) -> list[Item]:
        numbered = (Record(number, item) for number, item in enumerate(messages, 1))
        return [(each.number, each.value) for each in numbered if self._reading.usable(each)]

    def _response(
        self, record: Mapping[str, Any], latest: Turn | None, number: int, source: str
    ) -> None:
        """Take the answer to a request, which the log has beside it.

        It may stand in the request's messages too: then it is their last one, ``latest``.
        """
        response = record.get("response")
        self._reading.note(model=text_of(record.get("model")))
        if not isinstance(response, dict):
            return
        self._reading.note(model=text_of(response.get("model")))
        try:
            turn = read_all(response, None, where=None)[-1]
        except (TurnError, IndexError):
            text = "The response beside the messages cannot be read."
            self._reading.oddities.append(Notice("unreadable", text, line=number))
            return
        if latest is None or not turn.calls or not _same(latest, turn):
            turn = replace(turn, source=source)
            self._talk.message(turn, line=number, time=record.get("timestamp"))


def _same(one: Turn, other: Turn) -> bool:
    return [(call.id, call.tool, call.args) for call in one.calls] == [
        (call.id, call.tool, call.args) for call in other.calls
    ]


FORMAT = SessionFormat(
    name=NAME,
    about="messages of a wire format, one a line or in a list, alone or under messages, contents"
    " or input",
    recognise=_recognise,
    read=_read,
)
