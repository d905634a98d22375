"""VCR cassettes: recorded requests and responses of a model's API (YAML or JSON).

Read are the cassettes of vcrpy (``interactions``), of Betamax and of VCR for Ruby
(``http_interactions``). Each response that is one of a known wire format, whole or streamed, is a
message of the model. A request repeats the conversation so far: in the first one its messages are
read as the log's own; in later ones the messages of the model are found again among those that are
known, and only results that are new are taken. How they are found again: see `echoes`.

What stands at another place than a message of a wire format (a file that was fetched, an error of
the server) is counted as a record, told where it is a response of a known API that failed, and
skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolflow.errors import TurnError
from toolflow.formats.base import Format
from toolflow.formats.plain import text_of
from toolflow.formats.registry import FORMATS, find_format, read_all
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.bodies import UNREAD, body_of
from toolflow.formats.session.echoes import Echoes
from toolflow.formats.session.log import Log
from toolflow.formats.session.loose import blocks_of
from toolflow.formats.session.pairing import Conversation
from toolflow.formats.session.walk import readable
from toolflow.formats.session.wire import attempt
from toolflow.model import Notice, Turn

NAME = "vcr"
_LISTS = ("interactions", "http_interactions")
_HISTORIES = ("messages", "input", "contents")
_ERROR = 400


def _recognise(head: Sequence[Any]) -> bool:
    return any(isinstance(item, dict) and bool(_interactions(item)) for item in head)


def _interactions(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The interactions of a cassette: all objects of the list that have both sides."""
    found = next((item[key] for key in _LISTS if key in item), None)
    return [
        each
        for each in blocks_of(found)
        if isinstance(each.get("request"), dict) and isinstance(each.get("response"), dict)
    ]


def _read(log: Log, reading: Reading) -> Iterator[Any]:
    reader = _Reader(reading)
    for _, item in reading.objects(log):
        found = _interactions(item)
        reading.lines += max(0, len(found) - 1)
        reading.note(recorded_with=text_of(item.get("recorded_with")))
        for number, each in enumerate(found, 1):
            reader.take(number, each)
    yield from reader.talk.rest()


class _Reader:
    """Takes the interactions of one cassette. Mutable; lives in one reading only."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.talk = Conversation(reading)
        self._echoes = Echoes(self.talk)
        self._told: set[str] = set()

    def take(self, number: int, each: Mapping[str, Any]) -> None:
        """Take the next interaction."""
        request, time = body_of(each["request"]), each.get("recorded_at")
        turn = self._answer(number, each["response"])
        if isinstance(request, dict):
            self._reading.note(model=text_of(request.get("model")))
            messages = next((request[key] for key in _HISTORIES if key in request), None)
            form = FORMATS[turn.format] if turn is not None else _format_of(messages)
            if isinstance(messages, list) and form is not None and form.steps is not None:
                items = [(number, message) for message in messages]
                steps = [step for step, _ in readable(form, items, self._tell)]
                self._echoes.history(steps, line=number, time=time)
        if turn is not None:
            self._echoes.message(turn, line=number, time=time)

    def _tell(self, message: Any, why: str, number: int) -> None:  # noqa: ARG002  # as `Tell` is
        """Tell of a message in a request that cannot be read: once, though it comes again."""
        if why not in self._told:
            self._told.add(why)
            text = f"A message of request {number} cannot be read: {why}"
            self._reading.oddities.append(Notice("unreadable", text, line=number))

    def _answer(self, number: int, response: Mapping[str, Any]) -> Turn | None:
        """The message of the model that a response holds, or ``None``."""
        status = response.get("status")
        code = status.get("code") if isinstance(status, dict) else status
        body = body_of(response)
        if isinstance(code, int) and code >= _ERROR:
            text = f"Interaction {number} failed with status {code}. It holds no message."
            self._reading.oddities.append(Notice("failed_response", text, line=number))
            return None
        if body is UNREAD or not _is_known(body):
            return None
        turns = attempt(lambda: read_all(body, None, where=None), self.talk, body, line=number)
        return turns[-1] if turns else None


def _is_known(body: Any) -> bool:
    """Whether a body is of a wire format: the registry tells, or its chunks do."""
    head = body[:8] if isinstance(body, list) else [body]
    if any(form.is_chunk(item) for form in FORMATS.values() for item in head):
        return True
    return _format_of(body) is not None


def _format_of(value: Any) -> Format | None:
    try:
        return find_format(value, None)
    except TurnError:
        return None


FORMAT = SessionFormat(
    name=NAME,
    about="an object with interactions (or http_interactions) of a request and a response",
    recognise=_recognise,
    read=_read,
)
