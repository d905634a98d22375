"""Gemini CLI: its recorded chats, its saved histories, and the responses that its tests record.

Source: the project's own code that writes these files.

* A chat (``session-*.jsonl``, older: one JSON object) has one record a message. A message of type
  ``gemini`` holds its calls with their results and status (``toolCalls``); it is written again,
  with the same id, whenever a call settles, so the last form of it counts. ``$set`` changes facts
  about the session, ``$rewindTo`` tells that the user went back: the turns that were left did run,
  are kept, and the place is told.
* A history (``/chat save``, or a checkpoint made before a tool ran) is a list of Gemini contents,
  also under ``history`` or ``clientHistory``.
* A ``.responses`` file has one call of the model's interface a line, with its whole response, or
  with the chunks of its stream.

The last two are read by the reader of the wire format; they carry no ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolflow.formats.session import gemini_chat, gemini_responses
from toolflow.formats.session.base import Reading, SessionFormat
from toolflow.formats.session.log import Log
from toolflow.formats.session.pairing import Conversation

NAME = "gemini-cli"


def _recognise(head: Sequence[Any]) -> bool:
    return any(
        isinstance(item, dict) and (gemini_chat.is_record(item) or gemini_responses.is_record(item))
        for item in head
    )


def _read(log: Log, reading: Reading) -> Iterator[Any]:
    talk, chat = Conversation(reading), gemini_chat.Chat(reading)
    contents: list[tuple[int, Any]] = []
    for number, item in reading.objects(log):
        if "parts" in item and "role" in item:
            contents.append((number, item))
        elif not gemini_responses.take(number, item, talk):
            chat.take(number, item, talk)
        yield from talk.finished()
    chat.end(talk)
    if contents:
        gemini_responses.take_contents(contents, talk)
    yield from talk.rest()


FORMAT = SessionFormat(
    name=NAME,
    about="a chat with sessionId and projectHash, a history of contents, or lines of a method and"
    " a response",
    recognise=_recognise,
    read=_read,
)
